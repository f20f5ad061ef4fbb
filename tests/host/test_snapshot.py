"""A plan asks a host for each thing once, and never mixes two states of a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rocmcfg.change.transaction.undo import plan_rollback
from rocmcfg.host.local import LocalHost
from rocmcfg.host.local_view import LocalView
from rocmcfg.host.view import Snapshot, Unreadable
from rocmcfg.model.file_state import FileState
from rocmcfg.model.request import Request
from rocmcfg.workflow.planning import plan
from tests.benchmarks.chains import HOSTS, KARGS, make

DERIVED = {"text", "missing_folders"}  # made of the others
# Where a plan asks programs, which no host of a test can run.
ASKING = {"bootc/bazzite", "proxmox-boot-tool/systemd-boot", "rpm-ostree/silverblue", "uki/old-stub-ukify"}
EACH = ("/etc/one", "/etc/two")


class Counting(LocalHost):
    """Counts what it is asked for, by method and path."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.questions: Counter[tuple[str, str]] = Counter()

    def read(self, path: str) -> bytes | None:
        self.questions["read", path] += 1
        return super().read(path)

    def state(self, path: str) -> FileState | None:
        self.questions["state", path] += 1
        return super().state(path)

    def names(self, path: str) -> tuple[str, ...]:
        self.questions["names", path] += 1
        return super().names(path)

    @property
    def repeated(self) -> dict[tuple[str, str], int]:
        return {question: number for question, number in self.questions.items() if number > 1}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    for path in EACH:
        (tmp_path / path[1:]).write_text("before\n")
    return tmp_path


def test_every_method_of_a_view_is_one_of_a_snapshot() -> None:
    """A method that is left out would read the host anew, and a stand-in of a test would not be asked."""
    public = {name for name in vars(LocalView) if not name.startswith("_")}
    assert public - DERIVED == {name for name in vars(Snapshot) if not name.startswith("_")}


@pytest.mark.parametrize("name", sorted({*HOSTS} - ASKING))
def test_a_plan_reads_each_file_once(tmp_path: Path, name: str) -> None:
    pristine, applied = make(tmp_path, name)
    host = Counting(str(pristine))
    plan(host, Request(set=tuple(KARGS[1::2])))
    assert host.questions, "the plan read nothing"
    assert not host.repeated
    host = Counting(str(applied))
    plan_rollback(host, to=None, force=False)
    assert host.questions, "the plan of the rollback read nothing"
    assert not host.repeated


def test_what_is_read_first_counts(root: Path) -> None:
    view = Snapshot(LocalHost(str(root)))
    assert view.read(EACH[0]) == b"before\n"
    state = view.state(EACH[1])
    for path in EACH:
        (root / path[1:]).write_text("after\n")
    (root / "etc/three").touch()
    assert [view.read(path) for path in EACH] == [b"before\n"] * 2
    # a plan made of the old content must not name the new one as what it replaces
    again = view.state(EACH[0])
    assert again is not None
    assert again.content == b"before\n"
    assert state is not None
    assert view.state(EACH[1]) == state


def test_an_answer_is_kept_also_where_there_is_none(root: Path) -> None:
    view = Snapshot(LocalHost(str(root)))
    assert (view.read("/etc/three"), view.exists("/etc/three"), view.names("/srv")) == (None, False, ())
    (root / "etc/three").touch()
    (root / "srv/four").mkdir(parents=True)
    assert (view.read("/etc/three"), view.exists("/etc/three"), view.names("/srv")) == (None, False, ())
    (root / "etc/folder").mkdir()
    with pytest.raises(Unreadable, match="it is a directory"):
        view.read("/etc/folder")
    (root / "etc/folder").rmdir()
    (root / "etc/folder").touch()
    with pytest.raises(Unreadable, match="it is a directory"):
        view.read("/etc/folder")


def test_what_a_snapshot_wraps_is_asked_and_not_the_tree_below_it(root: Path) -> None:
    class StandIn(LocalHost):
        def read(self, path: str) -> bytes | None:
            return f"stand-in of {path}".encode()

    assert Snapshot(StandIn(str(root))).text(EACH[0]) == f"stand-in of {EACH[0]}"
