"""Decide which files are boot entries, which lines of them count, and which part of a name is a boot counter.

systemd-boot: src/boot/boot.c (config_load_type1_entries, config_load_type2_entries, boot_entry_parse_tries)
and src/boot/efi-string.c (line_get_key_value) of systemd 252 to 257. GRUB: grub-core/commands/blscfg.c of
Fedora, where names are case-sensitive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_COUNTER = regex(r"\+([0-9]+)(?:-([0-9]+))?(?=\.(?:conf|efi)\Z)", re.IGNORECASE)
_MOST_TRIES = (1 << 31) - 1  # INT_MAX: a larger number is part of the name
_BLANK = " \t"
_LINE_END = regex(r"[\r\n]")
_KEY = regex(r"[ \t]+")


class Rules(NamedTuple):
    """A loader's rules. `is_entry` tells whether a name in the folder of entries is one of an entry.
    `unquotes`: quotes around a whole value are removed before the kernel gets it."""

    is_entry: Callable[[str], bool]
    unquotes: bool


def is_shown(name: str, ending: str) -> bool:
    """Return whether systemd-boot makes an entry of a file of this name, `ending` in lower case."""
    name = name.lower()
    return name.endswith(ending) and not name.startswith((".", "auto-"))


SYSTEMD_BOOT = Rules(lambda name: is_shown(name, ".conf"), unquotes=True)
GRUB = Rules(lambda name: name.endswith(".conf") and not name.startswith("."), unquotes=False)


def counter(name: str) -> re.Match[str] | None:
    """Return the match of the counter of Automatic Boot Assessment, tries left and tries done, in a file's
    name; else None."""
    match = _COUNTER.search(name)
    tries = (match[1], match[2] or "0") if match else ()
    return match if tries and all(int(number) <= _MOST_TRIES for number in tries) else None


def uncounted(name: str) -> str:
    """Return the name without its counter, which changes with each boot attempt."""
    match = counter(name)
    return name[: match.start()] + name[match.end() :] if match else name


def pairs(text: str, rules: Rules = SYSTEMD_BOOT) -> Iterator[tuple[str, str]]:
    """Yield key and value of each line that has both and is not a comment."""
    for line in _LINE_END.split(text):
        key, *value = _KEY.split(line.strip(_BLANK), maxsplit=1)
        if value and not key.startswith("#"):
            yield key, value[0][1:-1] if rules.unquotes and _is_quoted(value[0]) else value[0]


def _is_quoted(value: str) -> bool:
    return value[0] in "\"'" and value[-1] == value[0]


def key_of(line: bytes) -> bytes:
    return line.strip(b" \t\r\n").replace(b"\t", b" ").partition(b" ")[0]


def end_of_value(line: bytes, rules: Rules) -> int:
    """Return the place where the value of a line ends: before trailing blanks, and before a quote around the
    whole value."""
    bare = line.rstrip(b" \t\r\n")
    _, *value = _KEY.split(bare.decode("utf-8", "replace").strip(_BLANK), maxsplit=1)
    return len(bare) - (1 if value and rules.unquotes and _is_quoted(value[0]) and len(value[0]) > 1 else 0)
