"""Every id that rocmcfg prints can be explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import catalogue, profiles
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg, too_wide, unfolded


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return debian_grub_host(tmp_path_factory.mktemp("host"), gfx="gfx1201", kernels=("6.14.0-37-generic",))


def test_every_issue_gpu_profile_and_diagnostic_is_explained(root: Path) -> None:
    names = [
        *(issue.id for issue in catalogue.known_issues()),
        *sorted({model.gfx for model in catalogue.gpu_models()}),
        *profiles.names(LocalHost(str(root))),
        *catalogue.diagnostics(),
    ]
    for name in names:
        found = rocmcfg("explain", name, "--root", root)
        assert (found.code, found.err) == (0, ""), name
        assert found.out.startswith(name)
        assert too_wide(found.out) == []


def test_an_issue_says_what_cures_it_and_where_that_is_known_from(root: Path) -> None:
    said = rocmcfg("explain", "rdna4-expert-sched-cwsr", "--root", root).out
    order = [
        "this host matches",
        "amdgpu.cwsr_enable=0",
        "rocmcfg plan --profile rdna4",
        "costs",
        "https://",
    ]
    places = [said.index(text) for text in order]
    assert places == sorted(places)


def test_a_diagnostic_is_found_however_it_is_written(root: Path) -> None:
    said = rocmcfg("explain", "rc3023", "--root", root).out
    assert said.startswith("RC3023")
    assert "needs root" in said


def test_issues_moves_what_is_worked_around_out_of_the_open_ones(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))

    def states() -> dict[str, str]:
        found = rocmcfg("issues", "--root", root, "--json").document
        return {one["issue"]: one["state"] for one in found["issues"]}

    assert states()["rdna4-expert-sched-cwsr"] == "open"
    assert rocmcfg("apply", "--profile", "rdna4", "--root", root, "--yes").code == 0
    after = states()
    assert after["rdna4-expert-sched-cwsr"] == "pending"
    assert after["rdna4-hipblaslt-gltr-overread"] == "worked_around"
    said = rocmcfg("issues", "--root", root).out
    assert said.index("Worked around after the next boot") < said.index("rdna4-expert-sched-cwsr")
    assert f"Next: rocmcfg doctor --root {root}" in unfolded(said)


@pytest.mark.parametrize(("mask", "state"), [("0xfff7bfff", None), ("0xfff73fff", "reported")])
def test_a_fault_of_a_changed_default_is_none_of_a_host_that_has_it(
    tmp_path: Path, mask: str, state: str | None
) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", kernels=("7.2.6-amd64",))
    values = root / "sys/module/amdgpu/parameters"
    values.mkdir(parents=True, exist_ok=True)
    (values / "ppfeaturemask").write_text(mask + "\n")
    found = rocmcfg("issues", "--root", root, "--json").document["issues"]
    states = {one["issue"]: one["state"] for one in found}
    assert states.get("gfxoff-off-breaks-s2idle-navi48") == state


def test_several_names_are_explained_one_by_one(tmp_path: Path) -> None:
    found = rocmcfg("explain", "amdgpu.runpm", "HSA_ENABLE_SDMA", "--root", debian_grub_host(tmp_path))
    assert found.code == 0
    assert "amdgpu.runpm" in found.out
    assert "env.HSA_ENABLE_SDMA" in found.out


def test_a_gpu_of_another_host_can_be_named(root: Path) -> None:
    line = "quiet TORCH_BLAS_PREFER_HIPBLASLT=1"
    for asked in ("env.TORCH_BLAS_PREFER_HIPBLASLT=1", line):
        said = unfolded(rocmcfg("explain", asked, "--gfx", "7900xtx", "--root", root).out)
        assert "undoes the cure" not in said
        said = unfolded(rocmcfg("explain", asked, "--gfx", "9070xt", "--root", root).out)
        assert "undoes the cure of rdna4-hipblaslt-gltr-overread on gfx1201" in said
    said = rocmcfg("explain", "rdna4-expert-sched-cwsr", "--gfx", "gfx1100", "--root", root).out
    assert "a machine with gfx1100 does not match" in said
    said = rocmcfg("explain", "sg_display", "--gfx", "gfx1100", "--root", root).out
    assert "not on gfx1100" in said


def test_a_fix_of_the_kernel_says_which_kernels_have_it(root: Path) -> None:
    for name, fix in catalogue.load().fixes.items():
        found = rocmcfg("explain", name, "--root", root)
        assert (found.code, found.err) == (0, ""), name
        assert fix.releases in unfolded(found.out)
    said = rocmcfg("explain", "cwsr-expert-scheduling", "--root", root).out
    assert "kernel 6.14.0-37-generic does not have it" in said
    assert "rdna4-expert-sched-cwsr" in said
    newer = rocmcfg("explain", "cwsr-expert-scheduling", "--kernel", "6.19", "--root", root).out
    assert "kernel 6.19 has it" in newer


@pytest.mark.parametrize("words", ["hipblaslt", "SDMA", "GPU reset", "ring gfx timeout"])
def test_what_issues_finds_is_no_dead_end(root: Path, words: str) -> None:
    listed = [row["issue"] for row in rocmcfg("issues", *words.split(), "--json").document["issues"]]
    found = rocmcfg("explain", words, "--root", root)
    assert (found.code, found.err) == (0, "")
    shown = [id for id in listed if id in found.out]
    assert shown == listed[:8]
    assert (f"rocmcfg issues {words}" in found.out) is (len(listed) > 8)


def test_a_misspelt_setting_is_no_topic(root: Path) -> None:
    for text in ("hipblaslt=1", "cwsr_enabel", "gfxof", "env.hipblaslt", "HSA_ENABLE_SDMMA"):
        assert "error[RC6001]" in rocmcfg("explain", text, "--root", root).err
