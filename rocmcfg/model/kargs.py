"""Kernel command lines as tokens, never as substrings.

Rules (lib/cmdline.c `next_arg`, kernel/params.c `parse_args` and `parameq`): blanks separate unless inside
double quotes, `-` equals `_` in a name, and the last of several arguments with the same name wins. A quote
counts in any place; of the quotes around an argument or its value, the first and the last are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.model.shape import NamedTuple

# x86 kernels keep 2,048 bytes of command line including the final NUL (arch/x86/include/asm/setup.h).
COMMAND_LINE_LIMIT = 2048


class Karg(NamedTuple):
    """One argument as written, and its place. `untold`: the boot loader replaces a variable in it, so the
    kernel's value is not known."""

    text: str
    source: str = ""
    untold: bool = False

    @property
    def name(self) -> str:
        """Return the name that the kernel compares: a quote after it is part of it, so `"a"=1` does not set
        a."""
        return _parts(self.text)[0]

    @property
    def key(self) -> str:
        return canonical(self.name)

    @property
    def of_module(self) -> tuple[str, str] | None:
        """Return module and name of a module's parameter; None for any other argument. A quote belongs to
        the name, and no parameter has one: kmod drops the argument, and the kernel does not know it."""
        module, dot, name = self.key.partition(".")
        return (module, name) if dot and '"' not in self.key else None

    @property
    def value(self) -> str | None:
        """Return the value that the kernel uses, without the quotes around it; None for a bare flag, and
        where it is not known."""
        return None if self.untold else _parts(self.text)[1]

    @property
    def leaves_quote_open(self) -> bool:
        """Return whether the kernel takes the text after the argument as part of it."""
        return self.text.count('"') % 2 == 1


_ARGUMENT = r'(?:[^\s"\xa0]|"[^"]*(?:"|$))+\xa0?|\xa0'


def _parts(text: str) -> tuple[str, str | None]:
    """Return name and value by the rules of `next_arg`. An `=` at the very beginning is not a separator."""
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
    """Return arguments with the offset at which each starts. Blanks inside double quotes, of which the last
    may be unclosed, do not separate. Blanks are those of the kernel (lib/ctype.c), which reads bytes: of a
    no-break space, as copied from a web page, the second byte is a blank and the first one stays in the
    value."""
    return [(match[0], match.start()) for match in re.finditer(_ARGUMENT, text, re.ASCII)]


def last(kargs: Sequence[Karg], name: str) -> Karg | None:
    """Return the winning argument: the last one with this name."""
    key = canonical(name)
    return next((karg for karg in reversed(kargs) if karg.key == key), None)


def contains(kargs: Iterable[Karg], text: str) -> bool:
    """Return whether an argument with this name and exactly this value is among them, at any place; an
    argument with a variable must be written identically."""
    wanted = Karg(text)
    return any(
        karg.text == text if karg.untold else karg.key == wanted.key and karg.value == wanted.value
        for karg in kargs
    )


def join(kargs: Iterable[Karg]) -> str:
    return " ".join(karg.text for karg in kargs)


def separator(kargs: Iterable[Karg]) -> Karg | None:
    """Return the `--`, in quotes or not, after which the kernel reads nothing: it passes the rest to init,
    and drops it from a module's options (kernel/params.c, parse_args)."""
    return next((karg for karg in kargs if karg.name == "--" and karg.value is None), None)


def read_by_kernel(kargs: Sequence[Karg]) -> tuple[Karg, ...]:
    """Return the arguments before a `--`."""
    marker = separator(kargs)
    return tuple(kargs) if marker is None else tuple(kargs[: kargs.index(marker)])


def adds_up(name: str) -> bool:
    """Return whether all arguments of this name count, not only the last (Documentation/admin-guide/
    kernel-parameters.txt): a later one does not override ours."""
    return canonical(name) in ("console", "pci", "earlycon", "modprobe.blacklist")
