"""Our part in the options of entries that are files of their own: what the loaders share that read them.

What is asked for is in a file of ours, and the entries follow it, which is a step of our own: the program of
a loader would copy kernel and initramfs as well, or write the rescue entry too. /etc/kernel/cmdline, where
there is one, says what kernels to come get (90-loaderentry.install of systemd 252 to 262, 20-grub.install of
Fedora). It is never made: with our arguments alone in it the next entry would have no root=. Without it the
hook of each installed kernel has our part written, in place of what came from the running kernel's line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rocmcfg.backends.boot import loader_entries, marked_arguments
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import NO_FILE, Entry, Menu, Role, behind_separator, size, too_long
from rocmcfg.host.view import Host, HostView, Unreadable, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import Karg, contains, split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, unique_kargs

MISSING = f"{NO_FILE}; is its partition mounted?"
CARRIER = "/etc/rocmcfg/kernel-arguments"
CMDLINE = "/etc/kernel/cmdline"
_COMMENT = re.compile(r"^[ \t]*#.*", re.MULTILINE)
# a file with entries as it has to be: from what it holds, and our part, or None for no part of ours
Rewrite = Callable[[bytes, bytes | None], bytes]

_FOR_ANOTHER = (
    "an entry is for this system where its machine-id is that of /etc/machine-id, and its root= that of "
    "/etc/fstab: mend what differs, or have the entries written anew"
)


class Line(NamedTuple):
    """A command line: what stands before our part of it, our part, and what stands after it."""

    before: tuple[Karg, ...]
    ours: tuple[Karg, ...]
    after: tuple[Karg, ...]


def menu(view: HostView) -> Menu:
    """A partition for root's eyes alone hides its entries (the mode of most ESPs)."""
    entries = loader_entries.read(view, machine_id(view))
    hidden = _hidden(view)
    unreadable = f"only root may look into {hidden}" if hidden and not entries else ""
    folder = next(iter(loader_entries.folders(view)), hidden or "/boot/loader/entries")
    return Menu(
        entries, unreadable, folder, "", CARRIER, "an open quote in its options, or what else writes it,"
    )


def menu_of(
    view: HostView, paths: Sequence[str], name: str, entries: Callable[[str, str], Iterable[Entry]]
) -> Menu:
    """The same of files that hold several entries each, of this `name`: `entries` gives those of a path and
    its text."""
    seen: list[Entry] = []
    hidden = _hidden(view)
    unreadable = "" if paths else f"only root may look into {hidden}" if hidden else MISSING
    for path in paths:
        try:
            seen += entries(path, view.text(path) or "")
        except Unreadable as problem:
            unreadable = problem.reason
    path = next(iter(paths), f"{hidden or '/boot'}/{name}")
    return Menu(tuple(seen), unreadable, path, "", CARRIER, "an edit of that file")


def _hidden(view: HostView) -> str:
    return next(filter(view.hidden, loader_entries.PARTITIONS), "")


def from_cmdline(view: HostView) -> list[tuple[Karg, ...]]:
    """The line of which entries of kernels to come are made, where a file says it."""
    text = view.text(CMDLINE)
    return [split(_COMMENT.sub("", text), CMDLINE)] if text is not None else []


def observe(view: HostView, seen: Menu, to_come: Iterable[Sequence[Karg]]) -> Observed:
    """What others ask for counts where every entry has it, those of kernels `to_come` as well."""
    lines = [around(kargs) for kargs in (*(entry.kargs for entry in seen.normal), *to_come)]
    foreign = (
        [k for k in lines[-1].before if all(contains(one.before, k.text) for one in lines)] if lines else []
    )
    later = tuple({karg.text: karg for line in lines for karg in line.after}.values())
    ours = split(asked(view), CARRIER)
    return Observed(seen, (*foreign, *later), ours, later, (*foreign, *ours, *later))


def around(kargs: Sequence[Karg]) -> Line:
    source = kargs[0].source if kargs else ""
    return Line(*(split(part, source) for part in marked_arguments.around(" ".join(k.text for k in kargs))))


def asked(view: HostView) -> str:
    """The arguments that shall be ours, as our file says them."""
    return " ".join(line for line in text_or_empty(view, CARRIER).splitlines() if not line.startswith("#"))


