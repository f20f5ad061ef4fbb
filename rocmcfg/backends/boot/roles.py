"""Whose an entry of a menu is and what for, told by its title and its arguments, where no tool marks it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.backends.boot.menu import Role
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.kargs import Karg, last, split
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.regex import regex

_SPARE = regex(r"fallback|\b(?:rescue|recovery|emergency|single[- ]user|minimal)\b", re.IGNORECASE)
# what makes a system start without its services: bootparam(7), systemd(1)
_SINGLE = {"single", "s", "S", "1", "emergency", "rescue", "-b"}
_SINGLE_UNITS = ("rescue.target", "emergency.target")
_MEDIUM = ("archisobasedir", "archisolabel", "archisosearchuuid", "boot=live", "rd.live.image")


class Root(NamedTuple):
    """How the root file system of this host is named, in lower case, and the flags of the one that runs."""

    names: frozenset[str]
    flags: str


def told(titles: Sequence[str], kargs: Sequence[Karg], root: Root) -> Role:
    """`titles` are all names that tell what the entry is, `root` is that of this host."""
    if another_root(kargs, root) or any(karg.text in _MEDIUM or karg.name in _MEDIUM for karg in kargs):
        return Role.FOREIGN
    flags = value(kargs, "rootflags")
    if "snapshots/" in flags and flags != root.flags:
        return Role.SNAPSHOT  # of snapper (.snapshots, @snapshots), Timeshift; openSUSE runs one of them
    single = any(karg.text in _SINGLE for karg in kargs) or value(kargs, "systemd.unit") in _SINGLE_UNITS
    return Role.RECOVERY if single or any(map(_SPARE.search, titles)) else Role.NORMAL


def root_of(view: HostView) -> Root:
    """Named in its fstab, and by the kernel that runs, which in a chroot is another one's: either counts."""
    lines = (line.split() for line in text_or_empty(view, "/etc/fstab").splitlines())
    found = {words[0] for words in lines if len(words) > 1 and words[1] == "/" and words[0][0] != "#"}
    running = split(text_or_empty(view, "/proc/cmdline"))
    names = (name.lower().replace('"', "") for name in (*found, value(running, "root")) if name)
    return Root(frozenset(names), value(running, "rootflags"))


def another_root(kargs: Sequence[Karg], root: Root) -> bool:
    """Whether the arguments name another file system than ours. What names it in another way (by UUID, by
    PARTUUID, by its device) cannot be compared, and counts as ours."""
    named = value(kargs, "root").lower()
    kind, equals, _ = named.partition("=")
    alike = [name for name in root.names if equals and name.startswith(f"{kind}=")]
    return bool(alike) and named not in alike


def value(kargs: Sequence[Karg], name: str) -> str:
    """Of the argument that wins; empty where it has none, or there is none."""
    found = last(kargs, name)
    return (found.value if found else "") or ""
