"""env-update of Gentoo: what it makes of /etc/env.d for shells, csh and systemd, and whether that can be
used.

It writes a name a line, in the order of their names, to /etc/profile.env, /etc/csh.env and, without those
that are empty, to /etc/environment.d/10-gentoo-env.conf (portage, lib/portage/util/env_update.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from os.path import basename

from rocmcfg.backends.environment import Assignment, last_of
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
    """Say why one of the files that it made cannot be all that /etc/env.d asks for. `before`: what the file
    held; names of that must not be lost. `ours`: the names that must be as /etc/env.d has them now."""
    asked, text = _asked(view), text_or_empty(view, path)
    now, had = _names(text), _names(before.decode("utf-8", "replace"))
    lost = [name for name in had if name in asked and asked[name].value != "" and name not in now]
    why = ""
    if not text.endswith("\n"):
        why = "it ends within a line"
    elif lost:
        why = f"it lacks {lost[0]}, which {FOLDER} sets"
    else:
        unlike = [name for name in ours if not _agree(asked.get(name), now.get(name))]
        if unlike:
            does = "sets otherwise" if unlike[0] in asked else "does not set any more"
            why = f"it has {unlike[0]}, which {FOLDER} {does}"
    if why:
        said = f"{path} is not what {TOOL} makes: {why}"
        yield error("RC3308", said, location=path, hint=f"run {TOOL} by hand and read what it prints")


def _agree(asked: Assignment | None, made: str | None) -> bool:
    """Whether a name is as it was asked for; also where its value cannot be told."""
    if asked is None or asked.value == "":
        return not made
    return asked.value is None or asked.value == made


def _asked(view: HostView) -> dict[str, Assignment]:
    """By name, what the last of the files that it reads sets."""
    asked: dict[str, Assignment] = {}
    for path in drop_ins(view, (FOLDER,), ""):
        if _READ.fullmatch(basename(path)):
            asked |= last_of(portage.read(text_or_empty(view, path)), path)
    return asked


def _names(text: str) -> dict[str, str]:
    """The values by name, without the quotes."""
    lines = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {line[1]: line[2].removeprefix("'").removesuffix("'") for line in lines if line}
