"""Who sets variables for everybody, and who does so after us."""

from __future__ import annotations

from os.path import basename
from typing import NamedTuple

from rocmcfg.host.view import HostView, drop_ins, text_or_empty

_DIRECTORIES = (
    "/etc/environment.d",
    "/run/environment.d",
    "/usr/local/lib/environment.d",
    "/usr/lib/environment.d",
)
OURS = "90-rocmcfg.conf"
_ENVIRONMENT = "/etc/environment"
_PROFILE = "/etc/profile"
_PROFILE_D = "/etc/profile.d"
OUR_SCRIPT = "zz-rocmcfg.sh"


def files(view: HostView) -> tuple[str, ...]:
    """The environment.d files, in systemd's order: by base name, the first directory that has one wins."""
    return drop_ins(view, _DIRECTORIES, ".conf")


def read_assignments(view: HostView, path: str) -> dict[str, tuple[str, int]]:
    """NAME to (value, line) of a KEY=VALUE file; later lines win. Quotes around a whole value are dropped."""
    found: dict[str, tuple[str, int]] = {}
    for number, raw in enumerate(text_or_empty(view, path).splitlines(), 1):
        line = raw.strip().removeprefix("export ")
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[name.strip()] = (value.strip().strip("\"'"), number)
    return found


class Assignment(NamedTuple):
    name: str
    value: str
    path: str
    line: int


def for_everybody(view: HostView) -> tuple[Assignment, ...]:
    """Every variable that a file sets for all users, in the order of reading, so that later ones win:
    pam_env(8), then environment.d(5), then the shells of logins. A file that is reached by a symbolic link as
    well is read once, under its own name, where it is read last.

    A line of a shell script counts as if it were run: what stands behind a condition cannot be told.
    """
    scripts = (f"{_PROFILE_D}/{name}" for name in view.names(_PROFILE_D) if name.endswith(".sh"))
    paths = [view.real_path(path) for path in (_ENVIRONMENT, *files(view), _PROFILE, *scripts)]
    once = dict.fromkeys(reversed(paths))
    return tuple(
        Assignment(name, value, path, line)
        for path in reversed(once)
        for name, (value, line) in read_assignments(view, path).items()
    )


def later_assignments(view: HostView) -> dict[str, tuple[str, str]]:
    """NAME to (value, file:line) for what is read after our files: by systemd (environment.d(5), by base
    name) and by login shells (/etc/profile, which sources profile.d in order of name)."""
    found: dict[str, tuple[str, str]] = {}
    later = {basename(path): path for path in files(view) if basename(path) > OURS}
    for name in view.names(_PROFILE_D):
        if name.endswith(".sh") and name > OUR_SCRIPT:
            later.setdefault(name, f"{_PROFILE_D}/{name}")
    for name in sorted(later):
        for variable, (value, line) in read_assignments(view, later[name]).items():
            found[variable] = (value, f"{later[name]}:{line}")
    return found
