"""Read profiles of TuneD: kernel arguments in [bootloader], parameters of modules in [modules].

Known from TuneD 2.20 to 2.27: profiles/loader.py reads the file with Python's configparser, for which a
repeated option has the last value at the place of the first, also in a repeated section; plugins/
plugin_bootloader.py joins all options that begin with `cmdline`, and takes out what stands behind a minus;
plugins/plugin_modules.py writes each option of [modules] to modprobe.d.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    """A line of an option's value. `sign` is the plus or minus before the whole value. `key` is its section
    and name; `begins`: it is the first line."""

    name: str
    value: Span
    line: Span
    sign: str
    key: tuple[str, str]
    begins: bool


def read(piece: Span, out: Reading, where: Where) -> None:
    held: dict[tuple[str, str], list[int]] = {}  # the assignments of each option, by their numbers
    standing: dict[str, list[int]] = {}  # those of the command line, by their text
    turns: dict[tuple[str, str], int] = {}
    for plugin, options in _sections(piece):
        for option in options:
            numbers, before = held.setdefault(option.key, []), len(out.assignments)
            if option.begins:
                _drop(numbers, option, out)
                numbers.clear()
            # the kernel command line wins over modprobe.d, wherever they stand in the file
            here = where._replace(
                scope=where.scope and f"{where.scope} {plugin}",
                turn=(0, turns.setdefault(option.key, len(turns))),
            )
            if plugin == "main":  # for people, and the names of other profiles
                out.passed.append(option.line.place)
            elif plugin == "bootloader" and option.name.startswith("cmdline") and option.sign == "-":
                # it takes out what options above have added, and what other profiles add
                out.passed.append(option.value.place)
                for word, _ in tokens(option.value.text.removeprefix("-")):
                    _drop(standing.pop(word, ()), option, out)
            elif plugin == "bootloader" and option.name.startswith("cmdline"):
                _read_cmdline(option, out, here)
                for number in range(before, len(out.assignments)):
                    each = out.assignments[number]
                    text = option.line.text[
                        slice(*(at - option.line.at(0) for at in (each.start, each.stop)))
                    ]
                    standing.setdefault(text, []).append(number)
            elif plugin == "modules" and canonical(option.name) in names.modules():
                _read_module(option, out, here)
            numbers += range(before, len(out.assignments))


def _drop(numbers: Iterable[int], option: _Option, out: Reading) -> None:
    """Drop assignments of a file; in an example each line may be of another profile."""
    for number in numbers:
        each = out.assignments[number]
        if each.dropped < 0 and each.where.scope:
            out.drop([number], option.line.place[0])
            out.assignments[number] = out.assignments[number]._replace(where=each.where._replace(scope=""))


def _sections(piece: Span) -> Iterator[tuple[str, list[_Option]]]:
    """Yield the plugin of each section, and its options. An option `type` names the plugin; without it the
    section's own name does."""
    plugin, options, title = "", list[_Option](), ""
    indent, name, sign = 0, "", ""
    for line in piece.lines():
        content = line.cut(0, len(_COMMENT.sub("", line.text).rstrip()))
        if not content.text.strip():
            continue
        deeper = len(content.text) - len(content.text.lstrip()) > indent
        if name and deeper:  # it continues the value above
            begin = len(content.text) - len(content.text.lstrip())
            options.append(_Option(name, content.cut(begin), line, sign, (title, name), begins=False))
        elif section := _SECTION.match(content.text):
            yield plugin, options
            plugin, options, indent, name = section[1], [], 0, ""
            title = plugin
        elif option := _OPTION.match(content.text):
            indent, name = len(option[1]), option[2]
            value = content.cut(option.end())
            plugin = value.text if name == "type" else plugin
            sign = value.text[:1]
            options.append(_Option(name, value, line, sign, (title, name), begins=True))
    yield plugin, options


def _read_cmdline(option: _Option, out: Reading, where: Where) -> None:
    value = option.value
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
