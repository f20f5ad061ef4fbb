"""A file in /etc/kernel/cmdline.d, and `sdbootutil update-all-entries` (sdbootutil of 2026-08-21, 12630b2:
`create_boot_options`, `sedrootflags`, `update_entry_conf`). It reads files of any name, backups of editors
too, by the shell's `read`, which gives up on a last line without its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import loader_entries
from rocmcfg.backends.boot.chain import Chain
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import Role, behind_separator, not_asked_for, size, too_long
from rocmcfg.backends.boot.one_shot import SecondEntry
from rocmcfg.backends.boot.sdbootutil import PROGRAM, reader
from rocmcfg.backends.boot.sdbootutil.reader import CARRIER, FOLDER
from rocmcfg.backends.boot.sdbootutil.reader import NAME as TOOL
from rocmcfg.backends.templates import own_file
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, karg_line

_BASES = ("/etc/kernel/cmdline", "/usr/lib/kernel/cmdline")  # the first that is there counts
_SYSCONFIG = "/etc/sysconfig/bootloader"
# what it finds out about the root file system itself
_FOUND_OUT = ("root", "rootflags", "systemd.machine_id", "initrd", "BOOT_IMAGE")
# where it keeps what the TPM expects, and what says that a disk is unlocked by it
_PCRLOCK, _CRYPTTAB = "/var/lib/systemd/pcrlock.json", "/etc/crypttab"


class _Sdbootutil(Chain):
    OWNED: tuple[str, ...] = (CARRIER,)
    TITLE = "sdbootutil (openSUSE with BLS entries)"
    TRIAL = SecondEntry()
    MANUAL = f"write to {CARRIER}: {{kargs}}\nthen: sudo sdbootutil update-all-entries"

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        loader = re.search(r"^LOADER_TYPE=[\"']?([\w-]+)", text_or_empty(view, _SYSCONFIG), re.M)
        ours = loader is not None and loader[1] in ("systemd-boot", "grub2-bls")
        said = (f"{_SYSCONFIG}: {loader[0]}",) if loader is not None and ours else ()
        entries = tuple(folder for folder in loader_entries.folders(view) if view.names(folder))
        here = view.exists(PROGRAM) and (ours if loader else entries)
        return (PROGRAM, *entries, *said) if here else ()

    def observe(self, view: HostView) -> Observed:
        paths = sorted(f"{FOLDER}/{name}" for name in view.names(FOLDER) if not name.startswith("."))
        first = [*filter(None, (_base(view),)), *(path for path in paths if path < CARRIER)]
        before = [karg for path in first for karg in _said(view, path)]
        later = tuple(karg for path in paths if path > CARRIER for karg in _said(view, path))
        return Observed(reader.read(view), (*before, *later), _said(view, CARRIER), later)

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        return {CARRIER: own_file(settings, karg_line(settings))}

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        command = (TOOL, "update-all-entries")
        return (Activation(TOOL, (command,), reason, writes_at=loader_entries.folders(view)),)

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        line = [*(k.text for k in observed.foreign), *kargs, *(k.text for k in observed.later), *kargs]
        yield from too_long(size(line), CARRIER, "shorten /etc/kernel/cmdline")
        yield from behind_separator(observed.foreign, kargs)
        base = _base(view)
        text = text_or_empty(view, base) if base else ""
        if not base:
            yield error(
                "RC3146",
                "there is no /etc/kernel/cmdline, and sdbootutil would take the line of the kernel that runs",
                detail="what is on it now would stay there for good, rocmcfg's too after an undo",
                location=_BASES[0],
                hint="write the options of an entry into it, without root=, rootflags= and initrd=: "
                "sdbootutil show-entry VERSION",
            )
        elif text and not text.endswith("\n"):
            yield error(
                "RC3145",
                f"the last line of {base} has no end, and sdbootutil leaves such a line out",
                detail=text.rpartition("\n")[2],
                location=base,
                hint=f"end it: echo >> {base}",
            )
        else:
            told, where = (*observed.foreign, *observed.ours), f"{_BASES[0]} or a file in {FOLDER}"
            yield from not_asked_for(observed.menu, told, _FOUND_OUT, TOOL, where)
        if view.exists(_PCRLOCK) or "tpm2-device=" in text_or_empty(view, _CRYPTTAB):
            yield warning(
                "RC3148",
                "a disk of this host is unlocked by the TPM, which measures the kernel command line",
                detail="sdbootutil predicts the new measurements; where it cannot, the next boot asks for "
                "the recovery key",
                location=_CRYPTTAB,
                hint="have the recovery key at hand; `sudo sdbootutil update-predictions` predicts anew",
            )

    def unmanaged(self, view: HostView) -> Iterator[Diagnostic]:
        menu, running = reader.read(view), _number(reader.snapshot(view))
        others = (entry for entry in menu.entries if entry.role is Role.SNAPSHOT)
        newer = [one.title for one in others if _number(reader.subvolume(one.kargs)) > running]
        if newer:
            yield warning(
                "RC3150",
                "entries of a snapshot newer than the one that runs do not get the arguments: "
                + ", ".join(newer),
                location=menu.path,
                hint="if that is what boots next, reboot into it first, then run the command again",
            )


def _base(view: HostView) -> str:
    return next(filter(view.exists, _BASES), "")


def _said(view: HostView, path: str) -> tuple[Karg, ...]:
    """What sdbootutil reads of a file."""
    lines = text_or_empty(view, path).split("\n")[:-1]
    return tuple(karg for line in lines if not line.startswith("#") for karg in split(line, path))


def _number(subvolume: str) -> int:
    found = re.search(r"\.snapshots/(\d+)/", subvolume)
    return int(found[1]) if found else 0


BACKEND = _Sdbootutil(reader)
