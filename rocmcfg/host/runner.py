"""The only place that starts programs, and the only import of `sh`.

Children get no stdin (some tools prompt and would wait for ever), a time limit, and a fixed locale.
"""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import BinaryIO

from rocmcfg.host.view import CommandResult

# Programs of the host live here also where a user's PATH lacks sbin (su without -, Debian).
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
QUERY_TIMEOUT = 120.0
_KEEP = 64 * 1024  # characters of a changing program's output that are kept, from the end
# Marks whatever we start, so that a recovery finds a program that outlived its rocmcfg.
MARK = "ROCMCFG_STARTED"


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
    """A program that changes nothing; None where it is not installed. Its output is whole: it is parsed."""
    result = _run(argv, QUERY_TIMEOUT, None, {})
    return None if result.status == 127 and not result.stdout else result


def execute(
    argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = "/"
) -> CommandResult:
    """As `view.Host.execute`. A missing program has status 127, one that cannot start 126, as in a shell.

    `mark` is the root of the host that the program works on: `survivors` finds it by that.
    """
    result = _run(argv, timeout, progress, {MARK: mark})
    return result._replace(stdout=result.stdout[-_KEEP:], stderr=result.stderr[-_KEEP:])


def stream(argv: Sequence[str | bytes], stdin: int | None = None, *, failed: int = 0) -> BinaryIO:
    """What a program that changes nothing prints, as it comes; closing it early ends the program.

    `stdin` is a descriptor to read from. A program that is missing raises OSError; so does, at the end of the
    output, a death by a signal or a status of `failed` or more, unless `failed` is 0: then no end matters.
    """
    return io.BufferedReader(_Output(argv, stdin, failed), 1 << 16)


class _Output(io.RawIOBase):
    """The standard output of a child. `sh` hands output on in Python, which is too slow for gigabytes."""

    def __init__(self, argv: Sequence[str | bytes], stdin: int | None, failed: int) -> None:
        import subprocess

        environment = _environment()
        name = os.fsdecode(argv[0])
        program = _which(name, environment["PATH"])
        if program is None:
            raise FileNotFoundError(f"{name}: not found")
        self._failed = failed
        self._child = subprocess.Popen(
            [program, *argv[1:]],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "LC_ALL": "C"},
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        assert self._child.stdout is not None
        count: int = self._child.stdout.readinto(buffer)  # type: ignore[attr-defined]
        if count == 0 and self._failed and not 0 <= self._child.wait() < self._failed:
            raise OSError(f"{self._child.args[0]!r} failed")  # type: ignore[index]
        return count

    def close(self) -> None:
        if not self.closed:
            child = self._child
            assert child.stdout is not None
            child.stdout.close()
            if child.poll() is None:
                child.kill()
            child.wait()
        super().close()


def survivors(mark: str) -> list[tuple[int, str]]:
    """Programs of a rocmcfg that was killed under them, as (pid, name): they lead sessions of their own."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as stream:
                marked = wanted in stream.read().split(b"\0")
            if marked and os.getsid(int(entry)) == int(entry):
                with open(f"/proc/{entry}/comm", "rb") as stream:
                    found.append((int(entry), stream.read().decode("utf-8", "replace").strip()))
        except OSError:
            continue  # it ended meanwhile, or is none of ours
    return found


def _run(
    argv: Sequence[str], timeout: float, progress: Callable[[], None] | None, extra: dict[str, str]
) -> CommandResult:
    import sh

    environment = {**_environment(), **extra}
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
                return CommandResult(tuple(argv), None, "".join(out), "".join(err))
        command.wait()
        status = command.exit_code
    except BaseException:
        _stop(command)
        raise
    return CommandResult(tuple(argv), status, "".join(out), "".join(err))


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
