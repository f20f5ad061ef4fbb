"""Settings in place of a file: as somebody copies them from a post."""

from __future__ import annotations

import pytest

from tests.support.program import rocmcfg

GPU = ("--gfx", "gfx1201", "--kernel", "6.18")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nomodeset",), "nomodeset is harmful"),
        (("iommu=off",), "iommu=off is harmful"),
        (("Set amdgpu.dc=0 and reboot",), "amdgpu.dc=0 is harmful"),
        (("amdgpu.gfx_off=0",), "GFXOFF is one bit of"),
        (("ttm.pages_limit=96",), "It counts pages of 4 KiB"),
        (("amdgpu.vm_fragment_size=20",), "Outside 4 to 9"),
        (("modprobe.blacklist=amdgpu",), "is harmful"),
        (("HSA_OVERRIDE_GFX_VERSION=12.0.1",), "is what happens anyway"),
        (("HSA_OVERRIDE_GFX_VERSION=11.5.1",), "is harmful"),
        (("amdgpu.cwsr_enable=1", "MIOPEN_FIND_MOD=FAST"), "MIOPEN_FIND_MODE"),
        (("amdgpu.cwsr_enable=0 MIOPEN_FIND_MOD=FAST",), "MIOPEN_FIND_MODE"),
    ],
)
def test_what_is_pasted_is_judged(words: tuple[str, ...], said: str) -> None:
    told = " ".join(rocmcfg("lint", *words, *GPU).out.split())
    assert said in told
    assert "0 settings checked" not in told


def test_what_is_neither_a_file_nor_a_setting_is_no_finding() -> None:
    found = rocmcfg("lint", "nosuch", *GPU)
    assert (found.code, found.out) == (1, "")
    assert "cannot read nosuch" in found.err
