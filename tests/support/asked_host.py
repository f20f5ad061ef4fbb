"""A tree whose programs answer what a test says, so that a reader of their output meets every form of it."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult

# What a program prints for its arguments, or its exit status; None where this answer is for another call.
Answer = Callable[[tuple[str, ...]], str | int | None]


class AskedHost(LocalHost):
    """`asked` keeps every call. A call that no answer is for finds the program missing."""

    def __init__(self, root: Path, *answers: Answer) -> None:
        super().__init__(str(root))
        self.answers, self.asked = answers, list[tuple[str, ...]]()

    @property
    def runs_tools(self) -> bool:
        return True

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        call = tuple(argv)
        self.asked.append(call)
        found = next((said for answer in self.answers if (said := answer(call)) is not None), None)
        if found is None:
            return None
        if isinstance(found, int):
            return CommandResult(call, found, "", f"{call[0]}: failed")
        return CommandResult(call, 0, found, "")

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        found = self.query(argv)
        return None if found is None else io.BytesIO(found.stdout.encode())


def answer(*words: str, text: str | int) -> Answer:
    """For every call that holds all of `words` among its arguments, or inside one of them after a `*`."""

    def said(call: tuple[str, ...]) -> str | int | None:
        fits = all(any(word[1:] in c for c in call) if word[:1] == "*" else word in call for word in words)
        return text if fits else None

    return said
