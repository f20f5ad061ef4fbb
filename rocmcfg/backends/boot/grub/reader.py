"""The menu that update-grub generates, and the names of our files that feed it."""

from __future__ import annotations

from rocmcfg.backends.boot.grub_files.mkconfig import read_menu, reads_entries
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.backends.keep_list import FOLDER as KEPT_BY_UPDATES
from rocmcfg.host.view import HostView

NAME = "grub"
DROP_IN = "/etc/default/grub.d/zz-rocmcfg.cfg"
PATH = "/boot/grub/grub.cfg"
STEAMOS = "/efi/EFI/steamos/grub.cfg"
TOOL = "update-grub"
PROGRAMS = ("/usr/sbin/update-grub", "/sbin/update-grub", "/usr/bin/update-grub")
# What a trial adds to every normal entry: a variable that GRUB fills, for one boot. Three z: it is read
# behind the drop-in of what is applied, in every locale, so that the trial's arguments win.
TRIAL_DROP_IN = "/etc/default/grub.d/zzz-rocmcfg-trial.cfg"


def on_steamos(view: HostView) -> bool:
    """Whether an update leaves what we write there: that of SteamOS before 3.6 would not."""
    return view.exists(STEAMOS) and view.is_dir(KEPT_BY_UPDATES)


def menu(view: HostView) -> str:
    return STEAMOS if on_steamos(view) else PATH


def here(view: HostView) -> tuple[str, ...]:
    programs = tuple(filter(view.exists, PROGRAMS))
    return programs if view.exists(menu(view)) and programs and has_entries(view) else ()


def has_entries(view: HostView) -> bool:
    """Whether its entries stand in the menu, and are no files of their own instead."""
    return not reads_entries(view, menu(view)) or bool(read(view).normal)


def read(view: HostView) -> Menu:
    return read_menu(view, menu(view), TOOL, DROP_IN, "a drop-in")
