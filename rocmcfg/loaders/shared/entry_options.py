"""Write our part into the options of entries that no program generates, for all loaders that read such
entries.

The requested arguments are in a file of ours, and a step of our own makes the entries follow it.
/etc/kernel/cmdline, where it exists, determines the line of kernels installed later (90-loaderentry.install
of systemd 252 to 262, 20-grub.install of Fedora). It is never created: with our arguments alone the next
entry would have no root=. Without it the hook of each installed kernel writes our part, in place of the one
copied from the running kernel's line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.loaders.shared import loader_entries, marked_arguments, templates
from rocmcfg.loaders.shared.loader_files import SYSTEMD_BOOT, Rules
from rocmcfg.loaders.shared.menu import MISSING, Entry, Menu, Role
from rocmcfg.model.desired import DesiredSetting, karg_line
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

CARRIER = "/etc/rocmcfg/kernel-arguments"
CMDLINE = "/etc/kernel/cmdline"
_COMMENT = regex(r"^[ \t]*#.*", re.MULTILINE)


class Written(NamedTuple):
    """An entry, None for something that boots nothing, and the place of its command line in the text of its
    file, if it has one. `quote` encloses the line, and is doubled inside it."""

    entry: Entry | None
    start: int = -1
    end: int = -1
    quote: str = ""


Reading = Callable[[HostView, str, str], Iterable[Written]]  # reads the text of a file, given its path


def menu(view: HostView, rules: Rules = SYSTEMD_BOOT) -> Menu:
    return menu_with(view, loader_entries.read(view, machine_id(view), rules))


def menu_with(view: HostView, entries: Iterable[Entry]) -> Menu:
    seen, hidden, folders = tuple(entries), hidden_partition(view), loader_entries.folders(view)
    unreadable = "" if seen else f"only root may read {hidden}" if hidden else "" if folders else MISSING
    folder = next(iter(folders), hidden or "/boot/loader/entries")
    dropped_by = "an open quote in its options, or another program that writes it,"
    return Menu(seen, unreadable, folder, "", CARRIER, dropped_by)


def menu_of(view: HostView, paths: Sequence[str], name: str, written: Reading) -> Menu:
    """Return a menu of files that hold several entries each, and have this `name`."""
    seen: list[Entry] = []
    hidden = hidden_partition(view)
    unreadable = "" if paths else f"only root may read {hidden}" if hidden else MISSING
    for path in paths:
        try:
            seen += filter(None, (placed.entry for placed in written(view, path, view.text(path) or "")))
        except Unreadable as problem:
            unreadable = problem.reason
    path = next(iter(paths), f"{hidden or '/boot'}/{name}")
    return Menu(tuple(seen), unreadable, path, "", CARRIER, "an edit of that file")


def rewritten(
    content: bytes, written: Callable[[str], Iterable[Written]], ours: bytes | None, left: Collection[Role]
) -> bytes:
    """Return the content of such a file with our part on the line of every normal entry. Entries with a role
    in `left` are not changed."""
    text, at = content.decode("utf-8", "surrogateescape"), 0
    pieces: list[bytes] = []
    for placed in written(text):
        role = placed.entry.role if placed.entry is not None else Role.FOREIGN
        if placed.start < 0 or role in left:
            continue
        part = ours if role is Role.NORMAL else None
        if part and placed.quote:
            part = part.replace(placed.quote.encode(), 2 * placed.quote.encode())
        line = text[placed.start : placed.end].encode("utf-8", "surrogateescape")
        before = text[at : placed.start].encode("utf-8", "surrogateescape")
        pieces += [before, marked_arguments.at_end(line, part)]
        at = placed.end
    return b"".join([*pieces, text[at:].encode("utf-8", "surrogateescape")])


def hidden_partition(view: HostView) -> str:
    """Return a partition that only root may read, as is the case for most ESPs; empty where there is
    none."""
    return next(filter(view.hidden, loader_entries.PARTITIONS), "")


def from_cmdline(view: HostView) -> list[tuple[Karg, ...]]:
    """Return the line from which entries of kernels installed later are made, if a file holds it."""
    text = view.text(CMDLINE)
    return [split(_COMMENT.sub("", text), CMDLINE)] if text is not None else []


def asked(view: HostView) -> str:
    """Return the requested arguments, as in our file."""
    return arguments_in(text_or_empty(view, CARRIER))


def arguments_in(carrier: str) -> str:
    return " ".join(line for line in carrier.split("\n") if line and not line.startswith("#"))


def propose(settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    line = karg_line(settings)
    return {CARRIER: carrier(settings, line), CMDLINE: marked_arguments.part(line) if line else None}


def carrier(settings: Sequence[DesiredSetting], line: str) -> bytes | None:
    """Return a file with the reason for each setting and one line of all arguments; None where there are no
    settings."""
    return templates.carrier(settings=settings, line=line).encode() if settings else None


def machine_id(view: HostView) -> str:
    """Return the machine's id; empty where there is none yet, as in an image with the value `uninitialized`
    (machine-id(5))."""
    content = text_or_empty(view, "/etc/machine-id").strip()
    return "" if content == "uninitialized" else content
