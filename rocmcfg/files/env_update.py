"""env-update of Gentoo: what it makes of /etc/env.d for shells, csh and systemd, and whether that can be
used.

It writes a name a line, in the order of their names, to /etc/profile.env, /etc/csh.env and, without those
that are empty, to /etc/environment.d/10-gentoo-env.conf (portage, lib/portage/util/env_update.py).
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
    """Without ldconfig, which it would run for libraries that are not ours."""
    return Activation(TOOL, ((TOOL, "--no-ldconfig"),), reason, MADE, writes_at=("/etc",))


def look(view: HostView, path: str, before: bytes, ours: Collection[str]) -> Iterator[Diagnostic]:
    """Say why a file that env-update made cannot be all that /etc/env.d asks for. `before` is what the file
    held: none of its variables may be lost. `ours` are the variables that must be as /etc/env.d has them."""
    wanted, text = _wanted(view), text_or_empty(view, path)
    now, had = _names(text), _names(before.decode("utf-8", "replace"))
    lost = [name for name in had if name in wanted and wanted[name].value != "" and name not in now]
    why = ""
    if not text.endswith("\n"):
        why = "it ends within a line"
    elif lost:
        why = f"it lacks {lost[0]}, which {FOLDER} sets"
    else:
        unlike = [name for name in ours if not _agree(wanted.get(name), now.get(name))]
        if unlike:
            does = "sets otherwise" if unlike[0] in wanted else "does not set any more"
            why = f"it has {unlike[0]}, which {FOLDER} {does}"
    if why:
        summary = f"{path} is not what {TOOL} makes: {why}"
        yield error("RC3308", summary, location=path, hint=f"run {TOOL} by hand and read what it prints")


def _agree(wanted: Assignment | None, made: str | None) -> bool:
    """Say whether a variable has the value that /etc/env.d sets, or one that cannot be told."""
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
