"""`rocmcfg watch-trial` as its unit runs it: what it prints, how it ends, and that a shutdown is no fault."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from rocmcfg.engine import trial
from rocmcfg.host.local import LocalHost
from rocmcfg.model.trial import Terms
from tests.support import usecases as use
from tests.support.boots import enable_unit, reboot
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, problem, rocmcfg, tool_command
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool


@pytest.fixture(autouse=True)
def _real_grub_editenv() -> None:
    require_tool("grub-editenv", "grub-common")


def trying(tmp_path: Path, after: int, uptime: float) -> Path:
    root = debian_grub_host(tmp_path)
    enable_unit(root)
    use.attempt(QuickHost(str(root)), Terms(after, "true"), set=("amdgpu.cwsr_enable=0",))
    reboot(root)
    (root / "proc/uptime").write_text(f"{uptime} 1.0\n")
    return root


def test_it_says_every_reason_and_fails_so_that_systemctl_shows_it(tmp_path: Path) -> None:
    root = trying(tmp_path, 60, 61)
    (root / "sys/module/amdgpu/parameters/cwsr_enable").write_text("1\n")
    said = problem(rocmcfg("watch-trial", "--root", root, tools=tmp_path), "RC4340", 1)
    assert "amdgpu.cwsr_enable shall be 0 and is 1 on the running kernel" in said
    assert "no kernel log of this boot could be read" in said
    found = rocmcfg("watch-trial", "--root", root, "--json", tools=tmp_path)
    assert (found.code, found.ids) == (1, ["RC4340"])


def test_a_shutdown_while_it_waits_is_no_failure(tmp_path: Path) -> None:
    root = trying(tmp_path, 6000, 61)
    command = tool_command(tmp_path, "watch-trial", "--root", root)
    with subprocess.Popen(
        command, cwd=SOURCE, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        deadline = time.monotonic() + 20
        while not _catches(running.pid, signal.SIGTERM) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        running.terminate()
        out, err = running.communicate(timeout=20)
    assert running.returncode == 0, err
    assert "Traceback" not in out + err
    assert "error" not in out + err
    assert trial.load(LocalHost(str(root))) is not None


def _catches(pid: int, number: int) -> bool:
    """Whether the process has a handler of its own: SigCgt in proc(5)."""
    caught = next(
        line.split()[1]
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("SigCgt:")
    )
    return bool(int(caught, 16) & (1 << (number - 1)))


def test_without_a_trial_it_is_done_at_once_and_no_help_lists_it(tmp_path: Path) -> None:
    found = rocmcfg("watch-trial", "--root", debian_grub_host(tmp_path))
    assert (found.code, found.out) == (0, "Nothing to do: no trial runs in this boot.\n")
    assert "watch-trial" not in rocmcfg("--help").out
