"""The entries that kernelstub writes."""

from __future__ import annotations

import json
from typing import Any

from rocmcfg.backends.boot import entry_options, loader_entries
from rocmcfg.backends.boot.kernelstub import PROGRAM
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.host.view import HostView, Unreadable

NAME = "kernelstub"
CONFIGURATION = "/etc/kernelstub/configuration"


def here(view: HostView) -> tuple[str, ...]:
    found = (CONFIGURATION, PROGRAM)
    return (*found, *loader_entries.folders(view)) if all(map(view.exists, found)) else ()


def user(view: HostView) -> dict[str, Any]:
    """What the configuration says for this host (kernelstub/config.py). Raises Unreadable."""
    text = view.text(CONFIGURATION)
    try:
        found = json.loads(text or "")
        options = found["user"]["kernel_options"]
    except (ValueError, KeyError, TypeError) as problem:
        raise Unreadable(CONFIGURATION, "it is not what kernelstub writes") from problem
    if not isinstance(options, list) or not all(isinstance(one, str) for one in options):
        raise Unreadable(CONFIGURATION, "its kernel_options are no list of words")
    known: dict[str, Any] = found["user"]
    return known


def read(view: HostView) -> Menu:
    found = entry_options.menu_with(view, map(_of, loader_entries.read(view)))
    return found._replace(tool=NAME, dropped_by=CONFIGURATION)


def _of(entry: Entry) -> Entry:
    """It writes NAME-current and NAME-oldkern and leaves others alone (kernelstub/installer.py)."""
    if entry.id.endswith(("-current", "-oldkern")):
        return entry
    return entry._replace(role=Role.RECOVERY if entry.id.startswith("Recovery-") else Role.FOREIGN)
