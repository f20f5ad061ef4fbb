"""The messages that the HSA runtime and HIP print where a call fails, and which fault classes answer them.

python -m tests.catalogue.runtime_messages
    prints how many messages a class with a cause and an action of its own answers, and the others
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).with_name("data") / "runtime-messages.txt"
KNOWLEDGE = Path(__file__).resolve().parents[2] / "rocmcfg/knowledge/data"
# What programs print before the text of a HIP error: HIP's samples and PyTorch, PyTorch from 2.12 on,
# llama.cpp, RCCL.
_BEFORE = ("HIP error: {}", "CUDA error: {}", "ROCm error: {}", "NCCL WARN HIP failure '{}'")


class Message(NamedTuple):
    """A status by its name, and a line that names it or has its text."""

    name: str
    line: str


class Pattern(NamedTuple):
    fault: str
    expression: re.Pattern[str]
    needs: Sequence[str]

    def matches(self, line: str) -> bool:
        needed = not self.needs or any(text in line for text in self.needs)
        return needed and bool(self.expression.search(line))


def messages() -> Iterator[Message]:
    """Yield each name alone and each text as programs print it."""
    for name, text in _texts().items():
        if name.startswith("HSA_"):
            yield Message(name, f"{name}: {text}" if text else name)
            yield Message(name, name)
        else:
            yield Message(name, name)
            yield from (Message(name, before.format(text)) for before in _BEFORE if text)


def _texts() -> dict[str, str]:
    codes = tomllib.loads((KNOWLEDGE / "status_codes.toml").read_text())
    texts = {name: row.get("prints", "") for name, row in codes.items() if isinstance(row, dict)}
    for line in DATA.read_text().splitlines():
        if not line.startswith("#"):
            name, _, text = line.partition(" ")
            texts[name] = text
    return texts


def patterns() -> Iterator[Pattern]:
    """Yield the patterns of all classes that have a cause and an action of their own."""
    for path in sorted((KNOWLEDGE / "faults").glob("*.toml")):
        for fault in tomllib.loads(path.read_text()).get("fault", ()):
            if not fault.get("general"):
                for row in fault["pattern"]:
                    yield Pattern(fault["id"], re.compile(row["pattern"]), row.get("needs", ()))


def unanswered() -> list[Message]:
    known = [*patterns()]
    return [message for message in messages() if not any(one.matches(message.line) for one in known)]


def main() -> None:
    count, rest = len([*messages()]), unanswered()
    print(f"{count - len(rest)} of {count} messages have a class of their own")
    print(*(f"{message.name}: {message.line}" for message in rest), sep="\n")


if __name__ == "__main__":
    main()
