"""The menu that grub-mkconfig, or grub2-mkconfig, generates."""

from __future__ import annotations

from rocmcfg.backends.boot.grub_files.mkconfig import read_menu, reads_entries
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.host.view import HostView

NAME = "grub-mkconfig"
DEFAULTS = "/etc/default/grub"


def layout(view: HostView) -> tuple[str, str]:
    """The menu, and what makes it. openSUSE and Fedora call all of GRUB 2 so, to tell it from GRUB 0.97."""
    name = "grub2" if view.exists("/boot/grub2/grub.cfg") else "grub"
    return f"/boot/{name}/grub.cfg", f"{name}-mkconfig"


def here(view: HostView) -> tuple[str, ...]:
    menu, _ = layout(view)
    return (menu,) if view.exists(menu) and not reads_entries(view, menu) else ()


def read(view: HostView) -> Menu:
    return read_menu(view, *layout(view), DEFAULTS, f"a line of {DEFAULTS}")
