"""`python -m tests.crash.planted BUG,… TOOLS COMMAND…`: the real program on a tree whose tools run, with
defects planted in it. The harnesses that run the real program show with these that they would find them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from rocmcfg.host import atomic
from tests.support import tool_host
from tests.support.program import command


def _nothing(*_: Any, **__: Any) -> None:
    return


def no_directory_sync() -> None:
    """A new name is only in memory."""
    atomic.sync_dir = _nothing


def no_file_sync() -> None:
    """So is what a file holds; the directory is synced."""
    real = os.fsync
    os.fsync = lambda fd: real(fd) if os.path.isdir(f"/proc/self/fd/{fd}") else None


def no_order() -> None:
    """A file is renamed over another as on a file system with a journal."""
    atomic._held = lambda *_: nullcontext(True)  # type: ignore[assignment]
    atomic._sync_renamed = _nothing


def no_settling() -> None:
    """What programs wrote is left to the kernel to write some day."""
    from rocmcfg.host import durability

    durability.settle = _nothing


def no_freezing() -> None:
    """It is in the file system's journal, which no boot loader reads."""
    from rocmcfg.host import durability

    durability._freeze_and_thaw = _nothing


def second_signal() -> None:
    """Every signal interrupts, also the undo that an earlier one began."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    real = signal.signal

    def careless(number: int, handler: Any) -> Any:
        return real(number, handler if handler in (signal.SIG_DFL, signal.SIG_IGN) else interrupt)

    signal.signal = careless  # type: ignore[assignment]


def no_survivors() -> None:
    """An undo does not wait for what goes on."""
    from rocmcfg.host import runner

    def none(mark: str) -> list[tuple[int, str]]:
        del mark
        return []

    runner.survivors = none


def no_write_errors() -> None:
    """A file that could not be written counts as written, and nobody asks beforehand."""
    from rocmcfg.host.local import LocalHost
    from rocmcfg.host.view import Unwritable

    real = LocalHost.write

    def careless(*arguments: Any, **options: Any) -> None:
        with suppress(Unwritable):
            real(*arguments, **options)

    LocalHost.write = careless  # type: ignore[method-assign]
    LocalHost.writable_problem = lambda *_: ""  # type: ignore[method-assign]


def no_looking() -> None:
    """What programs, or we ourselves, made is not looked at."""
    from rocmcfg.change.transaction import results

    results.look_at_results = lambda *_: {}


BUGS: dict[str, Callable[[], None]] = {
    plant.__name__.replace("_", "-"): plant
    for plant in (
        *(no_directory_sync, no_file_sync, no_order, no_settling, no_freezing),
        *(second_signal, no_survivors, no_write_errors, no_looking),
    )
}


def planted(bugs: Sequence[str], tools: Path, *arguments: str | Path) -> list[str]:
    """The command line; without bugs that of the program as it is."""
    python = command()[0]
    if not bugs:
        return [python, "-m", "tests.support.tool_host", str(tools), *map(str, arguments)]
    return [python, "-m", "tests.crash.planted", ",".join(bugs), str(tools), *map(str, arguments)]


if __name__ == "__main__":
    for bug in sys.argv.pop(1).split(","):
        BUGS[bug]()
    tool_host.main()
