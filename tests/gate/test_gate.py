"""`verify` answers monitors and schedulers as each of them expects, and feeds Prometheus and Kubernetes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocmcfg.advice.gate.answers import STYLES, answer
from rocmcfg.model.checks import Check, CheckStatus, VerificationReport
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
    ("style", "codes"), [("nagios", (0, 1, 2, 3)), ("npd", (0, 1, 1, 2)), ("slurm", (0, 1, 1, 1))]
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
    check = Check("amdgpu." + "x" * 90, "cmdline", "ü|\n", None, "y" * 90, CheckStatus.DRIFT, "")
    line = answer(style, VerificationReport((), 1, (check,), ())).line
    assert re.fullmatch(r"[ -{}~]{1,80}", line)
    assert len(answer(style, None, "ä" * 200).line) == 80


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


def test_root_does_not_follow_the_link_of_another_user(host: Path, tmp_path: Path) -> None:
    """The folder of the metrics may belong to the user of node_exporter."""
    require_root()
    link, precious = tmp_path / "rocmcfg.prom", tmp_path / "precious"
    precious.write_text("precious")
    link.symlink_to(precious)
    os.lchown(link, 12345, 12345)
    rocmcfg("verify", "--root", host, "--metrics", link, "--quiet")
    assert precious.read_text() == "precious"
    assert not link.is_symlink()
    assert "rocmcfg_info" in link.read_text()
