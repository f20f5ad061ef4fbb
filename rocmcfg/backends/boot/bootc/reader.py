"""The deployments of a bootc host."""

from __future__ import annotations

from rocmcfg.backends.boot.menu import Menu
from rocmcfg.backends.boot.ostree import deployments
from rocmcfg.host.view import HostView
from rocmcfg.model.edit import Editor

NAME = "bootc"
EDITED: dict[str, Editor] = {}
TOOL = "bootc"
PROGRAM = "/usr/bin/bootc"


def here(view: HostView) -> bool:
    return view.exists(deployments.BOOTED) and view.exists(PROGRAM)


def read(view: HostView) -> Menu:
    return deployments.read(view, TOOL)
