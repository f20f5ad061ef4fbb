"""GRUB: the scripts of its own tests, which hold that GRUB and bash give `echo` the same words."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rocmcfg.loaders.shared.grub_files import script
from tests.peers.judgement import CANNOT_TELL, Answer, CannotTell, Case, Refused
from tests.peers.suites.suite import Suite
from tests.support.tools import require_tool, run

_ECHO = re.compile(r"[ \t]*echo(?=[ \t])")
_MOST = 8  # lines of one command
# Of several commands on a line the first one counts.
_SHOW = 'echo() { for word; do printf "%s\\0" "$word"; done; exit; }\n'


def _cases(sources: Path) -> list[Case]:
    return [
        Case(f"{file.stem} {command!r}", command, _of_bash(command), _ours(command))
        for file in sorted((sources / "tests").glob("grub_script_*.in"))
        for command in dict.fromkeys(_commands(file.read_text()))
    ]


def _commands(text: str) -> Iterator[str]:
    """The commands `echo` that begin a line, with the lines over which their quotes go on."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _ECHO.match(line):
            for more in range(1, _MOST):
                command = "\n".join(lines[number : number + more])
                if not command.endswith("\\") and _bash("-n", command).returncode == 0:
                    yield command.strip()
                    break


def _bash(*arguments: str) -> subprocess.CompletedProcess[str]:
    *options, text = arguments
    return run([require_tool("bash", "bash"), "--norc", "--restricted", *options, "-c", text])


def _of_bash(command: str) -> Answer:
    done = _bash(_SHOW + command)
    return _numbered(done.stdout.split("\0")[:-1])


def _ours(command: str) -> Answer:
    read = script.command(command)
    if read.is_refused:
        return Refused(read.problem)
    values: dict[str, str | CannotTell | None] = {}
    for number, word in enumerate(read.words[1:]):
        if word.variable:  # how many words it holds cannot be told
            rest = range(number, number + 2 * len(read.words))
            return values | dict.fromkeys(map(str, rest), CANNOT_TELL)
        values[str(number)] = word.text
    return values


def _numbered(words: list[str]) -> Answer:
    return {str(number): word for number, word in enumerate(words)}


SUITE = Suite("grub2", ("*/tests/grub_script_*",), _cases)
