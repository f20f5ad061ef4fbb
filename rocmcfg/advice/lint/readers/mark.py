"""A byte order mark at the beginning of a file, as editors of Windows write it. A program that does not skip
it reads it as a part of the first line. Python, fish, `docker run --env-file`, readers of YAML and systemd's
reader of units skip it."""

from __future__ import annotations

import re
from collections.abc import Callable

from rocmcfg.advice.lint import kinds
from rocmcfg.advice.lint.assignment import Reading
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.readers.words import commands
from rocmcfg.advice.lint.remark import Remark, info, warning
from rocmcfg.advice.lint.source import Span
from rocmcfg.model.regex import regex

_LINE = regex(r"(?:[^\\\n]|\\.)*", re.DOTALL)
_SHELLS = {FileKind.SHELL, FileKind.PROFILE, FileKind.GRUB_DEFAULTS}
# Who takes the first statement for another one.
_READ_BY = {
    FileKind.ENVIRONMENT_D: "systemd",
    FileKind.PAM_ENVIRONMENT: "pam_env",
    FileKind.MODPROBE: "kmod",
    FileKind.CMDLINE: "the kernel",
    FileKind.BOOT_ENTRY: "the boot loader",
    **dict.fromkeys(_SHELLS, "a shell"),
}
_MARK = "the byte order mark at the beginning of the file"
_BEGINS = {FileKind.CMDLINE: regex(r"[ \t]*[^ \t\n]*"), FileKind.BOOT_ENTRY: regex(r"[^\n]*")}
_CURE = "Save the file as UTF-8 without a byte order mark."
_SOURCES = {
    FileKind.ENVIRONMENT_D: ("systemd src/basic/env-util.c (env_name_is_valid)",),
    FileKind.ENVIRONMENT: ("compose-go dotenv/godotenv.go", "python-dotenv src/dotenv/parser.py"),
    FileKind.BOOT_ENTRY: ("systemd src/boot/boot.c (line_get_key_value)", "Limine common/lib/config.c"),
    FileKind.TUNED: ("TuneD tuned/profiles/loader.py",),
    FileKind.GRUB_DEFAULTS: ("grub-mkconfig(8): it reads /etc/default/grub with sh",),
}


def read(
    kind: FileKind, piece: Span, out: Reading, file: str, read_text: Callable[[Span, Reading], None]
) -> None:
    """Read a text that begins with the mark, which is not in `piece`; `read_text` reads a text without it."""
    lost = _first(kind, piece) if kind is not FileKind.CMDLINE or kinds.by_path(file) is kind else 0
    apart = Reading()
    if lost:
        read_text(piece.cut(0, lost), apart)
    read_text(piece.cut(lost), out)
    for each in apart.assignments:
        summary = f"{_READ_BY[kind]} does not set {each.name}: it reads {_MARK} as a part of the line"
        out.slips.append((each.start, each.stop, _warning(kind, summary)))
    out.passed += [piece.cut(0, lost).place] if lost else []
    line = piece.cut(0, len(piece.text.partition("\n")[0].rstrip()))
    if kind is FileKind.ENVIRONMENT and out.assignments[:1] and out.assignments[0].start < line.place[1]:
        first = out.assignments[0] = out.assignments[0]._replace(opaque=True)
        summary = f"systemd and python-dotenv before 1.2.3 do not set {first.name}: they do not skip {_MARK}"
        out.slips.append((first.start, first.stop, info("RC7118", summary, _CURE, sources=_SOURCES[kind])))
    elif kind is FileKind.TUNED and line.text:
        out.slip(line, _warning(kind, f"TuneD cannot read the profile because of {_MARK}, and sets nothing"))
    elif kind is FileKind.GRUB_DEFAULTS and line.text and "default/grub" in file and not apart.assignments:
        summary = f"grub-mkconfig stops at {_MARK}: the boot menu stays unchanged"
        out.slip(line, _warning(kind, summary))


def _warning(kind: FileKind, summary: str) -> Remark:
    return warning("RC7118", summary, _CURE, sources=_SOURCES.get(kind, ()))


def _first(kind: FileKind, piece: Span) -> int:
    """Return the end of the statement to which the mark belongs; 0 where the program skips the mark."""
    if kind in _SHELLS:
        end = len(piece.text.partition("\n")[0])
        command = next(commands(piece), None)
        first = min((word.start for word in command.words), default=end) if command is not None else end
        # behind the mark `#` begins a word and no comment: the first line is a command in any case
        return command.stop if command is not None and first < end else end
    if kind not in _READ_BY:
        return 0
    match = _BEGINS.get(kind, _LINE).match(piece.text)
    return match.end() if match else 0
