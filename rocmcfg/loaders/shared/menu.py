"""Describe what a boot loader will boot, which is all that `verify` needs to know about it, and check the
rules of the kernel, which hold for every command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import COMMAND_LINE_LIMIT, Karg, adds_up, contains, separator
from rocmcfg.model.shape import NamedTuple

NO_FILE = "there is no such file"
MISSING = f"{NO_FILE}; is its partition mounted?"


class Role(str, Enum):
    """The purpose of an entry. Our arguments belong on normal entries."""

    NORMAL = "normal"
    RECOVERY = "recovery"  # never changed: it must boot even if our arguments do not work
    SNAPSHOT = "snapshot"  # an older state of this system
    TRIAL = "trial"  # the entry of a trial boot
    FOREIGN = "foreign"  # another system, or an entry written by hand


class Entry(NamedTuple):
    """An entry of the boot menu. `id` is the loader's own name for it; `path` is the kernel's file and
    `initrds` are the files of its initramfs, as the loader names them; `release` is empty where no name
    contains it. `kargs` are the arguments that the kernel gets, without the kernel's path. `why` is the
    reason for the role, in words, where the role needs one."""

    id: str
    title: str
    path: str
    release: str
    initrds: tuple[str, ...]
    kargs: tuple[Karg, ...]
    role: Role
    why: str = ""


class Menu(NamedTuple):
    """The boot menu. `path` is the generated file and `tool` the program that generated it; `tool` is empty
    where entries are files of their own. `carrier` is the file to which our arguments are written,
    `dropped_by` says in words what may drop them. `unreadable` is the reason why there are no entries."""

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
    """Return the bytes that these arguments take on the line, each with a blank before it."""
    return sum(len(text.encode()) + 1 for text in texts)


def behind_separator(
    foreign: Sequence[Karg], kargs: Sequence[str], *, built_in: bool = False
) -> Iterable[Diagnostic]:
    """Yield an error for each argument that would come after a `--`, where the kernel passes everything to
    init. kmod reads module parameters there too (libkmod-config.c), but not for a `built_in` driver."""
    dashes = separator(foreign)
    if dashes is None:
        return
    hint = "remove the “--” and the text after it from that file, or leave the argument out"
    for text in kargs:
        if built_in or "." not in text.partition("=")[0]:
            summary = f"{text} would come after a “--”, where the kernel passes everything on to init"
            yield error("RC3109", summary, location=dashes.source, hint=hint)


def too_long(length: int, location: str, hint: str) -> Iterable[Diagnostic]:
    """Yield an error where the kernel would cut off the line. `length` is the length of the longest command
    line, in bytes."""
    if length >= COMMAND_LINE_LIMIT:
        summary = (
            f"the kernel command line would have {length} bytes; kernels accept {COMMAND_LINE_LIMIT - 1}"
        )
        cure = f"{hint}, or write module parameters to modprobe.d instead: --via modprobe"
        yield error("RC3104", summary, location=location, hint=cure)


def on_the_line(length: int, foreign: Sequence[Karg], location: str) -> Iterable[Diagnostic]:
    """Yield why a trial's arguments do not fit, or do not reach the kernel. `length` is the length of the
    whole line, in bytes."""
    if length >= COMMAND_LINE_LIMIT:
        summary = (
            f"the trial's command line would have {length} bytes; kernels accept {COMMAND_LINE_LIMIT - 1}"
        )
        hint = "try fewer settings at a time, or apply them without --trial"
        yield error("RC4301", summary, location=location, hint=hint)
    behind = separator(foreign)
    if behind is not None:
        summary = "the trial's arguments would come after a “--”, where the kernel passes them on to init"
        hint = "remove the “--” and the text after it from that file"
        yield error("RC4302", summary, location=behind.source, hint=hint)


def beaten(later: Sequence[Karg], arguments: Sequence[str], hint: str = "") -> Iterable[Diagnostic]:
    hint = hint or "remove it from the file that sets it, then run the command again"
    own = {Karg(text).key: Karg(text).value for text in arguments}
    for karg in later:
        if karg.key in own and own[karg.key] != karg.value and not adds_up(karg.name):
            summary = f"{karg.text} comes after the trial's arguments and would win"
            yield error("RC4309", summary, location=karg.source, hint=hint)


def surplus(menu: Menu, asked_for: Sequence[Karg]) -> list[Karg]:
    """Return the arguments of normal entries that were not requested."""
    return [karg for entry in menu.normal for karg in entry.kargs if not contains(asked_for, karg.text)]


def not_asked_for(
    menu: Menu, asked_for: Sequence[Karg], found_out: Sequence[str], program: str, where: str
) -> Iterable[Diagnostic]:
    """Yield an error for the arguments that a program would remove. `asked_for` are the arguments in its
    files, `found_out` are those that it adds by itself."""
    left = dict.fromkeys(karg.text for karg in surplus(menu, asked_for) if karg.name not in found_out)
    if left:
        yield error(
            "RC3147",
            f"boot entries have arguments that are in no file, and {program} would remove them: "
            + ", ".join(left),
            location=menu.path,
            hint=f"add them to {where}, or remove them from the entries; then run the command again",
        )


def no_trial_in(location: str, hint: str = "") -> Diagnostic:
    summary = "the boot menu does not contain the trial boot"
    cure = hint if hint else "the file was removed meanwhile: run the command again"
    return error("RC4308", summary, location=location, hint=cure)


def no_entry(menu: Menu) -> Diagnostic:
    summary = f"the {'generated ' if menu.tool else ''}boot menu has no Linux entry"
    run = f"run {menu.tool} by hand and read its output"
    hint = (
        run if menu.tool else "check whether its partition is mounted, and which system its entries are for"
    )
    return error("RC3102", summary, location=menu.path, hint=hint)


def _enclosed(kargs: Sequence[Karg], text: str) -> bool:
    """Return whether an argument is inside another one, whose quote is not closed."""
    return any(text in karg.text.split() for karg in kargs if karg.text.count('"') % 2)


def check(menu: Menu, wanted: Sequence[str], unwanted: Sequence[str]) -> Iterable[Diagnostic]:
    """Yield an error where a normal entry has no wanted argument or has an unwanted one. An unreadable menu
    is a warning, a wrong one an error: an undo continues after a warning."""
    if menu.unreadable:
        yield warning("RC3101", f"cannot read {menu.path}: {menu.unreadable}", location=menu.path)
    elif not menu.normal and (menu.tool or wanted):
        yield no_entry(menu)
    for entry in () if menu.unreadable else menu.normal:
        missing = [text for text in wanted if not contains(entry.kargs, text)]
        left = [text for text in unwanted if contains(entry.kargs, text) or _enclosed(entry.kargs, text)]
        if missing or left:
            faults = [f"is missing {' '.join(missing)}"] if missing else []
            faults += [f"still has {' '.join(left)}"] if left else []
            yield error(
                "RC3103",
                f"boot entry “{entry.title}” {'; '.join(faults)}",
                location=menu.path,
                hint=f"{menu.dropped_by} {'drops' if missing else 'adds'} them"
                + (f"; run {menu.tool} by hand to check" if menu.tool else ""),
            )
