"""What is on the EFI system partitions that proxmox-boot-tool keeps, and mounts only while it works."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.backends.boot import efi, loader_entries
from rocmcfg.backends.boot.grub_files.mkconfig import parse_entries, sections
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.backends.boot.proxmox_boot_tool import PROGRAM
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.regex import regex

NAME = "proxmox-boot-tool"
CMDLINE = "/etc/kernel/cmdline"
DROP_IN = "/etc/default/grub.d/zz-rocmcfg.cfg"
PARTITIONS = "/etc/kernel/proxmox-boot-uuids"
_UUID = regex(r"[0-9a-fA-F]{4}-[0-9a-fA-F]{4}")
_ENTRY, _MENU = "/loader/entries/", "/grub/grub.cfg"
# Run in a mount namespace of its own, as the tool's hook does (zz-proxmox-boot, reexec_in_mountns): what it
# mounts nobody else sees, and it is gone with its end. A file system that is mounted for writing elsewhere
# cannot be mounted read-only besides.
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


def here(view: HostView) -> tuple[str, ...]:
    loader = "with GRUB" if with_grub(view) else "with systemd-boot"
    return (PARTITIONS, PROGRAM, loader) if partitions(view) and view.exists(PROGRAM) else ()


def partitions(view: HostView) -> list[str]:
    """Those that look like the name of a FAT; the tool skips every other line, too."""
    lines = text_or_empty(view, PARTITIONS).splitlines()
    return [line.strip() for line in lines if _UUID.fullmatch(line.strip())]


def with_grub(view: HostView) -> bool:
    """Whether GRUB booted this host: the loader on its partitions (zz-proxmox-boot, update_esp_func)."""
    return not efi.handed_over(view, "LoaderInfo", "systemd-boot")


def read(view: HostView) -> Menu:
    carrier = DROP_IN if with_grub(view) else CMDLINE
    menu = Menu((), "", PARTITIONS, NAME, carrier, f"a drop-in of GRUB, or what else writes {CMDLINE},")
    command = ("unshare", "--mount", "--propagation", "private", "sh", "-c", _PRINT, "sh", *partitions(view))
    asked = view.query(command)
    if asked is None:
        return menu._replace(
            unreadable="its partitions are not mounted, and no program of this host can be run"
        )
    if not asked.ok:
        said = (asked.stderr or asked.stdout).strip().rpartition("\n")[2]
        return menu._replace(unreadable=f"its partitions cannot be looked into: {said}")
    return menu._replace(entries=tuple(_entries(asked.stdout)))


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
