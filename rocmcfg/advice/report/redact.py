"""Redact a text: replace names, serials, addresses, ids and secrets, as far as a rule knows their form. This
does not prove that nothing is left.

Each pass returns places in a line: blocks (texts that only neighbouring lines give away), pairs (values whose
key gives them away), texts that identify this host, rules (texts that programs write), and names learnt from
any of these. The same text gets the same placeholder throughout one report: `<uuid-1>` is one file system
wherever it is mentioned.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from types import MappingProxyType

from rocmcfg.advice.report.looks import is_nobody, is_ordinary, is_public, is_value, meaning, words
from rocmcfg.advice.report.pairs import pairs
from rocmcfg.advice.report.rules import OPAQUE, Place, rules, rules_of
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.regex import regex

_COLOURS = regex(
    r"(?:\x1b|\x9b|#033|\\x1[bB]|\\u001[bB]|\\033|\\e|\^\[|\N{SYMBOL FOR ESCAPE})\[[0-9;:?]{0,40}[A-Za-z]"
    r"|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|\x1b[@-Z\\^_=>]"
)
# Invisible characters must not split a name: NUL (also of UTF-16), soft hyphens, joiners, marks of direction.
_UNSEEN = regex("[\0\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_PRIVATE_USE = regex(f"[{OPAQUE}]")
_SERIALS = ("product_serial", "board_serial", "chassis_serial", "product_uuid", "chassis_asset_tag")
_LINE = regex("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_HIDDEN = regex("[\U000f0000-\U000fffff][\U00100000-\U0010ffff]")
_HALF = 1 << 15
# Domains that many owners share: the name of a machine in them does not identify its owner.
_SHARED = (".internal", ".local", ".arpa", "amazonaws.com")
# "_" and "-" separate words here: "tower--vg-root" is a volume of the host tower
_WORD = regex(r"[^\W_]+")
# An escape of systemd (\x2d), JSON (\n, \u001b) or a URL (%2F) is not part of the word that follows it.
_ESCAPED = regex(r"(?<=\\)(?:x[0-9a-f]{2}|u[0-9a-f]{4}|[bfnrtv])|(?<=%)[0-9a-f]{2}")
_LONGEST = 200  # characters of a name; as many lengths at most are tried at each word of the text


class Names:
    """Names that identify someone or something, found as whole words in time linear in the text, however
    many.

    Names are indexed by their first word, and then by their length. `tower7.example.org` is found in
    `tower7.example.org:/srv` and in `TOWER7.EXAMPLE.ORG`, not in `mytower7.example.org`.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._lengths: dict[str, set[int]] = {}

    def add(self, name: str, kind: str) -> None:
        """Add a name. It keeps the kind with which it was first added. A name without a letter or digit, or
        one that is too long, is ignored."""
        lowered = _lower(name).strip()
        first = _WORD.search(lowered)
        if first is not None and len(lowered) <= _LONGEST:
            start, end = first.start(), max(n for n, c in enumerate(lowered, 1) if c.isalnum())
            self._kinds.setdefault(lowered[start:end], kind)
            self._lengths.setdefault(first[0], set()).add(end - start)

    def places(self, text: str) -> Iterator[Place]:
        lowered = _lower(text)
        done = 0
        for word in _WORD.finditer(lowered):
            if (start := word.start()) < done:
                continue
            place = self._at(lowered, start, word.end())
            if place is None and (escaped := _ESCAPED.match(lowered, start)):
                start = escaped.end()
                place = self._at(lowered, start, word.end())
            if place is not None:
                yield place
                done = place.end

    def _at(self, text: str, start: int, end: int) -> Place | None:
        """Return the place of the longest name that begins at `start`; its first word ends at `end`."""
        for length in sorted(self._lengths.get(text[start:end], ()), reverse=True):
            name = text[start : start + length]
            kind, end = self._kinds.get(name), start + len(name)
            if kind is not None and not text[end : end + 1].isalnum():
                return Place(start, end, kind)
        return None


