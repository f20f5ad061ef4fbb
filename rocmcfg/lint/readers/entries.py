"""What a boot loader reads: the generated grub.cfg, and the entries of the Boot Loader Specification.

`backends.boot.grub.menu` reads the entries that will boot; this reader wants the place of every argument, in
any file that looks like one.
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


def read_grub_cfg(piece: Span, out: Reading, where: Where) -> None:
    for number, (start, stop) in enumerate(piece.lines()):
        found = _LINUX.match(piece.text, start, stop) or _SET.match(piece.text, start, stop)
        if found is None:
            continue
        end = stop - 1 if found.re is _SET and piece.text[stop - 1] in "\"'" else stop
        scope = where.scope and f"{where.scope} entry {number}"
        cmdline.read(piece.cut(found.end(), max(found.end(), end)), out, replace(where, scope=scope))


def read_entry(piece: Span, out: Reading, where: Where) -> None:
    """Several `options` lines add up."""
    for start, stop in piece.lines():
        if found := _OPTIONS.match(piece.text, start, stop):
            cmdline.read(piece.cut(found.end(), stop), out, where)
