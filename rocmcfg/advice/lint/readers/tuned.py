"""Read profiles of TuneD: kernel arguments in [bootloader], parameters of modules in [modules].

Known from TuneD 2.20 to 2.27: profiles/loader.py reads the file with Python's configparser, plugins/
plugin_bootloader.py joins all options that begin with `cmdline`, and plugins/plugin_modules.py writes each
option of [modules] to modprobe.d.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Reading, Where
from rocmcfg.advice.lint.readers import kernel
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.model.kargs import canonical, tokens
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_SECTION = regex(r"[ \t]*\[([^\]\n]+)\]")
_OPTION = regex(r"([ \t]*)([^\s=#;][^=]*?)[ \t]*=[ \t]*")
_COMMENT = regex(r"(?:^|(?<=\s))#.*|^[ \t]*;.*")
_RELOADED = regex(r"\+r[ \t]*,?[ \t]*")  # the module is loaded again at once
_ESCAPED = regex(r"\\[\\+-]")


class _Option(NamedTuple):
    """A line of an option's value. `sign` is the plus or minus before the whole value."""

    name: str
    value: Span
    line: Span
    sign: str


def read(piece: Span, out: Reading, where: Where) -> None:
    for plugin, options in _sections(piece):
        # the kernel command line wins over modprobe.d, wherever they stand in the file
        here = where._replace(scope=where.scope and f"{where.scope} {plugin}")
        for option in options:
            if plugin == "main":  # for people, and the names of other profiles
                out.passed.append(option.line.place)
            elif plugin == "bootloader" and option.name.startswith("cmdline"):
                _read_cmdline(option, out, here)
            elif plugin == "modules" and canonical(option.name) in names.modules():
                _read_module(option, out, here)


def _sections(piece: Span) -> Iterator[tuple[str, list[_Option]]]:
    """Yield the plugin of each section, and its options. An option `type` names the plugin; without it the
    section's own name does."""
    plugin, options = "", list[_Option]()
    indent, name, sign = 0, "", ""
    for line in piece.lines():
        content = line.cut(0, len(_COMMENT.sub("", line.text).rstrip()))
        if not content.text.strip():
            continue
        deeper = len(content.text) - len(content.text.lstrip()) > indent
        if name and deeper:  # it continues the value above
            begin = len(content.text) - len(content.text.lstrip())
            options.append(_Option(name, content.cut(begin), line, sign))
        elif section := _SECTION.match(content.text):
            yield plugin, options
            plugin, options, indent, name = section[1], [], 0, ""
        elif option := _OPTION.match(content.text):
            indent, name = len(option[1]), option[2]
            value = content.cut(option.end())
            plugin = value.text if name == "type" else plugin
            sign = value.text[:1]
            options.append(_Option(name, value, line, sign))
    yield plugin, options


def _read_cmdline(option: _Option, out: Reading, where: Where) -> None:
    """Read arguments. A minus before them takes out what other profiles add."""
    value = option.value
    if option.sign == "-":
        out.passed.append(value.place)
        return
    if value.text.startswith("+") or _ESCAPED.match(value.text):
        value = value.cut(1)
    kernel.read_arguments(value, out, where, option.line.place, whole=True)


def _read_module(option: _Option, out: Reading, where: Where) -> None:
    reloaded = _RELOADED.match(option.value.text)
    value = option.value.cut(reloaded.end() if reloaded else 0)
    before = len(out.assignments)
    kernel.read_options(value, canonical(option.name), tokens(value.text), out, where)
    whole = option.line.place
    out.assignments[before:] = [each._replace(statement=whole) for each in out.assignments[before:]]
