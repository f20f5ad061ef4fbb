"""What tests share with other workers and other runs: made once, under a lock, whole or not there.

A folder of the cache is named by the content of its inputs, so it is never written to after it was made. Who
uses one holds it until the process ends, so that no other run, of another branch perhaps, clears it away.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

# Seconds. What fetches may take long on a slow line; after this it hangs.
_HANGS = 1800
# Registries and mirrors that are overloaded, or restarted, are back after these.
PAUSES = (5.0, 30.0)
_TAIL = 40  # lines

_held: dict[Path, int] = {}


class NotFetched(RuntimeError):
    """Something of a registry or a mirror could not be had; says by which command, and all that it said."""


def cache(*parts: str) -> Path:
    """A folder of the project's cache; all of it can be deleted while no test runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "rocmcfg", *parts).absolute()


@contextmanager
def locked(name: Path) -> Iterator[None]:
    """Hold the lock of this path, in a file beside it, against other processes and threads."""
    name.parent.mkdir(parents=True, exist_ok=True)
    with name.with_name(f"{name.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def made_once(folder: Path, make: Callable[[Path], object]) -> Path:
    """The folder, after `make` has filled it if nobody did before.

    It fills a neighbour that gets the name when it is complete: whatever ends it in the middle, nothing is
    left that looks finished. Whoever wants the same folder meanwhile waits.
    """
    with locked(folder):
        if not folder.is_dir():
            _make(folder, make)
        _hold(folder)
    return folder


def forget_older_than(newest: Path, pattern: str, keep: int) -> None:
    """Delete old neighbours of this pattern but for the last few, and those that somebody uses."""
    newest.touch()
    found = [path for path in newest.parent.glob(pattern) if path.is_dir()]
    found.sort(key=_used, reverse=True)
    for old in found[keep:]:
        with locked(old):
            _forget(old)


def fetched(
    argv: Sequence[str | Path],
    what: str,
    *,
    env: Mapping[str, str] | None = None,
    pauses: Sequence[float] = PAUSES,
    again: Callable[[], object] = lambda: None,
) -> str:
    """The output of a command that fetches; `env` is added to the environment.

    It gets another try after each pause, when `again` has cleared away what the last one left."""
    command = [str(word) for word in argv]
    for pause in (*pauses, None):
        said = _failure(command, {**os.environ, **(env or {})})
        if isinstance(said, subprocess.CompletedProcess):
            return str(said.stdout)
        if pause is None:
            break
        time.sleep(pause)
        again()
    raise NotFetched(f"{what} could not be fetched, in {len(pauses) + 1} tries\n{' '.join(command)}\n{said}")


def _failure(command: list[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str] | str:
    """The ended command, or why it failed."""
    try:
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_HANGS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {_HANGS} s"
    if done.returncode == 0:
        return done
    outputs = {"stderr": done.stderr, "stdout": done.stdout}
    said = "".join(f"\n{name}: {_tail(text)}" for name, text in outputs.items() if text.strip())
    return f"exit status {done.returncode}{said or ', and said nothing'}"


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_TAIL:])


def _make(folder: Path, make: Callable[[Path], object]) -> None:
    for left_over in folder.parent.glob(f".{folder.name}.*"):  # of one that was killed: we hold the lock
        shutil.rmtree(left_over, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        make(work)
        work.chmod(0o755)
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _hold(folder: Path) -> None:
    """Say that it is used, until this process ends. Python's descriptors are not handed on to children."""
    if folder not in _held:
        _held[folder] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(_held[folder], fcntl.LOCK_SH)


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0  # another run has cleared it away just now


def _forget(old: Path) -> None:
    try:
        place = os.open(old, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    else:
        # At once gone by its name: half a folder must not look like one.
        going = Path(tempfile.mkdtemp(prefix=f".{old.name}.", dir=old.parent))
        old.rename(going)
        shutil.rmtree(going, ignore_errors=True)
    finally:
        os.close(place)
