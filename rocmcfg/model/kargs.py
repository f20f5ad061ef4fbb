"""Kernel command lines as tokens, never as substrings.

Rules (kernel/params.c `next_arg` and `parameq`): blanks separate unless inside double quotes, `-` equals
`_` in a name, and of several arguments of one name the last one wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.model.named_tuple import NamedTuple

# x86 kernels keep 2,048 bytes of command line including the final NUL (arch/x86/include/asm/setup.h).
COMMAND_LINE_LIMIT = 2048


class Karg(NamedTuple):
    """One argument as written, and where it was written."""

    text: str
    source: str = ""

    @property
    def name(self) -> str:
        return self.text.partition("=")[0].strip('"')

    @property
    def key(self) -> str:
        return canonical(self.name)

    @property
    def value(self) -> str | None:
        """The value without its double quotes; None for a bare flag."""
        _, equals, value = self.text.partition("=")
        return value.replace('"', "") if equals else None


_ARGUMENT = r'(?:[^\s"\xa0]|"[^"]*(?:"|$))+\xa0?|\xa0'


def canonical(name: str) -> str:
    return name.replace("-", "_")


def split(text: str, source: str = "") -> tuple[Karg, ...]:
    return tuple(Karg(token, source) for token, _ in tokens(text))


def tokens(text: str) -> list[tuple[str, int]]:
    """Arguments with the offset at which each starts; blanks inside double quotes, of which the last may be
    left open, do not separate. Blanks are those of the kernel (lib/ctype.c), which reads bytes: of a no-break
    space, as copying from a page gives it, the second one is a blank and the first one stays in the value."""
    return [(found[0], found.start()) for found in re.finditer(_ARGUMENT, text, re.ASCII)]


def last(kargs: Sequence[Karg], name: str) -> Karg | None:
    """The argument that wins: the last of this name."""
    key = canonical(name)
    return next((karg for karg in reversed(kargs) if karg.key == key), None)


def contains(kargs: Iterable[Karg], text: str) -> bool:
    """Whether an argument of this name and exactly this value is among them, at any place."""
    wanted = Karg(text)
    return any(karg.key == wanted.key and karg.value == wanted.value for karg in kargs)


def join(kargs: Iterable[Karg]) -> str:
    return " ".join(karg.text for karg in kargs)


def read_by_kernel(kargs: Sequence[Karg]) -> tuple[Karg, ...]:
    """Those before a `--`: the kernel hands everything behind it to init (kernel/params.c, parse_args)."""
    texts = [karg.text for karg in kargs]
    return tuple(kargs[: texts.index("--")]) if "--" in texts else tuple(kargs)


def adds_up(name: str) -> bool:
    """Arguments of which every one counts, and not only the last (Documentation/admin-guide/
    kernel-parameters.txt): a later one takes nothing away from ours."""
    return canonical(name) in ("console", "pci", "earlycon", "modprobe.blacklist")
