"""Records of tries that are damaged, hostile, of a newer rocmcfg, cut off or of a wrong clock."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import pytest

from rocmcfg.model.experiment import Failure
from rocmcfg.workflow.try_words import failures
from tests.experiments.real import Bench
from tests.support.program import Result, command, process, rocmcfg, unfolded
from tests.support.tools import require_root

Line = dict[str, Any]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a user with a try that is over."""
    made = Bench(tmp_path_factory.mktemp("once"))
    made.tried("--runs", "9", setting="HSA_XNACK=1", P="100")
    return made.folder / "state"


@pytest.fixture
def bench(tmp_path: Path, finished: Path) -> Bench:
    """With that try, whose record a test changes."""
    made = Bench(tmp_path)
    shutil.copytree(finished, tmp_path / "state")
    return made


def tries(bench: Bench, *words: str) -> Result:
    """`rocmcfg tries` in this process, which is faster."""
    with mock.patch.dict(os.environ, bench.variables()):
        return rocmcfg("tries", *words)


def rewritten(bench: Bench, change: Callable[[list[Line]], object]) -> None:
    lines = bench.lines()
    change(lines)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (bench.state / "1/try.jsonl").write_text(text)


def unfinished(lines: list[Line]) -> None:
    """As after a power cut during the last run."""
    del lines[-2:]


@pytest.mark.parametrize(
    ("change", "id"),
    [
        (lambda lines: lines[0].update(v=2), "RC4029"),
        (lambda lines: lines[-1].update(v=2), "RC4029"),
        (lambda lines: lines[0].update(kind="other"), "RC4504"),
        (lambda lines: lines.pop(0), "RC4504"),
        (lambda lines: lines.insert(1, lines[0]), "RC4504"),
        (lambda lines: lines[0].update(program=[]), "RC4504"),
        (lambda lines: lines[0].update(program="rm -rf"), "RC4504"),
        (lambda lines: lines[0].update(folder="here"), "RC4504"),
        (lambda lines: lines[0]["design"].update(kind="other"), "RC4504"),
        (lambda lines: lines[0]["design"].update(settings=[]), "RC4504"),
        (lambda lines: lines[0]["design"].update(weights=[0]), "RC4504"),
        (lambda lines: lines[0]["design"].update(weights=[10**400]), "RC4504"),
        (lambda lines: lines[0]["design"].update(most_runs=10**12), "RC4504"),
        (lambda lines: lines[0]["design"].update(confidence=100), "RC4504"),
        (lambda lines: lines[0]["design"].update(give_up=0), "RC4504"),
        (lambda lines: lines[0]["design"].update(most_seconds=10**400), "RC4504"),
        (lambda lines: lines[0]["design"]["settings"][0].update(name="A=B"), "RC4504"),
        (lambda lines: lines[0]["terms"].update(bad_output="("), "RC4504"),
        (lambda lines: lines[2]["outcome"].update(arm=1), "RC4504"),
        (lambda lines: lines[2]["outcome"].update(failure="bad luck"), "RC4504"),
        (lambda lines: lines[2]["outcome"].update(microseconds=-1), "RC4504"),
        (lambda lines: lines[2]["outcome"].update(microseconds=10**400), "RC4504"),
        (lambda lines: lines[-1]["finding"].update(verdict="cures"), "RC4504"),
        (lambda lines: lines[-1]["finding"].update(arm=1 << 70), "RC4504"),
        (lambda lines: lines.insert(3, lines[2]) or lines.insert(3, lines[2]), "RC4504"),
        (lambda lines: lines[0].update(time="yesterday"), ""),
    ],
)
@pytest.mark.parametrize("words", [("show", "1"), ("resume", "1"), ("list",)])
def test_a_record_that_no_try_writes_is_refused(
    bench: Bench, change: Callable[[list[Line]], object], id: str, words: tuple[str, ...]
) -> None:
    before = bench.notes.read_text()
    rewritten(bench, change)
    refused = tries(bench, *words)
    assert "Traceback" not in refused.err
    assert "RC9000" not in refused.err, refused.err
    if id or words == ("resume", "1"):
        id = id or "RC4508"  # it is over
        assert f"error[{id}]" in refused.err, refused.err
    assert bench.notes.read_text() == before, "nothing was run"
    assert tries(bench, "forget", "1").code == 0


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_line_that_a_power_cut_left_is_ignored(bench: Bench, cut: int) -> None:
    rewritten(bench, unfinished)
    record = bench.state / "1/try.jsonl"
    record.write_bytes(record.read_bytes() + b'{"v":1,"kind":"ran","outcome":{"arm":1,"failure":"exit",' * 9)
    resumed = bench.run("tries", "resume", "1", "--json", P="100")
    assert resumed.code == 0, resumed
    assert resumed.document["verdict"] == "no-effect"


