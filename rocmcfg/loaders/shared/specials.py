"""Which texts inside of an argument a loader, or what writes its entries, does not hand on as they are.

Each loader declares its own, from its source; a value that holds one of them is refused before anything is
written. What no value may hold anywhere `model.spelling` says (SAFE_VALUE), so that most of what is declared
here is a second lock. A legal value is never put in quotes: kmod, ostree and grubby compare arguments as
they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.shape import NamedTuple


class Special(NamedTuple):
    """`reader` reads `text` as `meaning`; `name` is what the text is called in a sentence."""

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
    """Return the special texts of one reader: `meanings` is what each text means to it."""
    return tuple(
        Special(text, _NAMES.get(text, f"“{text}”"), meaning, reader) for text, meaning in meanings.items()
    )


# What separates arguments for the kernel itself (lib/cmdline.c, next_arg), whatever loader there is.
KERNEL = specials(
    "the kernel",
    {" ": "the end of the argument", "\t": "the end of the argument", '"': "a quote"},
)
# Of an entry that is a file (systemd, src/boot/boot.c, line_get_key_value): a line is all of a key.
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
        "<": "a sign of its script",
        ">": "a sign of its script",
        "{": "a sign of its script",
        "}": "a sign of its script",
        "$": "the beginning of a variable",
        "\\": "a sign that takes the next one's meaning away",
        "'": "a quote",
        '"': "a quote",
    },
)
# What stands between double quotes of a file that a shell sources (POSIX.1-2024, 2.2.3).
SHELL = specials(
    "the shell",
    {
        "$": "the beginning of a variable",
        "`": "a command",
        "\\": "a sign that takes the next one's meaning away",
    },
)


def not_handed_on(specials: Sequence[Special], kargs: Iterable[str], location: str) -> Iterator[Diagnostic]:
    """Yield an error for each argument that would not arrive as it is, or would do something else."""
    for text in kargs:
        met = next((special for special in specials if special.text in text), None)
        if met is not None:
            yield error(
                "RC3108",
                f"{text}: {met.reader} reads {met.name} as {met.meaning}",
                location=location,
                hint="write module parameters to modprobe.d instead: --via modprobe"
                if "." in text.partition("=")[0]
                else "leave it away, or give it a value without one",
            )
