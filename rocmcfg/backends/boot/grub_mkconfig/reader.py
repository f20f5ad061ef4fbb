"""The menu that grub-mkconfig, or grub2-mkconfig, generates."""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.backends.boot.grub_files.mkconfig import read_menu, reads_entries
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.host.view import HostView

NAME = "grub-mkconfig"
DEFAULTS = "/etc/default/grub"
EDITED: tuple[str, ...] = (DEFAULTS,)


class Layout(NamedTuple):
    menu: str
    tool: str


# openSUSE and Fedora call everything of GRUB 2 grub2, to tell it from GRUB 0.97
_GRUB2 = Layout("/boot/grub2/grub.cfg", "grub2-mkconfig")
_GRUB = Layout("/boot/grub/grub.cfg", "grub-mkconfig")


def layout(view: HostView) -> Layout:
    return _GRUB2 if view.exists(_GRUB2.menu) else _GRUB


def here(view: HostView) -> bool:
    menu = layout(view).menu
    return view.exists(menu) and not reads_entries(view, menu)


def read(view: HostView) -> Menu:
    return read_menu(view, *layout(view), DEFAULTS, f"a line of {DEFAULTS}")
