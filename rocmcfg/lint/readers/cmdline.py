"""A kernel command line: /proc/cmdline, GRUB_CMDLINE_LINUX's value, the `options` line of a boot entry."""

from __future__ import annotations

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Reading, What, Where
from rocmcfg.lint.source import Span
from rocmcfg.model.kargs import tokens


def read(piece: Span, out: Reading, where: Where) -> None:
    """Behind `--` stand arguments of init, but kmod reads those of modules there too (libkmod-config.c)."""
    for_init = False
    for token, start in tokens(piece.text):
        name, stop = token.partition("=")[0].strip('"'), start + len(token)
        for_init = for_init or token == "--"
        if parameter := names.split_parameter(name):
            out.add(What.PARAMETER, piece, name=".".join(parameter), start=start, stop=stop, where=where)
        elif not for_init and names.concerns_argument(name):
            out.add(What.ARGUMENT, piece, start=start, stop=stop, where=where)


def read_lines(piece: Span, out: Reading, where: Where) -> None:
    """A file of arguments, in several lines perhaps, with `#` at the beginning of a comment."""
    for line in piece.lines():
        if not line.text.lstrip().startswith("#"):
            read(line, out, where)
