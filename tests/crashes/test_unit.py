"""The rule of udev and the unit that it starts, as they stand in packages."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from rocmcfg.cli import commands
from rocmcfg.facts import crash_events
from rocmcfg.host.local import LocalHost
from rocmcfg.host.state_dir import BLACK_BOX
from rocmcfg.records import crashes as store
from rocmcfg.workflow import crashes
from tests.packaging.test_unit import SHADOW, unit

PACKAGING = Path(__file__).parents[2] / "packaging"
RULE = PACKAGING / "udev" / crashes.RULE


def rules() -> list[str]:
    return [line for line in RULE.read_text().splitlines() if line and not line.startswith("#")]


def test_it_waits_for_the_file_that_the_command_writes() -> None:
    assert unit(crashes.UNIT)["Unit"]["ConditionPathExists"] == BLACK_BOX
    assert rules()[0].startswith(f'TEST!="{BLACK_BOX}", GOTO=')


def test_its_command_takes_the_events_that_the_rule_names(tmp_path: Path) -> None:
    program, *words = shlex.split(unit(crashes.UNIT)["Service"]["ExecStart"])
    assert (program, words[-1]) == ("rocmcfg", "%i")
    assert " ".join(words[:-1]) in commands.COMMANDS
    instances = re.findall(r'\+="rocmcfg-crash@(\S+)\.service"', RULE.read_text())
    assert len(instances) == 2
    values = {"$kernel": "devcd12", "$env{SEQNUM}": "4711", "$env{WEDGED}": "rebind,bus-reset"}
    for instance in instances:
        text = re.sub(r"\$kernel|\$env\{\w+\}", lambda match: values[match[0]], instance)
        assert crash_events.read_event(LocalHost(str(tmp_path)), text) is not None, text


def test_it_may_write_only_into_the_store_and_free_the_dump() -> None:
    service = unit(crashes.UNIT)["Service"]
    written = re.findall(r"^ReadWritePaths=-?(.*)$", (PACKAGING / "systemd" / crashes.UNIT).read_text(), re.M)
    assert written == [store.STORE, "/sys/devices/virtual/devcoredump"]
    assert (service["ProtectSystem"], service["NoNewPrivileges"]) == ("strict", "yes")
    assert (service["Type"], service["Restart"]) == ("oneshot", "on-abnormal")


@pytest.mark.skipif(
    os.geteuid() != 0
    or not shutil.which("systemd-analyze")
    or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "x", "/mnt"], capture_output=True).returncode
    != 0,
    reason="needs systemd-analyze, root and mount namespaces",
)
def test_systemd_takes_it_as_it_stands(tmp_path: Path) -> None:
    program = tmp_path / "rocmcfg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    verify = [
        "systemd-analyze",
        "verify",
        "--man=no",
        "--recursive-errors=no",
        str(PACKAGING / "systemd" / crashes.UNIT),
    ]
    run = ["unshare", "--mount", "--propagation", "private", "sh", "-c", SHADOW, "sh", str(program), *verify]
    done = subprocess.run(run, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
