"""The units: what systemd thinks of them, and that the command of the one that recovers does the work."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from rocmcfg.change.trial import record as trial
from rocmcfg.cli import commands
from rocmcfg.records import reboots
from tests.crash.crashing import CrashingHost, apply, killed, seen
from tests.support.hosts import debian_grub_host
from tests.support.program import process, rocmcfg, tool_command

UNITS = Path(__file__).parents[2] / "packaging/systemd"
RECOVER, TRIAL = "rocmcfg-recover.service", "rocmcfg-trial.service"
METRICS, TIMER = "rocmcfg-metrics.service", "rocmcfg-metrics.timer"
TRY = "rocmcfg-try.service"
# A program of that name at a place that systemd searches, for the time of one command.
SHADOW = 'mount -t tmpfs x /usr/local/bin && cp "$1" /usr/local/bin/rocmcfg && shift && exec "$@"'


def unit(name: str = RECOVER) -> configparser.ConfigParser:
    """The last of several lines of one name counts."""
    found = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=False)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read(UNITS / name)
    return found


@pytest.mark.parametrize("name", [RECOVER, TRIAL, TRY, METRICS, TIMER])
@pytest.mark.skipif(
    os.geteuid() != 0
    or not shutil.which("systemd-analyze")
    or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "x", "/mnt"], capture_output=True).returncode
    != 0,
    reason="needs systemd-analyze, root and mount namespaces",
)
def test_systemd_takes_it_as_it_stands(tmp_path: Path, name: str) -> None:
    program = tmp_path / "rocmcfg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(UNITS / name)]
    run = ["unshare", "--mount", "--propagation", "private", "sh", "-c", SHADOW, "sh", str(program), *verify]
    done = subprocess.run(run, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    absent = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs x /usr/local/bin && exec "$@"', "sh", *verify]
    if not shutil.which("rocmcfg", path="/usr/bin:/bin:/usr/sbin:/sbin") and name != TIMER:
        told = subprocess.run(absent, capture_output=True, text=True)
        assert "rocmcfg" in told.stderr, "or else it looks for the program nowhere"


def test_it_runs_before_logins_and_holds_up_no_boot() -> None:
    found = unit()
    assert found["Unit"]["Before"] == "systemd-user-sessions.service"
    assert found["Install"]["WantedBy"] == "multi-user.target"
    assert set(found["Install"]) == {"WantedBy"}, "nothing requires it"
    assert found["Service"]["Type"] == "oneshot"
    assert re.fullmatch(r"[0-9]+min", found["Service"]["TimeoutStartSec"])
    assert found["Unit"]["ConditionDirectoryNotEmpty"] == "/var/lib/rocmcfg/transactions"


def test_recovery_comes_after_what_tells_of_a_failed_boot_in_order_only() -> None:
    after = re.findall(r"^After=(.*)$", (UNITS / RECOVER).read_text(), re.M)
    assert {"systemd-journal-flush.service", "systemd-pstore.service"} <= set(" ".join(after).split())
    assert not re.search(r"^(Requires|Wants|BindsTo|Requisite)=", (UNITS / RECOVER).read_text(), re.M)


@pytest.mark.parametrize(("name", "record"), [(TRIAL, trial.PATH), (TRY, reboots.UNDER_WAY)])
def test_a_watch_begins_after_recovery_and_nothing_waits_for_it(name: str, record: str) -> None:
    parsed = unit(name)
    assert RECOVER in parsed["Unit"]["After"].split(), "a trial that is over must be gone by then"
    assert parsed["Unit"]["ConditionPathExists"] == record
    assert parsed["Service"]["Type"] == "simple", "multi-user.target would wait for a oneshot"
    assert not {"Before", "RequiredBy", "Restart"} & {key for part in parsed.values() for key in part}
    assert dict(parsed["Install"]) == {"WantedBy": "multi-user.target"}
    program, command = shlex.split(parsed["Service"]["ExecStart"])
    assert program == "rocmcfg"
    assert command in commands.COMMANDS


def test_the_timer_of_the_metrics_starts_their_unit_and_only_the_timer_can_be_enabled() -> None:
    timer, service = unit(TIMER), unit(METRICS)
    assert TIMER.removesuffix(".timer") == METRICS.removesuffix(".service"), "or else it needs Unit="
    assert dict(timer["Install"]) == {"WantedBy": "timers.target"}
    assert "Install" not in service
    assert {"OnBootSec", "OnUnitActiveSec", "RandomizedDelaySec"} <= set(timer["Timer"])


def test_the_command_of_the_metrics_writes_them_and_may_write_nothing_else(tmp_path: Path) -> None:
    """The unit's own words, with the variables as systemd fills them in."""
    root = debian_grub_host(tmp_path, gfx="gfx1201")
    text = (UNITS / METRICS).read_text()
    variables = dict(re.findall(r"^Environment=(\w+)=(.*)$", text, re.M))
    folder = os.path.dirname(variables["ROCMCFG_METRICS"])
    assert re.findall(r"^ReadWritePaths=-(.*)$", text, re.M) == [folder]
    assert unit(METRICS)["Service"]["ProtectSystem"] == "strict"
    file = tmp_path / "rocmcfg.prom"
    line = unit(METRICS)["Service"]["ExecStart"].replace("${ROCMCFG_METRICS}", str(file))
    program, *words = shlex.split(
        line.replace("$ROCMCFG_VERIFY_OPTIONS", variables["ROCMCFG_VERIFY_OPTIONS"])
    )
    assert program == "rocmcfg"
    for settings, code in (((), 0), (("--set", "amdgpu.runpm=0"), 6)):
        if settings:
            assert rocmcfg("apply", *settings, "--yes", "--root", root).code == 0
        ended = rocmcfg(*words, "--root", root)
        assert (ended.code, ended.out) == (code, "")
        assert str(code) in ("0", *unit(METRICS)["Service"]["SuccessExitStatus"].split())
        assert "rocmcfg_verify_success 1\n" in file.read_text()


