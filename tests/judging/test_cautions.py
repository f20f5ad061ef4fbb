"""What `plan` says of settings that the user brings. Shipped profiles stay quiet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocmcfg.knowledge import catalogue
from tests.support.hosts import GPUS, debian_grub_host
from tests.support.program import SOURCE, rocmcfg

SHIPPED = sorted(path.stem for path in (SOURCE / "profiles").glob("*.toml"))


@pytest.mark.parametrize(
    ("text", "severity", "says"),
    [
        ("amdgpu.noretry=0", "warning", "opposite of what is meant"),
        ("amdgpu.gpu_recovery=1", "info", "is the default anyway"),
        ("amdgpu.gpu_recovery=0", "warning", "is harmful"),
        ("env.GPU_DEVICE_ORDINAL=0", "info", "HIP_VISIBLE_DEVICES"),
        ("env.PYTORCH_ROCM_ARCH=gfx1201", "info", "read only when software is compiled"),
        ("env.HSA_XNACK=1", "info", "no effect on gfx1201"),
        ("env.HSA_OVERRIDE_GFX_VERSION=10.3.0", "warning", "is harmful"),
        ("env.HIP_VISIBLE_DEVICE=0", "info", "HIP_VISIBLE_DEVICES"),
        ("karg.numa_balancing=0", "info", "numa_balancing=0 has no effect"),
        ("feature.overdrive=true", "info", "taints the kernel"),
        ("amdgpu.ppfeaturemask=0xffffffff", "info", "turns overdrive on and taints"),
        ("amdgpu.tmz=0", "info", "no effect on gfx1201"),
    ],
)
def test_what_a_setting_really_does_here_is_told(tmp_path: Path, text: str, severity: str, says: str) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.16.3+deb13-amd64",), gfx="gfx1201")
    found = rocmcfg("plan", "--set", text, "--root", root, "--json")
    assert found.code == 0, found.err
    told = [d for d in found.document["diagnostics"] if d["id"] == "RC2050"]
    assert [d["severity"] for d in told if says in d["summary"] + d["detail"] + d["hint"]] == [severity]
    assert "RC2050" in rocmcfg("plan", "--set", text, "--root", root).err, "without -v"


@pytest.mark.parametrize(
    "text",
    [
        "amdgpu.runpm=0",
        "amdgpu.noretry=1",
        "env.AMD_LOG_LEVEL=3",
        "env.MINE=1",
        "karg.iommu=pt",
        "env.PATH=/bin",
    ],
)
def test_what_does_what_it_says_is_not_remarked_on(tmp_path: Path, text: str) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.16.3+deb13-amd64",), gfx="gfx1030")
    ids = rocmcfg("plan", "--set", text, "--root", root, "--json").ids
    assert not {"RC2050", "RC2051"} & set(ids) or text == "amdgpu.noretry=1"


def test_taint_is_told_without_being_asked(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.16.3+deb13-amd64",), gfx="gfx1201")
    assert "RC2107" in rocmcfg("plan", "--set", "amdgpu.gpu_recovery=1", "--root", root).err


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_profile_is_not_talked_about(tmp_path: Path, name: str) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.16.3+deb13-amd64",), gfx=tuple(GPUS))
    found = rocmcfg("plan", "-p", name, "--any-gpu", "--unconditional", "--root", root, "--json")
    assert found.code == 0
    assert not {"RC2051", "RC2107"} & set(found.ids)
    # but of what it switches off, and another GPU of the host needs
    told = [d["summary"] for d in found.document["diagnostics"] if d["id"] == "RC2050"]
    assert all(re.search("turns gfxoff off, and gfx.* needs? it for suspend", one) for one in told)
    assert bool(told) is (name in {"rdna3", "gfx1100", "gfx1101", "gfx1102"})


def test_a_profile_of_ones_own_is(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201")
    place = tmp_path / "mine.toml"
    place.write_text('schema = 1\nsummary = "x"\n[module.amdgpu]\nnoretry = 0\n')
    found = rocmcfg("plan", "-p", place, "--root", root, "--json").document["diagnostics"]
    assert [d["location"] for d in found if d["id"] == "RC2050"] == [f"{place}:4"]


@pytest.mark.parametrize(
    "text",
    ["HSA_OVERRIDE_GFX_VERSION=gfx1030", "HSA_OVERRIDE_GFX_VERSION=10.3", "MIOPEN_DEBUG_CONV_GEMM=maybe"],
)
def test_a_value_on_which_its_reader_stops_is_refused(tmp_path: Path, text: str) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201")
    found = rocmcfg("plan", "--set", f"env.{text}", "--root", root, "--json")
    assert (found.code, found.ids[0]) == (1, "RC2017")


def test_a_value_that_is_only_not_documented_is_warned_of(tmp_path: Path) -> None:
    lax = next(v for v in catalogue.load().variables.values() if v.values and not v.strict)
    root = debian_grub_host(tmp_path, gfx="gfx1201")
    found = rocmcfg("plan", "--set", f"env.{lax.name}=quite-another", "--root", root, "--json")
    assert found.code == 0
    assert [d["severity"] for d in found.document["diagnostics"] if d["id"] == "RC2051"] == ["warning"]
