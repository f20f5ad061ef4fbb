"""The generated /boot/grub/grub.cfg, read and never written: what each entry will really boot with."""

from __future__ import annotations

import re

from rocmcfg.backends.boot.contract import Entry
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.kargs import split

NAME = "grub"
CARRIER = "/etc/default/grub.d/zz-rocmcfg.cfg"
PATH = "/boot/grub/grub.cfg"
TOOL = "update-grub"
# What a trial adds to every normal entry: a variable that GRUB fills, for one boot.
TRIAL_DROP_IN = "/etc/default/grub.d/zzz-rocmcfg-trial.cfg"
TRIAL_TOKEN = "$rocmcfg_trial"


def read_entries(view: HostView) -> tuple[tuple[Entry, ...], str]:
    """The entries of the generated menu, or why it cannot be read."""
    try:
        text = view.text(PATH)
    except Unreadable as problem:
        return (), problem.reason
    if text is None:
        return (), "there is no such file"
    return tuple(
        entry
        for section, body in sections(text)
        if section.endswith("10_linux")
        for entry in parse_entries(body)
    ), ""


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


def parse_entries(lines: list[str]) -> list[Entry]:
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
        elif words[0] in ("linux", "linuxefi", "linux16", "module2") and len(words) > 1 and title:
            kernel, *_ = words[1].split(None, 1)
            kargs = split(words[1][len(kernel) :], f"{PATH}: {title}")
            entries.append(Entry(title, kernel, kargs, "-recovery-" in id or "(recovery mode)" in title))
    return entries
