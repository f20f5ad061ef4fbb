"""What well-known commands are told to set: boot tools, modprobe, sed, and shells that assign without `=`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from os.path import basename

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Assignment, Reading, What, Where
from rocmcfg.lint.readers import cmdline, lines, modprobe
from rocmcfg.lint.source import Span
from rocmcfg.model.kargs import canonical

# Tools that add arguments to a kernel command line, and the options behind which those stand.
BOOT_TOOLS = {
    "grubby": ("--args",),
    "kernelstub": ("-a", "--add-options", "-o", "--options"),
    "rpm-ostree": ("--append", "--append-if-missing", "--replace"),
    "bootc": ("--options",),
    "efibootmgr": ("-u", "--unicode", "-@"),
    "kexec": ("--append", "--command-line"),
    "grub-editenv": ("kernelopts",),
    "grub2-editenv": ("kernelopts",),
    "qemu-system-x86_64": ("-append", "--append"),
    "ukify": ("--cmdline",),
}
_MARKS = re.compile(r"\\?[\"']|\\\d|&|\bGRUB_\w+=|\^|\$$")
_SED = re.compile(r"(?:^|(?<=[\s;{}/\d$]))s([/|,#@!:~])")


def read_boot_tool(name: str, words: Sequence[Span], out: Reading, where: Where) -> None:
    adding = BOOT_TOOLS[name]
    for number, word in enumerate(words):
        option, equals, _ = word.text.partition("=")
        if equals and option in adding:
            cmdline.read(word.cut(len(option) + 1), out, where)
        elif number and words[number - 1].text in adding:
            cmdline.read(word, out, where)


def read_module(words: Sequence[Span], out: Reading, where: Where) -> None:
    """`modprobe amdgpu runpm=0`, `insmod ./amdgpu.ko runpm=0`; with -r nothing is set."""
    options = [w.text for w in words if w.text.startswith("-")]
    rest = [w for w in words if not w.text.startswith("-")]
    if not rest or "-r" in options or "--remove" in options:
        return
    module = canonical(basename(rest[0].text).partition(".ko")[0])
    if module not in names.modules():
        return
    for word in rest[1:]:
        modprobe.read_options(word, module, [(word.text, 0)], out, where)


def read_separate(words: Sequence[Span], out: Reading, where: Where) -> None:
    """`set -gx NAME VALUE` of fish, `setenv NAME VALUE` of csh."""
    if not words or not names.concerns(words[0].text):
        return
    name, values = words[0], words[1:]
    start, stop = name.place
    value = " ".join(v.text for v in values) if values else None
    value_at = (values[0].at(0), values[-1].place[1]) if value else None
    finish = value_at[1] if value_at else stop
    out.assignments.append(
        Assignment(
            What.VARIABLE,
            name.text,
            value,
            start,
            finish,
            (start, stop),
            value_at,
            replace(where, scope="", removable=False),
            opaque=bool(value) and "$" in str(value),
        )
    )


def read_sed(word: Span, out: Reading, where: Where) -> None:
    """What a script of sed puts in: the second part of each `s/…/…/`, and the text behind a, i and c."""
    text, at = word.text, 0
    scoped = where.inside(scope="")
    while found := _SED.search(text, at):
        parts = _parts(text, found.end(), found[1])
        if parts is None:
            break
        start, stop = parts
        put = word.cut(start, stop)
        if "cmdline" in text.lower() or names.split_parameter(put.text.strip("&\\1 \"'").partition("=")[0]):
            cmdline.read(_without_marks(put), out, scoped)
        else:
            lines.read(put, out, scoped)
        at = stop + 1
    if at == 0 and re.search(r"[aic]\\?\s", text):
        lines.read(word, out, scoped)


def _parts(text: str, at: int, delimiter: str) -> tuple[int, int] | None:
    """Where the replacement stands, between the second and the third delimiter."""
    ends: list[int] = []
    while len(ends) < 2:
        end = text.find(delimiter, at)
        if end < 0:
            return None
        if text[end - 1] != "\\":
            ends.append(end)
        at = end + 1
    return ends[0] + 1, ends[1]


def _without_marks(put: Span) -> Span:
    """Quotes, `&`, `\\1` and an assignment's own name are no arguments; blanks take their place."""
    return put.sub(_MARKS, lambda _: " ")
