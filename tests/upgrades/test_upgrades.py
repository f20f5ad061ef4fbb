"""What an earlier rocmcfg left on a host is kept, readable and undone by this one. The trees in data/ were
recorded once, by record.py, from the commits in their names: the one that ended the first series of work
(state, receipt and trial), and the one that brought `try`."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.boots import reboot
from tests.support.program import Result, rocmcfg
from tests.support.tools import require_tool
from tests.support.trees import tree

DATA = Path(__file__).parent / "data"
RECEIPT = "var/lib/rocmcfg/receipt.json"
TRIAL = "var/lib/rocmcfg/trial.json"
JOURNAL = "var/lib/rocmcfg/transactions/000001/journal.jsonl"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("recorded")
    for name in ("host-7f737e71d", "tries-4e97fac30"):
        with tarfile.open(DATA / f"{name}.tar.xz") as archive:
            # Python 3.10.12 and 3.11.4 brought the filters; before them every archive was trusted.
            archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
            archive.extractall(into)
    return into


@pytest.fixture
def host(recorded: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A host as the old rocmcfg left it."""
    require_tool("grub-editenv", "grub-common")

    def copy(name: str) -> Path:
        return shutil.copytree(recorded / name, tmp_path / name, symlinks=True)

    return copy


def run(root: Path, *arguments: str) -> Result:
    done = rocmcfg(*arguments, "--root", root, tools=root / "none")
    assert "Traceback" not in done.err
    return done


def settings_of(root: Path) -> dict[str, Any]:
    """The configuration by path: not what a boot shows, and not rocmcfg's records."""
    left = ("proc", "sys", "var", "run", "boot/grub/grubenv")
    return {path: entry for path, entry in tree(root, times=False).items() if not path.startswith(left)}


def test_what_was_applied_is_verified_listed_and_undone(host: Callable[[str], Path]) -> None:
    root, before = host("applied"), settings_of(host("before"))
    verified = run(root, "verify", "--json")
    assert verified.code == 0, verified.out
    checked = {check["name"]: check["status"] for check in verified.document["checks"]}
    assert checked == {"amdgpu.cwsr_enable": "in_effect", "env.HSA_XNACK": "in_effect"}
    (entry,) = run(root, "history", "--json").document["transactions"]
    assert entry["transaction"] == 1
    assert settings_of(root) != before
    undone = run(root, "rollback", "--yes")
    assert undone.code == 0, undone.err
    assert settings_of(root) == before


def test_a_second_change_goes_on_where_the_old_one_ended(host: Callable[[str], Path]) -> None:
    root, before = host("applied-twice"), settings_of(host("before"))
    assert run(root, "apply", "--add", "amdgpu.gpu_recovery=1", "--yes").code == 0
    history = run(root, "history", "--json").document["transactions"]
    assert [entry["transaction"] for entry in history] == [3, 2, 1]
    after = (root / RECEIPT).read_text()
    assert '"runpm"' in after
    assert run(root, "rollback", "--yes").code == 0
    assert run(root, "rollback", "--yes").code == 0
    assert settings_of(root)["etc/default/grub.d/zz-rocmcfg.cfg"]
    assert run(root, "rollback", "--yes").code == 0
    assert settings_of(root) == before


def test_everything_is_undone_at_once(host: Callable[[str], Path]) -> None:
    root, before = host("applied-twice"), settings_of(host("before"))
    assert run(root, "rollback", "--pristine", "--yes").code == 0
    assert settings_of(root) == before


def test_a_trial_that_was_armed_boots_and_is_confirmed(host: Callable[[str], Path]) -> None:
    root = host("armed")
    assert "next boot" in " ".join(run(root, "status").out.split())
    assert "amdgpu.cwsr_enable=0" in reboot(root)
    assert run(root, "confirm", "--yes").code == 0
    assert run(root, "verify").code == 0


def test_a_trial_that_runs_is_seen_and_rejected(host: Callable[[str], Path]) -> None:
    root, before = host("on-trial"), settings_of(host("before"))
    document = run(root, "verify", "--json").document
    assert document["trial"] == 1
    assert run(root, "reject", "--yes").code == 0
    assert settings_of(root) == before
    assert "cwsr_enable" not in reboot(root)


