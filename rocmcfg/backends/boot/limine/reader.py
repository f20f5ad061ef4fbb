"""The entries that Limine shows, in whichever limine.conf there is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.backends.boot import appended_assignment, entry_options, loader_entries, marked_arguments, roles
from rocmcfg.backends.boot.entry_options import Written
from rocmcfg.backends.boot.limine import entry_tool, limine_conf
from rocmcfg.backends.boot.limine.limine_conf import IMAGES, Section
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.edit import Editor
from rocmcfg.model.kargs import split

NAME = "limine"
EDITED: dict[str, Editor] = {
    entry_tool.DEFAULTS: appended_assignment,
    entry_options.CMDLINE: marked_arguments,
}
OLD = "it is written for a Limine before version 8 (KEY=value)"
_FOLDERS = ("", "/limine", "/boot", "/boot/limine")
_MACHINE = re.compile(r"\bmachine-id=(\w+)")  # of the system that limine-entry-tool wrote it for
_VERSION = re.compile(r"\bversion: (\S+)")


def here(view: HostView) -> bool:
    return bool(files(view))


def files(view: HostView) -> tuple[str, ...]:
    """Every limine.conf: which of several Limine takes depends on where itself was started from."""
    named = ([f"{folder}/{name}" for folder in folders(view)] for name in ("limine.conf", "limine.cfg"))
    return next(filter(None, (loader_entries.once(view, paths) for paths in named)), ())


def folders(view: HostView) -> Iterator[str]:
    """Where Limine and its configuration may lie (CONFIG.md, "Location of the config file")."""
    return loader_entries.efi_folders(view, _FOLDERS)


def read(view: HostView) -> Menu:
    found = files(view)
    menu = entry_options.menu_of(view, found, "limine.conf", written)
    old = any(limine_conf.old_syntax(text_or_empty(view, path)) for path in found)
    return menu._replace(unreadable=OLD) if old else menu


def written(view: HostView, path: str, text: str) -> Iterator[Written]:
    for one, role in _judged(view, text):
        version = _VERSION.search(one.comments)
        name, release = "/".join(one.titles), version[1] if version else ""
        kargs = split(one.cmdline, path)
        entry = Entry(name, one.titles[-1], one.kernel, release, one.initrds, kargs, role)
        yield Written(entry if one.protocol else None, one.start, one.end)


def sections(view: HostView) -> Iterator[tuple[Section, Role]]:
    """Every entry as it is written, and what it is for."""
    for path in files(view):
        yield from _judged(view, text_or_empty(view, path))


def _judged(view: HostView, text: str) -> Iterator[tuple[Section, Role]]:
    machine_id, root = entry_options.machine_id(view), roles.root_of(view)
    for one in limine_conf.sections(text):
        of = _MACHINE.findall(one.comments)[-1:]
        another = bool(of and machine_id) and of != [machine_id]
        if "Snapshots" in one.titles[:-1]:
            role = Role.SNAPSHOT  # the tree of limine-snapper-sync
        elif another or one.protocol not in ("linux", *IMAGES) or not one.cmdline:
            role = Role.FOREIGN
        else:
            names = (*one.titles, *one.options.get("module_path", ()))
            role = roles.told(names, split(one.cmdline), root)
        yield one, role
