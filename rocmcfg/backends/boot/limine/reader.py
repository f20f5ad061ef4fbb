"""The entries that Limine shows, in whichever limine.conf there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from rocmcfg.backends.boot import appended_assignment, entry_options, loader_entries, marked_arguments, roles
from rocmcfg.backends.boot.limine import entry_tool, limine_conf
from rocmcfg.backends.boot.limine.limine_conf import Section
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.kargs import split

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import Editor

NAME = "limine"
EDITED: Mapping[str, Editor] = {
    entry_tool.DEFAULTS: appended_assignment,
    entry_options.CMDLINE: marked_arguments,
}
OLD = "it is written for a Limine before version 8 (KEY=value)"
_FOLDERS = ("", "/limine", "/boot", "/boot/limine")  # on each partition, and every folder of /EFI
_IMAGES = ("efi", "efi_chainload", "uefi")  # protocols that start an EFI program
_MACHINE = re.compile(r"\bmachine-id=(\w+)")  # of the system that limine-entry-tool wrote it for
_VERSION = re.compile(r"\bversion: (\S+)")


def here(view: HostView) -> bool:
    return bool(configurations(view))


def configurations(view: HostView) -> tuple[str, ...]:
    """Every limine.conf: which of several Limine takes depends on where itself was started from."""
    return _found(view, "limine.conf") or _found(view, "limine.cfg")


def folders(view: HostView) -> Iterator[str]:
    """Where Limine and its configuration may lie (CONFIG.md, "Location of the config file")."""
    for mounted in loader_entries.PARTITIONS:
        yield from (f"{mounted}{folder}" for folder in _FOLDERS)
        yield from (f"{mounted}/EFI/{name}" for name in view.names(f"{mounted}/EFI"))


def _found(view: HostView, name: str) -> tuple[str, ...]:
    paths = (f"{folder}/{name}" for folder in folders(view))
    return tuple({view.real_path(path): path for path in paths if view.exists(path)}.values())


def read(view: HostView) -> Menu:
    role_of = judge(view)

    def entries(path: str, text: str) -> Iterator[Entry]:
        return (
            _entry(path, one, role_of(one)) for one in limine_conf.sections(text) if one.first("protocol")
        )

    found = configurations(view)
    menu = entry_options.menu_of(view, found, "limine.conf", entries)
    old = any(limine_conf.old_syntax(text_or_empty(view, one)) for one in found)
    return menu._replace(unreadable=OLD) if old else menu


def sections(view: HostView) -> Iterator[tuple[str, Section, Role]]:
    """Every entry that starts something, with its file and what it is for."""
    role_of = judge(view)
    for path in configurations(view):
        for section in limine_conf.sections(text_or_empty(view, path)):
            if section.first("protocol"):
                yield path, section, role_of(section)


def judge(view: HostView) -> Callable[[Section], Role]:
    machine_id, root = entry_options.machine_id(view), roles.root_of(view)

    def role_of(section: Section) -> Role:
        made_for = _MACHINE.findall(section.comments)
        if "Snapshots" in section.titles[:-1]:
            return Role.SNAPSHOT  # the tree of limine-snapper-sync
        if section.first("protocol").lower() not in ("linux", *_IMAGES) or not section.cmdline:
            return Role.FOREIGN
        if made_for and machine_id and made_for[-1] != machine_id:
            return Role.FOREIGN
        names = (*section.titles, *section.options.get("module_path", ()))
        return roles.told(names, split(section.cmdline), root)

    return role_of


def is_image(section: Section) -> bool:
    """Whether the entry starts a unified kernel image, and not another loader or a bare kernel."""
    return section.first("protocol").lower() in _IMAGES and "/efi/linux/" in section.kernel.lower()


def _entry(path: str, section: Section, role: Role) -> Entry:
    version = _VERSION.search(section.comments)
    return Entry(
        "/".join(section.titles),
        section.titles[-1],
        section.kernel,
        version[1] if version else "",
        tuple(map(limine_conf.file_of, section.options.get("module_path", ()))),
        split(section.cmdline, path),
        role,
    )
