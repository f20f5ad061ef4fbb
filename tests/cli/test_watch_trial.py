"""`rocmcfg watch-trial` as its unit runs it: what it prints, how it ends, and that a shutdown is no fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocmcfg.change.trial import record as trial
from rocmcfg.host.local import LocalHost
from rocmcfg.model.trial import Terms
from tests.support import usecases as use
from tests.support.boots import enable_unit, reboot
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, problem, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG, require_tool

SAYS_WHEN_IT_WAITS = """
import time
from tests.support import tool_host

really = time.sleep

def sleep(seconds):
    print("waits", flush=True)
    really(seconds)

time.sleep = sleep
tool_host.main()
"""


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
    assert "amdgpu.cwsr_enable is not in effect, so the trial proves nothing" in said
    assert "the kernel log of this boot could not be read" in said
    found = rocmcfg("watch-trial", "--root", root, "--json", tools=tmp_path)
    assert (found.code, found.ids) == (1, ["RC4340"])


def test_a_shutdown_while_it_waits_is_no_failure(tmp_path: Path) -> None:
    root = trying(tmp_path, 6000, 61)
    command = [sys.executable, "-c", SAYS_WHEN_IT_WAITS, str(tmp_path), "watch-trial", "--root", str(root)]
    with subprocess.Popen(
        command, cwd=SOURCE, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "waits\n"
        running.terminate()
        out, err = running.communicate(timeout=HANG)
    assert running.returncode == 0, err
    assert "Traceback" not in out + err
    assert "error" not in out + err
    assert trial.load(LocalHost(str(root))) is not None


def test_without_a_trial_it_is_done_at_once_and_no_help_lists_it(tmp_path: Path) -> None:
    found = rocmcfg("watch-trial", "--root", debian_grub_host(tmp_path))
    assert (found.code, found.out) == (0, "Nothing to do: no trial is running in this boot.\n")
    assert "watch-trial" not in rocmcfg("--help").out
