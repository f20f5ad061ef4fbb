"""Determine the role of a menu entry from its title and its arguments, where no tool marks it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.kargs import Karg, last, split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_SPARE = regex(r"\b(?:rescue|recovery|emergency|single[- ]user|minimal)\b", re.IGNORECASE)
# arguments that start a system without its services: bootparam(7), systemd(1)
_SINGLE = {"single", "s", "S", "1", "emergency", "rescue", "-b"}
_SINGLE_UNITS = ("rescue.target", "emergency.target")
_MEDIUM = ("archisobasedir", "archisolabel", "archisosearchuuid", "boot=live", "rd.live.image")
# The kernel's names of disks (Documentation/admin-guide/devices.txt), and udev's links
_PARTITION = regex(r"(/dev/(?:nvme\d+n\d+p|mmcblk\d+p|(?:[shv]|xv)d[a-z]+))(\d+)")
_LINK = regex(r"/dev/disk/by-((?:part)?uuid)/(.+)")
_MAPPER = "/dev/mapper/"
FALLBACK = "it is called fallback, and another entry starts the same kernel"
_FALLBACK = regex(r"[-_. ]?fallback", re.IGNORECASE)


class Judged(NamedTuple):
    """A role. `why` is the reason for the user; `kernel` is equal for two entries that start the same
    kernel."""

    role: Role
    why: str = ""
    kernel: str = ""


class Root(NamedTuple):
    """The names of this host's root file system, in lower case, and the mount flags of the running one."""

    names: frozenset[str]
    flags: str


UNKNOWN = Root(frozenset(), "")


def judged(
    titles: Sequence[str], kargs: Sequence[Karg], root: Root, path: str = "", initrds: Sequence[str] = ()
) -> Judged:
    """Return the role of an entry. `titles` are all of its names, `root` is the root file system of this
    host, `path` and `initrds` are the files of the kernel and its initramfs. See `settled` for entries called
    fallback."""
    kernel = kernel_of(path)
    if another_root(kargs, root):
        return Judged(Role.FOREIGN, f"its root={value(kargs, 'root')} is of another system", kernel)
    if any(karg.text in _MEDIUM or karg.name in _MEDIUM for karg in kargs):
        return Judged(Role.FOREIGN, "it starts an installation medium", kernel)
    flags = value(kargs, "rootflags")
    if "snapshots/" in flags and flags != root.flags:
        # of snapper (.snapshots, @snapshots) and Timeshift; openSUSE runs from one of them
        return Judged(Role.SNAPSHOT, "it starts a snapshot", kernel)
    if any(karg.text in _SINGLE for karg in kargs) or value(kargs, "systemd.unit") in _SINGLE_UNITS:
        return Judged(Role.RECOVERY, "it starts without the services of the system", kernel)
    if word := next(filter(None, map(_SPARE.search, titles)), None):
        return Judged(Role.RECOVERY, f"its name says {word[0]}", kernel)
    if any(map(_FALLBACK.search, (*titles, path, *initrds))):
        return Judged(Role.RECOVERY, FALLBACK, kernel)
    return Judged(Role.NORMAL, "", kernel)


def kernel_of(path: str) -> str:
    """Return a name that is the same for the image of a kernel and that of its fallback."""
    return _FALLBACK.sub("", path.lower())


def settled(every: Sequence[Judged]) -> list[Judged]:
    """Return the judgements of a whole menu: a fallback is spare if another entry starts the same kernel;
    otherwise it is what this host boots."""
    usual = {judgement.kernel for judgement in every if judgement.role is Role.NORMAL}
    alone = [judgement.why == FALLBACK and judgement.kernel not in usual for judgement in every]
    return [
        Judged(Role.NORMAL) if spared else judgement for judgement, spared in zip(every, alone, strict=True)
    ]


def root_of(view: HostView) -> Root:
    """Return the names of the root file system from fstab and from the running kernel's command line, which
    in a chroot belongs to another system: either counts."""
    lines = (line.split() for line in text_or_empty(view, "/etc/fstab").splitlines())
    devices = {words[0] for words in lines if len(words) > 1 and words[1] == "/" and words[0][0] != "#"}
    running = split(text_or_empty(view, "/proc/cmdline"))
    names = (name.lower().replace('"', "") for name in (*devices, value(running, "root")) if name)
    return Root(frozenset(names), value(running, "rootflags"))


def another_root(kargs: Sequence[Karg], root: Root) -> bool:
    """Return whether the arguments name another file system than this host's. A name of another kind (UUID,
    PARTUUID, device) cannot be compared, and counts as this host's."""
    kind, named = _form(value(kargs, "root").lower())
    alike = {name for of, name in map(_form, root.names) if kind and of == kind}
    return bool(alike) and named not in alike


def _form(name: str) -> tuple[str, str]:
    """Return the kind of a file system's name, and the name itself. Which disk is `sda` or `nvme0` may change
    with each boot, so two partitions are compared only if their disk has the same name: within one boot that
    is the same disk, and its partitions keep their numbers."""
    if link := _LINK.fullmatch(name):
        return link[1], link[2]
    if partition := _PARTITION.fullmatch(name):
        return partition[1], partition[2]
    if name.startswith(_MAPPER):
        return _MAPPER, name.removeprefix(_MAPPER)
    kind, equals, named = name.partition("=")
    return (kind, named) if equals else ("", name)


def value(kargs: Sequence[Karg], name: str) -> str:
    """Return the value of the winning argument; empty where it has none, or where there is no such
    argument."""
    karg = last(kargs, name)
    return (karg.value if karg else "") or ""
