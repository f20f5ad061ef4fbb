"""The entries that sdboot-manage keeps: those of systemd-boot."""

from __future__ import annotations

from rocmcfg.backends.boot import entry_options, loader_entries
from rocmcfg.backends.boot.sdboot_manage import PROGRAM
from rocmcfg.host.view import HostView

NAME = "sdboot-manage"
read = entry_options.menu


def here(view: HostView) -> bool:
    return view.exists(PROGRAM) and bool(loader_entries.folders(view))
