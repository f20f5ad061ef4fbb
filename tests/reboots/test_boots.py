"""A try with reboots from its begin to its end, on a tree that boots as GRUB would boot it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.change.trial import record as trial
from tests.support.rebooting import Lab
from tests.support.tools import require_tool
from tests.support.trials import configuration


@pytest.fixture(autouse=True)
def _real_grub_editenv() -> None:
    require_tool("grub-editenv", "grub-common")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_cure_is_found_and_the_host_is_as_before(lab: Lab) -> None:
    before = configuration(lab.root)
    attempt = lab.begin(3)
    assert attempt.name == "R1"
    assert configuration(lab.root) == before, "the first boot is a control"
    made = lab.to_the_end()
    assert lab.ran_with() == ["1", "0", "0", "1", "1", "0"]
    assert (made.verdict, made.runs, made.failures) == (
        "cures",
        {"control": 3, "treatment": 3},
        {"control": 3, "treatment": 0},
    )
    assert made.sentence.startswith(
        "amdgpu.cwsr_enable=0 cures the fault here: the program failed in 3 of 3 boots without, and in "
        "none of 3 boots with it; at most 63 % of boots still fail."
    )
    assert made.apply == "sudo rocmcfg apply --add amdgpu.cwsr_enable=0"
    assert made.boots is not None
    assert (made.boots.came_not_up, made.boots.lost, made.boots.restored) == (0, {}, True)
    assert lab.boots == 7, "the last boot of the try had the setting, so one more follows"
    assert lab.value.read_text() == "1\n"
    assert configuration(lab.root) == before
    assert trial.load(lab.host) is None
    assert lab.under_way() is None
