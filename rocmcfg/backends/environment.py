"""What all files together set for everybody, and the file of one account."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.regex import regex

PLACES = ("/etc", "/run", "/usr/local/lib", "/usr/lib")  # of the files of systemd, in order of their rank
DIRECTORIES = tuple(f"{place}/environment.d" for place in PLACES)
_HEAD = """# Written by rocmcfg env --user; the next one replaces this file.
# Undo: rocmcfg env --user --remove
# sha256 of the lines below: """
_SUMMED = regex(rb"#[^\n]*\n#[^\n]*\n# sha256 of the lines below: ([0-9a-f]{16})\n(.*)", re.DOTALL)


def user_file(pairs: Sequence[tuple[str, str]]) -> bytes:
    """~/.config/environment.d of one account; no receipt tells what we wrote there."""
    body = "".join(f"{name}={value}\n" for name, value in pairs)
    return f"{_HEAD}{_checksum(body.encode())}\n{body}".encode()


def is_as_written(content: bytes) -> bool:
    """Whether nobody added, changed or took away a line of a `user_file`."""
    found = _SUMMED.fullmatch(content)
    return found is not None and found[1].decode() == _checksum(found[2])


def _checksum(body: bytes) -> str:
    import hashlib

    return hashlib.sha256(body).hexdigest()[:16]


def environment_d(view: HostView) -> tuple[str, ...]:
    return drop_ins(view, DIRECTORIES, ".conf")


def profile_d(view: HostView) -> tuple[str, ...]:
    """What login shells source, in order of name (/etc/profile)."""
    return drop_ins(view, ("/etc/profile.d",), ".sh")


class Assignment(NamedTuple):
    """`source` is `file:line`."""

    name: str
    value: str
    source: str


def read_assignments(view: HostView, path: str) -> dict[str, Assignment]:
    """Of a KEY=VALUE file, by name; later lines win. Quotes around a whole value are dropped."""
    found: dict[str, Assignment] = {}
    for number, line in enumerate(text_or_empty(view, path).splitlines(), 1):
        before, equals, value = line.strip().removeprefix("export ").partition("=")
        name = before.strip()
        if equals and name and not name.startswith("#"):
            found[name] = Assignment(name, value.strip().strip("\"'"), f"{path}:{number}")
    return found


def for_everybody(view: HostView) -> tuple[Assignment, ...]:
    """Every variable that a file sets for all users, in the order of reading, so that later ones win:
    pam_env(8), environment.d(5), the shells of logins, and /etc/set-environment of NixOS (nixpkgs,
    nixos/modules/config/shells-environment.nix). A file that a symbolic link reaches as well is read once,
    where it is read last. A line of a shell script counts as if it were run."""
    sessions = ("/etc/environment", *environment_d(view))
    read = (*sessions, "/etc/profile", *profile_d(view), "/etc/set-environment")
    once = dict.fromkeys(view.real_path(path) for path in reversed(read))
    return tuple(one for path in reversed(once) for one in read_assignments(view, path).values())


def set_variables(view: HostView, environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """NAME to (value, where): the caller's environment, over the files that new logins read."""
    found = {one.name: (one.value, one.source) for one in for_everybody(view)}
    found |= {name: (value, "the environment of this command") for name, value in environment.items()}
    return found
