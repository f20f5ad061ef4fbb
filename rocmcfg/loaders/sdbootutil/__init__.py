"""sdbootutil: openSUSE with boot entries in files, shown by systemd-boot or by GRUB (grub2-bls).

rocmcfg writes the arguments into a file of its own, /etc/kernel/cmdline.d/90-rocmcfg.conf. sdbootutil makes
the options of every entry from /etc/kernel/cmdline and that folder; `sdbootutil update-all-entries` does so
at once for the entries of the running snapshot. It reads the folder twice, so each argument is on the line
twice, which changes nothing.

sdbootutil rewrites all options, so rocmcfg refuses three cases before it writes anything: entries with
arguments that are in no file; a host without /etc/kernel/cmdline, where sdbootutil would use the running
kernel's line; and a last line without a line break, which sdbootutil skips. If the TPM unlocks a disk,
sdbootutil predicts the new measurements, but not those of a trial, so the user needs the recovery key at
hand. With GRUB (grub2-bls) there is no trial. If sdbootutil rewrites all entries before the trial boots, the
copy loses the arguments.

Source: sdbootutil of 2026-08-21 (12630b2). Tested with a stand-in, not on a real host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.shared import entry_options, loader_entries, roles, specials
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.loaders.shared.contract import Observed, Owned
from rocmcfg.loaders.shared.menu import Entry, Menu, Role, behind_separator, not_asked_for, size, too_long
from rocmcfg.loaders.shared.one_shot import SecondEntry
from rocmcfg.model.desired import DesiredSetting, karg_line
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.plan import Activation

TOOL = "sdbootutil"
FOLDER = "/etc/kernel/cmdline.d"
CARRIER = f"{FOLDER}/90-rocmcfg.conf"
_BASES = ("/etc/kernel/cmdline", "/usr/lib/kernel/cmdline")  # the first existing one counts
_SYSCONFIG = "/etc/sysconfig/bootloader"
# sdbootutil determines these itself, from the root file system
_FOUND_OUT = ("root", "rootflags", "systemd.machine_id", "initrd", "BOOT_IMAGE")
# where sdbootutil keeps the values that the TPM expects; where a disk is set to be unlocked by the TPM
_PCRLOCK, _CRYPTTAB = "/var/lib/systemd/pcrlock.json", "/etc/crypttab"


class _Sdbootutil(Chain):
    """Follows `create_boot_options`, `sedrootflags` and `update_entry_conf`. sdbootutil reads editors' backup
    files too, and uses the shell's `read`, which skips a last line without a line break."""

    NAME = TOOL
    PROGRAM = "/usr/bin/sdbootutil"
    DECISIVE = True
    OWNED: ClassVar[Owned] = {CARRIER: None}
    MOUNT_POINTS = loader_entries.PARTITIONS
    TITLE = "sdbootutil (openSUSE with BLS entries)"
    GENERATORS = (TOOL,)
    SPECIAL = (*specials.GRUB, *specials.KERNEL)  # GRUB may read its entries, today or later
    TRIAL = SecondEntry()
    MANUAL = f"write to {CARRIER}: {{kargs}}\nthen: sudo sdbootutil update-all-entries"

    def here(self, view: HostView) -> tuple[str, ...]:
        return loader_entries.folders(view) if view.exists(self.PROGRAM) else ()

    def read(self, view: HostView) -> Menu:
        running = _snapshot(view)
        menu = entry_options.menu_with(view, (_of(entry, running) for entry in loader_entries.read(view)))
        dropped_by = f"/etc/kernel/cmdline, or a file of {FOLDER}"
        return menu._replace(tool=TOOL, carrier=CARRIER, dropped_by=dropped_by)

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        loader = re.search(r"^LOADER_TYPE=[\"']?([\w-]+)", text_or_empty(view, _SYSCONFIG), re.M)
        ours = loader is not None and loader[1] in ("systemd-boot", "grub2-bls")
        named = (f"{_SYSCONFIG}: {loader[0]}",) if loader is not None and ours else ()
        entries = tuple(folder for folder in loader_entries.folders(view) if view.names(folder))
        here = view.exists(self.PROGRAM) and (ours if loader else entries)
        return (self.PROGRAM, *entries, *named) if here else ()

    def observe(self, view: HostView) -> Observed:
        paths = sorted(f"{FOLDER}/{name}" for name in view.names(FOLDER) if not name.startswith("."))
        first = [*filter(None, (_base(view),)), *(path for path in paths if path < CARRIER)]
        before = [karg for path in first for karg in _arguments_in(view, path)]
        later = tuple(karg for path in paths if path > CARRIER for karg in _arguments_in(view, path))
        return Observed(self.menu(view), (*before, *later), _arguments_in(view, CARRIER), later)

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        return {CARRIER: entry_options.carrier(settings, karg_line(settings))}

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        """Return the step that rewrites all entries. sdbootutil copies a new entry over the old one
        (`update_entry_conf`): if it is interrupted there, an empty file is left, and the next run treats
        entries without root= as foreign."""
        command, folders = (TOOL, "update-all-entries"), loader_entries.folders(view)
        entries = (path for folder in folders for path in loader_entries.paths(view, folder))
        kept = tuple(path for path in entries if loader_entries.entry_id(path) != loader_entries.TRIAL_ID)
        return (Activation(TOOL, (command,), reason, kept, writes_at=folders),)

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        line = [*(k.text for k in observed.foreign), *kargs, *(k.text for k in observed.later), *kargs]
        yield from too_long(size(line), CARRIER, "shorten /etc/kernel/cmdline")
        yield from behind_separator(observed.foreign, kargs)
        base = _base(view)
        text = text_or_empty(view, base) if base else ""
        if not base:
            yield error(
                "RC3146",
                "there is no /etc/kernel/cmdline, so sdbootutil would use the running kernel's command line",
                detail="its arguments would become permanent, and rocmcfg's would remain even after an undo",
                location=_BASES[0],
                hint="write the options of an entry into that file, without root=, rootflags= and initrd=: "
                "sdbootutil show-entry VERSION",
            )
        elif text and not text.endswith("\n"):
            summary = f"the last line of {base} does not end with a line break, so sdbootutil skips it"
            detail = text.rpartition("\n")[2]
            yield error("RC3145", summary, detail=detail, location=base, hint=f"end the line: echo >> {base}")
        else:
            asked_for, where = (*observed.foreign, *observed.ours), f"{_BASES[0]} or a file in {FOLDER}"
            yield from not_asked_for(observed.menu, asked_for, _FOUND_OUT, TOOL, where)
        if view.exists(_PCRLOCK) or "tpm2-device=" in text_or_empty(view, _CRYPTTAB):
            yield warning(
                "RC3148",
                "the TPM, which measures the kernel command line, unlocks a disk of this host",
                detail="sdbootutil predicts the new measurements; if it cannot, the next boot asks for the "
                "recovery key",
                location=_CRYPTTAB,
                hint="have the recovery key at hand; `sudo sdbootutil update-predictions` repeats the "
                "prediction",
            )

    def unmanaged(self, view: HostView) -> Iterator[Diagnostic]:
        menu, running = self.menu(view), _number(_snapshot(view))
        others = (entry for entry in menu.entries if entry.role is Role.SNAPSHOT)
        newer = [other.title for other in others if _number(_subvolume_of(other.kargs)) > running]
        if newer:
            yield warning(
                "RC3150",
                "entries of a snapshot newer than the running one do not get the arguments: "
                + ", ".join(newer),
                location=menu.path,
                hint="if that snapshot boots next, reboot into it first, then run the command again",
            )


