"""pytest-rocmcfg marks the tests in whose time the kernel logged a fault, and no others."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.program import SOURCE

from .test_verdicts import ECC, HEALTHY, PAGE_FAULT

PLUGIN = SOURCE / "packaging/pytest"
TESTS = f"""
import os, pytest
LOG = os.environ["KERNEL_LOG"]
def log(line):
    with open(LOG, "a") as stream:
        stream.write(f"[   60.000001] {{line}}\\n")
def test_of_the_gpu():
    log({PAGE_FAULT!r})
    assert 1 == 2
def test_of_itself():
    log({HEALTHY!r})
    assert 1 == 2
def test_that_passes_on_broken_hardware():
    log({ECC!r})
def test_that_passes():
    pass
@pytest.fixture
def gpu():
    yield
    log({PAGE_FAULT!r})
def test_with_a_fault_in_its_teardown(gpu):
    pass
"""
FAULTY = {
    "test_of_the_gpu": "fault",
    "test_that_passes_on_broken_hardware": "hardware",
    "test_with_a_fault_in_its_teardown": "fault",
}


def plugged(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "test_gpu.py").write_text(TESTS)
    log = tmp_path / "kernel.log"
    log.write_text(f"[    1.0] Linux version 6.14.0\n[   59.0] {PAGE_FAULT}\n")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "pytest_rocmcfg",
            "-p",
            "no:cacheprovider",
            *options,
            "test_gpu.py",
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{PLUGIN}:{SOURCE}", "PATH": "/usr/bin:/bin", "KERNEL_LOG": str(log)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_tests_with_a_fault_are_marked(tmp_path: Path, options: tuple[str, ...]) -> None:
    ended = plugged(tmp_path, "--gpu-log", "kernel.log", "--junit-xml", "report.xml", *options)
    assert "2 failed, 3 passed" in ended.stdout, ended.stdout + ended.stderr
    marked = {
        case.attrib["name"]: property.attrib["value"]
        for case in ET.parse(tmp_path / "report.xml").getroot().iter("testcase")
        for property in case.iter("property")
        if property.attrib["name"] == "gpu_verdict"
    }
    assert marked == FAULTY
    summary = ended.stdout.rpartition(" AMD GPU ")[2]
    assert {name for name in FAULTY if f"{name}: " in summary} == {*FAULTY}
    assert "test_of_itself: " not in summary
    assert "the kernel logged a fault meanwhile" in ended.stdout


def test_a_log_that_is_not_there_is_told(tmp_path: Path) -> None:
    ended = plugged(tmp_path, "--gpu-log", "nowhere.log")
    assert ended.returncode == 4
    assert "--gpu-log" in ended.stderr
    assert "nowhere.log" in ended.stderr
    assert "Traceback" not in ended.stderr
