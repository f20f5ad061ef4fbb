"""Do work in a process of its own, so that what the work loads does not stay in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping


def apart(work: Callable[[], Mapping[str, str]]) -> dict[str, str]:
    """Return the texts that `work` returns in a child process. An exception of the work ends the child as it
    would end this process, and raises SystemExit here with the child's exit code."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w", encoding="utf-8", errors="surrogateescape") as stream:
            json.dump(work(), stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="surrogateescape") as stream:
        text = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise SystemExit(code if code > 0 else 1)
    answer: dict[str, str] = json.loads(text)
    return answer