def _snapshot(view: HostView) -> str:
    """Return the snapshot that is mounted as root; empty where there is none."""
    rows = [line.split() for line in text_or_empty(view, "/proc/mounts").splitlines()]
    subvolume = _subvolume(next((row[3] for row in reversed(rows) if len(row) > 3 and row[1] == "/"), ""))
    return subvolume if "/.snapshots/" in f"/{subvolume}" else ""


def _subvolume_of(kargs: tuple[Karg, ...]) -> str:
    """Return the subvolume that an entry mounts as root; empty where it does not say."""
    return _subvolume(roles.value(kargs, "rootflags"))


def _subvolume(options: str) -> str:
    subvolumes = (
        option.removeprefix("subvol=") for option in options.split(",") if option.startswith("subvol=")
    )
    return next(subvolumes, "").strip("/")


def _of(entry: Entry, running: str) -> Entry:
    if entry.role not in (Role.NORMAL, Role.SNAPSHOT):
        return entry
    other = running and _subvolume_of(entry.kargs) not in ("", running)
    return entry._replace(role=Role.SNAPSHOT if other else Role.NORMAL)


def _base(view: HostView) -> str:
    return next(filter(view.exists, _BASES), "")


def _arguments_in(view: HostView, path: str) -> tuple[Karg, ...]:
    """Return the arguments that sdbootutil reads from a file."""
    lines = text_or_empty(view, path).split("\n")[:-1]
    return tuple(karg for line in lines if not line.startswith("#") for karg in split(line, path))


def _number(subvolume: str) -> int:
    match = re.search(r"\.snapshots/([0-9]{1,18})/", subvolume)
    return int(match[1]) if match else 0


BACKEND = _Sdbootutil()
