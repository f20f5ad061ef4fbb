"""The entries of the snapshot that runs, which sdbootutil keeps."""

from __future__ import annotations

from rocmcfg.backends.boot import entry_options, loader_entries, roles
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.backends.boot.sdbootutil import PROGRAM
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.kargs import Karg

NAME = "sdbootutil"
FOLDER = "/etc/kernel/cmdline.d"
CARRIER = f"{FOLDER}/90-rocmcfg.conf"


def here(view: HostView) -> tuple[str, ...]:
    return loader_entries.folders(view) if view.exists(PROGRAM) else ()


def read(view: HostView) -> Menu:
    running = snapshot(view)
    found = entry_options.menu_with(view, (_of(entry, running) for entry in loader_entries.read(view)))
    dropped_by = f"/etc/kernel/cmdline, or a file of {FOLDER}"
    return found._replace(tool=NAME, carrier=CARRIER, dropped_by=dropped_by)


def snapshot(view: HostView) -> str:
    """The subvolume of the snapshot that is mounted as root; empty where there is none."""
    rows = [line.split() for line in text_or_empty(view, "/proc/mounts").splitlines()]
    found = _subvolume(next((row[3] for row in reversed(rows) if len(row) > 3 and row[1] == "/"), ""))
    return found if "/.snapshots/" in f"/{found}" else ""


def subvolume(kargs: tuple[Karg, ...]) -> str:
    """Which one an entry mounts as root; empty where it does not say."""
    return _subvolume(roles.value(kargs, "rootflags"))


def _subvolume(options: str) -> str:
    found = (option.removeprefix("subvol=") for option in options.split(",") if option.startswith("subvol="))
    return next(found, "").strip("/")


def _of(entry: Entry, running: str) -> Entry:
    if entry.role not in (Role.NORMAL, Role.SNAPSHOT):
        return entry
    other = running and subvolume(entry.kargs) not in ("", running)
    return entry._replace(role=Role.SNAPSHOT if other else Role.NORMAL)
