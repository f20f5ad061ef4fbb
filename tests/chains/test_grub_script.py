"""GRUB's words as GRUB itself reads them: grub-emu runs the text, grub-script-check judges it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rocmcfg.loaders.shared.grub_files import environment_block, script
from tests.support import grub_script
from tests.support.tools import require_tool, run

PIECES = [
    "a=1",
    "b",
    " ",
    "  ",
    "\t",
    "'c d'",
    '"e f"',
    r"\x",
    r"\ ",
    r"\'",
    r"\"",
    r"\\",
    '"g\\"h"',
    r'"i\j"',
]
PIECES += ["'k\"l'", '"m\'n"', '"\\$o"', "=", ",", "#", "%", "!", "é", "''", '""', "q*q", "q?q", "[", "~"]
SPECIAL = [";", "&", "|", "<", ">", "'", '"', "\\", " #", "$", "\n"]


def texts(count: int, pieces: list[str], seed: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(pieces, k=chance.randint(1, 8))) for _ in range(count)]


def test_words_are_those_that_grub_makes(tmp_path: Path) -> None:
    """Of texts that it takes to the end; it gives up a whole script at one that it does not."""
    plain = [text for text in texts(400, PIECES, 1) if not script.problem(text)]
    found = [[word.text for word in script.command(text).words] for text in plain]
    assert grub_script.words(plain, tmp_path) == found
    assert len(plain) > 200


def test_a_text_that_grub_cannot_read_is_told(tmp_path: Path) -> None:
    """Also what ends the command without harm, a semicolon or a comment: what follows reaches no kernel."""
    for text in texts(150, [*PIECES, *SPECIAL], 2):
        valid = grub_script.is_valid(f"linux /vmlinuz {text}\n", tmp_path)
        assert valid or script.problem(text), text


@pytest.mark.parametrize(
    ("text", "kargs"),
    [
        ("quiet a='0xff'", ["quiet", "a=0xff"]),
        (r"a=\0x1", ["a=0x1"]),
        ("a='b c' d", ['"a=b c"', "d"]),
        ('a="b c" d', ['"a=b c"', "d"]),
        ("a=$b ${c}", ["a=$b", "${c}"]),
        ("""a='"x"'""", [r"a=\"x\""]),
        ("a;b", ["a"]),
        ("a #b", ["a"]),
    ],
)
def test_the_kernel_gets_what_linux_makes_of_the_words(text: str, kargs: list[str]) -> None:
    assert [karg.text for karg in script.split(text)] == kargs


@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("a=1 b=$x c=2", ["b=$x"]),
        ("a=1 ${x} c=2", ["${x}"]),
        ("""a="1$x" b='$x' c=\\$x d="\\$x" e="1\\\\$x\"""", ["a=1$x", r"e=1\\$x"]),
        ("a=$ b=1", []),
    ],
)
def test_an_argument_with_a_variable_of_grub_cannot_be_told(text: str, untold: list[str]) -> None:
    kargs = script.split(text)
    assert [karg.text for karg in kargs if karg.untold] == untold
    assert all((karg.value is None) == karg.untold for karg in kargs if "=" in karg.text)


def test_the_environment_block_is_read_as_grub_wrote_it(tmp_path: Path) -> None:
    editor = require_tool("grub-editenv", "grub-common")
    block = tmp_path / "grubenv"
    values = {"plain": "a=1 b", "back": "c\\d\\\\e", "broken": "f\ng=h\n", "empty": "", "hash": "#x"}
    assert run([editor, str(block), "create"]).returncode == 0
    for name, value in values.items():
        assert run([editor, str(block), "set", f"{name}={value}"]).returncode == 0
    assert environment_block.variables(block.read_bytes()) == values
