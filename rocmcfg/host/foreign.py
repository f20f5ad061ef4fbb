"""The seam to data that other programs wrote: whatever such data hold, the only error that comes out of
reading them is a documented one. A damaged or hostile file must not end a command as a defect of rocmcfg."""

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
    """Turn whatever error the statements within raise into Unreadable, with the file and the `problem` that
    its reader has with it. A diagnostic of ours passes as it is."""
    try:
        yield
    except RocmcfgError:
        raise
    except OSError as reason:
        raise Unreadable(path, reason) from reason
    except Exception as reason:
        raise Unreadable(path, f"{problem}: {_words(reason)}", hint) from reason


def json_value(text: str | bytes, table: Callable[[Pairs], dict[str, Any]] | None = None) -> Any:
    """Return a JSON text as Python has it; `table` makes an object of its pairs. Raises ValueError alone: a
    text that is nested a thousand deep would be a RecursionError."""
    try:
        return json.loads(text, object_pairs_hook=table)
    except RecursionError as problem:
        raise ValueError("it is nested too deep") from problem


def _words(problem: Exception) -> str:
    if isinstance(problem, RecursionError):
        return "it is nested too deep"
    if isinstance(problem, MemoryError):
        return "it needs more memory than there is"
    return " ".join(str(problem).split())[:200] or type(problem).__name__
