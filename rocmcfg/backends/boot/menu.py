"""What a boot loader will boot: all that `verify` needs to know of one."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from rocmcfg.model.kargs import Karg


class Role(str, Enum):
    """What an entry of the boot menu is for. Our arguments belong on the normal ones."""

    NORMAL = "normal"
    RECOVERY = "recovery"  # stays as it is: it must boot whatever we write
    SNAPSHOT = "snapshot"  # an older state of this system
    FOREIGN = "foreign"  # another system, or an entry that somebody wrote by hand


class Entry(NamedTuple):
    """An entry of the boot menu. `id` is the loader's own name for it; `path` is the kernel's file and
    `initrds` those of its initramfs, as the loader names them; `release` is empty where no name tells it.
    `kargs` are the arguments that the kernel gets, without the kernel's path."""

    id: str
    title: str
    path: str
    release: str
    initrds: tuple[str, ...]
    kargs: tuple[Karg, ...]
    role: Role


class Menu(NamedTuple):
    """What will boot. `path` is the file that a program generated, `tool` that program; both are empty where
    entries are files of their own. `carrier` is the file that our arguments are written to. `unreadable` says
    why there are no entries."""

    entries: tuple[Entry, ...]
    unreadable: str
    path: str
    tool: str
    carrier: str

    @property
    def normal(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.role is Role.NORMAL)
