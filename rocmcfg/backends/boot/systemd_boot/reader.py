"""The entries that systemd-boot shows."""

from __future__ import annotations

from rocmcfg.backends.boot import entry_options, loader_entries
from rocmcfg.host.view import HostView

NAME = "systemd-boot"
read = entry_options.menu
_LOADERS = ("systemd-bootx64.efi", "systemd-bootaa64.efi", "systemd-bootia32.efi")


def here(view: HostView) -> tuple[str, ...]:
    return loader_entries.folders(view) if installed(view) else ()


def installed(view: HostView) -> str:
    """The loader itself, where its partition can be looked into."""
    paths = (f"{mounted}/EFI/systemd/{name}" for mounted in loader_entries.PARTITIONS for name in _LOADERS)
    return next(filter(view.exists, paths), "")