@pytest.mark.parametrize("script", ["debian/rules", "rpm/rocmcfg.spec", "arch/rocmcfg.install"])
def test_no_package_switches_the_metrics_on(script: str) -> None:
    text = (UNITS.parent / script).read_text()
    assert TIMER in text
    lines = [line for line in text.replace("\\\n", " ").splitlines() if TIMER in line]
    assert all(
        re.search(r"--no-enable|%global optional_units|%\{_unitdir\}|disable|^ *systemctl enable --now", line)
        for line in lines
    )
    enabled = [line for line in text.splitlines() if line.startswith("printf 'enable ")]
    assert not any("optional" in line for line in enabled)


def test_its_command_undoes_an_interrupted_apply(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    before = seen(root)
    program, *arguments = shlex.split(unit()["Service"]["ExecStart"])
    assert program == "rocmcfg"
    last = CrashingHost(str(shutil.copytree(root, tmp_path / "whole", symlinks=True)))
    act = apply(set=("amdgpu.runpm=0",), via="modprobe")
    act.run(last)
    steps = [number for number, name in enumerate(last.taken, 1) if name.startswith(("run ", "append "))]
    for step in steps[1::5]:  # tests/crash takes all of them
        cut = shutil.copytree(root, tmp_path / f"cut-{step}", symlinks=True)
        assert killed(CrashingHost(str(cut), step, "half"), act)
        condition = cut / unit()["Unit"]["ConditionDirectoryNotEmpty"][1:]
        assert list(condition.iterdir()), "systemd would skip it"
        found = process(tool_command(tmp_path, *arguments, "--root", cut))
        assert (found.code, found.err) == (0, ""), found.err
        assert seen(cut) == before, f"killed at {last.taken[step - 1]}"
        again = rocmcfg(*arguments, "--root", cut)
        assert (again.code, again.out.partition(":")[0]) == (0, "Nothing to recover")


PACKAGING = UNITS.parent
# What switches units on, or names those to be switched on, in each kind of package.
SWITCHES = {
    "debian/rules": r"dh_installsystemd --no-start(?:.*\\\n)*.*",
    "debian/rocmcfg.postinst": r"for name in .*",
    "rpm/rocmcfg.spec": r"%global units .*",
    "arch/rocmcfg.install": r"systemctl enable rocmcfg.*",
    "ansible/roles/install/vars/main.yml": r"__install_units: .*",
}


@pytest.mark.parametrize("file", SWITCHES)
def test_every_package_switches_on_the_units_of_a_boot(file: str) -> None:
    """Those that a boot starts; each does nothing unless something is under way."""
    wanted = {path.name for path in UNITS.glob("*.service") if "WantedBy=" in path.read_text()}
    assert wanted == {RECOVER, TRIAL, TRY}
    switch = re.search(SWITCHES[file], (PACKAGING / file).read_text())
    assert switch is not None
    assert set(re.findall(r"rocmcfg-[a-z]+\.service", switch[0])) == wanted
