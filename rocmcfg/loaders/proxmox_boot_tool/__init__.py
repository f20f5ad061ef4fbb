"""proxmox-boot-tool: Proxmox VE, Mail Gateway and Backup Server where the tool manages the EFI system
partitions, with systemd-boot or with GRUB on them.

The arguments go into the first line of /etc/kernel/cmdline, the only line of that file that the tool reads,
and into a drop-in for GRUB, so that either loader gets them; `proxmox-boot-tool refresh` copies kernels and
entries to every partition. The tool exits with status 0 even if it skipped a partition that it could not
mount, so rocmcfg reads every partition afterwards, as root, mounted read-only for rocmcfg alone. If a
partition is missing, rocmcfg reports an error before it writes anything. There is no trial, because its entry
would have to be on partitions that are mounted only while the tool runs. Source: proxmox-kernel-helper 8.1.0
(7007b33, 2023-11). Tested with a stand-in, not on a real host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.grub import BACKEND as GRUB
from rocmcfg.loaders.grub import DROP_IN
from rocmcfg.loaders.shared import efi, loader_entries, marked_arguments
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.loaders.shared.contract import Observed, Owned
from rocmcfg.loaders.shared.entry_options import CMDLINE, propose
from rocmcfg.loaders.shared.grub_files.mkconfig import Refused, parse_entries, sections
from rocmcfg.loaders.shared.menu import Entry, Menu, Role, behind_separator, not_asked_for, size, too_long
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import split
from rocmcfg.model.plan import Activation
from rocmcfg.model.regex import regex

TOOL = "proxmox-boot-tool"
PARTITIONS = "/etc/kernel/proxmox-boot-uuids"
_UUID = regex(r"[0-9a-fA-F]{4}-[0-9a-fA-F]{4}")
_ENTRY, _MENU = "/loader/entries/", "/grub/grub.cfg"
# Run in a mount namespace of its own, as the tool's hook does (zz-proxmox-boot, reexec_in_mountns): no other
# process sees its mounts, and they end with it. A file system that is mounted for writing elsewhere cannot be
# mounted read-only at the same time.
_PRINT = """
for uuid; do
    echo "==> partition $uuid <=="
    there=$(findmnt -nfo TARGET -S "UUID=$uuid") || {
        mount -o ro,nosuid,nodev,noexec "/dev/disk/by-uuid/$uuid" /mnt || exit 1
        there=/mnt
    }
    for file in "$there"/loader/entries/*.conf "$there"/grub/grub.cfg; do
        [ -f "$file" ] || continue
        echo "==> file ${file#"$there"} <=="
        cat "$file" || exit 1
        echo
    done
    [ "$there" != /mnt ] || umount /mnt || exit 1
done
"""
_PART = regex(r"^==> (partition|file) (\S+) <==\n", re.MULTILINE)


class _ProxmoxBootTool(Chain):
    """Runs the tool, which rewrites all of its entries (src/proxmox-boot/zz-proxmox-boot, `update_esps`)."""

    NAME = TOOL
    PROGRAM = "/usr/sbin/proxmox-boot-tool"
    DECISIVE = True
    OWNED: ClassVar[Owned] = {DROP_IN: None, CMDLINE: marked_arguments}
    PACKAGE = "proxmox-kernel-helper"
    SPECIAL = GRUB.SPECIAL  # either loader gets them
    TITLE = "Proxmox VE (proxmox-boot-tool)"
    GENERATORS = (TOOL,)
    NO_TRIAL = "its partitions are mounted only while it runs, and it keeps them identical"
    MANUAL = (
        f"append to the one line of {CMDLINE} (systemd-boot) or to GRUB_CMDLINE_LINUX_DEFAULT "
        "in /etc/default/grub, whichever `proxmox-boot-tool status` reports: {kargs}\n"
        "then: proxmox-boot-tool refresh"
    )

    def here(self, view: HostView) -> tuple[str, ...]:
        loader = "with GRUB" if _with_grub(view) else "with systemd-boot"
        return (PARTITIONS, self.PROGRAM, loader) if _partitions(view) and view.exists(self.PROGRAM) else ()

    def read(self, view: HostView) -> Menu:
        carrier = DROP_IN if _with_grub(view) else CMDLINE
        menu = Menu(
            (), "", PARTITIONS, TOOL, carrier, f"a drop-in of GRUB, or another program that writes {CMDLINE},"
        )
        unshare = ("unshare", "--mount", "--propagation", "private", "sh", "-c")
        answer = view.query((*unshare, _PRINT, "sh", *_partitions(view)))
        if answer is None:
            why = "its partitions are not mounted, and no program of this host can be run"
            return menu._replace(unreadable=why)
        if not answer.ok:
            return menu._replace(unreadable=f"its partitions cannot be read: {answer.words[-1]}")
        try:
            return menu._replace(entries=tuple(_entries(answer.stdout)))
        except Refused as refused:
            return menu._replace(unreadable=str(refused))

    def observe(self, view: HostView) -> Observed:
        menu = self.menu(view)
        if _with_grub(view):
            return GRUB.observe(view)._replace(menu=menu)
        before, ours, later = (split(part, CMDLINE) for part in marked_arguments.around(_line(view)))
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
                detail="proxmox-boot-tool reports success even if it skips a partition, which would keep "
                "its old entries",
                location=PARTITIONS,
                hint="as root, check `proxmox-boot-tool status`, and remove partitions that no longer exist "
                "with `proxmox-boot-tool clean`"
                if view.runs_tools
                else "add --chroot, so that the programs of that host read them",
            )
        elif _with_grub(view):
            yield from GRUB.preflight(view, observed, kargs)
        else:
            yield from _by_cmdline(view, observed, kargs)


def _partitions(view: HostView) -> list[str]:
    """Return the lines that look like the serial number of a FAT; the tool skips all other lines too."""
    lines = text_or_empty(view, PARTITIONS).splitlines()
    return [line.strip() for line in lines if _UUID.fullmatch(line.strip())]


def _with_grub(view: HostView) -> bool:
    """Return whether GRUB booted this host and so is the loader on its partitions (zz-proxmox-boot,
    update_esp_func)."""
    return not efi.handed_over(view, "LoaderInfo", "systemd-boot")


def _entries(printed: str) -> Iterator[Entry]:
    partition = ""
    pieces = _PART.split(printed)[1:]
    for kind, name, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if kind == "partition":
            partition = name
        elif name.startswith(_ENTRY):
            file = loader_entries.parse(name, text)
            entry, ours = loader_entries.entry_of(file), file.id.startswith("proxmox-")  # the tool's own
            title = f"{entry.title} {entry.release} ({partition})"
            yield entry._replace(title=title, role=Role.NORMAL if ours else Role.FOREIGN)
        elif name == _MENU:
            for section, body in sections(text):
                for entry in parse_entries(body, name, section):
                    yield entry._replace(title=f"{entry.title} ({partition})")


def _by_cmdline(view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
    if "root=" in _line(view):
        marks = split(f"{marked_arguments.BEGIN} {marked_arguments.END}")
        asked_for = (*observed.foreign, *observed.ours, *marks)
        yield from not_asked_for(observed.menu, asked_for, ("initrd",), TOOL, CMDLINE)
    else:
        summary = f"the first line of {CMDLINE} does not say where the root file system is"
        detail = (
            "proxmox-boot-tool reads only that line; without the file it uses the running kernel's command "
            "line"
        )
        hint = "write the whole command line into it, as in /proc/cmdline, without initrd=…"
        yield error("RC3153", summary, detail=detail, location=CMDLINE, hint=hint)
    marked = marked_arguments.part(" ".join(kargs)).decode().split()
    yield from too_long(size([*(k.text for k in observed.foreign), *marked]), CMDLINE, "shorten it")
    yield from behind_separator(observed.foreign, kargs)


def _line(view: HostView) -> str:
    """Return the first line of the file, the only one that counts."""
    return text_or_empty(view, CMDLINE).partition("\n")[0]


BACKEND = _ProxmoxBootTool()
