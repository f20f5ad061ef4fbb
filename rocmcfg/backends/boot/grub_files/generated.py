"""A generated grub.cfg, read and never written: what each entry will really boot with."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.kargs import split

_LINUX = ("linux", "linuxefi", "linux16", "module2")
_INITRD = ("initrd", "initrdefi", "initrd16")
# grub-btrfs, and openSUSE's grub2-snapper-plugin
_SNAPSHOTS = ("41_snapshots-btrfs", "80_suse_btrfs_snapshot")


def read_menu(view: HostView, path: str, tool: str, carrier: str) -> Menu:
    try:
        text = view.text(path)
    except Unreadable as problem:
        return Menu((), problem.reason, path, tool, carrier)
    if text is None:
        return Menu((), "there is no such file", path, tool, carrier)
    entries = (entry for section, body in sections(text) for entry in parse_entries(body, path, section))
    return Menu(tuple(entries), "", path, tool, carrier)


def sections(text: str) -> list[tuple[str, list[str]]]:
    """grub-mkconfig frames what each script of /etc/grub.d printed with `### BEGIN path ###`."""
    sections: list[tuple[str, list[str]]] = []
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("### BEGIN "):
            current = []
            sections.append((line[10:].rstrip("# "), current))
        elif line.startswith("### END "):
            current = None
        elif current is not None:
            current.append(line)
    return sections


def parse_entries(lines: Iterable[str], path: str, section: str) -> list[Entry]:
    """Of one script; only 10_linux makes entries of this system from GRUB_CMDLINE_LINUX."""
    entries: list[Entry] = []
    title, id = "", ""
    for line in lines:
        words = line.split(None, 1)
        if not words:
            continue
        if words[0] == "menuentry":
            quoted = re.findall(r"'((?:[^']|'\\'')*)'", line)
            title = quoted[0] if quoted else line.strip()
            id = quoted[-1] if len(quoted) > 1 else ""
        elif words[0] in _LINUX and len(words) > 1 and title:
            kernel, *_ = words[1].split(None, 1)
            kargs = split(words[1][len(kernel) :], f"{path}: {title}")
            role = _role(section, id, title)
            entries.append(Entry(id, title, kernel, _release(kernel), (), kargs, role))
        elif words[0] in _INITRD and len(words) > 1 and entries:
            entries[-1] = entries[-1]._replace(initrds=tuple(words[1].split()))
    return entries


def _role(section: str, id: str, title: str) -> Role:
    if section.endswith("10_linux"):
        recovery = "-recovery-" in id or "(recovery mode)" in title
        return Role.RECOVERY if recovery else Role.NORMAL
    return Role.SNAPSHOT if section.endswith(_SNAPSHOTS) else Role.FOREIGN


def _release(kernel: str) -> str:
    """As in vmlinuz-6.12.107+deb13-amd64; Arch calls its kernels vmlinuz-linux."""
    _, dash, release = kernel.rpartition("/")[2].partition("-")
    return release if dash and release[:1].isdigit() else ""
