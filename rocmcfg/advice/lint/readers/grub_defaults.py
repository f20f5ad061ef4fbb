"""Read /etc/default/grub and its drop-ins as shell scripts, and find lines in them that set nothing."""

from __future__ import annotations

from collections import Counter

from rocmcfg.advice.lint.assignment import Reading, Trust, Where
from rocmcfg.advice.lint.readers import shell
from rocmcfg.advice.lint.readers.reach import Fate, Reach
from rocmcfg.advice.lint.readers.words import Command
from rocmcfg.advice.lint.readers.words import commands as split_commands
from rocmcfg.advice.lint.remark import warning
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.model.regex import regex

# What grub-mkconfig and the scripts that it runs read: Debian's GRUB 2.06 to 2.14, with what Arch (COLOR_…),
# Fedora (ENABLE_BLSCFG), openSUSE (USE_…) and Ubuntu (FORCE_PARTUUID) add.
_SETTINGS = """
BACKGROUND BADRAM BUTTON_CMOS_ADDRESS BUTTON_CMOS_CLEAN CMDLINE_GNUMACH CMDLINE_LINUX CMDLINE_LINUX_DEFAULT
CMDLINE_LINUX_RECOVERY CMDLINE_LINUX_XEN_REPLACE CMDLINE_LINUX_XEN_REPLACE_DEFAULT CMDLINE_NETBSD
CMDLINE_NETBSD_DEFAULT CMDLINE_XEN CMDLINE_XEN_DEFAULT COLOR_HIGHLIGHT COLOR_NORMAL DEFAULT DEFAULT_BUTTON
DISABLE_LINUX_PARTUUID DISABLE_LINUX_UUID DISABLE_OS_PROBER DISABLE_RECOVERY DISABLE_SUBMENU DISABLE_UUID
DISTRIBUTOR EARLY_INITRD_LINUX_CUSTOM EARLY_INITRD_LINUX_STOCK ENABLE_BLSCFG ENABLE_CRYPTODISK FONT
FORCE_PARTUUID GFXMODE GFXPAYLOAD_LINUX HIDDEN_TIMEOUT HIDDEN_TIMEOUT_BUTTON HIDDEN_TIMEOUT_QUIET INIT_TUNE
OS_PROBER_SKIP_LIST PRELOAD_MODULES RECORDFAIL_TIMEOUT RECOVERY_TITLE SAVEDEFAULT SERIAL_COMMAND TERMINAL
TERMINAL_INPUT TERMINAL_OUTPUT THEME TIMEOUT TIMEOUT_BUTTON TIMEOUT_STYLE TIMEOUT_STYLE_BUTTON USE_INITRDEFI
USE_LINUXEFI VIDEO_BACKEND"""
_KNOWN = frozenset(f"GRUB_{name}" for name in _SETTINGS.split())
_ASSIGNMENT = regex(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")
_NAME = regex(r"\bGRUB_\w+")
_OURS = regex(r"(GRUB_\w+)(\+?=)?")
_OTHER = regex(r"[A-Z_][A-Z0-9_]*(?:\+?=|$)")  # a variable beside one, which no argument looks like
_NEXT = regex(r"\n[ \t]*(?:export[ \t]+)?(GRUB_\w+=)")  # inside quotes: they were to end before it
_LINE = regex(r"(GRUB_\w+)[ \t]*(\+?=)[ \t]*[\"'“”]?([^\"'“”\\`$#;&|<>()]*)[\"'“”]?[ \t]*\Z")
_SOURCE = ("grub-mkconfig(8): it reads /etc/default/grub with sh",)
_STOPS = "grub-mkconfig reads the file with sh, which {} and stops there: the boot menu stays unchanged."


def read(piece: Span, out: Reading, where: Where) -> None:
    shell.read(piece, out, where, sourced=True)
    times, reach = Counter(_NAME.findall(piece.text)), Reach(piece.text, sourced=True, ends=True)
    for command in split_commands(piece) if where.trust is Trust.FILE else ():
        if reach.take(command) is not Fate.MAY_RUN:
            continue
        for word in command.words:
            raw = piece.text[word.start : word.stop]
            swallowed = _NEXT.search(raw)
            if (match := _OURS.match(raw)) and match[2] and (command.unclosed or swallowed):
                summary = f"the quote after {match.group()} is not closed on its line"
                why = _STOPS.format("finds no closing quote")
                if swallowed:
                    why = f"Everything up to the next quote is its value: {swallowed[1]} below sets nothing."
                _slip(piece, word.start, summary, why, out, where)
                return  # after it, the beginning and end of anything would be a guess
        _read_command(command, piece, times, out, where)


def _read_command(command: Command, piece: Span, times: Counter[str], out: Reading, where: Where) -> None:
    words = [piece.text[word.start : word.stop] for word in command.words]
    exports = words[:1] == ["export"]
    match = _OURS.match(words[exports]) if words[exports:] else None
    if match is None:
        return
    name, rest, place = match[1], words[exports + 1 :], command.words[exports].start
    run = [word for word in rest if not _ASSIGNMENT.match(word) and not exports]
    lost = [word for word in rest if not _OTHER.match(word)] if "CMDLINE" in name else run
    near = names.nearest(name, _KNOWN) if name not in _KNOWN else ""
    if match[2] is None and rest and rest[0].startswith(("=", "+=")):
        summary = f"there must be no blank between {name} and ="
        _slip(piece, place, summary, _STOPS.format(f"looks for a command {name}"), out, where)
    elif match[2] and lost:
        summary = f"the value of {name} ends at the blank before {lost[0]}"
        why = "A value with blanks needs quotes."
        why += " " + _STOPS.format(f"runs {run[0]} as a command") if run else ""
        _slip(piece, place, summary, why, out, where)
    elif match[2] and near and times[name] == 1:
        summary, why = f"nothing reads {name}", f"grub-mkconfig reads {near}."
        remark = warning("RC7102", summary, why, literal=near, sources=_SOURCE)
        out.slip(piece.cut(place, place + len(name)), remark)


def _slip(piece: Span, start: int, summary: str, why: str, out: Reading, where: Where) -> None:
    """Add a slip from `start` to the end of the line; its proposal is the same in quotes, if that can be
    determined."""
    end = piece.text.find("\n", start)
    line = piece.text[start : end if end >= 0 else None].rstrip()
    plain = None if where.depth else _LINE.match(line)  # a text that a script prints has quotes around it
    literal = f'{plain[1]}{plain[2]}"{plain[3].strip()}"' if plain else None
    remark = warning("RC7118", summary, why, literal=literal, sources=_SOURCE)
    out.slip(piece.cut(start, start + len(line)), remark)
