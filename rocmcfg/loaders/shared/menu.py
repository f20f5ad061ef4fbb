"""What a boot loader will boot, which is all that `verify` needs to know of one, and what holds for every
command line, since the kernel reads it and not the loader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import COMMAND_LINE_LIMIT, Karg, adds_up, contains, separator
from rocmcfg.model.shape import NamedTuple

NO_FILE = "there is no such file"
MISSING = f"{NO_FILE}; is its partition mounted?"


class Role(str, Enum):
    """Our arguments belong on the normal ones."""

    NORMAL = "normal"
    RECOVERY = "recovery"  # stays as it is: it must boot whatever we write
    SNAPSHOT = "snapshot"  # an older state of this system
    TRIAL = "trial"  # what one boot is to get
    FOREIGN = "foreign"  # another system, or an entry that somebody wrote by hand


class Entry(NamedTuple):
    """An entry of the boot menu. `id` is the loader's own name for it; `path` is the kernel's file and
    `initrds` those of its initramfs, as the loader names them; `release` is empty where no name tells it.
    `kargs` are the arguments that the kernel gets, without the kernel's path. `why` says in words why it has
    this role, where the role itself does not say enough."""

    id: str
    title: str
    path: str
    release: str
    initrds: tuple[str, ...]
    kargs: tuple[Karg, ...]
    role: Role
    why: str = ""


class Menu(NamedTuple):
    """What will boot. `path` is the file that a program generated, `tool` that program; both are empty where
    entries are files of their own. `carrier` is the file that our arguments are written to, `dropped_by` says
    in words what may drop them. `unreadable` says why there are no entries."""

    entries: tuple[Entry, ...]
    unreadable: str
    path: str
    tool: str
    carrier: str
    dropped_by: str

    @property
    def normal(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.role is Role.NORMAL)


def size(texts: Iterable[str]) -> int:
    """Return the bytes that these arguments take on the line, each with the blank before it."""
    return sum(len(text.encode()) + 1 for text in texts)


def behind_separator(
    foreign: Sequence[Karg], kargs: Sequence[str], *, built_in: bool = False
) -> Iterable[Diagnostic]:
    """Yield an error for each argument that would stand behind a `--`, where the kernel hands everything to
    init. kmod reads those of modules there too (libkmod-config.c); a driver that is `built_in` has no
    kmod."""
    dashes = separator(foreign)
    if dashes is None:
        return
    hint = "move the “--” and what follows it out of that file, or leave the argument away"
    for text in kargs:
        if built_in or "." not in text.partition("=")[0]:
            summary = f"{text} would stand behind a “--”, where the kernel passes everything on to init"
            yield error("RC3109", summary, location=dashes.source, hint=hint)


def too_long(length: int, location: str, hint: str) -> Iterable[Diagnostic]:
    """Yield an error where the kernel would cut the line. `length` is that of the longest line that a kernel
    would get, in bytes."""
    if length >= COMMAND_LINE_LIMIT:
        summary = f"the kernel command line would have {length} bytes; kernels take {COMMAND_LINE_LIMIT - 1}"
        cure = f"{hint}, or write module parameters to modprobe.d instead: --via modprobe"
        yield error("RC3104", summary, location=location, hint=cure)


def on_the_line(length: int, foreign: Sequence[Karg], location: str) -> Iterable[Diagnostic]:
    """Yield why a trial's arguments do not fit, or do not reach the kernel. `length` is that of the whole
    line, in bytes."""
    if length >= COMMAND_LINE_LIMIT:
        summary = f"the trial's command line would have {length} bytes; kernels take {COMMAND_LINE_LIMIT - 1}"
        hint = "try fewer settings at a time, or apply them without --trial"
        yield error("RC4301", summary, location=location, hint=hint)
    behind = separator(foreign)
    if behind is not None:
        summary = "the trial's arguments would stand behind a “--”, where the kernel passes them on to init"
        hint = "move the “--” and what follows it out of that file"
        yield error("RC4302", summary, location=behind.source, hint=hint)


def beaten(later: Sequence[Karg], arguments: Sequence[str], hint: str = "") -> Iterable[Diagnostic]:
    hint = hint or "take it out of the file that sets it, then run the command again"
    own = {Karg(text).key: Karg(text).value for text in arguments}
    for karg in later:
        if karg.key in own and own[karg.key] != karg.value and not adds_up(karg.name):
            summary = f"{karg.text} stands behind the trial's arguments and would win"
            yield error("RC4309", summary, location=karg.source, hint=hint)


def surplus(menu: Menu, asked_for: Sequence[Karg]) -> list[Karg]:
    """Return the arguments that normal entries have besides those asked for."""
    return [karg for entry in menu.normal for karg in entry.kargs if not contains(asked_for, karg.text)]


def not_asked_for(
    menu: Menu, asked_for: Sequence[Karg], found_out: Sequence[str], program: str, where: str
) -> Iterable[Diagnostic]:
    """Yield an error for what a program takes away: `asked_for` is what its files ask for, `found_out` what
    it adds by itself."""
    left = dict.fromkeys(karg.text for karg in surplus(menu, asked_for) if karg.name not in found_out)
    if left:
        yield error(
            "RC3147",
            f"boot entries have arguments that no file asks for, and {program} would take them away: "
            + ", ".join(left),
            location=menu.path,
            hint=f"have them in {where}, or take them out of the entries; then run the command again",
        )


def no_trial_in(location: str, hint: str = "") -> Diagnostic:
    summary = "the boot menu does not hold what makes a trial of one boot"
    cure = hint if hint else "somebody took the file away meanwhile: run the command again"
    return error("RC4308", summary, location=location, hint=cure)


def no_entry(menu: Menu) -> Diagnostic:
    summary = f"the {'generated ' if menu.tool else ''}boot menu has no Linux entry"
    run = f"run {menu.tool} by hand and read what it prints"
    hint = run if menu.tool else "see whether its partition is mounted, and for which system its entries are"
    return error("RC3102", summary, location=menu.path, hint=hint)


def _enclosed(kargs: Sequence[Karg], text: str) -> bool:
    """Return whether an argument stands inside another one, whose quote nobody closed."""
    return any(text in karg.text.split() for karg in kargs if karg.text.count('"') % 2)


def check(menu: Menu, wanted: Sequence[str], unwanted: Sequence[str]) -> Iterable[Diagnostic]:
    """Yield an error where a normal entry lacks a wanted argument or has an unwanted one. A menu that could
    not be looked at is a warning, one that is wrong an error: an undo goes on after the former."""
    if menu.unreadable:
        yield warning("RC3101", f"cannot read {menu.path}: {menu.unreadable}", location=menu.path)
    elif not menu.normal and (menu.tool or wanted):
        yield no_entry(menu)
    for entry in () if menu.unreadable else menu.normal:
        missing = [text for text in wanted if not contains(entry.kargs, text)]
        left = [text for text in unwanted if contains(entry.kargs, text) or _enclosed(entry.kargs, text)]
        if missing or left:
            faults = [f"misses {' '.join(missing)}"] if missing else []
            faults += [f"still has {' '.join(left)}"] if left else []
            yield error(
                "RC3103",
                f"boot entry “{entry.title}” {'; '.join(faults)}",
                location=menu.path,
                hint=f"{menu.dropped_by} {'drops' if missing else 'adds'} them"
                + (f"; run {menu.tool} by hand to see" if menu.tool else ""),
            )
