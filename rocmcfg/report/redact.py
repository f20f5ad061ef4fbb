"""Takes out of a text what tells who and where (names, serials, addresses, ids, secrets), as far as a rule
knows their form. It is no proof that nothing is left.

The same thing gets the same placeholder throughout one report, so that a reader still sees what belongs
together: `<uuid-1>` is one file system wherever it is named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rocmcfg.report import tables
from rocmcfg.report.accounts import ACCOUNTS
from rocmcfg.report.addresses import ADDRESSES, telling_ip
from rocmcfg.report.commands import COMMANDS
from rocmcfg.report.identities import IDENTITIES
from rocmcfg.report.names import LONGEST, Names, lower
from rocmcfg.report.pairs import pairs
from rocmcfg.report.rule import OPAQUE, Rule, Rules
from rocmcfg.report.tokens import TOKENS, key_blocks
from rocmcfg.report.words import LEVELS, ORDINARY, TELLING_NOTHING, is_public

RULES = Rules((*TOKENS, *COMMANDS, *IDENTITIES, *ACCOUNTS, *ADDRESSES))
_TEACHING = Rules(rule for rule in RULES if rule.teaches)
_KINDS = sorted(
    {rule.kind for rule in RULES} | {"secret", "serial", "id", "user", "host", "name", "uuid", "label"}
)

_COLOURS = re.compile(
    r"(?:\x1b|\x9b|#033|\\x1[bB]|\\u001[bB]|\\033|\\e|\^\[|\N{SYMBOL FOR ESCAPE})\[[0-9;:?]{0,40}[A-Za-z]"
    r"|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|\x1b[@-Z\\^_=>]"
)
# What is not seen must not part a name: NUL (also of UTF-16), soft hyphens, joiners, marks of direction.
_UNSEEN = re.compile("[\0\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_PRIVATE_USE = re.compile(f"[{OPAQUE}]")
_LINE = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_PLACED = re.compile(rf"<(?:{'|'.join(_KINDS)})-\d{{1,9}}>")
_HIDDEN = re.compile("[\U000f0000-\U000fffff][\U00100000-\U0010ffff]")
_HALF = 1 << 15


@dataclass(slots=True)
class Redactor:
    """`hosts` and `users` are the names of this machine and of its accounts, `secrets` other texts that must
    not appear (serials that could be read), each with the kind that its placeholder names."""

    hosts: Iterable[str] = ()
    users: Iterable[str] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)
    _names: Names = field(default_factory=Names)
    _texts: dict[str, str] = field(default_factory=dict)
    _anywhere: re.Pattern[str] | None = None
    _seen: dict[tuple[str, str], str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    _shown: list[str] = field(default_factory=list)
    _codes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for host in self.hosts:
            self._add_host(host, given=True)
        for user in self.users:
            self._add(user, "user", given=True)
        for text, kind in self.secrets.items():
            if len(text) > 3 and text.lower() not in TELLING_NOTHING:
                self._texts[lower(text)] = kind
        if self._texts:
            longest_first = sorted(self._texts, key=len, reverse=True)
            self._anywhere = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def learn(self, text: str) -> None:
        """Take the names, serials and secrets that a text gives away for certain, so that they go from all
        other places as well."""
        lines = _LINE.split(self._clean(text))
        for number, (start, end) in tables.accounts(lines).items():
            self._learn("user", lines[number][start:end])
        for line in lines:
            if not line:
                continue
            for found in pairs(line):
                if found.sure:
                    self._learn(found.kind, line[found.start : found.end])
            for rule in _TEACHING.of(line):
                for match in rule.pattern.finditer(line):
                    if rule.telling(match["x"]):
                        self._learn(rule.kind, match["x"])

    def __call__(self, text: str) -> str:
        text = self._clean(text)
        ends = [found[0] for found in _LINE.finditer(text)]
        lines = _LINE.split(text)
        places = {number: ("user", *span) for number, span in tables.accounts(lines).items()}
        places |= {number: ("secret", *span) for number, span in key_blocks(lines).items()}
        for number, (kind, start, end) in places.items():
            line = lines[number]
            lines[number] = line[:start] + self._hide(kind, line[start:end]) + line[end:]
        redacted = [self._line(line) if line else line for line in lines]
        joined = "".join(line + end for line, end in zip(redacted, [*ends, ""], strict=True))
        return _HIDDEN.sub(lambda code: self._shown[_number(code[0])], joined)

    def _line(self, line: str) -> str:
        pieces: list[str] = []
        done = 0
        for found in pairs(line):
            pieces += (line[done : found.start], self._hide(found.kind, line[found.start : found.end]))
            done = found.end
        line = "".join((*pieces, line[done:]))
        if self._anywhere is not None:
            line = self._anywhere.sub(
                lambda found: self._hide(self._texts.get(lower(found[0]), "id"), found[0]), line
            )
        for rule in RULES.of(line):
            line = rule.pattern.sub(self._by(rule), line)
        return self._names.replaced(line, self._hide)

    def _by(self, rule: Rule) -> Callable[[re.Match[str]], str]:
        def replaced(found: re.Match[str]) -> str:
            start, end = found.span("x")
            hidden = found["x"]
            whole, offset = found[0], found.start()
            if not _PRIVATE_USE.sub("", hidden).strip() or not rule.telling(hidden):
                return whole
            if (
                rule.kind == "ip"
                and "." in hidden
                and ":" not in hidden
                and not telling_ip(hidden, found.string, start, end)
            ):
                return whole
            return whole[: start - offset] + self._hide(rule.kind, hidden) + whole[end - offset :]

        return replaced

    # -- names that are known -------------------------------------------------------------------------

    def _learn(self, kind: str, name: str) -> None:
        if _PRIVATE_USE.search(name):
            return
        if kind == "host":
            self._add_host(name, given=False)
        else:
            self._add(name, kind, given=False)

    def _add_host(self, name: str, *, given: bool) -> None:
        """The name, its first label, and the domain where that is somebody's own."""
        first, _, domain = name.strip().strip(".").partition(".")
        if first.isdigit() and domain.replace(".", "").isdigit():
            return
        self._add(name, "host", given=given)
        self._add(first, "host", given=given)
        if (
            "." in domain
            and not is_public(domain)
            and not domain.endswith((".internal", ".local", ".arpa", "amazonaws.com"))
        ):
            self._add(domain, "host", given=given)

    def _add(self, name: str, kind: str, *, given: bool) -> None:
        """`given`: by the host itself, which knows best what it is called."""
        word = lower(name.strip())
        if not 2 < len(word) <= LONGEST or word in TELLING_NOTHING or word in LEVELS:
            return
        if not any(c.isalpha() for c in word) and (kind not in ("serial", "secret") or len(word) < 6):
            return
        if given or word not in ORDINARY:
            self._names.add(word, kind)

    # -- placeholders ---------------------------------------------------------------------------------

    def _hide(self, kind: str, hidden: str) -> str:
        """A pair of characters that no rule finds anything in, in the place of what is hidden."""
        key = (kind, lower(hidden))
        shown = self._seen.get(key)
        if shown is None:
            self._counts[kind] += 1
            shown = self._seen[key] = f"<{kind}-{self._counts[kind]}>"
        return self._code(shown)

    def _code(self, shown: str) -> str:
        code = self._codes.get(shown)
        if code is None:
            high, low = divmod(len(self._shown), _HALF)
            self._shown.append(shown)
            code = self._codes[shown] = chr(0xF0000 + high) + chr(0x100000 + low)
        return code

    def _clean(self, text: str) -> str:
        """Without colours and what is not seen. Placeholders of an earlier redaction stay what they are."""
        text = _UNSEEN.sub("", _COLOURS.sub("", text))
        text = _PRIVATE_USE.sub("\N{REPLACEMENT CHARACTER}", text)
        return _PLACED.sub(lambda placed: self._code(placed[0]), text)


def _number(code: str) -> int:
    return (ord(code[0]) - 0xF0000) * _HALF + ord(code[1]) - 0x100000
