"""Whatever the step at which rocmcfg dies in a boot of a try, the try comes to the same end, and no run
counts twice or for another arm."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.host.user_state import UserState
from rocmcfg.records import tries
from rocmcfg.records.reboots import RootTries
from rocmcfg.records.tries import Ran
from tests.support.rebooting import Lab
from tests.support.tools import require_tool
from tests.support.trees import Tree
from tests.support.trials import configuration

from .crashing import CrashingHost, child, copy, points

# The boot that is killed: a control before a treatment, a treatment before another, the last one.
BOOTS = (1, 2, 6)


class Started:
    """A try of three and three boots, before one of its boots. Each boot can be killed in a copy."""

    def __init__(self, folder: Path, boot: int) -> None:
        lab = Lab(folder)
        self.before: Tree = configuration(lab.root)
        lab.begin(3)
        for _ in range(boot - 1):
            lab.comes_up()
        lab.recovers()
        self.folder, self.root, self.ran = folder, lab.root, lab.ran_with()

    def lab(self, name: str, at: int = 0, moment: str = "before") -> tuple[Lab, CrashingHost]:
        root = copy(self.root, self.folder / name)
        host = CrashingHost(str(root), at, moment)  # type: ignore[arg-type]
        made = Lab(self.folder, root)
        made.host = host
        return made, host

    def kills(self, stride: int) -> Iterator[tuple[str, Lab]]:
        """A lab for each step of the boot, in which rocmcfg died there."""
        counting, host = self.lab("count")
        lines(host)
        counting.goes_on()
        self.notes()
        # A treatment boot that dies before its first line counts as one that did not come up.
        for step, moment in points(host.taken)[2::stride]:
            lab, crashing = self.lab(f"{step}-{moment}", step, moment)
            lines(crashing)
            status = child(lambda lab=lab: lab.goes_on())  # type: ignore[misc]
            assert os.WIFSIGNALED(status)
            assert os.WTERMSIG(status) == signal.SIGKILL
            lines(None)
            lab.host = CrashingHost(str(lab.root))
            yield f"{moment} {host.taken[step - 1]} (step {step})", lab
            self.notes()

    def notes(self) -> None:
        """Each copy begins with the runs before the boot."""
        (self.folder / "notes").write_text("".join(f"{value}\n" for value in self.ran))


REAL = UserState.append


def lines(host: CrashingHost | None) -> None:
    """Let the host count the lines of the try's record among its steps; None: no longer."""

    def append(state: UserState, number: int, name: str, line: bytes) -> None:
        if host is not None:
            host._step(f"append {name}", lambda: half(state.of(number, name), line))
        REAL(state, number, name, line)

    UserState.append = append  # type: ignore[assignment,method-assign]


def half(path: str, line: bytes) -> None:
    with open(path, "ab") as file:
        file.write(line[: len(line) // 2])


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A killed process loses nothing that it had handed to the kernel: fsync would only cost time here."""
    require_tool("grub-editenv", "grub-common")
    monkeypatch.setattr(os, "fsync", lambda _: None)
    yield
    UserState.append = REAL  # type: ignore[method-assign]


def holds(folder: Path, boot: int, stride: int) -> None:
    started = Started(folder, boot)
    seen = 0
    for where, lab in started.kills(stride):
        seen += 1
        if lab.under_way() is not None:
            lab.comes_up()
        made = lab.to_the_end()
        assert (made.verdict, made.runs) == ("cures", {"control": 3, "treatment": 3}), where
        attempt = tries.load(RootTries(lab.host), 1)
        counted = [line.outcome.arm for line in attempt.lines if isinstance(line, Ran)]
        assert counted == [0, 1, 1, 0, 0, 1], where
        assert sum(made.boots.lost.values()) <= 1 if made.boots else False, where
        assert configuration(lab.root) == started.before, where
        assert lab.under_way() is None, where
    assert seen


@pytest.mark.parametrize("boot", BOOTS)
def test_a_try_killed_in_a_boot_comes_to_its_end(tmp_path: Path, boot: int) -> None:
    holds(tmp_path, boot, 19)


@pytest.mark.slow
@pytest.mark.parametrize("boot", BOOTS)
def test_a_try_killed_at_any_step_of_a_boot_comes_to_its_end(tmp_path: Path, boot: int) -> None:
    holds(tmp_path, boot, 1)
