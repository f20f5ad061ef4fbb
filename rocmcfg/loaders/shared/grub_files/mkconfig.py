"""The installed grub-mkconfig, a shell script, and the grub.cfg that it generates, read and never written.

Debian, and who follows it, patch a loop over /etc/default/grub.d into it. GRUB itself, Arch, Gentoo and
openSUSE source /etc/default/grub alone (util/grub-mkconfig.in of GRUB 2.06 to 2.14).
"""

from __future__ import annotations

import re

from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.languages import lines_of
from rocmcfg.loaders.shared.grub_files import script
from rocmcfg.loaders.shared.menu import NO_FILE, Entry, Menu, Role
from rocmcfg.model.regex import regex

_PLACES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
GRUBBY = ("/usr/sbin/grubby", "/usr/bin/grubby")
_SOURCES = regex(r"^[ \t]*(?:\.|source)[ \t]+\S*/default/grub\"?[ \t]*$", re.MULTILINE)
_LOOPS = regex(r"^[ \t]*for\b.*/default/grub\.d/", re.MULTILINE)
_NO_BLSCFG = regex(r"^[ \t]*GRUB_ENABLE_BLSCFG=[\"']?false\b", re.MULTILINE)
_LINUX = ("linux", "linuxefi", "linux16", "module2")
_INITRD = ("initrd", "initrdefi", "initrd16")
# grub-btrfs, and openSUSE's grub2-snapper-plugin
_SNAPSHOTS = ("41_snapshots-btrfs", "80_suse_btrfs_snapshot")
# 10_linux writes single quotes, and '\\'' for one of them in a title; entries by hand have either kind.
_QUOTED = regex(r"'((?:[^']|'\\'')*)'|\"((?:[^\"\\]|\\.)*)\"")
# What each script of /etc/grub.d printed stands between `### BEGIN path ###` and `### END path ###`.
_SECTION = regex(r"^### BEGIN ([^\n]*)\n(.*?)(?=^### (?:BEGIN|END) |\Z)", re.MULTILINE | re.DOTALL)


def program(view: HostView, name: str) -> str:
    """Return the path of a program; empty where there is none."""
    return next((f"{place}/{name}" for place in _PLACES if view.exists(f"{place}/{name}")), "")


def reads_drop_ins(view: HostView, name: str = "grub-mkconfig") -> bool | None:
    """Return whether /etc/default/grub.d counts; None where there is no script that would say so."""
    path = program(view, name)
    text = text_or_empty(view, path) if path else ""
    return bool(_LOOPS.search(text)) if _SOURCES.search(text) else None


def reads_entries(view: HostView, menu: str) -> bool | None:
    """Return whether the menu has GRUB read entries that are files; None where only root may read it
    (Fedora)."""
    if text := text_or_empty(view, menu):
        return any(line.split()[:1] == ["blscfg"] for line in text.splitlines())
    return False if without_entries(view) else None


def without_entries(view: HostView) -> bool:
    """Return whether Fedora's grub2-mkconfig is told to write the entries into the menu itself (its
    10_linux)."""
    return bool(_NO_BLSCFG.search(text_or_empty(view, "/etc/default/grub")))


def read_menu(view: HostView, path: str, tool: str, carrier: str, dropped_by: str) -> Menu:
    try:
        text, why = view.text(path), NO_FILE
    except Unreadable as problem:
        text, why = None, problem.reason
    entries: list[Entry] = []
    if text is not None:
        try:
            for section, body in sections(text):
                entries += parse_entries(body, path, section)
            why = ""
        except Refused as refused:
            entries, why = [], str(refused)
    return Menu(tuple(entries), why, path, tool, carrier, f"a script in /etc/grub.d or {dropped_by}")


def sections(text: str) -> list[tuple[str, str]]:
    """Return the path of each script of /etc/grub.d, and what it printed."""
    return [(section[1].rstrip("# \r"), section[2]) for section in _SECTION.finditer(text)]


def cut_off(text: str) -> str:
    """Say why a menu that grub-mkconfig made is not all of it; empty where it is whole, or was not made by
    grub-mkconfig. grub-mkconfig frames what each script printed, and ends with a line break
    (util/grub-mkconfig.in)."""
    begun, ended = text.rfind("\n### BEGIN "), text.rfind("\n### END ")
    if begun > ended:
        return f"it ends within what {text[begun + 11 :].split(None, 1)[0]} prints"
    return "its last line has no end" if ended > 0 and not text.endswith("\n") else ""


class Refused(ValueError):
    """Says that GRUB reads nothing of a menu, since it holds such a command."""


def parse_entries(body: str, path: str, section: str) -> list[Entry]:
    """Return the entries that one script printed; only 10_linux makes entries of this system from
    GRUB_CMDLINE_LINUX. Raises Refused."""
    entries: list[Entry] = []
    title, id = "", ""
    for _, start, line in lines_of(body):
        words = line.split(None, 1)
        if words[:1] == ["steamenv_boot"]:  # of SteamOS; the command of GRUB that it runs stands behind it
            words = line.split(None, 2)[1:]
        if not words:
            continue
        if words[0] == "menuentry":
            quoted = [single or double for single, double in _QUOTED.findall(line)]
            title = (quoted or line.split()[1:] or [line.strip()])[0]
            id = quoted[-1] if len(quoted) > 1 else ""
        elif words[0] in _LINUX and len(words) > 1 and title:
            command = script.command(body, start + line.rindex(words[1]))
            if command.is_refused:
                raise Refused(f"GRUB reads nothing of it, since {command.problem} in the entry “{title}”")
            kernel = command.words[0].text if command.words else ""
            kargs = script.kargs_of(command.words[1:], f"{path}: {title}")
            entries.append(Entry(id, title, kernel, _release(kernel), (), kargs, _role(section, id, title)))
        elif words[0] in _INITRD and len(words) > 1 and entries:
            entries[-1] = entries[-1]._replace(initrds=tuple(words[1].split()))
    return entries


def _role(section: str, id: str, title: str) -> Role:
    if section.endswith("10_linux"):
        recovery = "-recovery-" in id or "(recovery mode)" in title
        return Role.RECOVERY if recovery else Role.NORMAL
    return Role.SNAPSHOT if section.endswith(_SNAPSHOTS) else Role.FOREIGN


def _release(kernel: str) -> str:
    """Return the release in a name such as vmlinuz-6.12.107+deb13-amd64; empty without one: Arch calls its
    kernels vmlinuz-linux."""
    _, dash, release = kernel.rpartition("/")[2].partition("-")
    return release if dash and release[:1].isdigit() else ""
