"""The menu that update-grub generates, and the names of our files that feed it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocmcfg.backends.boot.grub_files.mkconfig import read_menu, runs_blscfg
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.host.view import HostView

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import Editor

NAME = "grub"
EDITED: Mapping[str, Editor] = {}
DROP_IN = "/etc/default/grub.d/zz-rocmcfg.cfg"
PATH = "/boot/grub/grub.cfg"
TOOL = "update-grub"
PROGRAMS = ("/usr/sbin/update-grub", "/sbin/update-grub")
# What a trial adds to every normal entry: a variable that GRUB fills, for one boot.
TRIAL_DROP_IN = "/etc/default/grub.d/zzz-rocmcfg-trial.cfg"


def here(view: HostView) -> bool:
    return view.exists(PATH) and any(view.exists(program) for program in PROGRAMS) and has_entries(view)


def has_entries(view: HostView) -> bool:
    """Whether its entries stand in the menu, and are no files of their own instead."""
    return not runs_blscfg(view, PATH) or bool(read(view).normal)


def read(view: HostView) -> Menu:
    return read_menu(view, PATH, TOOL, DROP_IN, "a drop-in")