@pytest.fixture
def tries(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(recorded / "rocmcfg", tmp_path / "rocmcfg")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_tries_are_listed_and_shown_with_their_findings(tries: Path) -> None:
    listed = rocmcfg("tries", "list", "--json").document["tries"]
    assert [entry["try"] for entry in listed] == [1, 2, 3]
    shown = rocmcfg("tries", "show", "1")
    assert "HSA_ENABLE_SDMA=0 cures the fault here" in " ".join(shown.out.split())


def test_a_try_that_was_interrupted_goes_on(tries: Path) -> None:
    before = (tries / "rocmcfg/tries/3/try.jsonl").read_bytes()
    (tries / "go-on").touch()
    resumed = rocmcfg("tries", "resume", "3")
    assert resumed.code == 0, resumed.err
    assert "HSA_ENABLE_SDMA=0 cures the fault here" in " ".join(resumed.out.split())
    assert (tries / "rocmcfg/tries/3/try.jsonl").read_bytes().startswith(before)


def test_a_try_that_used_up_its_runs_gets_more(tries: Path) -> None:
    resumed = rocmcfg("tries", "resume", "2", "--runs", "50")
    assert resumed.code == 0, resumed.err
    assert "cures the fault here" in " ".join(resumed.out.split())


@pytest.mark.parametrize("command", ["verify", "rollback", "apply"])
def test_a_receipt_of_a_newer_rocmcfg_is_refused_and_left(host: Callable[[str], Path], command: str) -> None:
    root = host("applied")
    receipt = json.loads((root / RECEIPT).read_text())
    receipt["schema_version"] += 1
    (root / RECEIPT).write_text(json.dumps(receipt))
    refused_and_left(root, command, 1)


@pytest.mark.parametrize("command", ["verify", "confirm", "apply"])
def test_a_trial_of_a_newer_rocmcfg_is_refused_and_left(host: Callable[[str], Path], command: str) -> None:
    root = host("on-trial")
    record = json.loads((root / TRIAL).read_text())
    record["schema_version"] += 1
    (root / TRIAL).write_text(json.dumps(record))
    refused_and_left(root, command, 1)


@pytest.mark.parametrize("command", ["history", "rollback", "apply"])
def test_a_journal_of_a_newer_rocmcfg_is_refused_and_left(host: Callable[[str], Path], command: str) -> None:
    root = host("applied")
    lines = [json.loads(line) for line in (root / JOURNAL).read_text().splitlines()]
    (root / JOURNAL).write_text("".join(json.dumps({**line, "v": line["v"] + 1}) + "\n" for line in lines))
    refused_and_left(root, command, 5)  # it cannot tell whether that change was finished


@pytest.mark.parametrize(("name", "record"), [("applied", RECEIPT), ("on-trial", TRIAL)])
def test_status_shows_the_host_and_says_which_record_is_newer(
    host: Callable[[str], Path], name: str, record: str
) -> None:
    root = host(name)
    (root / record).write_text(
        (root / record).read_text().replace('"schema_version": 1', '"schema_version": 2')
    )
    shown = run(root, "status")
    assert f"/{record} was written by a newer rocmcfg" in " ".join(shown.err.split())
    assert "6.14.0-37-generic" in shown.out


def test_the_trial_of_a_newer_rocmcfg_can_be_ended_by_its_journal(host: Callable[[str], Path]) -> None:
    root, before = host("on-trial"), settings_of(host("before"))
    (root / TRIAL).write_text(
        (root / TRIAL).read_text().replace('"schema_version": 1', '"schema_version": 2')
    )
    assert run(root, "reject", "--yes").code == 0
    assert settings_of(root) == before


def refused_and_left(root: Path, command: str, code: int) -> None:
    """An earlier rocmcfg, after a downgrade, says what is the matter and touches nothing."""
    before = tree(root)
    words = {"apply": ("--set", "amdgpu.runpm=0", "--yes"), "verify": (), "history": ()}
    refused = run(root, command, *words.get(command, ("--yes",)), "--json")
    assert refused.code == code, refused.out
    newer = [problem for problem in refused.document["diagnostics"] if problem["id"] == "RC4029"]
    assert newer, refused.document["diagnostics"]
    assert "was written by a newer rocmcfg" in newer[0]["summary"]
    assert newer[0]["hint"] == "use the rocmcfg that wrote it, or a newer one"
    assert tree(root) == before


def test_a_try_of_a_newer_rocmcfg_is_refused_and_left(tries: Path) -> None:
    record = tries / "rocmcfg/tries/1/try.jsonl"
    record.write_text(record.read_text().replace('{"v":1,', '{"v":2,'))
    before = record.read_bytes()
    for words in (("show", "1"), ("resume", "1")):
        refused = rocmcfg("tries", *words, "--json")
        assert (refused.code, refused.ids) == (1, ["RC4029"])
    assert record.read_bytes() == before
