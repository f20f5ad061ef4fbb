"""`verify` answers monitors and schedulers as each of them expects, and feeds Prometheus and Kubernetes."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rocmcfg.advice.gate.answers import STYLES, answer
from rocmcfg.model.checks import Check, CheckStatus, VerificationReport
from tests.fleet.hosts import put, verify
from tests.support.program import DEMO, rocmcfg
from tests.support.tools import require_root, require_tool


@pytest.fixture
def host(tmp_path: Path) -> Path:
    root = tmp_path / "host"
    shutil.copytree(DEMO / "sample-host", root, symlinks=True)
    settings = ("--set", "amdgpu.runpm=0", "--set", "env.HSA_XNACK=1")
    assert rocmcfg("apply", *settings, "--yes", "--root", root).code == 0
    return root


@pytest.mark.parametrize(
    ("style", "codes"),
    [
        ("nagios", (0, 1, 2, 3)),
        ("npd", (0, 1, 1, 2)),
        ("slurm", (0, 1, 1, 1)),
        ("plain", (0, 1, 1, 2)),
    ],
)
def test_the_exit_code_is_the_callers(host: Path, style: str, codes: tuple[int, ...]) -> None:
    """In effect, pending, not in effect, and a host that cannot be checked."""
    option = ("--exit-style", style)
    results = [rocmcfg("verify", "--root", host, *option)]
    subprocess.run([sys.executable, DEMO / "reboot.py", host], check=True, capture_output=True)
    results.insert(0, rocmcfg("verify", "--root", host, *option))
    (host / "sys/module/amdgpu/parameters/runpm").write_text("-1\n")
    results.append(rocmcfg("verify", "--root", host, *option))
    results.append(rocmcfg("verify", "--root", host / "nowhere", *option))
    assert tuple(result.code for result in results) == codes
    for result in results:
        assert result.out.count("\n") == 1
        assert len(result.out.rstrip()) <= 80
        assert result.err == ""
    assert "2 of 2 settings in effect" in results[0].out
    assert "1 of 2 settings not in effect: amdgpu.runpm is -1, not 0" in results[2].out


def test_a_nagios_plugin_begins_with_its_state(host: Path) -> None:
    assert rocmcfg("verify", "--root", host, "--exit-style", "nagios").out.startswith("ROCMCFG WARNING: ")
    assert rocmcfg("verify", "--root", "/nowhere", "--exit-style", "nagios").out.startswith(
        "ROCMCFG UNKNOWN: "
    )


@pytest.mark.parametrize("style", STYLES)
def test_a_line_has_at_most_80_bytes_of_ascii_and_no_performance_data(style: str) -> None:
    check = Check("amdgpu.\x1b[31m\r" + "x" * 90, "cmdline", "ü|\n", None, "y" * 90, CheckStatus.DRIFT, "")
    line = answer(style, VerificationReport((), 1, (check,), ())).line
    assert re.fullmatch(r"[ -{}~]{1,80}", line)
    assert len(answer(style, None, "ä" * 200).line) == 80


@pytest.mark.parametrize(("style", "code"), [("nagios", 3), ("npd", 2), ("slurm", 1), ("plain", 2)])
@pytest.mark.parametrize("wrong", [("--bogus",), ("--pid", "x"), ("--pid",), ("FILE",)])
def test_a_wrong_command_line_is_unknown_to_the_caller(style: str, code: int, wrong: tuple[str, ...]) -> None:
    """The usual code for it, 2, is CRITICAL for Nagios, and 1 is a fault of the node for all others."""
    result = rocmcfg("verify", f"--exit-style={style}", *wrong)
    assert (result.code, result.out.count("\n")) == (code, 1)
    assert "RC0001" in result.err


@pytest.mark.parametrize(("style", "code"), [("nagios", 3), ("npd", 2), ("slurm", 1), ("plain", 2)])
def test_a_defect_is_unknown_to_the_caller(
    host: Path, style: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocmcfg.workflow.verifying.verify", lambda *_: 1 // 0)
    result = rocmcfg("verify", "--root", host, "--exit-style", style)
    assert (result.code, result.out.count("\n")) == (code, 1)


@pytest.mark.parametrize(("style", "code"), [("nagios", 1), ("npd", 1), ("slurm", 1), ("plain", 1)])
@pytest.mark.parametrize("is_in_effect", [False, True])
def test_metrics_that_cannot_be_written_say_nothing_of_the_host(
    host: Path, tmp_path: Path, style: str, code: int, is_in_effect: bool
) -> None:
    if is_in_effect:
        subprocess.run([sys.executable, DEMO / "reboot.py", host], check=True, capture_output=True)
    full = tmp_path / "full"
    full.mkdir()  # instead of a full disk
    files = ("--metrics", full, "--features", tmp_path / "features")
    result = rocmcfg("verify", "--root", host, "--exit-style", style, *files)
    assert result.code == (0 if is_in_effect else code)
    assert ("2 of 2 settings in effect" in result.out) == is_in_effect
    assert str(full) in result.err
    assert (tmp_path / "features").exists()


def test_one_line_and_a_document_exclude_each_other(host: Path) -> None:
    assert rocmcfg("verify", "--root", host, "--exit-style", "npd", "--json").code == 2


def test_prometheus_accepts_the_metrics(host: Path, tmp_path: Path) -> None:
    promtool, file = require_tool("promtool", "prometheus"), tmp_path / "rocmcfg.prom"
    for root, success in ((host, 1), (host / "nowhere", 0)):
        rocmcfg("verify", "--root", root, "--metrics", file, "--quiet")
        text = file.read_text()
        checked = subprocess.run(
            [promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False
        )
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
        assert f"\nrocmcfg_verify_success {success}\n" in text
        assert f'\nrocmcfg_status{{status="unknown"}} {1 - success}\n' in text
        assert ('rocmcfg_settings{status="pending"} 1\n' in text) == bool(success)
        assert (file.stat().st_mode & 0o777) == 0o644
    assert [path.name for path in tmp_path.glob(".*prom*")] == []


def test_features_are_labels_of_kubernetes(host: Path, tmp_path: Path) -> None:
    """A label's value has at most 63 letters, digits, dots, dashes and underscores, a letter or digit at both
    ends (Kubernetes, Labels and Selectors)."""
    rocmcfg("verify", "--root", host, "--features", tmp_path / "features", "--quiet")
    lines = (tmp_path / "features").read_text().splitlines()
    assert "rocmcfg-status=pending" in lines
    assert all(re.fullmatch(r"[a-z-]+=[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", line) for line in lines)


def test_what_failed_is_shown_beside_a_file_that_cannot_be_written(host: Path) -> None:
    files = ("--metrics", "/nowhere/m", "--features", "/nowhere/f")
    result = rocmcfg("verify", "--root", host, "--against", "/nowhere/golden.json", *files)
    assert result.code == 1
    for path in ("/nowhere/golden.json", "/nowhere/m", "/nowhere/f"):
        assert path in result.err


@pytest.mark.parametrize("option", ["--metrics", "--features"])
def test_a_file_that_cannot_be_written_is_an_error(host: Path, option: str) -> None:
    result = rocmcfg("verify", "--root", host, option, "/nowhere/file")
    assert result.code == 1
    assert "/nowhere/file" in result.err


def test_a_pipe_and_a_link_stay_what_they_are(host: Path, tmp_path: Path) -> None:
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(pipe)
    link.symlink_to(file)
    with open(pipe, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as reading:
        rocmcfg("verify", "--root", host, "--metrics", pipe, "--features", link, "--quiet")
        assert b"rocmcfg_info" in reading.read()
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert "rocmcfg-status=" in file.read_text()


@pytest.mark.parametrize("command", ["verify", "facts", "fleet"])
@pytest.mark.parametrize("by_link", [False, True])
def test_root_replaces_no_device_that_everybody_may_write_to(
    host: Path, tmp_path: Path, command: str, by_link: bool
) -> None:
    """Such as /dev/null, or by the link /dev/stdout the terminal of the user of sudo."""
    require_root()
    device, link = tmp_path / "null", tmp_path / "link"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    device.chmod(0o666)
    link.symlink_to(device)
    path = link if by_link else device
    if command == "fleet":
        rocmcfg("fleet", put(tmp_path / "node1.json", verify()), "--html", path)
    else:
        rocmcfg(command, "--root", host, "--metrics" if command == "verify" else "--save", path)
    assert device.is_char_device()
    assert link.is_symlink()


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_root_writes_through_nothing_that_another_user_put_there(
    host: Path, tmp_path: Path, kind: str, mode: int
) -> None:
    """The folder of node_exporter's files may be that of its account, or one like /tmp."""
    require_root()
    theirs, mine, file = tmp_path / "theirs", tmp_path / "mine", tmp_path / "theirs/rocmcfg.prom"
    theirs.mkdir()
    theirs.chmod(mode)
    if mode == 0o755:
        os.chown(theirs, 12345, 12345)
    mine.write_text("mine\n")
    if kind == "link":
        file.symlink_to(mine)
    else:
        os.mkfifo(file)
    os.chown(file, 12345, 12345, follow_symlinks=False)
    rocmcfg("verify", "--root", host, "--metrics", file, "--quiet")
    assert mine.read_text() == "mine\n"
    assert not file.is_symlink()
    assert "rocmcfg_info" in file.read_text()


