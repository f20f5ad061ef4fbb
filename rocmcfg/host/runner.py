"""The only place that starts programs, and the only import of `sh`.

Children get no stdin (some tools prompt and would wait for ever), a time limit, and a fixed locale.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

from rocmcfg.host.view import CommandResult

# Programs of the host live here also where a user's PATH lacks sbin (su without -, Debian).
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
QUERY_TIMEOUT = 120.0
_KEEP = 64 * 1024  # characters of output that are kept, from the end


def _environment() -> dict[str, str]:
    keep = {k: v for k, v in os.environ.items() if k in ("HOME", "TERM", "TMPDIR")}
    path = os.environ.get("PATH", "")
    # DEBIAN_FRONTEND: hooks that would open a dialogue take their default instead.
    return {
        **keep,
        "PATH": f"{path}:{_PATH}" if path else _PATH,
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
    }


def query(argv: Sequence[str]) -> CommandResult | None:
    """A program that changes nothing; None where it is not installed."""
    result = _run(argv, QUERY_TIMEOUT, None)
    return None if result.status == 127 and not result.stdout else result


def execute(argv: Sequence[str], *, timeout: float, progress: Callable[[], None]) -> CommandResult:
    """As `view.Host.execute`. A missing program has status 127, one that cannot start 126, as in a shell."""
    return _run(argv, timeout, progress)


def _run(argv: Sequence[str], timeout: float, progress: Callable[[], None] | None) -> CommandResult:
    import sh

    environment = _environment()
    program = _which(argv[0], environment["PATH"])
    if program is None:
        return CommandResult(tuple(argv), 127, "", f"{argv[0]}: not found")
    out: list[str] = []
    err: list[str] = []
    finished = threading.Event()
    started = time.monotonic()
    try:
        command = sh.Command(program)(
            *argv[1:],
            _in=b"",
            _out=out.append,
            _err=err.append,
            _env=environment,
            _cwd="/",
            _ok_code=list(range(-64, 256)),
            _bg=True,
            _bg_exc=False,
            _new_session=True,
            _tty_out=False,
            _encoding="utf-8",
            _decode_errors="replace",
            _done=lambda *_: finished.set(),
        )
    except sh.ForkException as problem:  # no machine code, no interpreter
        return CommandResult(tuple(argv), 126, "", str(problem).strip().rpartition("\n")[2].strip())
    status: int | None = None
    try:
        while not finished.wait(0.2 if progress else 0.05):
            if progress:
                progress()
            if time.monotonic() - started > timeout:
                _stop(command)
                return CommandResult(tuple(argv), None, _tail(out), _tail(err))
        command.wait()
        status = command.exit_code
    except BaseException:
        _stop(command)
        raise
    return CommandResult(tuple(argv), status, _tail(out), _tail(err))


def _stop(command: object) -> None:
    """End the program and whatever it started: it leads a session of its own."""
    import signal

    pid: int = command.pid  # type: ignore[attr-defined]
    for number, grace in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 1.0)):
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline:
            time.sleep(0.05)
            try:
                os.killpg(pid, 0)
            except ProcessLookupError:
                return


def _which(name: str, path: str) -> str | None:
    if "/" in name:
        return name if os.path.isfile(name) and os.access(name, os.X_OK) else None
    for directory in path.split(":"):
        candidate = os.path.join(directory or ".", name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def _tail(chunks: list[str]) -> str:
    return "".join(chunks)[-_KEEP:]
