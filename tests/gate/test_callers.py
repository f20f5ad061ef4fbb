"""What node-problem-detector and Slurm make of the answers.

Both are STUBS, written after the documentation of the programs; neither program was run:

* node-problem-detector, docs/custom_plugin_monitor.md: the exit code 0 means that there is no problem, 1 that
  there is one, any other that it is unknown; the standard output is the message of the condition, cut at
  `max_output_length`; a plugin that takes longer than its `timeout` is ended.
* Slurm, https://slurm.schedmd.com/prolog_epilog.html: a Prolog runs as root without a search path; with a
  code other than 0 the node is set to DRAIN and the job is requeued. slurm.conf(5): a HealthCheckProgram has
  to act itself, for example by scontrol.

The configuration and the scripts are those of docs/how-to/gate.md.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gate.golden_hosts import broken, instinct_host
from tests.support.program import SOURCE, rocmcfg
from tests.support.tools import HANG

PAGE = (SOURCE / "docs/how-to/gate.md").read_text()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return instinct_host(tmp_path)


@pytest.fixture
def program(tmp_path: Path, root: Path) -> Path:
    """What stands in for /usr/bin/rocmcfg: it looks at the test's host, which is compared with itself as it
    is now."""
    golden, program = tmp_path / "golden.json", tmp_path / "rocmcfg"
    rocmcfg("facts", "--save", golden, "--root", root)
    line = f'exec {sys.executable} -m rocmcfg "$@" --root {root} --against {golden}'
    program.write_text(f"#!/bin/sh\ncd {SOURCE}\n{line}\n")
    program.chmod(0o755)
    return program


# -- node-problem-detector ------------------------------------------------------------------------------


def node_problem_detector(config: dict[str, Any], program: Path) -> dict[str, str]:
    """STUB: run the plugin once, and return the condition."""
    (rule,), (healthy,) = config["rules"], config["conditions"]
    assert rule["condition"] == healthy["type"]
    assert rule["type"] == "permanent"
    assert rule["path"] == "/usr/bin/rocmcfg"
    done = subprocess.run([program, *rule["args"]], capture_output=True, timeout=HANG)
    message = done.stdout[: config["pluginConfig"]["max_output_length"]].decode().strip()
    status = {0: "False", 1: "True"}.get(done.returncode, "Unknown")
    shown = (rule["reason"], message) if status == "True" else (healthy["reason"], healthy["message"])
    if status == "Unknown":
        shown = (rule["reason"], message)
    return {"type": healthy["type"], "status": status, "reason": shown[0], "message": shown[1]}


def test_a_condition_of_the_node_says_what_is_wrong(root: Path, program: Path) -> None:
    (text,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)
    config = json.loads(text)
    condition = node_problem_detector(config, program)
    assert (condition["status"], condition["reason"]) == ("False", "ConfigInEffect")
    broken(root)
    condition = node_problem_detector(config, program)
    assert (condition["status"], condition["reason"]) == ("True", "ConfigNotInEffect")
    assert condition["message"] == "rocmcfg: PCIe width is 7x 16, 1x 8, not 16 (3 more)"
    (root.parent / "golden.json").write_text("{")
    assert node_problem_detector(config, program)["status"] == "Unknown"


# -- Slurm ----------------------------------------------------------------------------------------------


def script(name: str, folder: Path, program: Path) -> Path:
    """A script of the page, in which the program has the place of the test's."""
    (text,) = re.findall(rf"^cat > {name} <<'END'\n(.*?)^END$", PAGE, re.M | re.S)
    path = folder / name
    assert "/usr/bin/rocmcfg " in text
    text = text.replace("/usr/bin/rocmcfg", str(program))
    path.write_text(text.replace("/usr/bin/scontrol", str(folder / "scontrol")))
    path.chmod(0o755)
    return path


def slurmd_prolog(prolog: Path) -> str:
    """STUB: run the Prolog of a job, without a search path, and return the state of the node."""
    done = subprocess.run([prolog], env={"SLURM_JOB_ID": "7"}, cwd="/", capture_output=True, timeout=HANG)
    return "ALLOCATED" if done.returncode == 0 else "DRAIN"


def test_a_prolog_drains_a_node_that_is_not_as_the_golden_host(
    tmp_path: Path, root: Path, program: Path
) -> None:
    prolog = script("prolog.sh", tmp_path, program)
    assert slurmd_prolog(prolog) == "ALLOCATED"
    broken(root)
    assert slurmd_prolog(prolog) == "DRAIN"


def test_a_health_check_drains_the_node_with_the_reason(tmp_path: Path, root: Path, program: Path) -> None:
    arguments = tmp_path / "said"
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {arguments}\n')  # STUB
    scontrol.chmod(0o755)
    check = script("health.sh", tmp_path, program)
    subprocess.run([check], env={}, cwd="/", check=True, timeout=HANG)
    assert not arguments.exists()
    broken(root)
    subprocess.run([check], env={}, cwd="/", check=True, timeout=HANG)
    update, node, state, reason = arguments.read_text().splitlines()
    assert (update, state) == ("update", "State=DRAIN")
    assert node.startswith("NodeName=")
    assert reason == "Reason=rocmcfg: PCIe width is 7x 16, 1x 8, not 16 (3 more)"


def test_the_page_quotes_the_alert_rules() -> None:
    (quoted,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
    assert quoted == (SOURCE / "packaging/prometheus/rocmcfg.rules.yml").read_text()
