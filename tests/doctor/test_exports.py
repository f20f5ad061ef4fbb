"""The fault table for other monitors, held against their own programs where these can be had."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from rocmcfg.advice.doctor.exports import EXPORTS, reason
from rocmcfg.knowledge import faults
from tests.support.program import rocmcfg
from tests.support.tools import HANG, require_tool


def test_node_problem_detector_finds_each_line_of_the_kernel() -> None:
    """Its patterns are searched for in a log and must reach to its end (CompilePattern in log_buffer.go of
    node-problem-detector). The program itself is not run here."""
    made = json.loads(rocmcfg("issues", "--export", "node-problem-detector").out)
    rules = [(rule["reason"], re.compile(rule["pattern"] + r"\Z")) for rule in made["rules"]]
    kernel = [f for f in faults.faults().values() if faults.layers()[f.layer].of_kernel]
    for fault in kernel:
        for line in () if fault.general or fault.severity == "note" else fault.lines:
            named = {name for name, pattern in rules if pattern.search(f"a line before\n{line.text}")}
            assert reason(fault) in named, line.text
    conditions = {condition["type"] for condition in made["conditions"]}
    assert {rule["condition"] for rule in made["rules"] if rule["type"] == "permanent"} <= conditions
    assert {rule["type"] for rule in made["rules"]} <= {"temporary", "permanent"}
    assert not {rule["reason"] for rule in made["rules"]} & {"AMD1099"}, "no kernel prints it"


@pytest.mark.parametrize("format", ["prometheus", "loki"])
def test_rules_name_each_fault_once_with_the_step(format: str) -> None:
    made = rocmcfg("issues", "--export", format).out
    alerts = re.findall(r"- alert: (\S+)$", made, flags=re.M)
    assert len(alerts) == len(set(alerts)) == made.count("          action: ")
    assert "AMD501" in alerts


def test_promtool_accepts_the_rules_of_prometheus(tmp_path: Path) -> None:
    promtool = require_tool("promtool", "prometheus")
    rules = tmp_path / "rules.yml"
    rules.write_text(rocmcfg("issues", "--export", "prometheus").out)
    done = subprocess.run([promtool, "check", "rules", rules], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    rules.write_text(rules.read_text().replace("increase(", "increase((", 1))
    wrong = subprocess.run([promtool, "check", "rules", rules], capture_output=True, text=True, timeout=HANG)
    assert wrong.returncode != 0


def test_the_table_is_exported_whole() -> None:
    made = json.loads(rocmcfg("issues", "--export", "json").out)
    assert [fault["id"] for fault in made["faults"]] == list(faults.faults())
    assert {fault["layer"] for fault in made["faults"]} <= {layer["name"] for layer in made["layers"]}
    assert all(fault["lines"][0]["origin"] for fault in made["faults"])


@pytest.mark.parametrize("format", EXPORTS)
def test_an_export_excludes_a_search(format: str) -> None:
    refused = rocmcfg("issues", "hang", "--export", format)
    assert refused.code == 2
    assert "the table is of every host" in refused.err


def test_an_unknown_format_is_refused_with_those_that_exist() -> None:
    refused = rocmcfg("issues", "--export", "splunk")
    assert refused.code == 2
    assert "node-problem-detector" in refused.err
