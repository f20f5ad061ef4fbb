"""A file in /etc/kernel/cmdline.d, and `sdbootutil update-all-entries` (sdbootutil of 2026-08-21, 12630b2:
`create_boot_options`, `sedrootflags`, `update_entry_conf`).

It reads line by line with the shell's `read`, which gives up on a last line without its end. It reads files
of any name, backups of editors too. It puts the line into each entry with sed, and copies that over it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import loader_entries
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import Role, behind_separator, not_asked_for, size, too_long
from rocmcfg.backends.boot.sdbootutil import reader
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, unique_kargs

NAME = reader.NAME
OWNED: tuple[str, ...] = (reader.CARRIER,)
_BASES = ("/etc/kernel/cmdline", "/usr/lib/kernel/cmdline")  # the first that is there counts
_SYSCONFIG = "/etc/sysconfig/bootloader"
_LOADERS = ("systemd-boot", "grub2-bls")
# what it finds out about the root file system itself
_FOUND_OUT = ("root", "rootflags", "systemd.machine_id", "initrd", "BOOT_IMAGE")
# where it keeps what the TPM expects, and what says that a disk is unlocked by it
_PCRLOCK, _CRYPTTAB = "/var/lib/systemd/pcrlock.json", "/etc/crypttab"


def detect(view: HostView) -> Detection | None:
    if not view.exists(reader.PROGRAM):
        return None
    loader = re.search(r"^LOADER_TYPE=[\"']?([\w-]+)", text_or_empty(view, _SYSCONFIG), re.M)
    said = (f"{_SYSCONFIG}: {loader[0]}",) if loader and loader[1] in _LOADERS else ()
    entries = tuple(folder for folder in loader_entries.folders(view) if view.names(folder))
    if not said and (loader or not entries):
        return None
    return Detection(
        NAME,
        "sdbootutil (openSUSE with BLS entries)",
        (reader.PROGRAM, *entries, *said),
        proof=True,
        supported=True,
        manual=f"write to {reader.CARRIER}: {{kargs}}\nthen: sudo sdbootutil update-all-entries",
    )


def observe(view: HostView) -> Observed:
    menu = reader.read(view)
    before = [karg for path in (_base(view), *_others(view, "")) for karg in _said(view, path)]
    later = tuple(karg for path in _others(view, reader.CARRIER) for karg in _said(view, path))
    ours = _said(view, reader.CARRIER)
    return Observed(menu, (*before, *later), ours, later, (*before, *ours, *later))


def _base(view: HostView) -> str:
    return next((path for path in _BASES if view.exists(path)), "")


def _others(view: HostView, after: str) -> list[str]:
    """The files of the folder before ours, or those after it, as the shell sorts them."""
    paths = sorted(
        f"{reader.FOLDER}/{name}" for name in view.names(reader.FOLDER) if not name.startswith(".")
    )
    return [path for path in paths if (path > after if after else path < reader.CARRIER)]


def _said(view: HostView, path: str) -> tuple[Karg, ...]:
    """What sdbootutil reads of a file."""
    lines = text_or_empty(view, path).split("\n")[:-1] if path else []
    return tuple(karg for line in lines if not line.startswith("#") for karg in split(line, path))


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    from rocmcfg.backends.templates import HEAD, reason

    del view
    kargs = " ".join(setting.karg for setting in unique_kargs(settings))
    content = "".join([HEAD, *map(reason, settings), kargs, "\n"])
    return {reader.CARRIER: content.encode() if kargs else None}


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    command = (reader.TOOL, "update-all-entries")
    return (Activation(reader.TOOL, (command,), reason, writes_at=loader_entries.folders(view)),)


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    lost, told = list(_lines_lost(view)), (*observed.foreign, *observed.ours)
    where = f"{_BASES[0]} or a file in {reader.FOLDER}"
    line = [*(k.text for k in observed.foreign), *kargs, *(k.text for k in observed.later), *kargs]
    return [
        *too_long(size(line), reader.CARRIER, "shorten /etc/kernel/cmdline"),
        *behind_separator(observed.foreign, kargs),
        *(lost or not_asked_for(observed.menu, told, _FOUND_OUT, reader.TOOL, where)),
        *_measured(view),
    ]


def _lines_lost(view: HostView) -> Iterator[Diagnostic]:
    base = _base(view)
    if not base:
        yield error(
            "RC3146",
            "there is no /etc/kernel/cmdline, and sdbootutil would take the line of the kernel that runs",
            detail="what is on it now would stay there for good, ours too after an undo",
            location=_BASES[0],
            hint="write the options of an entry into it, without root=, rootflags= and initrd=: "
            "sdbootutil show-entry VERSION",
        )
        return
    text = text_or_empty(view, base)
    if text and not text.endswith("\n"):
        yield error(
            "RC3145",
            f"the last line of {base} has no end, and sdbootutil leaves such a line out",
            detail=text.rpartition("\n")[2],
            location=base,
            hint=f"end it: echo >> {base}",
        )


def _measured(view: HostView) -> Iterator[Diagnostic]:
    if view.exists(_PCRLOCK) or "tpm2-device=" in text_or_empty(view, _CRYPTTAB):
        yield warning(
            "RC3148",
            "a disk of this host is unlocked by the TPM, which measures the kernel command line",
            detail="sdbootutil predicts the new measurements; where it cannot, the next boot asks for the "
            "recovery key",
            location=_CRYPTTAB,
            hint="have the recovery key at hand; `sudo sdbootutil update-predictions` predicts anew",
        )


def unmanaged(view: HostView) -> list[Diagnostic]:
    menu = reader.read(view)
    running = _number(reader.snapshot(view))
    newer = [
        entry.title
        for entry in menu.entries
        if entry.role is Role.SNAPSHOT and _number(reader.subvolume(entry.kargs)) > running
    ]
    if not newer:
        return []
    return [
        warning(
            "RC3150",
            "entries of a snapshot newer than the one that runs do not get the arguments: "
            + ", ".join(newer),
            location=menu.path,
            hint="if that is what boots next, reboot into it first, then run the command again",
        )
    ]


def _number(subvolume: str) -> int:
    found = re.search(r"\.snapshots/(\d+)/", subvolume)
    return int(found[1]) if found else 0
