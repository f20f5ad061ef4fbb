"""Kills a process at a chosen step of a transaction, as a power cut would, and says what is left.

The child is forked from this warmed-up process, works on a copy of a fake tree and ends by SIGKILL: no
`finally`, no atexit, no flush. What a power cut adds to that, writes that the disk never got, cannot be seen
here; the guests of tests/vm cut the power for that.
"""

from __future__ import annotations

import os
import shutil
import signal
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rocmcfg.host.atomic import temp_name
from rocmcfg.host.view import CommandResult
from rocmcfg.model.file_state import FileState
from tests.support import fake_tools, usecases
from tests.support.tool_host import QuickHost
from tests.support.trees import Tree, tree

Moment = Literal["before", "half"]


class CrashingHost(QuickHost):
    """Dies at its n-th change of the host, counted from 1: just before it, or with half of it done."""

    at = 0
    moment: Moment = "before"
    steps = 0
    taken: list[str]

    def __init__(self, root: str, at: int = 0, moment: Moment = "before") -> None:
        super().__init__(root)
        self.at, self.moment, self.steps, self.taken = at, moment, 0, []

    def _step(self, name: str, half: Callable[[], object]) -> None:
        self.steps += 1
        self.taken.append(name)
        if self.steps == self.at:
            if self.moment == "half":
                half()
            os.kill(os.getpid(), signal.SIGKILL)

    def real(self, path: str) -> str:
        """Where it lies on this machine: these trees have no links."""
        return self.root + path

    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        real = self.real(path)
        half = state.content[: len(state.content) // 2]
        self._step(f"write {path}", lambda: Path(temp_name(real)).write_bytes(half))
        super().write(path, state, keep_mtime=keep_mtime)

    def append(self, path: str, line: bytes) -> None:
        real = self.real(path)

        def half() -> None:
            with open(real, "ab") as stream:
                stream.write(line[: len(line) // 2])

        self._step(f"append {path}", half)
        super().append(path, line)

    def remove(self, path: str) -> None:
        self._step(f"remove {path}", lambda: None)
        super().remove(path)

    def discard_temporary(self, path: str) -> None:
        self._step(f"discard {path}", lambda: None)
        super().discard_temporary(path)

    def make_dir(self, path: str, mode: int) -> None:
        self._step(f"mkdir {path}", lambda: Path(self.real(path)).mkdir(exist_ok=True))
        super().make_dir(path, mode)

    def remove_dir(self, path: str) -> None:
        self._step(f"rmdir {path}", lambda: None)
        super().remove_dir(path)

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        run = super().execute
        self._step(f"run {argv[0]}", lambda: run(argv, timeout=timeout, progress=progress, mark=mark))
        return run(argv, timeout=timeout, progress=progress, mark=mark)


class OfflineHost(CrashingHost):
    """A tree whose tools cannot be run: its activations are left to the user."""

    @property
    def runs_tools(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Act:
    """What the killed process was doing."""

    name: str
    run: Callable[[CrashingHost], object]


def apply(**request: object) -> Act:
    return Act("apply", lambda host: usecases.apply(host, **request))


TAKE_OVER = Act("take-over", usecases.take_over)
ROLLBACK = Act("rollback", usecases.rollback)
RECOVER = Act("recover", usecases.recover)


def attempt(**request: object) -> Act:
    return Act("apply --trial", lambda host: usecases.attempt(host, None, **request))


CONFIRM = Act("confirm", usecases.confirm)
REJECT = Act("reject", usecases.reject)


def copy(root: Path, place: Path) -> Path:
    shutil.copytree(root, place, symlinks=True)
    return place


def child(action: Callable[[], object]) -> int:
    """Run `action` in a forked process; its wait status."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            action()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]


def killed(host: CrashingHost, act: Act) -> bool:
    """Whether the process was killed; False where it came to its end before the step was reached."""
    status = child(lambda: act.run(host))
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the child failed: see its traceback"
    return False


def points(taken: Sequence[str]) -> list[tuple[int, Moment]]:
    """Where an act that takes these steps can be killed; there is no half of a removal."""
    whole: tuple[Moment, ...] = ("before",)
    halved: tuple[Moment, ...] = ("before", "half")
    return [
        (number, moment)
        for number, step in enumerate(taken, 1)
        for moment in (whole if step.startswith(("remove", "discard", "rmdir")) else halved)
    ]


def recover(root: Path, kind: type[CrashingHost]) -> None:
    status = child(lambda: RECOVER.run(kind(str(root))))
    assert status == 0, "recover failed: see its traceback"


def seen(root: Path, *, times: bool = True) -> Tree:
    """The host without our journals: content, modes, owners, and times of what no tool generates."""
    found = tree(root, state=False, times=times)
    for path in found:
        if path.startswith("boot/initrd.img"):
            files = sorted(fake_tools.unpacked(root / path).items())
            found[path] = (found[path][0], *files)
        elif path == "boot/grub/grub.cfg":
            found[path] = (found[path][0], (root / path).read_text())
    return found
