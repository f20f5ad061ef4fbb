"""Our part in the options of entries that no program generates: what the loaders share that read them.

What is asked for is in a file of ours, and a step of our own has the entries follow it. /etc/kernel/cmdline,
where there is one, says what kernels to come get (90-loaderentry.install of systemd 252 to 262,
20-grub.install of Fedora). It is never made: with our arguments alone the next entry would have no root=.
Without it the hook of each installed kernel has our part written, not what came from the running one's line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from rocmcfg.files.templates import own_file
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.loaders.shared import loader_entries, marked_arguments
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
    """An entry, or what boots nothing, and where its command line stands in the text of its file, which may
    be nowhere. `quote` encloses the line, and stands in it twice."""

    entry: Entry | None
    start: int = -1
    end: int = -1
    quote: str = ""


Reading = Callable[[HostView, str, str], Iterable[Written]]  # of a path, and of the text there


def menu(view: HostView, rules: Rules = SYSTEMD_BOOT) -> Menu:
    return menu_with(view, loader_entries.read(view, machine_id(view), rules))


def menu_with(view: HostView, entries: Iterable[Entry]) -> Menu:
    seen, hidden, folders = tuple(entries), hidden_partition(view), loader_entries.folders(view)
    unreadable = "" if seen else f"only root may look into {hidden}" if hidden else "" if folders else MISSING
    folder = next(iter(folders), hidden or "/boot/loader/entries")
    dropped_by = "an open quote in its options, or what else writes it,"
    return Menu(seen, unreadable, folder, "", CARRIER, dropped_by)


def menu_of(view: HostView, paths: Sequence[str], name: str, written: Reading) -> Menu:
    """Return a menu of files that hold several entries each, and have this `name`."""
    seen: list[Entry] = []
    hidden = hidden_partition(view)
    unreadable = "" if paths else f"only root may look into {hidden}" if hidden else MISSING
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
    """Return the content of such a file with our part on the line of every normal entry. Roles in `left` stay
    as they are."""
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
    """Return a partition that only root may look into, which is the mode of most ESPs; empty where there is
    none."""
    return next(filter(view.hidden, loader_entries.PARTITIONS), "")


def from_cmdline(view: HostView) -> list[tuple[Karg, ...]]:
    """Return the line of which entries of kernels to come are made, where a file says it."""
    text = view.text(CMDLINE)
    return [split(_COMMENT.sub("", text), CMDLINE)] if text is not None else []


def asked(view: HostView) -> str:
    """Return the arguments that shall be ours, as our file says them."""
    return arguments_in(text_or_empty(view, CARRIER))


def arguments_in(carrier: str) -> str:
    return " ".join(line for line in carrier.split("\n") if line and not line.startswith("#"))


def propose(settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    line = karg_line(settings)
    return {CARRIER: own_file(settings, line), CMDLINE: marked_arguments.part(line) if line else None}


def machine_id(view: HostView) -> str:
    """Return the machine's id; empty where there is none yet: an image has `uninitialized` there
    (machine-id(5))."""
    content = text_or_empty(view, "/etc/machine-id").strip()
    return "" if content == "uninitialized" else content
