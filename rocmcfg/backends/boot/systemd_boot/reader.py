"""The entries that systemd-boot shows, and the names of our files that feed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocmcfg.backends.boot import loader_entries, marked_arguments
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.host.view import HostView, text_or_empty

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import Editor

NAME = "systemd-boot"
CARRIER = "/etc/rocmcfg/kernel-arguments"
CMDLINE = "/etc/kernel/cmdline"
EDITED: Mapping[str, Editor] = {CMDLINE: marked_arguments}
_LOADERS = ("systemd-bootx64.efi", "systemd-bootaa64.efi", "systemd-bootia32.efi")


def here(view: HostView) -> bool:
    return bool(installed(view)) and bool(loader_entries.folders(view))


def installed(view: HostView) -> str:
    """The loader itself, where its partition can be looked into."""
    paths = (f"{mounted}/EFI/systemd/{name}" for mounted in loader_entries.PARTITIONS for name in _LOADERS)
    return next(filter(view.exists, paths), "")


def read(view: HostView) -> Menu:
    """A partition for root's eyes alone hides its entries (the mode of most ESPs)."""
    entries = loader_entries.read(view, machine_id(view))
    hidden = [mounted for mounted in loader_entries.PARTITIONS if view.hidden(mounted)]
    unreadable = f"only root may look into {hidden[0]}" if hidden and not entries else ""
    folder = next(iter(loader_entries.folders(view)), hidden[0] if hidden else "/boot/loader/entries")
    return Menu(entries, unreadable, folder, "", CARRIER, "an entry without a line of options")


def machine_id(view: HostView) -> str:
    return text_or_empty(view, "/etc/machine-id").strip()
