"""Settings in place of a file: as somebody copies them from a post."""

from __future__ import annotations

import pytest

from tests.support.program import rocmcfg

GPU = ("--gfx", "gfx1201", "--kernel", "6.18")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nomodeset",), "nomodeset is harmful"),
        (("iommu=off",), "iommu=off has a price"),
        (("Set amdgpu.dc=0 and reboot",), "amdgpu.dc=0 is harmful"),
        (("amdgpu.gfx_off=0",), "GFXOFF is one bit of"),
        (("ttm.pages_limit=96",), "It counts pages of 4 KiB"),
        (("amdgpu.vm_fragment_size=20",), "Outside 4 to 9"),
        (("modprobe.blacklist=amdgpu",), "is harmful"),
        (("HSA_OVERRIDE_GFX_VERSION=12.0.1",), "is the default anyway"),
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


@pytest.mark.parametrize("words", [("nomodeset", "HSA_USE_SVM=0"), ("amdgpu.gfxoff=0", "HSA_USE_SVM=0")])
def test_settings_of_several_kinds_are_one_list_with_places_in_it(words: tuple[str, ...]) -> None:
    found = rocmcfg("lint", *words, *GPU, "--json").document["findings"]
    assert [(f["line"], f["column"], f["class"]) for f in found if f["text"] == words[1]] == [
        (1, len(words[0]) + 2, "misread")
    ]


def test_a_variable_on_a_boot_line_is_told_that_it_reaches_nobody() -> None:
    assert "no program gets it" in rocmcfg("lint", "root=/dev/sda1 quiet HSA_USE_SVM=0", *GPU).out.replace(
        "\n ", ""
    )
