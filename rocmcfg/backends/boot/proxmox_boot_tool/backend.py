"""/etc/kernel/cmdline and GRUB's drop-in, then `proxmox-boot-tool refresh`, which rewrites its entries as a
whole (proxmox-kernel-helper 8.1.0, 7007b33: src/proxmox-boot/zz-proxmox-boot, `update_esps`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import marked_arguments
from rocmcfg.backends.boot.chain import Chain
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.entry_options import propose
from rocmcfg.backends.boot.grub.backend import BACKEND as GRUB
from rocmcfg.backends.boot.menu import behind_separator, not_asked_for, size, too_long
from rocmcfg.backends.boot.proxmox_boot_tool import reader
from rocmcfg.backends.boot.proxmox_boot_tool.reader import CMDLINE
from rocmcfg.backends.boot.proxmox_boot_tool.reader import NAME as TOOL
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting


class _ProxmoxBootTool(Chain):
    OWNED: tuple[str, ...] = (reader.DROP_IN, CMDLINE)
    TITLE = "Proxmox VE (proxmox-boot-tool)"
    NO_TRIAL = "its partitions are mounted only while it works, and it keeps them all alike"
    MANUAL = (
        f"append to the one line of {CMDLINE} (systemd-boot) or to GRUB_CMDLINE_LINUX_DEFAULT "
        "in /etc/default/grub, as `proxmox-boot-tool status` reports: {kargs}\n"
        "then: proxmox-boot-tool refresh"
    )

    def observe(self, view: HostView) -> Observed:
        menu = reader.read(view)
        if reader.with_grub(view):
            return GRUB.observe(view)._replace(menu=menu)
        parts = marked_arguments.around(_line(view))
        before, ours, later = (split(part, CMDLINE) for part in parts)
        return Observed(menu, (*before, *later), ours, later)

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        return {CMDLINE: propose(settings)[CMDLINE], **GRUB.propose(view, settings)}

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        return (Activation(TOOL, ((TOOL, "refresh"),), reason),)

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        if observed.menu.unreadable:
            yield error(
                "RC3154",
                f"{TOOL}: {observed.menu.unreadable}",
                detail="proxmox-boot-tool ends well where it skips one, and what it has would stay",
                location=reader.PARTITIONS,
                hint="run the command as root; see `proxmox-boot-tool status`, and take out with "
                "`proxmox-boot-tool clean` what is gone for good",
            )
        elif reader.with_grub(view):
            yield from GRUB.preflight(view, observed, kargs)
        else:
            yield from _by_cmdline(view, observed, kargs)


def _by_cmdline(view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
    if "root=" in _line(view):
        marks = split(f"{marked_arguments.BEGIN} {marked_arguments.END}")
        told = (*observed.foreign, *observed.ours, *marks)
        yield from not_asked_for(observed.menu, told, ("initrd",), TOOL, CMDLINE)
    else:
        yield error(
            "RC3153",
            f"the first line of {CMDLINE} does not say where the root file system is",
            detail="proxmox-boot-tool reads that line alone; without the file it takes the running kernel's",
            location=CMDLINE,
            hint="write the whole command line into it, as /proc/cmdline has it, without initrd=…",
        )
    marked = marked_arguments.part(" ".join(kargs)).decode().split()
    length = size([*(k.text for k in observed.foreign), *marked])
    yield from too_long(length, CMDLINE, "shorten it")
    yield from behind_separator(observed.foreign, kargs)


def _line(view: HostView) -> str:
    """All that counts of the file."""
    return text_or_empty(view, CMDLINE).partition("\n")[0]


BACKEND = _ProxmoxBootTool(reader)
