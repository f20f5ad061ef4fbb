"""The rows that rEFInd offers for each kernel beside a refind_linux.conf."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from rocmcfg.backends.boot import entry_options, loader_entries, roles
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.backends.boot.refind import rows
from rocmcfg.backends.boot.refind.rows import Row
from rocmcfg.host.view import HostView
from rocmcfg.model.kargs import split

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import Editor

NAME = "refind"
EDITED: Mapping[str, Editor] = {}
_NAMES = ("refind_linux.conf", "refind-linux.conf")  # the first of them in a folder counts
_PROGRAM = re.compile(r"refind_(?:x64|aa64|ia32)\.efi|refind\.conf")


def here(view: HostView) -> bool:
    return bool(files(view))


def files(view: HostView) -> tuple[str, ...]:
    """The files that hold rows, each beside the kernels that it is for."""
    found = (
        next((f"{folder}/{name}" for name in _NAMES if view.exists(f"{folder}/{name}")), "")
        for folder in _folders(view)
    )
    return tuple({view.real_path(path): path for path in found if path}.values())


def programs(view: HostView) -> tuple[str, ...]:
    """rEFInd itself and its configuration, where their partition can be looked into."""
    found = (
        f"{folder}/{name}"
        for folder in _folders(view)
        for name in view.names(folder)
        if _PROGRAM.fullmatch(name.lower())
    )
    return tuple({view.real_path(path): path for path in found}.values())


def _folders(view: HostView) -> Iterator[str]:
    for mounted in loader_entries.PARTITIONS:
        yield mounted
        yield from (f"{mounted}/EFI/{name}" for name in view.names(f"{mounted}/EFI"))


def read(view: HostView) -> Menu:
    role_of = judge(view)

    def entries(path: str, text: str) -> Iterator[Entry]:
        for row in rows.rows(text):
            yield Entry(row.title, row.title, "", "", (), split(row.arguments, path), role_of(row))

    return entry_options.menu_of(view, files(view), _NAMES[0], entries)


def judge(view: HostView) -> Callable[[Row], Role]:
    root = roles.root_of(view)
    return lambda row: roles.told((row.title,), split(row.arguments), root)
