"""What well-known commands are told to set: boot tools, modprobe, sed, and shells that assign without `=`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from os.path import basename

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Reading, Where
from rocmcfg.lint.readers import kernel, lines
from rocmcfg.lint.source import Span, joined
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
_SED = re.compile(
    r"(?:^|(?<=[\s;{}/\d$]))s([/|,#@!:~])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1", re.DOTALL
)


def read_boot_tool(name: str, words: Sequence[Span], out: Reading, where: Where) -> None:
    adding = BOOT_TOOLS[name]
    for number, word in enumerate(words):
        option, equals, _ = word.text.partition("=")
        if equals and option in adding:
            kernel.read_arguments(word.cut(len(option) + 1), out, where)
        elif number and words[number - 1].text in adding:
            kernel.read_arguments(word, out, where)


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
        kernel.read_options(word, module, [(word.text, 0)], out, where)


def read_separate(words: Sequence[Span], out: Reading, where: Where) -> None:
    """`set -gx NAME VALUE` of fish, `setenv NAME VALUE` of csh."""
    if words and names.concerns(words[0].text):
        blank = Span(" ", words[0].runs)
        parts = [part for word in words[1:] for part in (blank, word)][1:]
        value = joined(parts) if parts else None
        out.add_pair(words[0], value, where=replace(where, scope="", removable=False))


def read_sed(word: Span, out: Reading, where: Where) -> None:
    """What a script of sed puts in: the second part of each `s/…/…/`, and the text behind a, i and c."""
    text, scoped, found = word.text, where.inside(scope=""), None
    for found in _SED.finditer(text):
        put = word.cut(*found.span(2))
        if "cmdline" in text.lower() or names.split_parameter(put.text.strip("&\\1 \"'").partition("=")[0]):
            # quotes, `&`, `\\1` and an assignment's own name are no arguments
            kernel.read_arguments(put.sub(_MARKS, lambda _: " "), out, scoped)
        else:
            lines.read(put, out, scoped)
    if found is None and re.search(r"[aic]\\?\s", text):
        lines.read(word, out, scoped)
