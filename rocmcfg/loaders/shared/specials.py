"""Refuse texts inside an argument that a loader, or the program that writes its entries, would change.

Each loader declares its own texts, taken from its source; a value that holds one of them is refused before
anything is written. `model.spelling` (SAFE_VALUE) limits values everywhere, so most of these declarations are
a second safeguard. A legal value is never quoted: kmod, ostree and grubby compare arguments literally.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.shape import NamedTuple


class Special(NamedTuple):
    """A text that `reader` reads as `meaning`; `name` is its name in a sentence."""

    text: str
    name: str
    meaning: str
    reader: str


_NAMES = {
    "\n": "a line break",
    "\t": "a tab",
    " ": "a blank",
    "\\": "a backslash",
    ";": "a semicolon",
    '"': "a double quote",
    "'": "a single quote",
}


def specials(reader: str, meanings: Mapping[str, str]) -> tuple[Special, ...]:
    """Return the special texts of one reader; `meanings` holds the meaning of each text."""
    return tuple(
        Special(text, _NAMES.get(text, f"“{text}”"), meaning, reader) for text, meaning in meanings.items()
    )


# Separators of arguments for the kernel itself (lib/cmdline.c, next_arg), with any loader.
KERNEL = specials(
    "the kernel",
    {" ": "the end of the argument", "\t": "the end of the argument", '"': "a quote"},
)
# For an entry that is a file (systemd, src/boot/boot.c, line_get_key_value): the value of a key is one line.
ENTRY = specials("the boot loader", {"\n": "the end of the line"})
# grub-core/script/yylex.l and parser.y of GRUB 2.02 to 2.14, and of Fedora's. 10_linux copies the arguments
# into grub.cfg without quotes; blscfg makes a script of an entry (grub-core/commands/blscfg.c, create_entry;
# blsuki.c from 2.14 on).
GRUB = specials(
    "GRUB",
    {
        ";": "the end of a command",
        "\n": "the end of a command",
        "&": "the end of a command",
        "|": "the end of a command",
        "<": "a special character of its script",
        ">": "a special character of its script",
        "{": "a special character of its script",
        "}": "a special character of its script",
        "$": "the beginning of a variable",
        "\\": "an escape of the next character",
        "'": "a quote",
        '"': "a quote",
    },
)
# Inside double quotes in a file that a shell sources (POSIX.1-2024, 2.2.3).
SHELL = specials(
    "the shell",
    {
        "$": "the beginning of a variable",
        "`": "a command",
        "\\": "an escape of the next character",
    },
)


def not_handed_on(specials: Sequence[Special], kargs: Iterable[str], location: str) -> Iterator[Diagnostic]:
    """Yield an error for each argument that would be changed on the way, or would do something else."""
    for text in kargs:
        met = next((special for special in specials if special.text in text), None)
        if met is not None:
            yield error(
                "RC3108",
                f"{text}: {met.reader} reads {met.name} as {met.meaning}",
                location=location,
                hint="write module parameters to modprobe.d instead: --via modprobe"
                if "." in text.partition("=")[0]
                else "leave it out, or use a value without one",
            )
