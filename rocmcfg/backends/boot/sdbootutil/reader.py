"""The entries of the snapshot that runs, which sdbootutil keeps."""

from __future__ import annotations

from rocmcfg.backends.boot import loader_entries
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.edit import Editor
from rocmcfg.model.kargs import Karg, last

NAME = "sdbootutil"
EDITED: dict[str, Editor] = {}
FOLDER = "/etc/kernel/cmdline.d"
CARRIER = f"{FOLDER}/90-rocmcfg.conf"
TOOL = "sdbootutil"
PROGRAM = "/usr/bin/sdbootutil"
_SNAPSHOTS = "/.snapshots/"


def here(view: HostView) -> bool:
    return view.exists(PROGRAM) and bool(loader_entries.folders(view))


def read(view: HostView) -> Menu:
    running = snapshot(view)
    found = [_of(entry, running) for entry in loader_entries.read(view)]
    hidden = [mounted for mounted in loader_entries.PARTITIONS if view.hidden(mounted)]
    unreadable = f"only root may look into {hidden[0]}" if hidden and not found else ""
    folder = next(iter(loader_entries.folders(view)), hidden[0] if hidden else "/boot/efi/loader/entries")
    return Menu(
        tuple(found), unreadable, folder, TOOL, CARRIER, "/etc/kernel/cmdline, or a file of " + FOLDER
    )


def snapshot(view: HostView) -> str:
    """The subvolume of the snapshot that is mounted as root; empty where there is none."""
    rows = [line.split() for line in text_or_empty(view, "/proc/mounts").splitlines()]
    options = next((row[3] for row in reversed(rows) if len(row) > 3 and row[1] == "/"), "")
    named = (option.partition("subvol=")[2] for option in options.split(",") if option.startswith("subvol="))
    found = next(named, "").strip("/")
    return found if _SNAPSHOTS in f"/{found}" else ""


def subvolume(kargs: tuple[Karg, ...]) -> str:
    """Which one an entry mounts as root; empty where it does not say."""
    flags = last(kargs, "rootflags")
    value = flags.value if flags is not None and flags.value else ""
    return next((one.partition("=")[2] for one in value.split(",") if one.startswith("subvol=")), "").strip(
        "/"
    )


def _of(entry: Entry, running: str) -> Entry:
    if entry.role not in (Role.NORMAL, Role.SNAPSHOT):
        return entry
    other = running and subvolume(entry.kargs) not in ("", running)
    return entry._replace(role=Role.SNAPSHOT if other else Role.NORMAL)
