"""Takes out of a text what tells who and where: names, serials, addresses, ids, home directories.

The same thing gets the same placeholder throughout one report, so that a reader still sees what belongs
together: `<uuid-1>` is one file system wherever it is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rocmcfg.report.patterns import RULES, TELLING_NOTHING, VERSION_BEFORE


@dataclass(slots=True)
class Redactor:
    """`hosts` and `users` are the names of this machine and of its accounts, `secrets` other texts that must
    not appear (serials that could be read), each with the kind that its placeholder names."""

    hosts: Iterable[str] = ()
    users: Iterable[str] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)
    _seen: dict[tuple[str, str], str] = field(default_factory=dict)
    _words: dict[str, tuple[str, re.Pattern[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for host in self.hosts:
            self._add(host, "host")
        for user in self.users:
            self._add(user, "user")
        for text, kind in self.secrets.items():
            if len(text) > 3 and text.lower() not in TELLING_NOTHING:
                self._words.setdefault(
                    text.lower(), (kind, re.compile(f"({re.escape(text)})", re.IGNORECASE))
                )

    def learn(self, text: str) -> None:
        """Take the names of hosts and accounts that a text gives away for certain, in the prefix of a line or
        a home directory, so that they go from all other places as well."""
        for kind, pattern in RULES:
            if kind in ("host", "user"):
                for found in pattern.finditer(text):
                    self._add(found[kind], kind)

    def __call__(self, text: str) -> str:
        for kind, pattern in (*RULES, *self._words.values()):
            text = pattern.sub(lambda found, kind=kind: self._replaced(found, kind), text)  # type: ignore[misc]
        return text

    def _add(self, name: str, kind: str) -> None:
        for word in dict.fromkeys((name.lower(), name.lower().partition(".")[0])):
            if len(word) > 2 and word not in TELLING_NOTHING and not word.isdigit():
                # "_" and "-" end a name here: "tower--vg-root" is a volume of the host tower
                pattern = re.compile(rf"(?i)(?<![a-z0-9])({re.escape(word)})(?![a-z0-9])")
                self._words.setdefault(word, (kind, pattern))

    def _replaced(self, found: re.Match[str], kind: str) -> str:
        group = next(iter(found.re.groupindex), 1)
        start, end = found.span(group)
        hidden = found[group]
        if hidden.startswith("<") or (kind in ("user", "host") and hidden.lower() in TELLING_NOTHING):
            return found[0]
        if kind == "ip" and VERSION_BEFORE.search(found.string, max(0, start - 24), start):
            return found[0]
        whole, offset = found[0], found.start()
        return whole[: start - offset] + self._placeholder(kind, hidden) + whole[end - offset :]

    def _placeholder(self, kind: str, hidden: str) -> str:
        key = (kind, hidden.lower())
        if key not in self._seen:
            count = sum(1 for known, _ in self._seen if known == kind)
            self._seen[key] = f"<{kind}-{count + 1}>"
        return self._seen[key]