def _lower(text: str) -> str:
    """Return a text in lower case, with every character at its place: the Turkish I would become two
    characters, and a Greek sigma differs at the end of a word."""
    lowered = text.replace("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "i").lower()
    return lowered.replace("\N{GREEK SMALL LETTER FINAL SIGMA}", "\N{GREEK SMALL LETTER SIGMA}")


class Redactor:
    """A redactor. `hosts` and `users` are the names of this machine and its accounts, `secrets` other texts
    that must not appear (serials that could be read), each with the kind for its placeholder."""

    def __init__(
        self,
        hosts: Iterable[str] = (),
        users: Iterable[str] = (),
        secrets: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._names, self._texts, self._shown = Names(), dict[str, str](), dict[str, str]()
        self._anywhere: re.Pattern[str] | None = None
        self._seen: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()
        for host in hosts:
            self._learn("host", host, certain=True)
        for user in users:
            self._learn("user", user, certain=True)
        for text, kind in secrets.items():
            if len(text) > 3 and text.lower() not in words("nobody"):
                self._texts[_lower(text)] = kind
        if self._texts:
            longest_first = sorted(self._texts, key=len, reverse=True)
            self._anywhere = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def learn(self, text: str) -> None:
        """Learn the names, serials and secrets that a text certainly gives away, so that they are replaced
        everywhere."""
        lines = _LINE.split(self._clean(text))
        for number, place in _blocks(lines).items():
            self._learn_all(lines[number], [place])
        for before, line, after in _with_neighbours(lines):
            self._learn_all(line, pairs(line, before, after))
            for rule in rules_of(line):
                if rule.teaches:
                    self._learn_all(line, rule.places(line))

    def __call__(self, text: str) -> str:
        text = self._clean(text)
        ends = [end[0] for end in _LINE.finditer(text)]
        lines = _LINE.split(text)
        for number, place in _blocks(lines).items():
            lines[number] = self._without(lines[number], [place])
        redacted = [self._line(line, before, after) for before, line, after in _with_neighbours(lines)]
        joined = "".join(line + end for line, end in zip(redacted, [*ends, ""], strict=True))
        return _HIDDEN.sub(lambda code: self._shown[code[0]], joined)

    def _line(self, line: str, before: str, after: str) -> str:
        line = self._without(line, pairs(line, before, after))
        if self._anywhere is not None:
            line = self._anywhere.sub(
                lambda match: self._hide(self._texts.get(_lower(match[0]), "id"), match[0]), line
            )
        for rule in rules_of(line):
            line = self._without(line, rule.places(line))
        return self._without(line, self._names.places(line))

    def _without(self, line: str, places: Iterable[Place]) -> str:
        pieces: list[str] = []
        done = 0
        for place in places:
            pieces += (line[done : place.start], self._hide(place.kind, line[place.start : place.end]))
            done = place.end
        return "".join((*pieces, line[done:])) if pieces else line

    def _learn_all(self, line: str, places: Iterable[Place]) -> None:
        for place in places:
            if place.taught and not _PRIVATE_USE.search(line, place.start, place.end):
                self._learn(place.kind, line[place.start : place.end])

    def _learn(self, kind: str, name: str, *, certain: bool = False) -> None:
        """Learn a name. `certain`: it comes from the host itself."""
        for part in _names_of_host(name) if kind == "host" else (name,):
            word = _lower(part.strip())
            a_number = kind in ("serial", "secret") and len(word) > 5 and any(c.isdigit() for c in word)
            telling = not is_nobody(word) or a_number
            if telling and 2 < len(word) <= _LONGEST and (certain or not is_ordinary(word)):
                self._names.add(word, kind)

    def _hide(self, kind: str, hidden: str) -> str:
        """Return two characters that no rule matches, which represent the placeholder until all passes are
        done."""
        key = (kind, _lower(hidden))
        if key not in self._seen:
            self._counts[kind] += 1
            self._seen[key] = self._code(f"<{kind}-{self._counts[kind]}>")
        return self._seen[key]

    def _code(self, shown: str) -> str:
        high, low = divmod(len(self._shown), _HALF)
        code = chr(0xF0000 + high) + chr(0x100000 + low)
        self._shown[code] = shown
        return code

    def _clean(self, text: str) -> str:
        """Return a text without colours and invisible characters. Placeholders of an earlier redaction are
        kept."""
        text = _UNSEEN.sub("", _COLOURS.sub("", text))
        text = _PRIVATE_USE.sub("\N{REPLACEMENT CHARACTER}", text)
        return _placed().sub(lambda placed: self._code(placed[0]), text)


def _with_neighbours(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    return zip(["", *lines[:-1]], lines, [*lines[1:], ""], strict=True)


def _names_of_host(name: str) -> Iterator[str]:
    """Yield the name, its first label, and its domain unless many owners share it."""
    first, _, domain = name.strip().strip(".").partition(".")
    if first.isdigit() and domain.replace(".", "").isdigit():
        return
    yield from (name, first)
    if "." in domain and not is_public(domain) and not domain.endswith(_SHARED):
        yield domain


@functools.cache
def _placed() -> re.Pattern[str]:
    kinds = {kind for rule in rules() for kind, _ in rule.holes}
    return re.compile(rf"<(?:{'|'.join(sorted(kinds))})-\d{{1,9}}>")


def redactor_of(view: HostView, environment: Mapping[str, str]) -> Redactor:
    """Return a redactor that knows the names of this host, of its accounts and of the caller, and the serials
    that can be read."""

    def text(path: str) -> str:
        return text_or_empty(view, path).strip()

    hosts = [text("/etc/hostname"), text("/proc/sys/kernel/hostname")]
    hosts += re.findall(r"(?m)^PRETTY_HOSTNAME=[\"']?([^\"'\n]+)", text("/etc/machine-info"))
    users = [environment.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")]
    for line in text("/etc/passwd").splitlines():
        fields = line.split(":")
        if len(fields) > 2 and re.fullmatch(r"[0-9]{4,5}", fields[2]) and 1000 <= int(fields[2]) < 60000:
            users.append(fields[0])
            real = fields[4].partition(",")[0].split() if len(fields) > 4 else []
            users += [word for word in real if not is_ordinary(word)]
    secrets = {text(f"/sys/class/dmi/id/{name}"): "serial" for name in _SERIALS}
    secrets |= {text(f"/sys/class/nvme/{name}/serial"): "serial" for name in view.names("/sys/class/nvme")}
    secrets[text("/etc/machine-id")] = "id"
    return Redactor(hosts, users, secrets)


_HEADER = regex(
    r"(?<!\S)(?:USER[ \t]+(?:PID|TTY|UID|SEAT)|(?:PID|UID)[ \t]+USER|UID[ \t]+PID[ \t]+PPID)(?!\S)"
)
_COLUMN = regex(r"\S+")
_ACCOUNT = regex(r"([A-Za-z_][\w.-]{0,63}\$?)\+?$")
# The form of the other columns in a row; a line with anything else ends the table.
_OTHERS = {
    **dict.fromkeys(("PID", "PPID", "UID"), re.compile(r"\d+$")),
    "TTY": re.compile(rf"(?:tty|pts|console|hvc|:\d|[-?{OPAQUE}])"),
}
_MOST_COLUMNS = 40

_BEGINS = regex(r"-----BEGIN [A-Z0-9 ]{1,40}-----\s*$")
_ENDS = regex(r"-----END [A-Z0-9 ]{1,40}-----")
_BODY = regex(r"(?<![^\s\"'|>])[A-Za-z0-9+/]+={0,2}(?=[\"',\\rn]{0,4}$)")
_BLANK = regex(r"(?:Proc-Type|DEK-Info|Version|Comment): |(?:^|\s)$")
_OPENED = regex(
    r"(?P<indent>[ \t]*)(?:- )?[\"']?(?P<key>[A-Za-z_][\w.-]*)[\"']?:[ \t]*(?P<block>[|>][-+]?[ \t]*)?$"
)
_VALUE = regex(r"[ \t]+(?P<x>[^\s#{\[&*].*\S|\w)")
_NESTED = regex(r":(?:\s|$)|^\s*-")


def _blocks(lines: list[str]) -> dict[int, Place]:
    """Return the places that blocks of lines give away, by the number of the line."""
    return {**dict(_below_keys(lines)), **dict(_accounts(lines)), **_keys(lines)}


def _below_keys(lines: list[str]) -> Iterator[tuple[int, Place]]:
    for number, (line, below) in enumerate(pairwise(lines), 1):
        opened = _OPENED.match(line) if line.rstrip().endswith((":", "|", ">", "-", "+")) else None
        if opened is None or (meant := meaning(opened["key"])) is None:
            continue
        value = _VALUE.match(below)
        if meant.kind != "secret" or not meant.sure or value is None or not is_value(value["x"]):
            continue
        # deeper than the key, and no list or table of its own
        if value.start("x") > opened.end("indent") and (opened["block"] or not _NESTED.search(below)):
            yield number, Place(*value.span("x"), "secret")


def _accounts(lines: list[str]) -> Iterator[tuple[int, Place]]:
    column: int | None = None  # of the accounts, in a table
    forms: dict[int, re.Pattern[str]] = {}  # of other columns, by their numbers
    for number, line in enumerate(lines):
        if ("USER" in line or "UID" in line) and _HEADER.search(line):
            names = [word[0] for word in _words(line)]
            column = names.index("USER" if "USER" in names else "UID")  # `ps -f` calls the column UID
            forms = {n: _OTHERS[name] for n, name in enumerate(names) if name in _OTHERS and n != column}
        elif column is not None and line.strip():
            words = _words(line)
            if len(words) <= max([column, *forms]) or not all(f.match(words[n][0]) for n, f in forms.items()):
                column = None
            elif (account := _ACCOUNT.match(words[column][0])) and not is_nobody(account[1]):
                start = words[column].start()
                yield number, Place(start, start + account.end(1), "user", taught=True)


def _words(line: str) -> list[re.Match[str]]:
    return list(islice(_COLUMN.finditer(line), _MOST_COLUMNS))


def _keys(lines: list[str]) -> dict[int, Place]:
    """Return the bodies of PEM blocks, also of blocks without their first or last line. A log may have put a
    time stamp before each line."""
    bodies: dict[int, Place] = {}
    for number, line in enumerate(lines):
        if "-----" in line and _BEGINS.search(line):
            _take(lines, range(number + 1, len(lines)), bodies)
        if "-----" in line and _ENDS.search(line):
            _take(lines, range(number - 1, -1, -1), bodies)
    return bodies


def _take(lines: list[str], numbers: range, bodies: dict[int, Place]) -> None:
    """Add the lines of a key's body to `bodies`, up to the first of `numbers` that is not a line of a body.
    Only the last line of a body is short."""
    for number in numbers:
        if number in bodies:
            return
        body = _BODY.search(lines[number].rstrip())
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if body is not None and (len(body[0]) >= 40 or "-----END" in after):
            bodies[number] = Place(*body.span(), "secret")
        elif not _BLANK.search(lines[number]):
            return