@pytest.mark.parametrize("what", ["1", ".", "1/try.jsonl"])
def test_what_others_may_change_is_not_used(bench: Bench, what: str) -> None:
    (bench.state / what).chmod(0o777)
    refused = tries(bench, "resume")
    assert "error[RC4502]" in refused.err
    assert "chmod go-w" in unfolded(refused.err)


@pytest.mark.parametrize("link", [False, True])
def test_root_makes_no_folder_in_the_home_of_somebody_else(tmp_path: Path, *, link: bool) -> None:
    """`sudo -E` and `su` leave HOME as it was: a folder of root's there shuts its owner out."""
    require_root()
    (home := tmp_path / "home").mkdir()
    (target := tmp_path / "cron.d").mkdir()
    if link:
        (home / ".local").symlink_to(target)
        os.chown(home / ".local", 12345, 12345, follow_symlinks=False)
    os.chown(home, 12345, 12345)
    before = [*home.iterdir()]
    environment = {"HOME": str(home), "XDG_STATE_HOME": ""}
    refused = process(command("try", "--set", "env.HSA_XNACK=1", "--", "true"), env=environment)
    assert "error[RC4502]" in refused.err
    assert "`sudo -H`" in unfolded(refused.err)
    assert [*home.iterdir()] == before
    assert not [*target.iterdir()]


def test_a_record_that_is_a_link_or_a_pipe_is_not_read(bench: Bench) -> None:
    record = bench.state / "1/try.jsonl"
    elsewhere = bench.folder / "elsewhere"
    record.rename(elsewhere)
    record.symlink_to(elsewhere)
    assert "error[RC3001]" in tries(bench, "show", "1").err
    record.unlink()
    os.mkfifo(record, 0o600)
    assert "error[RC4518]" in tries(bench, "show", "1").err


def test_a_clock_that_was_set_back_changes_no_order_and_no_time(bench: Bench) -> None:
    rewritten(bench, lambda lines: lines[0].update(time="2099-01-01T00:00:00+00:00"))
    bench.tried("--runs", "9", setting="HSA_XNACK=1", P="100")
    listed = bench.run("tries", "list", "--json").document["tries"]
    assert [each["try"] for each in listed] == [1, 2]
    assert bench.run("tries", "show", "--json").document["try"] == 2


def test_one_damaged_record_hides_no_other(bench: Bench) -> None:
    bench.tried("--runs", "9", setting="HSA_XNACK=1", P="100")
    (bench.state / "1/try.jsonl").write_text("nonsense\n")
    listed = bench.run("tries", "list")
    assert "error[RC4504]" in listed.err
    assert "does not cure the fault here" in unfolded(listed.out)


def test_a_try_that_does_not_exist(bench: Bench) -> None:
    for verb in ("show", "resume", "forget"):
        assert "error[RC4503]" in tries(bench, verb, "7").err
        assert tries(bench, verb, "../1").code == 2


def test_every_reason_for_which_a_run_fails_has_words() -> None:
    """`signal 4` would name a signal: the number of failures comes first."""
    every = [reason for reason in get_args(Failure) if reason]
    for reason in every:
        assert re.fullmatch(r"4 × [A-Za-z ]+", failures({reason: 4}))
    assert failures({"signal": 4, "gpu-fault": 1}) == "4 × signal, 1 × GPU fault"


@pytest.mark.parametrize("what", ["lock", "1", "1/try.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "file"])
def test_what_is_of_another_kind_is_not_used_and_called_what_it_is(
    bench: Bench, what: str, kind: str
) -> None:
    if kind == ("folder" if what == "1" else "file"):
        return
    path = bench.state / what
    elsewhere = bench.folder / "elsewhere"
    path.rename(elsewhere) if path.exists() else elsewhere.touch()
    if kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind == "folder":
        path.mkdir(0o700)
    elif kind == "link":
        path.symlink_to(elsewhere)
    else:
        path.touch(0o600)
    refused = tries(bench, "resume", "1")
    assert refused.code == 1
    assert "RC9000" not in refused.err
    assert "other users" not in refused.err
    assert str(path) in refused.err.replace("\n  ", "") or "RC3001" in refused.err, refused.err


def test_a_record_of_another_user_is_not_used(bench: Bench) -> None:
    require_root()
    os.chown(bench.state / "1/try.jsonl", 12345, 12345)
    assert "error[RC4502]" in tries(bench, "resume", "1").err
