"""The entries that sdboot-manage keeps: those of systemd-boot."""

from __future__ import annotations

from rocmcfg.backends.boot import entry_options, loader_entries
from rocmcfg.backends.boot.sdboot_manage import PROGRAM
from rocmcfg.host.view import HostView

NAME = "sdboot-manage"
CONFIG = "/etc/sdboot-manage.conf"
read = entry_options.menu


def here(view: HostView) -> tuple[str, ...]:
    folders = loader_entries.folders(view) if view.exists(PROGRAM) else ()
    return (*folders, *filter(view.exists, (PROGRAM, CONFIG))) if folders else ()
