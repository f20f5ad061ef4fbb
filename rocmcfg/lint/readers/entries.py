"""What a boot loader reads: the generated grub.cfg, and the entries of the Boot Loader Specification.

`backends.boot.grub_files.mkconfig` reads the entries that will boot; this reader wants the place of every
argument, in any file that looks like one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rocmcfg.lint.assignment import Reading, Where
from rocmcfg.lint.readers import cmdline
from rocmcfg.lint.source import Span

# `linux /vmlinuz ARGUMENTS`; under Xen the kernel is its first module
_LINUX = re.compile(r"[ \t]*(?:linux(?:16|efi)?|module2?)[ \t]+(\S*vmlinu\S*|\S*[kK]ernel\S*|/\S+)[ \t]*")
_SET = re.compile(r"[ \t]*set[ \t]+(?:default_)?kernelopts=[\"']?")
_OPTIONS = re.compile(r"[ \t]*options[ \t]+")
_QUOTED = re.compile(r'"([^"\n]*)"[ \t]*$', re.MULTILINE)
_TITLED = re.compile(r'[ \t]*(?:"[^"\n]*"|[^\s"#]+)[ \t]+"([^"\n]*)"')


def read_grub_cfg(piece: Span, out: Reading, where: Where) -> None:
    for number, line in enumerate(piece.logical_lines()):
        text = line.text
        found = _LINUX.match(text) or _SET.match(text)
        if found is None:
            continue
        end = len(text) - 1 if found.re is _SET and text[-1:] in ("'", '"') else len(text)
        scope = where.scope and f"{where.scope} entry {number}"
        cmdline.read(line.cut(found.end(), max(found.end(), end)), out, replace(where, scope=scope))


def read_entry(piece: Span, out: Reading, where: Where) -> None:
    """Several `options` lines add up. In refind_linux.conf each line is an entry of its own: a title and its
    arguments, both in double quotes."""
    for number, line in enumerate(piece.lines()):
        if found := _OPTIONS.match(line.text):
            quoted = _QUOTED.match(line.text, found.end())
            cmdline.read(line.cut(*quoted.span(1)) if quoted else line.cut(found.end()), out, where)
        elif found := _TITLED.match(line.text):
            scope = where.scope and f"{where.scope} entry {number}"
            cmdline.read(line.cut(*found.span(1)), out, replace(where, scope=scope))
