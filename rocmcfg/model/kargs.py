"""Kernel command lines as tokens, never as substrings.

Rules (lib/cmdline.c `next_arg`, kernel/params.c `parse_args` and `parameq`): blanks separate unless inside
double quotes, `-` equals `_` in a name, and of several arguments of one name the last one wins. A quote
counts wherever it stands; of those around an argument or its value the first and the last are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.model.shape import NamedTuple

# x86 kernels keep 2,048 bytes of command line including the final NUL (arch/x86/include/asm/setup.h).
COMMAND_LINE_LIMIT = 2048


class Karg(NamedTuple):
    """One argument as written, and where it was written. `untold`: the boot loader puts the value of a
    variable into it, so that what the kernel gets cannot be told."""

    text: str
    source: str = ""
    untold: bool = False

    @property
    def name(self) -> str:
        """As the kernel compares it: a quote behind it is a part of it, so that `"a"=1` sets nothing called
        a."""
        return _parts(self.text)[0]

    @property
    def key(self) -> str:
        return canonical(self.name)

    @property
    def value(self) -> str | None:
        """The value as the kernel takes it, without the quotes around it; None for a bare flag, and where it
        cannot be told."""
        return None if self.untold else _parts(self.text)[1]

    @property
    def leaves_quote_open(self) -> bool:
        """Say whether the kernel takes what is written behind the argument for a part of it."""
        return self.text.count('"') % 2 == 1


_ARGUMENT = r'(?:[^\s"\xa0]|"[^"]*(?:"|$))+\xa0?|\xa0'


def _parts(text: str) -> tuple[str, str | None]:
    """Name and value by `next_arg`. An `=` at the very beginning separates nothing."""
    quoted = text.startswith('"')
    text = text[1:] if quoted else text
    equals = text.find("=", 1)
    if equals < 0:
        return text.removesuffix('"') if quoted else text, None
    name, value = text[:equals], text[equals + 1 :]
    if value.startswith('"'):
        return name, value[1:].removesuffix('"')
    return name, value.removesuffix('"') if quoted else value


def canonical(name: str) -> str:
    return name.replace("-", "_")


def split(text: str, source: str = "") -> tuple[Karg, ...]:
    return tuple(Karg(token, source) for token, _ in tokens(text))


def tokens(text: str) -> list[tuple[str, int]]:
    """Arguments with the offset at which each starts; blanks inside double quotes, of which the last may be
    left open, do not separate. Blanks are those of the kernel (lib/ctype.c), which reads bytes: of a no-break
    space, as copying from a page gives it, the second one is a blank and the first one stays in the value."""
    return [(match[0], match.start()) for match in re.finditer(_ARGUMENT, text, re.ASCII)]


def last(kargs: Sequence[Karg], name: str) -> Karg | None:
    """The argument that wins: the last of this name."""
    key = canonical(name)
    return next((karg for karg in reversed(kargs) if karg.key == key), None)


def contains(kargs: Iterable[Karg], text: str) -> bool:
    """Say whether an argument of this name and exactly this value is among them, at any place; of one with a
    variable in it, whether it is written so."""
    wanted = Karg(text)
    return any(
        karg.text == text if karg.untold else karg.key == wanted.key and karg.value == wanted.value
        for karg in kargs
    )


def join(kargs: Iterable[Karg]) -> str:
    return " ".join(karg.text for karg in kargs)


def separator(kargs: Iterable[Karg]) -> Karg | None:
    """The `--`, in quotes or not, behind which the kernel reads nothing: it hands that to init, and of a
    module's options it drops it (kernel/params.c, parse_args)."""
    return next((karg for karg in kargs if karg.name == "--" and karg.value is None), None)


def read_by_kernel(kargs: Sequence[Karg]) -> tuple[Karg, ...]:
    """Return the arguments before a `--`."""
    marker = separator(kargs)
    return tuple(kargs) if marker is None else tuple(kargs[: kargs.index(marker)])


def adds_up(name: str) -> bool:
    """Arguments of which every one counts, and not only the last (Documentation/admin-guide/
    kernel-parameters.txt): a later one takes nothing away from ours."""
    return canonical(name) in ("console", "pci", "earlycon", "modprobe.blacklist")
