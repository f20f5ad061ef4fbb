"""The same for what the boot chains add: a partition that is full, that fails or that the kernel makes
read-only in the midst of an act; and programs that keep something for the host, with a kill before and after
each of their calls."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unwritable
from rocmcfg.model.file_state import FileState
from tests.support.hosts import other_host
from tests.support.program import SOURCE

from .calls import FAULTS, Calls, CountedHost, Fault
from .chains import ChainBench
from .fat import CHAINS
from .faulting import MEMORY, Ended, command
from .scenarios import Scenario, done
from .test_every_call import struck

pytestmark = pytest.mark.faults
FIRST = ("apply", "--set", "amdgpu.runpm=0", "--set", "karg.iommu=pt", "--yes")
SECOND = ("apply", "--set", "amdgpu.runpm=1", "--set", "env.HSA_XNACK=1", "--yes")
ROLLBACK = ("rollback", "--yes")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


# -- the partition ------------------------------------------------------------------------------------


class PartitionBench(ChainBench):
    """Only calls for what lies on the EFI partition count, and only they fail."""

    faults: ClassVar[tuple[Fault, ...]] = tuple(
        fault for fault in FAULTS if fault.name in ("EIO", "ENOSPC", "ENOSPC on", "EROFS on", "kill half")
    )
    esp: ClassVar[str] = ""

    def counted(self, root: Path) -> Ended:
        return command(self.scenario, root, self.scenario.act, Calls(names=True, within=f"{root}/{self.esp}"))

    def faulted(self, root: Path, arguments: Sequence[str], fault: Fault, at: int) -> Ended:
        return command(self.scenario, root, arguments, Calls(fault, at, within=f"{root}/{self.esp}"))


@pytest.mark.parametrize(
    ("chain", "act"),
    [
        ("systemd-boot", FIRST),
        ("limine", SECOND),
        ("refind", ROLLBACK),
        ("uki", FIRST),
        ("uki", ROLLBACK),
    ],
)
def test_a_partition_that_fails_leaves_before_or_after(
    memory: Path, chain: str, act: tuple[str, ...]
) -> None:
    def prepare(folder: Path) -> Path:
        root = CHAINS[chain].make(folder)
        return root if act is FIRST else done(root, FIRST)

    kind = type("Bench", (PartitionBench,), {"esp": CHAINS[chain].esp})
    bench = kind(Scenario(chain, prepare, act), memory / chain)
    found = struck(bench, stride=5)
    print(f"{found.points} points of {len(bench.taken)} calls: {dict(found.verdicts)}, {dict(found.ends)}")
    assert not found.wrong, "\n".join(found.wrong)
    assert found.verdicts["before"] or act is ROLLBACK


# -- programs with a state of their own -----------------------------------------------------------------


class ToolBench(ChainBench):
    faults: ClassVar[tuple[Fault, ...]] = tuple(
        fault for fault in FAULTS if fault.name in ("kill before", "kill after", "EIO", "TERM")
    )


def _proxmox(folder: Path) -> Path:
    root = other_host(folder, "proxmox-systemd-boot")
    shutil.copytree(
        SOURCE / "tests/cases/proxmox-boot-tool/trees/two-partitions",
        root,
        symlinks=True,
        dirs_exist_ok=True,
    )
    return root


TOOLS: dict[str, Callable[[Path], Path]] = {
    "kernelstub": lambda folder: other_host(folder, "popos"),
    "proxmox-boot-tool": _proxmox,
    "rpm-ostree": lambda folder: other_host(folder, "ostree"),
    "sdbootutil": lambda folder: other_host(folder, "opensuse-systemd-boot"),
}


def _with_tools(name: str, kind: type[CountedHost] = CountedHost) -> type[CountedHost]:
    return type(kind.__name__, (kind,), {"tools": SOURCE / "tests/cases" / name / "tools"})


@pytest.mark.parametrize("act", [FIRST, ROLLBACK], ids=["apply", "rollback"])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_kill_around_a_program_with_a_state_leaves_before_or_after(
    memory: Path, tool: str, act: tuple[str, ...]
) -> None:
    host = _with_tools(tool)

    def prepare(folder: Path) -> Path:
        root = TOOLS[tool](folder)
        return root if act is FIRST else done(root, FIRST, host=host)

    kind = type("Bench", (ToolBench,), {"loader": tool})
    bench = kind(Scenario(tool, prepare, act, host=host), memory / tool)
    runs = [at for at, name in enumerate(bench.taken, 1) if name.startswith("run ")]
    assert runs
    found = struck(bench, stride=2 * len(bench.taken))
    for at in runs:
        for fault in bench.faults:
            found.add(bench.strike(fault, at, use=False))
    print(f"{found.points} points of {len(bench.taken)} calls: {dict(found.verdicts)}, {dict(found.ends)}")
    assert not found.wrong, "\n".join(found.wrong)


# -- the harness has teeth ------------------------------------------------------------------------------


class Forgetful(CountedHost):
    """Notes that a program was asked only after it has run."""

    late: tuple[str, bytes] | None = None

    def append(self, path: str, line: bytes) -> None:
        if b'"kind":"tool"' in line:
            self.late = (path, line)
            return
        super().append(path, line)
        if self.late is not None:
            late, self.late = self.late, None
            super().append(*late)


def test_the_harness_finds_a_program_that_was_asked_before_it_was_noted(memory: Path) -> None:
    host = _with_tools("rpm-ostree", Forgetful)
    kind = type("Bench", (ToolBench,), {"loader": "rpm-ostree"})
    bench = kind(Scenario("planted", TOOLS["rpm-ostree"], FIRST, host=host), memory / "planted")
    at = next(at for at, name in enumerate(bench.taken, 1) if name.startswith("run "))
    assert bench.strike(next(f for f in bench.faults if f.name == "kill after"), at, use=False).wrong


def test_the_harness_finds_a_partition_whose_failure_is_not_told(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quietly(host: LocalHost, path: str, state: FileState, *, keep_mtime: bool) -> None:
        with suppress(Unwritable):
            real(host, path, state, keep_mtime=keep_mtime)

    real = LocalHost.write
    kind = type("Bench", (PartitionBench,), {"esp": "boot"})
    bench = kind(
        Scenario("planted", lambda folder: done(CHAINS["limine"].make(folder), FIRST), ROLLBACK),
        memory / "planted",
    )
    monkeypatch.setattr(LocalHost, "write", quietly)
    monkeypatch.setattr("rocmcfg.change.transaction.results.look_at_results", lambda *_: {})
    assert struck(bench, 5, ("EROFS on",), most=1).wrong
