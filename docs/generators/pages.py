"""Pages whose commands are run: the README, the tutorial, the how-tos. One page is one copy of the sample
host.

Every fenced block `sh` or `console` is run, from the top of the page to its end, and each of its commands has
to exit with 0. In a block `console` the lines that begin with `$ ` are the commands, and what they print is
written under them. A block in an item of a list is indented as its text. A comment in the line before a block
says what is different:

    <!-- exit 3 -->              the commands of this block exit with 3
    <!-- first 6, last 4 -->     of each output only these lines are shown
    <!-- host strix -->          from here on the host is another one, see `shell.becomes`
    <!-- prepared: COMMAND -->   that is run first, and not shown
    <!-- not run: WHY -->        this block is for another host, or for nobody to run unattended
    <!-- tested: NAME -->        other tests run it: tests/packages
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generators.shell import Shell, shell

REPOSITORY = Path(__file__).resolve().parents[2]
CUT = "[…]"
_BLOCK = re.compile(
    r"(?:^ *<!-- (?P<marks>[^\n]*) -->\n)?^(?P<indent> *)```(?P<kind>sh|console)\n"
    r"(?P<body>.*?)^(?P=indent)```$",
    re.M | re.S,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block `sh` is one command. `code` is what its commands exit with; `first` and `last` are how many
    lines of each output are shown."""

    kind: str
    commands: tuple[str, ...]
    code: int = 0
    first: int | None = None
    last: int = 0
    host: str = ""
    prepared: str = "true"
    runs: bool = True


def names() -> list[str]:
    """The pages besides the README, as paths from the repository."""
    parts = ("tutorial", "how-to", "explanation")
    pages = [page for part in parts for page in sorted((REPOSITORY / "docs" / part).glob("*.md"))]
    return [str(page.relative_to(REPOSITORY)) for page in pages]


def page(name: str) -> str:
    return executed(name, (REPOSITORY / name).read_text())


def blocks(text: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(text):
        yield _block(found)


def executed(name: str, text: str) -> str:
    """The page with what its commands print now. Exits where one does not do what the page says."""
    with shell() as here:
        return _BLOCK.sub(lambda found: _run(here, name, found), text)


def _block(found: re.Match[str]) -> Block:
    marks, kind = found["marks"] or "", found["kind"]
    body = re.sub(rf"^{found['indent']}", "", found["body"], flags=re.M)
    numbers = {word: int(number) for word, number in re.findall(r"\b(exit|first|last) (\d+)", marks)}
    host = re.search(r"\bhost (\w+)", marks)
    if kind == "console":
        commands = tuple(line[2:] for line in body.splitlines() if line.startswith("$ "))
    else:
        commands = (f"set -e\n{body}",)
    return Block(
        kind,
        commands,
        code=numbers.get("exit", 0),
        first=numbers.get("first", 0 if "last" in numbers else None),
        last=numbers.get("last", 0),
        host=host[1] if host else "",
        prepared=marks.partition("prepared: ")[2] or "true",
        runs=not marks.startswith(("not run", "tested")) and not body.startswith("make "),
    )


def _run(here: Shell, name: str, found: re.Match[str]) -> str:
    block = _block(found)
    if not block.runs:
        return found[0]
    if block.host:
        here.becomes(block.host)
    said = []
    for command in (block.prepared, *block.commands):
        code, output = here.run(command)
        if code != (block.code if command in block.commands else 0):
            sys.exit(f"{name}: `{command}` exits with {code}, not {block.code}\n{output}")
        if command in block.commands:
            said += [f"$ {command}", *_shown(output.rstrip("\n").split("\n") if output else [], block)]
    if block.kind == "sh":
        return found[0]
    marks = [f"<!-- {found['marks']} -->"] if found["marks"] else []
    lines = [*marks, "```console", *said, "```"]
    return "\n".join(f"{found['indent']}{line}" if line else "" for line in lines)


def _shown(lines: list[str], block: Block) -> list[str]:
    first, last = block.first, block.last
    if first is None or len(lines) <= first + last + 1:
        return lines
    return [*lines[:first], CUT, *lines[len(lines) - last :]]
