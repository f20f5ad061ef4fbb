"""Programs of the host that do not work, at each call of each act of every boot chain: they fail, hang, are
killed or do nothing, before their work and after it, once or from there on. And programs that spoil what
they make. What a command says then is true, a `recover` with sound programs ends it, and in the meantime the
host has something to boot from."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from rocmcfg.host import runner
from rocmcfg.host.view import CommandResult

from .calls import CountedHost, Fault
from .chains import CHAINS, Chain, ChainBench
from .faulting import MEMORY, Ended, Tally
from .scenarios import run

_AT_ONCE = 0.05  # seconds: a program that waits for what never comes has done so by then, however slow


@dataclass(frozen=True, slots=True)
class Unwell(Fault):
    """How a program is unwell: `how` it ends, `after` its work or instead of it; `on`: from there on."""

    how: str = "fails"
    after: bool = False
    on: bool = False

    @property
    def kills(self) -> bool:
        return False


def _faults() -> tuple[Unwell, ...]:
    made = []
    for how in ("fails", "hangs", "is killed", "does nothing", "removes", "empties", "halves"):
        spoils = how in SPOILS
        for after in (False, True) if not spoils and how != "does nothing" else (spoils,):
            for on in (False, True):
                name = f"{how}{' after its work' if after and not spoils else ''}{' on' if on else ''}"
                made.append(Unwell(name, how=how, after=after, on=on))
    return tuple(made)


def _remove(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _halve(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


SPOILS: dict[str, Callable[[Path], None]] = {"removes": _remove, "empties": _empty, "halves": _halve}
FAULTS = _faults()
_NO_MAKERS = ("bootctl", "grub-editenv", "grub2-editenv")  # they choose what boots next, and make nothing


class UnwellHost(CountedHost):
    """Its programs work until the call `at`, counted from 1."""

    chain: ClassVar[Chain]
    unwell: ClassVar[Unwell | None] = None
    at: ClassVar[int] = 0
    ran: ClassVar[list[str]] = []

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        kind = type(self)
        kind.ran.append(f"run {argv[0]}")
        fault, now = kind.unwell, len(kind.ran)
        if fault is None or now < kind.at or (now > kind.at and not fault.on):
            return self._works(argv, timeout, progress, mark)
        result = CommandResult(tuple(argv), 0, "", "")
        if fault.after:
            result = self._works(argv, timeout, progress, mark)
        makes = argv[0] not in _NO_MAKERS and fault.how in SPOILS
        for pattern in kind.chain.made if makes else ():
            for path in Path(self.root).glob(pattern):
                SPOILS[fault.how](path)
        if fault.how == "fails":
            return CommandResult(tuple(argv), 1, "", f"{argv[0]}: no")
        if fault.how == "hangs":
            return self._ended(argv, "read line < fifo", _AT_ONCE, progress, mark)
        if fault.how == "is killed":
            return self._ended(argv, "kill -KILL $$", timeout, progress, mark)
        return result

    def _works(
        self, argv: Sequence[str], timeout: float, progress: Callable[[], None], mark: str
    ) -> CommandResult:
        """A stand-in that builds on what the one before made fails without it."""
        try:
            return super().execute(argv, timeout=timeout, progress=progress, mark=mark)
        except FileNotFoundError as problem:
            return CommandResult(tuple(argv), 1, "", str(problem))

    def _ended(
        self, argv: Sequence[str], script: str, timeout: float, progress: Callable[[], None], mark: str
    ) -> CommandResult:
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            os.mkfifo(f"{folder}/fifo")
            command = ("sh", "-c", f"cd {folder}; {script}")
            done = runner.execute(command, timeout=timeout, progress=progress, mark=mark)
        return CommandResult(tuple(argv), done.status, done.stdout, done.stderr)


class ProgramBench(ChainBench):
    faults: ClassVar[tuple[Fault, ...]] = FAULTS
    chain: ClassVar[Chain]

    def counted(self, root: Path) -> Ended:
        return self._run(root, self.scenario.act, None, 0)

    def faulted(self, root: Path, arguments: Sequence[str], fault: Fault, at: int) -> Ended:
        assert isinstance(fault, Unwell)
        return self._run(root, arguments, fault, at)

    def _run(self, root: Path, arguments: Sequence[str], fault: Unwell | None, at: int) -> Ended:
        ran: list[str] = []
        host = type("Host", (UnwellHost,), {"unwell": fault, "at": at, "ran": ran, "chain": self.chain})
        result = run(root, *arguments, host=self.chain.of(host))
        return Ended(0, result, len(ran), tuple(ran))


def bench_of(chain: Chain, act: str, folder: Path) -> ProgramBench | None:
    """None where this act runs no program."""
    kind = type("Bench", (ProgramBench,), {"loader": chain.keeps, "chain": chain})
    bench = kind(chain.scenario(act), folder)
    return bench if bench.taken else None


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def struck(bench: ProgramBench, faults: Sequence[Unwell]) -> Tally:
    found = Tally()
    for fault in faults:
        if fault.how in SPOILS and not bench.chain.made:
            continue
        for at in range(1, len(bench.taken) + 1):
            found.add(bench.strike(fault, at, use=False))
    return found


@pytest.mark.faults
@pytest.mark.parametrize(
    ("chain", "act"),
    [pytest.param(chain, act, id=f"{chain.name}-{act}") for chain in CHAINS for act in chain.acts()],
)
def test_an_unwell_program_leaves_before_or_after_and_no_lie(memory: Path, chain: Chain, act: str) -> None:
    bench = bench_of(chain, act, memory / "bench")
    if bench is None:
        pytest.skip("it runs no program")
    found = struck(bench, FAULTS)
    print(f"{found.points} points of {len(bench.taken)} calls: {dict(found.verdicts)}, {dict(found.ends)}")
    assert not found.wrong, "\n".join(found.wrong)


_BUILT_IN = tuple(chain for chain in CHAINS if chain.name in ("uki-mkinitcpio", "uki-dracut", "uki-ukify"))
_SAMPLE = tuple(fault for fault in FAULTS if fault.name in ("removes on", "does nothing"))


@pytest.mark.parametrize("act", ["apply", "recover"])
@pytest.mark.parametrize("chain", _BUILT_IN, ids=lambda chain: chain.name)
def test_images_with_the_line_built_in_are_put_back(memory: Path, chain: Chain, act: str) -> None:
    """Nothing else of the host can be booted once their program has removed them all; and one that did
    nothing has left our arguments in them."""
    bench = bench_of(chain, act, memory / "bench")
    assert bench is not None
    found = struck(bench, _SAMPLE)
    assert not found.wrong, "\n".join(found.wrong)


_QUICK = tuple(fault for fault in FAULTS if fault.name in ("hangs", "is killed after its work", "fails on"))


@pytest.mark.parametrize(
    ("name", "act"),
    [("kernelstub", "rollback"), ("sdbootutil", "apply"), ("bootc", "apply"), ("env-update", "rollback")],
)
def test_a_sample_of_unwell_programs(memory: Path, name: str, act: str) -> None:
    bench = bench_of(next(chain for chain in CHAINS if chain.name == name), act, memory / "bench")
    assert bench is not None
    found = struck(bench, _QUICK)
    assert not found.wrong, "\n".join(found.wrong)


_SPOILT = tuple(fault for fault in FAULTS if fault.name in ("halves on", "does nothing"))


@pytest.mark.parametrize("act", ["apply", "rollback"])
def test_files_with_variables_are_looked_at_in_the_apply_and_in_its_undo(memory: Path, act: str) -> None:
    bench = bench_of(next(chain for chain in CHAINS if chain.name == "env-update"), act, memory / "bench")
    assert bench is not None
    tally = struck(bench, _SPOILT)
    assert not tally.wrong, "\n".join(tally.wrong)