def propose(settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    kargs = " ".join(setting.karg for setting in unique_kargs(settings))
    return {**propose_carrier(settings), CMDLINE: marked_arguments.part(kargs) if kargs else None}


def propose_carrier(settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    """The file of ours, with the reason for each argument."""
    from rocmcfg.backends.templates import HEAD, reason

    kargs = " ".join(setting.karg for setting in unique_kargs(settings))
    content = "".join([HEAD, *map(reason, settings), kargs, "\n"])
    return {CARRIER: content.encode() if kargs else None}


def activation(name: str, reason: str, folders: Sequence[str]) -> Activation:
    return Activation(name, (), reason, writes_at=tuple(folders), own=True)


def write(host: Host, variable: str = "") -> None:
    """As `contract.EntryWriter`, for entries that are a file each. A variable of the loader stands behind
    what is applied."""

    def rewrite(role: Role) -> Rewrite:
        def rewritten(content: bytes, ours: bytes | None) -> bytes:
            if role in (Role.TRIAL, Role.FOREIGN):  # another system may have a rocmcfg of its own
                return content
            return loader_entries.with_arguments(content, ours if role is Role.NORMAL else None)

        return rewritten

    found = loader_entries.files(host, machine_id(host))
    rewrite_files(host, ((path, rewrite(one.role)) for path, one in found), variable)


def rewrite_files(host: Host, files: Iterable[tuple[str, Rewrite]], variable: str = "") -> None:
    """What came into an entry that shall stay as it is, is taken out of it."""
    kargs = f"{asked(host)} {variable}".strip()
    ours = marked_arguments.part(kargs) if kargs else None
    for named, rewrite in files:
        path = host.real_path(named)
        host.discard_temporary(path)
        before = host.state(path)
        content = rewrite(before.content, ours) if before else b""
        if before is not None and content != before.content:
            host.write(path, replace(before, content=content), keep_mtime=False)


def preflight(observed: Observed, kargs: Sequence[str], hint: str = _FOR_ANOTHER) -> Iterator[Diagnostic]:
    marked = marked_arguments.part(" ".join(kargs)).decode().split()
    lines = [around(entry.kargs) for entry in observed.menu.normal]
    longest = max((size([*(k.text for k in (*one.before, *one.after)), *marked]) for one in lines), default=0)
    yield from too_long(longest, observed.menu.path, "shorten the options of the entries")
    before = (karg for one in lines for karg in one.before)
    yield from behind_separator((*observed.foreign, *before), kargs)
    yield from _nothing_to_set(observed.menu, hint)


def _nothing_to_set(menu: Menu, hint: str) -> Iterator[Diagnostic]:
    """Where the file could be read, and no entry in it is to get the arguments."""
    if menu.unreadable == MISSING:
        yield error(
            "RC3121",
            f"cannot use {menu.path}: {menu.unreadable}",
            location=menu.path,
            hint="mount the EFI system partition, then run the command again",
        )
    elif not menu.unreadable and not menu.normal:
        yield error(
            "RC3122",
            f"no entry of {menu.path} is for everyday use of this system",
            location=menu.path,
            detail="\n".join(f"{entry.title}: {entry.role.value}" for entry in menu.entries),
            hint=hint,
        )


def with_their_own(images: Sequence[str]) -> list[Diagnostic]:
    """Unified kernel images that hold their own arguments, and get none from the boot loader."""
    if not images:
        return []
    return [
        warning(
            "RC3110",
            f"{len(images)} unified kernel images do not get the arguments: {', '.join(images[:3])}",
            hint="boot an entry instead of them, or write module parameters to modprobe.d: --via modprobe",
        )
    ]


def set_anew(name: str, path: str) -> Diagnostic:
    """Of a file of assignments from which entries of later kernels are made."""
    return error(
        "RC3120",
        f"a line behind ours sets {name} anew, without ours: a later kernel would lose them",
        location=path,
        hint="move it above the lines of rocmcfg, or make it append",
    )


def machine_id(view: HostView) -> str:
    """Empty where there is none yet: an image has `uninitialized` there (machine-id(5))."""
    found = text_or_empty(view, "/etc/machine-id").strip()
    return "" if found == "uninitialized" else found
