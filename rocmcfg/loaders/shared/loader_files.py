"""Which files boot loaders take for entries, what counts as a line of one, and what of its name is a counter.

systemd-boot: src/boot/boot.c (config_load_type1_entries, config_load_type2_entries, boot_entry_parse_tries)
and src/boot/efi-string.c (line_get_key_value) of systemd 252 to 257. GRUB: grub-core/commands/blscfg.c of
Fedora, which compares names as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_COUNTER = regex(r"\+([0-9]+)(?:-([0-9]+))?(?=\.(?:conf|efi)\Z)", re.IGNORECASE)
_MOST_TRIES = (1 << 31) - 1  # INT_MAX: with a larger number it is a part of the name
_BLANK = " \t"
_LINE_END = regex(r"[\r\n]")
_KEY = regex(r"[ \t]+")


class Rules(NamedTuple):
    """`is_entry` is asked of a file's name in the folder of entries. `unquotes`: quotes around a whole value
    are taken away before the kernel gets it."""

    is_entry: Callable[[str], bool]
    unquotes: bool


def is_shown(name: str, ending: str) -> bool:
    """Return whether systemd-boot makes an entry of a file of this name, `ending` in lower case."""
    name = name.lower()
    return name.endswith(ending) and not name.startswith((".", "auto-"))


SYSTEMD_BOOT = Rules(lambda name: is_shown(name, ".conf"), unquotes=True)
GRUB = Rules(lambda name: name.endswith(".conf") and not name.startswith("."), unquotes=False)


def counter(name: str) -> re.Match[str] | None:
    """Return the match of tries left and tries done, of Automatic Boot Assessment, where they stand in a
    file's name; else None."""
    match = _COUNTER.search(name)
    tries = (match[1], match[2] or "0") if match else ()
    return match if tries and all(int(number) <= _MOST_TRIES for number in tries) else None


def uncounted(name: str) -> str:
    """Return the name without its counter, which changes with each try."""
    match = counter(name)
    return name[: match.start()] + name[match.end() :] if match else name


def pairs(text: str, rules: Rules = SYSTEMD_BOOT) -> Iterator[tuple[str, str]]:
    """Yield key and value of each line that has both and is no comment."""
    for line in _LINE_END.split(text):
        key, *value = _KEY.split(line.strip(_BLANK), maxsplit=1)
        if value and not key.startswith("#"):
            yield key, value[0][1:-1] if rules.unquotes and _is_quoted(value[0]) else value[0]


def _is_quoted(value: str) -> bool:
    return value[0] in "\"'" and value[-1] == value[0]


def key_of(line: bytes) -> bytes:
    return line.strip(b" \t\r\n").replace(b"\t", b" ").partition(b" ")[0]


def end_of_value(line: bytes, rules: Rules) -> int:
    """Return the place where the value of a line ends: before its blanks, and before the quote around all of
    it."""
    bare = line.rstrip(b" \t\r\n")
    _, *value = _KEY.split(bare.decode("utf-8", "replace").strip(_BLANK), maxsplit=1)
    return len(bare) - (1 if value and rules.unquotes and _is_quoted(value[0]) and len(value[0]) > 1 else 0)
