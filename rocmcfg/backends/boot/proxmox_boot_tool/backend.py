"""/etc/kernel/cmdline and GRUB's drop-in, then `proxmox-boot-tool refresh` (proxmox-kernel-helper 8.1.0,
7007b33: src/proxmox-boot/zz-proxmox-boot, `update_esps`).

Without /etc/kernel/cmdline it takes the running kernel's line. It rewrites its entries as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import marked_arguments
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub import backend as grub
from rocmcfg.backends.boot.menu import behind_separator, not_asked_for, size, too_long
from rocmcfg.backends.boot.proxmox_boot_tool import reader
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, unique_kargs

NAME = reader.NAME
OWNED: tuple[str, ...] = (reader.DROP_IN,)


def detect(view: HostView) -> Detection | None:
    if not reader.here(view):
        return None
    return Detection(
        NAME,
        "Proxmox VE (proxmox-boot-tool)",
        (reader.PARTITIONS, reader.PROGRAM, "with GRUB" if reader.with_grub(view) else "with systemd-boot"),
        proof=True,
        supported=True,
        manual=f"append to the one line of {reader.CMDLINE} (systemd-boot) or to GRUB_CMDLINE_LINUX_DEFAULT "
        "in /etc/default/grub, as `proxmox-boot-tool status` reports: {kargs}\n"
        "then: proxmox-boot-tool refresh",
    )


def observe(view: HostView) -> Observed:
    menu = reader.read(view)
    if reader.with_grub(view):
        return grub.observe(view)._replace(menu=menu)
    parts = marked_arguments.around(_line(view))
    before, ours, later = (split(part, reader.CMDLINE) for part in parts)
    return Observed(menu, (*before, *later), ours, later, (*before, *ours, *later))


def _line(view: HostView) -> str:
    """All that counts of the file."""
    return text_or_empty(view, reader.CMDLINE).partition("\n")[0]


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    kargs = " ".join(setting.karg for setting in unique_kargs(settings))
    part = marked_arguments.part(kargs) if kargs else None
    return {reader.CMDLINE: part, **grub.propose(view, settings)}


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    del view
    return (Activation(reader.TOOL, ((reader.TOOL, "refresh"),), reason),)


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    if observed.menu.unreadable:
        return [
            error(
                "RC3154",
                f"{reader.TOOL}: {observed.menu.unreadable}",
                detail="proxmox-boot-tool ends well where it skips one, and what it has would stay",
                location=reader.PARTITIONS,
                hint="run the command as root; see `proxmox-boot-tool status`, and take out with "
                "`proxmox-boot-tool clean` what is gone for good",
            )
        ]
    if reader.with_grub(view):
        return grub.preflight(view, observed, kargs)
    lost = list(_no_line(view))
    marked = marked_arguments.part(" ".join(kargs)).decode().split()
    told = (*observed.foreign, *observed.ours, *split(f"{marked_arguments.BEGIN} {marked_arguments.END}"))
    return [
        *(lost or not_asked_for(observed.menu, told, ("initrd",), reader.TOOL, reader.CMDLINE)),
        *too_long(size([*(k.text for k in observed.foreign), *marked]), reader.CMDLINE, "shorten it"),
        *behind_separator(observed.foreign, kargs),
    ]


def _no_line(view: HostView) -> Iterator[Diagnostic]:
    if "root=" not in _line(view):
        yield error(
            "RC3153",
            f"the first line of {reader.CMDLINE} does not say where the root file system is",
            detail="proxmox-boot-tool reads that line alone; without the file it takes the running kernel's",
            location=reader.CMDLINE,
            hint="write the whole command line into it, as /proc/cmdline has it, without initrd=…",
        )


def unmanaged(view: HostView) -> list[Diagnostic]:
    del view
    return []
