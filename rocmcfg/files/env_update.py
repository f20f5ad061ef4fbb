"""Run env-update of Gentoo, and check the files that it makes from /etc/env.d for shells, csh and systemd.

It writes one variable a line, sorted by name, to /etc/profile.env, /etc/csh.env and, without empty variables,
to /etc/environment.d/10-gentoo-env.conf (portage, lib/portage/util/env_update.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from os.path import basename

from rocmcfg.files.environment import Assignment, last_of
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.languages import portage
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.plan import Activation
from rocmcfg.model.regex import regex

TOOL = "env-update"
PACKAGE = "portage"
FOLDER = "/etc/env.d"
PROFILE = "/etc/profile.env"
MADE = (PROFILE, "/etc/csh.env", "/etc/environment.d/10-gentoo-env.conf")
READ = r"[0-9]{2}.*(?<!~)(?<!\.bak)$"  # of the files in FOLDER
_READ = regex(READ)
_LINE = regex(r"(?:export |setenv )?([A-Za-z_][A-Za-z0-9_]*)[= ](.*)")


def activation(reason: str) -> Activation:
    """Return the run of env-update, without ldconfig, which it would run for libraries that are not ours."""
    return Activation(TOOL, ((TOOL, "--no-ldconfig"),), reason, MADE, writes_at=("/etc",))


def look(view: HostView, path: str, before: bytes, ours: Collection[str]) -> Iterator[Diagnostic]:
    """Yield an error where a file of env-update does not hold all that /etc/env.d sets. `before` is the
    former content: none of its variables may be lost. `ours` are the variables that must have the values in
    /etc/env.d."""
    wanted, text = _wanted(view), text_or_empty(view, path)
    now, had = _names(text), _names(before.decode("utf-8", "replace"))
    lost = [name for name in had if name in wanted and wanted[name].value != "" and name not in now]
    why = ""
    if not text.endswith("\n"):
        why = "it ends within a line"
    elif lost:
        why = f"it does not have {lost[0]}, which {FOLDER} sets"
    else:
        unlike = [name for name in ours if not _agree(wanted.get(name), now.get(name))]
        if unlike:
            does = "sets to another value" if unlike[0] in wanted else "no longer sets"
            why = f"it has {unlike[0]}, which {FOLDER} {does}"
    if why:
        summary = f"{path} is not the output of {TOOL}: {why}"
        yield error("RC3308", summary, location=path, hint=f"run {TOOL} by hand and read its output")


def _agree(wanted: Assignment | None, made: str | None) -> bool:
    """Return whether a variable has the value that /etc/env.d sets, or an unknown one."""
    if wanted is None or wanted.value == "":
        return not made
    return wanted.value is None or wanted.value == made


def _wanted(view: HostView) -> dict[str, Assignment]:
    """Return each variable with the assignment of the last file that env-update reads."""
    wanted: dict[str, Assignment] = {}
    for path in drop_ins(view, (FOLDER,), ""):
        if _READ.fullmatch(basename(path)):
            wanted |= last_of(portage.read(text_or_empty(view, path)), path)
    return wanted


def _names(text: str) -> dict[str, str]:
    """Return the value of each variable, without its quotes."""
    lines = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {line[1]: line[2].removeprefix("'").removesuffix("'") for line in lines if line}
