"""refind_linux.conf: the rows that rEFInd offers for each kernel beside it, of a title and its arguments.
Read as rEFInd 0.14.2 reads it (refind/config.c, ReadTokenLine): blanks, `=` and `,` separate, `#` outside of
quotes ends a line, `""` inside of them is one quote."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.backends.boot import entry_options, loader_entries, roles
from rocmcfg.backends.boot.entry_options import Written
from rocmcfg.backends.boot.menu import Entry, Menu
from rocmcfg.host.view import HostView
from rocmcfg.model.kargs import split
from rocmcfg.model.regex import regex

NAME = "refind"
_NAMES = ("refind_linux.conf", "refind-linux.conf")  # the first of them in a folder counts
_PROGRAM = regex(r"refind_(?:x64|aa64|ia32)\.efi|refind\.conf")
_QUOTED = r'"((?:[^"\r\n]|"")*)"'
_ROW = regex(rf"^[ \t]*(?:{_QUOTED}|([^\s\"#=,]+))[ \t=,]+{_QUOTED}[ \t]*(?:#.*)?$")
_NO_ROW = regex(r"^[ \t]*(?:#.*)?$")


def here(view: HostView) -> tuple[str, ...]:
    found = files(view)
    return (*found, *programs(view)) if found else ()


def files(view: HostView) -> tuple[str, ...]:
    """The files that hold rows, each beside the kernels that it is for."""
    named = ([f"{folder}/{name}" for name in _NAMES] for folder in loader_entries.efi_folders(view))
    return loader_entries.once(view, (next(filter(view.exists, paths), "") for paths in named))


def programs(view: HostView) -> tuple[str, ...]:
    """rEFInd itself and its configuration, where their partition can be looked into."""
    folders = loader_entries.efi_folders(view)
    names = ((folder, name) for folder in folders for name in view.names(folder))
    found = (f"{folder}/{name}" for folder, name in names if _PROGRAM.fullmatch(name.lower()))
    return loader_entries.once(view, found)


def read(view: HostView) -> Menu:
    return entry_options.menu_of(view, files(view), _NAMES[0], written)


def written(view: HostView, path: str, text: str) -> Iterator[Written]:
    root, at = roles.root_of(view), 0
    for line in text.split("\n"):
        found = _ROW.match(line.rstrip("\r"))
        if found:
            title = (found[1] or found[2] or "").replace('""', '"')
            kargs = split(found[3].replace('""', '"'), path)
            entry = Entry(title, title, "", "", (), kargs, roles.told((title,), kargs, root))
            yield Written(entry, at + found.start(3), at + found.end(3), '"')
        at += len(line) + 1


def unread(text: str) -> Iterator[int]:
    """The lines, counted from 1, that are no row of two quoted texts."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not _ROW.match(line.rstrip("\r")) and not _NO_ROW.match(line.rstrip("\r")):
            yield number
