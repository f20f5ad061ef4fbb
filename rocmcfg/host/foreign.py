"""Parse data that other programs wrote: whatever the data hold, reading them raises only documented errors. A
damaged or hostile file must not end a command as if rocmcfg had a defect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rocmcfg.host.problems import Unreadable
from rocmcfg.model.diagnostic import RocmcfgError

Pairs = Sequence[tuple[str, Any]]


@contextmanager
def parsing(path: str, problem: str, hint: str = "") -> Iterator[None]:
    """Turn any error of the enclosed statements into Unreadable, with the file and the reader's `problem`. A
    diagnostic of rocmcfg passes unchanged."""
    try:
        yield
    except RocmcfgError:
        raise
    except OSError as reason:
        raise Unreadable(path, reason) from reason
    except Exception as reason:
        raise Unreadable(path, f"{problem}: {_words(reason)}", hint) from reason


def json_value(text: str | bytes, table: Callable[[Pairs], dict[str, Any]] | None = None) -> Any:
    """Return the Python value of a JSON text; `table` makes an object from its pairs. Raises only ValueError,
    also for a text that is nested a thousand levels deep, which would be a RecursionError."""
    try:
        return json.loads(text, object_pairs_hook=table)
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem


def _words(problem: Exception) -> str:
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    if isinstance(problem, MemoryError):
        return "it needs more memory than there is"
    return " ".join(str(problem).split())[:200] or type(problem).__name__
