"""Takes out of a text what tells who and where: names, serials, addresses, ids, home directories.

The same thing gets the same placeholder throughout one report, so that a reader still sees what belongs
together: `<uuid-1>` is one file system wherever it is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# Names that many machines and accounts have. They tell nothing, and replacing them would garble the rest:
# a host called debian must not make "Debian" disappear.
_TELLING_NOTHING = frozenset(
    """
    admin amd amdgpu arch archlinux centos computer debian desktop fedora gentoo gpu guest home host kernel
    laptop linux live localhost localdomain manjaro mint nixos none opensuse pc python python3 radeon rocm
    root rocky server suse system test ubuntu user users worker workstation
    """.split()  # noqa: SIM905  # a list of words reads better than a column of quotes
)

_HEX = "[0-9A-Fa-f]"
# Order matters: an earlier rule keeps a later one from seeing only a part of what it took.
_RULES: tuple[tuple[str, str], ...] = (
    # The host's name in syslog and journal lines: "Nov 21 12:42:56 NAME kernel:", also with an ISO time.
    (
        "host",
        r"(?m)^(?:[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*) "
        r"(?P<host>[\w.-]+)(?= [\w./-]+(?:\[\d+\])?:)",
    ),
    ("mail", r"(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,})"),
    ("uuid", rf"(?P<uuid>\b{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}\b)"),
    # Of FAT (1234-ABCD), of an MBR partition (12345678-01), or whatever else follows the word.
    ("uuid", r"\b(?:PART)?UUID=(?P<uuid>[^\s\"',]+)"),
    ("label", r"\b(?:PART)?LABEL=(?P<label>[^\s\"',]+)"),
    ("gpu-id", rf"\bGPU-(?P<gpu_id>{_HEX}{{16}})\b"),
    ("id", rf"(?P<id>\b{_HEX}{{32}}\b)"),
    ("disk", r"/dev/disk/by-(?:id|label|uuid|partuuid|partlabel)/(?P<disk>[^\s\"',]+)"),
    ("volume", r"/dev/mapper/(?P<volume>[^\s\"',/]+)"),
    ("mac", rf"(?P<mac>(?<![\w:])(?:{_HEX}{{2}}[:-]){{5}}{_HEX}{{2}}(?![\w:]))"),
    ("ip", rf"(?P<ip>(?<![\w:])(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}(?![\w:]))"),
    (
        "ip",
        rf"(?P<ip>(?<![\w:])(?:fe80|f[cd]{_HEX}{{2}}|2{_HEX}{{3}}):[0-9A-Fa-f:]*::?{_HEX}{{1,4}}(?![\w:]))",
    ),
    # Four numbers are an address unless they are called a version.
    (
        "ip",
        r"(?P<ip>(?<![\w.])(?<!version )(?<!version: )(?<!version = )"
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.]))",
    ),
    (
        "serial",
        r"(?i)\b(?:serial(?:[ _-]?(?:number|no\.?))?|asset[ _-]?tag|service[ _-]?tag|unique[ _]id)"
        r"\s*[:=]\s*(?P<serial>[^\s,;]+)",
    ),
    ("user", r"/(?:home|Users)/(?P<user>[^\s/\"':;,|<>]+)"),
    ("user", r"(?i)\b(?:user|logname|sudo_user)\s*[:=]\s*(?P<user>[\w.-]+)"),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _RULES)


@dataclass(slots=True)
class Redactor:
    """`hosts` and `users` are the names of this machine and of its accounts, `secrets` other texts that must
    not appear (serials that could be read), each with the kind that its placeholder names."""

    hosts: Iterable[str] = ()
    users: Iterable[str] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)
    _seen: dict[tuple[str, str], str] = field(default_factory=dict)
    _words: list[tuple[str, re.Pattern[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        named: dict[str, str] = {}
        for host in self.hosts:
            for name in (host, host.partition(".")[0]):
                named.setdefault(name.lower(), "host")
        for user in self.users:
            named.setdefault(user.lower(), "user")
        for word, kind in named.items():
            if len(word) > 2 and word not in _TELLING_NOTHING and not word.isdigit():
                # "_" and "-" end a name here: "tower--vg-root" is a volume of the host tower
                pattern = rf"(?i)(?<![a-z0-9])({re.escape(word)})(?![a-z0-9])"
                self._words.append((kind, re.compile(pattern)))
        for text, kind in self.secrets.items():
            if len(text) > 3 and text.lower() not in _TELLING_NOTHING:
                self._words.append((kind, re.compile(f"({re.escape(text)})", re.IGNORECASE)))

    def __call__(self, text: str) -> str:
        for kind, pattern in (*_COMPILED, *self._words):
            text = pattern.sub(lambda found, kind=kind: self._replaced(found, kind), text)  # type: ignore[misc]
        return text

    def _replaced(self, found: re.Match[str], kind: str) -> str:
        # the rule's group is the one part that goes, what stands round it explains it
        group = next(iter(found.re.groupindex), 1)
        start, end = found.span(group)
        hidden = found[group]
        if hidden.startswith("<") or (kind in ("user", "host") and hidden.lower() in _TELLING_NOTHING):
            return found[0]
        whole, offset = found[0], found.start()
        return whole[: start - offset] + self._placeholder(kind, hidden) + whole[end - offset :]

    def _placeholder(self, kind: str, hidden: str) -> str:
        key = (kind, hidden.lower())
        if key not in self._seen:
            count = sum(1 for known, _ in self._seen if known == kind)
            self._seen[key] = f"<{kind}-{count + 1}>"
        return self._seen[key]
