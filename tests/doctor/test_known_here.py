"""Which known issues a host can run into, told without a log: only what is certain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.facts.test_pytorch import version_py
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

TORCH = "usr/lib/python3/dist-packages/torch/version.py"


def _issues(root: Path) -> list[str]:
    found = rocmcfg("status", "--root", root, "--json")
    assert found.code == 0, found.err
    return list(json.loads(found.out)["issues"])


def test_an_unfixed_kernel_and_rocm_are_exposed_and_a_fixed_one_is_not(tmp_path: Path) -> None:
    old = debian_grub_host(tmp_path / "old", kernels=("6.14.0-37-generic",), gfx="gfx1201", rocm="7.1.0")
    assert "rdna4-expert-sched-cwsr" in _issues(old)
    assert "rdna4-rccl-ll-deadlock" not in _issues(old), "for several GPUs, and with ROCm 7.2"
    new = debian_grub_host(tmp_path / "new", kernels=("6.14.0-37-generic",), gfx="gfx1201", rocm="7.2.0")
    assert "rdna4-expert-sched-cwsr" not in _issues(new)


def test_what_hits_every_gpu_of_a_kernel_is_shown_where_there_is_a_gpu(tmp_path: Path) -> None:
    new = debian_grub_host(tmp_path / "new", kernels=("7.0.3-arch1-1",), gfx="gfx1201")
    assert "lockup-timeout-2s" in _issues(new)
    none = debian_grub_host(tmp_path / "none", kernels=("7.0.3-arch1-1",), gfx=None)
    assert _issues(none) == []


def test_what_only_the_rocm_decides_is_possible_where_it_is_unknown(tmp_path: Path) -> None:
    unknown = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), gfx="gfx1201", rocm=None)
    listed = rocmcfg("issues", "--root", unknown, "--json").document["issues"]
    assert [i["state"] for i in listed if i["issue"] == "rdna4-expert-sched-cwsr"] == ["possible"]
    assert "rdna4-hipblaslt-hang-comfyui" in [i["issue"] for i in listed if i["state"] == "possible"]
    assert "rdna4-resume-smu-62" not in _issues(unknown), "its kernel is known, and is another one"


def test_another_gpu_has_other_issues(tmp_path: Path) -> None:
    found = _issues(debian_grub_host(tmp_path, kernels=("6.8.0-90-generic",), gfx="gfx1100"))
    assert "rdna3-mes-unmap-mode1" in found
    assert not [name for name in found if name.startswith("rdna4")]


@pytest.mark.parametrize(("rocm", "known"), [("7.1", True), ("7.2", False), ("7.0", True)])
def test_the_rocm_that_pytorch_brings_counts_where_the_system_has_none(
    tmp_path: Path, rocm: str, known: bool
) -> None:
    wheel = {TORCH: version_py(f"2.11.0+rocm{rocm}", f"{rocm}.25424")}
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), gfx="gfx1201", rocm=None, extra=wheel)
    assert ("rdna4-expert-sched-cwsr" in _issues(root)) is known
    with_system = debian_grub_host(
        tmp_path / "both", kernels=("6.14.0-37-generic",), gfx="gfx1201", rocm="7.1.0", extra=wheel
    )
    assert "rdna4-expert-sched-cwsr" in _issues(with_system)


def test_where_the_rocm_of_pytorch_is_known_from_is_told(tmp_path: Path) -> None:
    wheel = {TORCH: version_py("2.11.0+rocm7.1", "7.1.25424")}
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm=None, extra=wheel)
    log = tmp_path / "some.log"
    log.write_text("nothing of note\n")
    found = rocmcfg("doctor", "--root", root, "--log", str(log), "--json").document["facts"]
    assert (found["rocm"], found["rocm_source"]) == ("7.1", "PyTorch 2.11.0+rocm7.1")


def test_issues_of_other_hosts_are_found_by_gpu_and_by_words(tmp_path: Path) -> None:
    """By what one sees, a message as it is printed, or a setting; in any case, all words together."""
    root = debian_grub_host(tmp_path, gfx="gfx1100")

    def found(*options: str) -> dict[str, dict[str, object]]:
        said = rocmcfg("issues", *options, "--root", root, "--json")
        assert said.code == 0, said.err
        return {one["issue"]: one for one in said.document["issues"]}

    every = found("--all")
    assert len(every) > 120
    of_navi48 = found("--gfx", "9070xt")
    assert "rdna4-expert-sched-cwsr" in of_navi48
    assert "rdna3-mes-unmap-mode1" not in of_navi48
    assert {"rdna4-resume-smu-62", "navi22-sleep-smu-22"} <= set(found("SLEEP", "smu"))
    assert "pcie-atomics-missing" in found("--search", "PCI rejects atomics")
    by_setting = found("--search", "cwsr_enable=0", "--gfx", "gfx1201")
    assert by_setting["rdna4-expert-sched-cwsr"]["settings"] == ["amdgpu.cwsr_enable=0"]
    assert set(found("cwsr", "--gfx", "gfx1201")) <= set(found("cwsr"))
    assert found("no such thing") == {}
    told = rocmcfg("issues", "no such thing", "--root", root)
    assert (told.code, "No known issue mentions 'no such thing'." in told.out) == (0, True)
