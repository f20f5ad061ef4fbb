"""The deployments of a host with rpm-ostree."""

from __future__ import annotations

from rocmcfg.backends.boot.menu import Menu
from rocmcfg.backends.boot.ostree import deployments
from rocmcfg.host.view import HostView
from rocmcfg.model.edit import Editor

NAME = "rpm-ostree"
EDITED: dict[str, Editor] = {}
TOOL = "rpm-ostree"
PROGRAM = "/usr/bin/rpm-ostree"


def here(view: HostView) -> bool:
    return view.exists(deployments.BOOTED) and view.exists(PROGRAM)


def read(view: HostView) -> Menu:
    return deployments.read(view, TOOL)
