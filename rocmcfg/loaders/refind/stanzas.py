"""Read the stanzas of refind.conf: entries written by hand, with the arguments in lines of their own.

The reader follows rEFInd's own (0.14.2, refind/config.c: ReadLine, ReadTokenLine, KeepReading,
ScanUserConfigured, AddStanzaEntries, AddSubmenu): the last line of a keyword counts, `loader` discards the
`options` above it, a stanza ends at a line that begins with `}`, and `disabled` removes it from the menu. A
`submenuentry` inherits the lines of the stanza above it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_LINE = regex(r"[^\r\n]+")
_BETWEEN = " \t=,"  # what separates words, outside of quotes
_LINUX = regex(r"(?i)(?:^|[\\/])(?:vmlinu[xz]|bzimage|linux|kernel)[^\\/]*$")


class Word(NamedTuple):
    """A word. `start` and `end` are the place of its text in the file, without its quotes."""

    text: str
    start: int
    end: int
    quoted: bool


class Stanza(NamedTuple):
    """A stanza or an entry of its submenu. `options` is None where no line sets them, or where an entry of a
    submenu uses those of its stanza. `line` is the number of its first line. `inherits`: its arguments are
    derived from those of `above`."""

    title: str
    loader: str = ""
    initrd: str = ""
    options: Word | None = None
    disabled: bool = False
    line: int = 0
    above: str = ""
    inherits: bool = False

    @property
    def starts_linux(self) -> bool:
        """Return whether it passes arguments to a kernel, and does not start another loader."""
        says_root = self.options is not None and "root=" in self.options.text
        return not self.disabled and (says_root or bool(_LINUX.search(self.loader)))


def stanzas(text: str) -> list[Stanza]:
    """Return every stanza, followed by the entries of its submenu."""
    lines = word_lines(text)
    heads = ((words, number) for words, number in lines if _is(words, "menuentry"))
    return [stanza for words, number in heads for stanza in _stanza(words, number, lines)]


def includes(text: str) -> list[str]:
    return [words[1].text for words, _ in word_lines(text) if _is(words, "include") and len(words) == 2]


def _stanza(head: list[Word], line: int, lines: Iterator[tuple[list[Word], int]]) -> list[Stanza]:
    entry, below = Stanza(head[1].text, line=line), list[Stanza]()
    for words, number in lines:
        if words[0].text == "}":
            break
        if _is(words, "submenuentry"):
            start = entry._replace(title=words[1].text, line=number, above=entry.title, inherits=True)
            below.append(_entry(start, lines))
        else:
            entry = _with(entry, words)
            entry = entry._replace(options=None) if _is(words, "loader") else entry
    return [entry, *(submenu._replace(disabled=submenu.disabled or entry.disabled) for submenu in below)]


def _entry(entry: Stanza, lines: Iterator[tuple[list[Word], int]]) -> Stanza:
    for words, _ in lines:
        if words[0].text == "}":
            break
        entry = _with(entry, words)
        if words[0].text.lower() == "options":  # without a word it removes them
            options = words[1] if len(words) > 1 else None
            entry = entry._replace(options=options, inherits=False)
    return entry


def _with(entry: Stanza, words: list[Word]) -> Stanza:
    key = words[0].text.lower()
    if key == "disabled":
        return entry._replace(disabled=True)
    if len(words) == 1:
        return entry
    if key == "loader":
        return entry._replace(loader=words[1].text)
    if key == "initrd":
        return entry._replace(initrd=words[1].text)
    return entry._replace(options=words[1]) if key == "options" else entry


def _is(words: list[Word], key: str) -> bool:
    return len(words) > 1 and words[0].text.lower() == key


def word_lines(text: str) -> Iterator[tuple[list[Word], int]]:
    """Yield the words of each line that has any, and its number."""
    number, counted = 1, 0
    for line in _LINE.finditer(text):
        number += text.count("\n", counted, line.start())
        counted = line.start()
        words = list(_words(line[0], line.start()))
        if words:
            yield words, number


def _words(line: str, at: int) -> Iterator[Word]:
    place, quoted = 0, False
    while True:
        while place < len(line) and line[place] in _BETWEEN and not quoted:
            place += 1
        if place == len(line) or (line[place] == "#"):
            return
        if line[place] == '"':
            quoted = not quoted
            place += 1
        start, text, begun = place, "", quoted
        while place < len(line) and (quoted or line[place] not in "#" + _BETWEEN):
            if line.startswith('""', place):
                place += 1
            elif line[place] == '"':
                break
            text += line[place]
            place += 1
        if place < len(line) and line[place] == '"':
            quoted = not quoted
        yield Word(text, at + start, at + place, begun)
        if place == len(line) or line[place] == "#":
            return
        place += 1