def test_root_writes_no_result_where_a_link_of_another_user_leads(host: Path, tmp_path: Path) -> None:
    """A folder on the way may be theirs, and become a link to one of root's."""
    require_root()
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    for folder in (theirs, mine):
        folder.mkdir()
    (mine / "result").write_text("mine\n")
    (theirs / "way").symlink_to(mine)
    os.chown(theirs, 12345, 12345)
    log, documents = tmp_path / "log", put(tmp_path / "node1.json", verify())
    log.write_text("")
    for name in ("result", "new"):
        there = theirs / "way" / name
        for words in (
            ("verify", "--root", host, "--metrics", there),
            ("verify", "--root", host, "--features", there),
            ("facts", "--root", host, "--save", there),
            ("fleet", "--html", there, documents),
            ("run", "--json", there, "--", "true"),
            ("report", "--root", host, "--log", log, "--bundle", there),
            ("knowledge", "export", "--root", host, "--name", "a", there),
        ):
            refused = rocmcfg(*words)
            assert refused.code != 0, words
            assert "RC9000" not in refused.err
    assert [path.name for path in mine.iterdir()] == ["result"]
    assert (mine / "result").read_text() == "mine\n"
    os.chown(theirs, 0, 0)
    assert rocmcfg("facts", "--root", host, "--save", theirs / "way/new", "-q").code == 0
    assert (mine / "new").exists(), "a link of root's is followed"


def test_root_makes_no_page_through_a_link_of_another_user(tmp_path: Path) -> None:
    require_root()
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    theirs.mkdir()
    mine.write_text("mine\n")
    (theirs / "fleet.html").symlink_to(mine)
    os.chown(theirs, 12345, 12345)
    documents = put(tmp_path / "node1.json", verify())
    assert rocmcfg("fleet", "--html", theirs / "fleet.html", documents).code == 0
    assert mine.read_text() == "mine\n"
    assert not (theirs / "fleet.html").is_symlink()
