"""What a program keeps for the host, where no file of ours says it: changed, proven and taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rocmcfg.change.transaction import transaction
from rocmcfg.change.transaction.recovery import ThirdPartyEdit
from rocmcfg.change.transaction.transaction import Purpose
from rocmcfg.host.view import CommandResult, HostView
from rocmcfg.loaders import registry
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.plan import ToolChange
from rocmcfg.model.request import Request
from rocmcfg.records.steps import ToolChanged
from rocmcfg.workflow import planning, undoing
from tests.support import usecases as use
from tests.support.hosts import debian_grub_host, make_root, programs
from tests.support.tool_host import QuickHost
from tests.support.trees import tree
from tests.support.trials import states

STATE = "/var/lib/kernelargs"


class KernelArgs:
    """A small tool with a state of its own: `kernelargs put TEXT` and `kernelargs clear`."""

    TOOL, BLOCK, KEEPS = "kernelargs", STATE, "the arguments that every kernel gets"
    SHOWS = ("kernelargs", "list")
    UNCHANGED = (77,)
    AMONG_OTHERS = False

    def held(self, view: HostView, ours: str = "") -> str | None:
        del ours
        return view.text(STATE) or None

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        del held
        return ("kernelargs", "clear") if wanted is None else ("kernelargs", "put", wanted)

    def damaged(self, view: HostView) -> bool:
        return (view.text(STATE) or "").startswith("\0")

    def writes_at(self, view: HostView) -> tuple[str, ...]:
        del view
        return (STATE,)


class ToolTree(QuickHost):
    """`lies`: the tool ends well and does nothing. `dies`: we are killed while it runs, before or after."""

    lies = False
    dies = ""

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        if argv[0] != "kernelargs":
            return super().execute(argv, timeout=timeout, progress=progress, mark=mark)
        if self.dies == "before":
            raise SystemExit(137)
        if not self.lies:
            Path(self.root + STATE).write_text(argv[2] if argv[1] == "put" else "")
        if self.dies == "after":
            raise SystemExit(137)
        return CommandResult(tuple(argv), 0, "", "")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToolTree:
    known = registry.keepers()
    monkeypatch.setattr(registry, "keepers", lambda: (*known, KernelArgs()))
    root = debian_grub_host(tmp_path)
    make_root(tmp_path, {STATE: "", **programs("/usr/sbin/kernelargs")})
    return ToolTree(str(root))


def apply(host: ToolTree, text: str, *settings: str) -> None:
    """As a backend would plan it whose arguments a program keeps."""
    planned = planning.plan(host, Request(set=settings))
    keeper = KernelArgs()
    change = ToolChange(
        "kernelargs", keeper.keep(text), text, keeper.held(host) or "", text, "every kernel gets it"
    )
    with host.lock():
        transaction.execute(host, Purpose(planned.plan._replace(tools=(change,)), planned.request), use.quiet)


def held(host: ToolTree) -> str:
    return Path(host.root + STATE).read_text()


def test_it_is_changed_and_undone_with_the_files(host: ToolTree) -> None:
    before = tree(Path(host.root), state=False, times=False)
    apply(host, "a=1", "amdgpu.runpm=0")
    assert held(host) == "a=1"
    apply(host, "a=1 b=2", "amdgpu.runpm=1")
    assert held(host) == "a=1 b=2"
    use.rollback(host)
    assert held(host) == "a=1"
    use.rollback(host)
    assert tree(Path(host.root), state=False, times=False) == before
    assert states(use.journals(host)) == ["rolled_back", "rolled_back"]


def test_several_are_undone_at_once(host: ToolTree) -> None:
    for number in range(3):
        apply(host, f"a={number}", f"amdgpu.runpm={number}")
    undone = undoing.rollback(host, to=1, force=False, confirm=lambda _: True, progress=use.quiet)
    assert undone is not None
    assert (held(host), undone.transactions) == ("a=0", (3, 2))


def test_a_tool_that_says_yes_and_does_nothing_is_a_rollback(host: ToolTree) -> None:
    before = tree(Path(host.root), state=False)
    host.lies = True
    with pytest.raises(RocmcfgError) as stop:
        apply(host, "a=1", "amdgpu.runpm=0")
    assert stop.value.exit_code is ExitCode.ROLLED_BACK
    assert stop.value.diagnostics[0].id == "RC4315"
    assert "kernelargs list" in stop.value.diagnostics[0].hint
    assert {p: e[:-1] for p, e in tree(Path(host.root), state=False).items()} == {
        p: e[:-1] for p, e in before.items()
    }


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_a_crash_cut_off_is_taken_back(
    host: ToolTree, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(host, "a=1", "amdgpu.runpm=0")
    host.dies = moment
    with monkeypatch.context() as crash:
        crash.setattr(transaction, "_rolled_back", lambda *_: SystemExit(137))
        with pytest.raises(SystemExit):
            apply(host, "a=2", "amdgpu.runpm=1")
    host.dies = ""
    assert held(host) == ("a=1" if moment == "before" else "a=2")
    use.recover(host)
    assert held(host) == "a=1"
    assert states(use.journals(host)) == ["rolled_back", "committed"]
    (step,) = use.journals(host)[0].of(ToolChanged)
    assert (step.before, step.after) == ("a=1", "a=2")


def test_what_somebody_else_put_there_is_not_lost(host: ToolTree) -> None:
    apply(host, "a=1", "amdgpu.runpm=0")
    Path(host.root + STATE).write_text("a=1 mine=1")
    with pytest.raises(ThirdPartyEdit) as stop:
        use.rollback(host)
    assert (stop.value.exit_code, stop.value.diagnostics[0].location) == (ExitCode.ERROR, STATE)
    assert held(host) == "a=1 mine=1"
    assert undoing.rollback(host, to=None, force=True, confirm=lambda _: True, progress=use.quiet)
    assert held(host) == ""
    kept = Path(host.root + "/var/lib/rocmcfg/transactions/000001/backups")
    assert b"a=1 mine=1" in [file.read_bytes() for file in kept.iterdir()]


def test_a_journal_names_no_tool_that_keeps_nothing_of_ours(
    host: ToolTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(host, "a=1", "amdgpu.runpm=0")
    monkeypatch.setattr(registry, "keepers", tuple)
    with pytest.raises(RocmcfgError) as stop:
        use.rollback(host)
    assert [d.id for d in stop.value.diagnostics] == ["RC4020"]
    assert held(host) == "a=1"
