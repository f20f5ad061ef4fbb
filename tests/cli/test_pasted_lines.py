"""A line copied from GRUB, a kernel or a log, given to explain or doctor as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

FAULT = "Memory access fault by GPU node-1 (Agent handle: 0x55d) on address 0x7f2e. Reason: Unknown."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))


@pytest.mark.parametrize(
    "line",
    [
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.cwsr_enable=0 amdgpu.noretry=0"',
        "BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet amdgpu.cwsr_enable=0 amdgpu.noretry=0",
        "options amdgpu cwsr_enable=0 noretry=0",
    ],
)
def test_each_setting_of_a_line_is_explained(root: Path, line: str) -> None:
    found = rocmcfg("explain", line, "--root", root)
    assert (found.code, found.err) == (0, "")
    names = [said for said in found.out.splitlines() if said.startswith("amdgpu.")]
    assert names == ["amdgpu.cwsr_enable", "amdgpu.noretry"]
    assert "write instead  amdgpu.noretry=1" in found.out


def test_a_line_of_a_log_is_doctors(root: Path) -> None:
    asked = rocmcfg("explain", FAULT, "--root", root)
    assert asked.code == 0
    assert "rdna4-expert-sched-cwsr" in asked.out
    assert rocmcfg("doctor", FAULT, "--root", root).out == asked.out
    document = rocmcfg("explain", FAULT, "--root", root, "--json").document
    assert document["command"] == "doctor"
    assert "rdna4-expert-sched-cwsr" in str(document)


def test_what_is_neither_stays_an_error(root: Path) -> None:
    assert "error[RC6001]" in rocmcfg("explain", "a b", "--root", root).err
    for path in ("my fault.log", "a file of mine.txt", "/tmp/no such file at all"):
        assert "error[RC3001]" in rocmcfg("doctor", path, "--root", root).err


def test_names_with_blanks_are_still_names(root: Path) -> None:
    assert rocmcfg("explain", "Radeon RX 9070 XT", "--root", root, "--json").document["name"] == "gfx1201"
