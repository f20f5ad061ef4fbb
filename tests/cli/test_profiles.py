"""Profiles through the commands: what the user gives, what is over, what contradicts itself."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import HostView
from rocmcfg.knowledge import profiles
from rocmcfg.model.catalogue import GpuModel
from rocmcfg.model.facts import Gpu
from tests.facts.test_pytorch import version_py
from tests.support.hosts import GPUS, FileMap, debian_grub_host
from tests.support.program import Result, command, problem, process, rocmcfg, unfolded

DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
RECEIPT = "var/lib/rocmcfg/receipt.json"
PAGES_OF_96_GIB = 25165824
TORCH = "usr/lib/python3/dist-packages/torch/version.py"


def meminfo(gib: float) -> FileMap:
    return {"proc/meminfo": f"MemTotal:       {int(gib * (1 << 20))} kB\nMemFree: 1 kB\n"}


def strix(tmp_path: Path, gib: float | None = 125.1, **options: object) -> Path:
    """A Strix Halo host whose kernel lacks the save-area fix, or as `options` say."""
    extra = meminfo(gib) if gib else {}
    chosen: dict[str, object] = {"gfx": "gfx1151", "kernels": ("6.17.9+deb14-amd64",)}
    return debian_grub_host(tmp_path, extra=extra, **{**chosen, **options})  # type: ignore[arg-type]


def line(root: Path) -> str:
    return (root / DROP_IN).read_text().splitlines()[-1]


def skipped(result: Result) -> dict[str, str]:
    return {row["setting"]: row["reason"] for row in result.document["skipped"]}


# -- what the user gives ---------------------------------------------------------------------------------


def test_a_number_in_gib_becomes_pages_and_is_kept_for_the_next_apply_and_verify(tmp_path: Path) -> None:
    root = strix(tmp_path)
    ask = ("--profile", "gfx1151", "--set", "profile.gtt_gib=96", "--root", root)
    assert rocmcfg("apply", *ask, "--yes").code == 0
    wanted = f"ttm.pages_limit={PAGES_OF_96_GIB} ttm.page_pool_size={PAGES_OF_96_GIB}"
    assert wanted in line(root)
    assert json.loads((root / RECEIPT).read_text())["request"]["set"] == ["profile.gtt_gib=96"]

    assert "Already applied" in rocmcfg("apply", *ask, "--yes").out
    for arguments in (("verify",), ("verify", "--profile", "gfx1151")):
        checks = {
            c["name"]: c["desired"] for c in rocmcfg(*arguments, "--root", root, "--json").document["checks"]
        }
        assert checks["ttm.pages_limit"] == str(PAGES_OF_96_GIB)
        assert "amdttm.pages_limit" not in checks


@pytest.mark.parametrize(("kernel", "warned"), [("6.14.0-37-generic", True), ("6.18.5+deb14-amd64", False)])
def test_a_limit_that_the_kernel_does_not_reach_is_warned_of(
    tmp_path: Path, kernel: str, warned: bool
) -> None:
    root = strix(tmp_path, kernels=(kernel,))
    found = rocmcfg("plan", "-p", "gfx1151", "--set", "profile.gtt_gib=96", "--root", root)
    said = " ".join(found.err.split())
    assert (f"kernel {kernel} may not provide all of ttm.pages_limit={PAGES_OF_96_GIB}" in said) is warned


def test_an_apply_that_is_no_longer_given_the_number_says_what_it_takes_back(tmp_path: Path) -> None:
    root = strix(tmp_path)
    ask = ("--set", "profile.gtt_gib=96")
    assert rocmcfg("apply", "-p", "gfx1151", *ask, "--root", root, "--yes").code == 0
    found = rocmcfg("apply", "-p", "gfx1151", "--root", root, "--yes", "--json")
    assert "--set profile.gtt_gib=" in skipped(found)["ttm.pages_limit"]
    assert "ttm" not in line(root)


def test_what_waits_for_a_number_is_left_out_and_says_which_option_gives_it(tmp_path: Path) -> None:
    root = strix(tmp_path)
    found = rocmcfg("plan", "--profile", "auto", "--root", root, "--json")
    assert found.code == 0
    assert "--set profile.gtt_gib=GIB" in skipped(found)["ttm.pages_limit"]
    assert [s["setting"] for s in found.document["settings"]] == ["amdgpu.cwsr_enable"]

    shown = rocmcfg("profile", "show", "gfx1151", "--root", root, "--json").document
    assert shown["parameters"][0]["name"] == "gtt_gib"
    assert "profile.gtt_gib" in rocmcfg("profile", "show", "gfx1151", "--root", root).out


def test_amds_own_memory_manager_gets_the_limit_where_its_driver_is(tmp_path: Path) -> None:
    root = strix(tmp_path, driver="dkms")
    found = rocmcfg("plan", "-p", "gfx1151", "--set", "profile.gtt_gib=96", "--root", root, "--json")
    assert {s["setting"]: s["value"] for s in found.document["settings"]} == {
        "ttm.pages_limit": str(PAGES_OF_96_GIB),
        "ttm.page_pool_size": str(PAGES_OF_96_GIB),
        "amdttm.pages_limit": str(PAGES_OF_96_GIB),
        "amdttm.page_pool_size": str(PAGES_OF_96_GIB),
        "amdgpu.cwsr_enable": "0",
    }


def test_a_kernel_and_a_rocm_that_do_not_work_together_are_said(tmp_path: Path) -> None:
    root = strix(tmp_path, kernels=("6.18.5+deb14-amd64",), cwsr_size=True)
    found = rocmcfg("plan", "-p", "gfx1151", "--set", "profile.gtt_gib=96", "--root", root, "--json")
    (pair,) = (d for d in found.document["diagnostics"] if d["id"] == "RC2061")
    assert "kernel 6.18.5+deb14-amd64 and ROCm 7.1.0 do not work together on gfx1151" in pair["summary"]
    assert "amdgpu.cwsr_enable" not in {s["setting"] for s in found.document["settings"]}
    assert "this host matches" in rocmcfg("explain", "strix-rocm-before-72", "--root", root).out


@pytest.mark.parametrize(
    ("given", "id"),
    [
        (("profile.gtt_gib=126",), "RC2044"),
        (("profile.gtt_gib=0",), "RC2043"),
        (("profile.gtt_gib=-1",), "RC2002"),
        (("profile.gtt_gib=1.5",), "RC2002"),
        (("profile.gtt_gib=99999999999",), "RC2002"),
        (("profile.gtt=1",), "RC2042"),
        (("profile.gtt_gib=8", "profile.gtt_gib=9"), "RC2041"),
    ],
)
def test_a_number_that_cannot_be_meant_is_refused(tmp_path: Path, given: Sequence[str], id: str) -> None:
    options = [word for text in given for word in ("--set", text)]
    root = strix(tmp_path)
    code = 2 if id in ("RC2002", "RC2041") else 1  # wrong with any profile, or with this one
    problem(rocmcfg("apply", "-p", "gfx1151", *options, "--root", root, "--yes"), id, code)
    assert not (root / DROP_IN).exists()


def test_a_number_near_the_memory_of_the_host_is_warned_of(tmp_path: Path) -> None:
    root = strix(tmp_path)
    for gib, ids in (("120", ["RC2045"]), ("96", [])):
        found = rocmcfg("plan", "-p", "gfx1151", "--set", f"profile.gtt_gib={gib}", "--root", root, "--json")
        assert found.code == 0
        assert [id for id in found.ids if id in ("RC2045", "RC2047")] == ids


def test_a_number_that_lowers_the_limit_is_warned_of(tmp_path: Path) -> None:
    """Unset, the kernel lets the GPU have half."""
    root = strix(tmp_path, 125.1)
    for gib, warned in ((62, True), (63, False), (96, False)):
        found = rocmcfg("plan", "-p", "gfx1151", "--set", f"profile.gtt_gib={gib}", "--root", root, "--json")
        assert ("RC2053" in found.ids) is warned, gib


def test_what_is_optional_says_so_where_it_is_not_needed(tmp_path: Path) -> None:
    root = strix(tmp_path)
    reasons = skipped(rocmcfg("plan", "-p", "gfx1151", "--root", root, "--json"))
    timeout = reasons["amdgpu.lockup_timeout"]
    assert timeout == (
        "optional, and not needed: kernel 6.17.9+deb14-amd64 is not >=6.19; "
        "no installed kernel has AMD's DKMS driver"
    )
    assert reasons["feature.psr"] == "optional: --with adds it"


def test_validate_gives_no_numbers_of_its_own_to_judge(tmp_path: Path) -> None:
    for root in (strix(tmp_path / "a", None), strix(tmp_path / "b", 0.5)):
        found = rocmcfg("profile", "validate", "strix", "mi300a", "--root", root, "--json")
        assert found.code == 0
        assert not {"RC2044", "RC2045", "RC2047", "RC2052", "RC2053"} & set(found.ids)


def test_validate_tells_of_the_format_and_of_values_in_one_run(tmp_path: Path) -> None:
    root = strix(tmp_path)
    place = tmp_path / "p.toml"
    place.write_text(
        'schema = 1\nsummary = "x"\nextends = "nosuch"\n[module.amdgpu]\nrunpm = 99\n'
        "nortry = 1\nppfeaturemask = -1\ntmz = { value = 0, wy = 1 }\n[features]\ngfxof = false\n"
    )
    found = rocmcfg("profile", "validate", place, "--root", root, "--json").document["diagnostics"]
    lines = {(d["id"], d["location"].rpartition(":")[2]) for d in found}
    assert lines == {
        ("RC1010", "3"), ("RC1003", "8"), ("RC2105", "5"), ("RC2101", "6"), ("RC2104", "7"), ("RC2020", "10")
    }  # fmt: skip


def test_a_host_that_does_not_tell_its_memory_takes_any_number_and_that_is_said(tmp_path: Path) -> None:
    root = strix(tmp_path, None)
    found = rocmcfg("plan", "-p", "gfx1151", "--set", "profile.gtt_gib=900", "--root", root, "--json")
    assert found.code == 0
    assert "RC2047" in found.ids


def test_the_variables_of_a_profile_that_asks_for_a_number_need_none(tmp_path: Path) -> None:
    """`env` leaves kernel settings away, and must not stumble over a number for one of them."""
    root = debian_grub_host(tmp_path, gfx="gfx942", driver="dkms")
    for options in ((), ("--set", "profile.apus=4")):
        found = rocmcfg("env", "-p", "mi300a", "--any-gpu", *options, "--root", root, "--json")
        assert (found.code, found.document["variables"]) == (0, {})


# -- chosen for a GPU ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gfx", GPUS)
def test_auto_plans_for_every_gpu_that_has_a_profile(tmp_path: Path, gfx: str) -> None:
    root = debian_grub_host(tmp_path, gfx=gfx)
    found = rocmcfg("plan", "-p", "auto", "--root", root, "--json")
    if not profiles.for_gpus(LocalHost(str(root)), [Gpu(gfx, "", "kfd")]):
        assert (found.code, found.ids) == (1, ["RC2024"])
        return
    assert found.code == 0
    decided = len(found.document["settings"]) + len(found.document["skipped"])
    (name,) = found.document["profiles"]
    (profile,) = profiles.load(LocalHost(str(root)), [name])
    assert decided == len(profile.settings) > 0


def test_auto_names_the_gpu_for_which_it_chose_nothing(tmp_path: Path) -> None:
    beside = debian_grub_host(tmp_path / "a", gfx=("gfx1201", "gfx1036"))
    told = rocmcfg("plan", "-p", "auto", "--root", beside).err
    assert "RC2025" in told, "without -v"
    said = " ".join(told.split())
    assert "chose gfx1201 for gfx1201, and none for gfx1036" in said
    assert "add --profile rdna2" in said
    without = debian_grub_host(tmp_path / "b", gfx=("gfx1201", "gfx906"))
    assert "and none for gfx906" in " ".join(rocmcfg("plan", "-p", "auto", "--root", without).err.split())
    alone = debian_grub_host(tmp_path / "c", gfx=("gfx1201",))
    assert "RC2025" not in rocmcfg("plan", "-p", "auto", "--root", alone).err


def test_auto_reads_the_gpus_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rocmcfg.facts import gpus

    reads: list[object] = []
    read = gpus.read_gpus

    def counted(view: HostView, models: tuple[GpuModel, ...]) -> tuple[Gpu, ...]:
        reads.append(view)
        return read(view, models)

    for module in [m for m in sys.modules.values() if getattr(m, "read_gpus", None) is read]:
        monkeypatch.setattr(module, "read_gpus", counted)
    root = debian_grub_host(tmp_path)
    for asked in ("plan", "env"):
        reads.clear()
        assert rocmcfg(asked, "-p", "auto", "--root", root).code == 0
        assert len(reads) == 1, asked


def test_a_local_profile_that_stands_in_for_a_shipped_one_is_told_of(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201")
    refused = rocmcfg("profile", "new", "gfx1201", "--root", root)
    assert "`rocmcfg profile new my-gfx1201 --extends gfx1201" in problem(refused, "RC1013", 1)
    local = root / "etc/rocmcfg/profiles/gfx1201.toml"
    local.parent.mkdir(parents=True)
    local.write_text('schema = 1\nsummary = "x"\n')
    for name in ("auto", "gfx1201"):
        found = rocmcfg("plan", "-p", name, "--root", root, "--json").document["diagnostics"]
        assert [d["severity"] for d in found if d["id"] == "RC1016"] == ["info"]
        assert "RC1016" in rocmcfg("plan", "-p", name, "--root", root).err
    assert rocmcfg("profile", "new", "mine", "--root", root, "--json").document["diagnostics"] == []


# -- shown -----------------------------------------------------------------------------------------------


def test_a_profile_of_another_gpu_is_shown_as_what_it_would_do(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1100")
    found = rocmcfg("profile", "show", "rdna4", "--root", root)
    assert "On this host it sets" not in found.out
    assert "This host has no GPU for it; with --any-gpu it would set" in found.out
    assert "On this host it sets" in rocmcfg("profile", "show", "rdna3", "--root", root).out


def test_how_sure_a_setting_is_is_always_shown_and_its_evidence_on_demand(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1100")
    plain = rocmcfg("profile", "show", "rdna3", "--root", root).out
    assert plain.count("helps: ") == plain.count("cost: ") > 3
    assert "https://" not in plain
    assert "https://github.com/" in rocmcfg("profile", "show", "rdna3", "--root", root, "-v").out


# -- APU or not ------------------------------------------------------------------------------------------


def mi300a(tmp_path: Path) -> Path:
    properties = "simd_count 912\ngfx_target_version 90402\nvendor_id 4098\ndevice_id 29856\n"
    slot = "sys/bus/pci/devices/0000:03:00.0"
    return debian_grub_host(
        tmp_path,
        gfx="gfx942",
        driver="dkms",
        extra={
            f"{slot}/device": "0x74a0\n",
            "sys/class/kfd/kfd/topology/nodes/1/properties": f"{properties}location_id 768\ndomain 0\n",
        },
    )


def test_the_two_instincts_of_one_target_are_told_apart(tmp_path: Path) -> None:
    apu, card = mi300a(tmp_path / "a"), debian_grub_host(tmp_path / "b", gfx="gfx942")
    assert rocmcfg("plan", "-p", "auto", "--root", apu, "--json").document["profiles"] == ["mi300a"]
    assert rocmcfg("plan", "-p", "auto", "--root", card, "--json").document["profiles"] == ["mi300x"]
    assert "for APUs with gfx942" in problem(rocmcfg("plan", "-p", "mi300a", "--root", card), "RC2010", 1)
    ask = ("-p", "mi300a", "--set")
    more = problem(rocmcfg("apply", *ask, "profile.apus=4", "--root", apu, "--yes"), "RC2052", 1)
    assert "is too high: this host has 1" in more
    assert rocmcfg("apply", *ask, "profile.apus=1", "--root", apu, "--yes").code == 0
    wanted = ("pci=realloc=off", "numa_balancing=disable", "transparent_hugepage=always")
    assert all(argument in line(apu) for argument in wanted)
    assert f"amdttm.pages_limit={33554432}" in line(apu)
    other = debian_grub_host(tmp_path / "c", gfx="gfx1201")  # which cannot tell how many there will be
    assert rocmcfg("plan", *ask, "profile.apus=8", "--any-gpu", "--root", other).code == 0


# -- diagnosis -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["debug-gemm", "debug-faults", "debug-miopen"])
def test_a_bundle_for_diagnosis_is_for_run_and_warned_of_on_a_host(tmp_path: Path, name: str) -> None:
    root = debian_grub_host(tmp_path)
    found = rocmcfg("apply", "-p", name, "--root", root, "--yes", "--json")
    assert found.code == 0
    (warning,) = [d for d in found.document["diagnostics"] if d["id"] == "RC2046"]
    assert f"rocmcfg run --profile {name} -- " in warning["hint"]
    assert rocmcfg("rollback", "--root", root, "--yes").code == 0

    printed = rocmcfg("env", "-p", name, "--root", root)
    assert (printed.code, printed.err) == (0, "")
    assert "export AMD_SERIALIZE_KERNEL=3" in printed.out


# -- contradictions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("amdgpu.runpm=0", "amdgpu.runpm=1"),
        ("amdgpu.runpm=0", "karg.amdgpu.runpm=1"),
        ("feature.gfxoff=off", "feature.gfxoff=on"),
        ("karg.iommu=pt", "karg.iommu=off"),
    ],
)
def test_two_values_for_one_setting_are_an_error(tmp_path: Path, one: str, other: str) -> None:
    root = debian_grub_host(tmp_path)
    problem(rocmcfg("plan", "-p", "gfx1201", "--set", one, "--set", other, "--root", root), "RC2041", 2)


def test_what_is_left_out_is_left_out_whatever_adds_it(tmp_path: Path) -> None:
    found = rocmcfg(
        *("plan", "--set", "amdgpu.runpm=0", "--set", "amdgpu.tmz=0", "--without", "runpm", "--json"),
        *("--root", debian_grub_host(tmp_path)),
    )
    assert skipped(found) == {"amdgpu.runpm": "left out with --without"}


def test_the_same_thing_said_twice_is_no_contradiction(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    options = ("--set", "amdgpu.runpm=0", "--set", "amdgpu.runpm=0", "--set", "feature.gfxoff=0")
    assert rocmcfg("plan", *options, "--set", "feature.gfxoff=off", "--root", root).code == 0


def test_arguments_of_which_every_one_counts_may_be_given_several_times(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    ask = ("--set", "karg.pci=realloc=off", "--set", "karg.pci=noats")
    assert rocmcfg("apply", *ask, "--root", root, "--yes").code == 0
    assert 'pci=realloc=off pci=noats"' in line(root)


# -- what is over ----------------------------------------------------------------------------------------


def test_status_says_since_when_a_setting_is_not_needed_and_the_command_that_drops_it(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    ask = ("--profile", "gfx1201", "--set", "amdgpu.runpm=0", "--without", "env.DISABLE_ADDMM_CUDA_LT")
    assert rocmcfg("apply", *ask, "--root", root, "--yes").code == 0
    assert rocmcfg("status", "--root", root, "--json").document["unnecessary"] == []
    assert "amdgpu.cwsr_enable=0" in line(root)

    (root / "opt/rocm/.info/version").write_text("7.2.0\n")
    (over,) = rocmcfg("status", "--root", root, "--json").document["unnecessary"]
    assert over["setting"] == "amdgpu.cwsr_enable"
    assert over["reason"] == "no longer needed since ROCm 7.2: ROCm 7.2.0 is not >=7.0,<7.2"
    assert over["command"] == f"rocmcfg apply {' '.join(ask)} --root {root}"
    shown = rocmcfg("status", "--root", root).out
    assert "no longer needed since ROCm 7.2" in shown
    assert f"sudo {over['command'][:40]}" in " ".join(shown.split())

    assert rocmcfg(*shlex.split(over["command"])[1:], "--yes").code == 0
    assert "amdgpu.cwsr_enable" not in line(root)
    assert "amdgpu.runpm=0" in line(root)
    assert rocmcfg("status", "--root", root, "--json").document["unnecessary"] == []


def test_status_asks_a_profile_from_a_file_again_by_its_path(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    place = tmp_path / "p q.toml"
    place.write_text(
        'schema = 1\nsummary = "x"\n[module.amdgpu.cwsr_enable]\nvalue = 0\nwhen = { rocm = "<7.2" }\n'
    )
    assert rocmcfg("apply", "-p", place, "--root", root, "--yes").code == 0
    found = rocmcfg("status", "--root", root, "--json").document
    assert (found["unnecessary"], found["diagnostics"]) == ([], [])
    (root / "opt/rocm/.info/version").write_text("7.2.0\n")
    (over,) = rocmcfg("status", "--root", root, "--json").document["unnecessary"]
    assert shlex.split(over["command"])[2:4] == ["--profile", str(place)]
    place.unlink()
    gone = rocmcfg("status", "--root", root, "--json")
    assert gone.code == 0
    assert (gone.document["unnecessary"], gone.ids) == ([], ["RC1015"])


def test_what_unconditional_put_there_is_not_called_unnecessary(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), rocm="7.2.0")
    ask = ("-p", "gfx1201", "--unconditional")
    assert rocmcfg("apply", *ask, "--root", root, "--yes").code == 0
    found = rocmcfg("status", "--root", root, "--json").document
    assert (found["unnecessary"], found["diagnostics"]) == ([], [])


def test_what_to_do_next_names_the_host_that_was_asked_about(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path / "a b", kernels=("6.14.0-37-generic",))
    named = f"--root '{root}'"

    def said(*verb: str) -> str:
        return unfolded(rocmcfg(*verb, "--root", root).out)

    assert f"Next: rocmcfg plan --profile gfx1201 {named}" in said("status")
    assert f"rocmcfg rollback {named}" in said("apply", "-p", "gfx1201", "--yes")
    assert f"Next: sudo rocmcfg apply --profile gfx1201 {named} --chroot" in said("status")
    assert f"`rocmcfg profile validate mine {named}`" in said("profile", "new", "mine")


def test_what_was_asked_for_on_the_command_line_is_no_leftover(tmp_path: Path) -> None:
    """The same command would only set it again."""
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), rocm="7.2.0")
    ask = ("-p", "gfx1201", "--set", "amdgpu.cwsr_enable=0")
    assert rocmcfg("apply", *ask, "--root", root, "--yes").code == 0
    assert rocmcfg("status", "--root", root, "--json").document["unnecessary"] == []


def test_a_setting_whose_need_cannot_be_told_is_no_leftover(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    assert rocmcfg("apply", "-p", "gfx1201", "--root", root, "--yes").code == 0
    (root / "opt/rocm/.info/version").unlink()
    assert rocmcfg("status", "--root", root, "--json").document["unnecessary"] == []


# -- PyTorch ---------------------------------------------------------------------------------------------


def test_the_rocm_of_a_system_wide_pytorch_counts_beside_the_systems(tmp_path: Path) -> None:
    """The wheel's hipBLASLt has the fault, whatever /opt/rocm holds."""
    wheel = {TORCH: version_py("2.9.1+rocm7.1", "7.1.25424")}
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), rocm="7.2.0", extra=wheel)
    found = rocmcfg("plan", "-p", "gfx1201", "--root", root, "--json")
    (cwsr,) = [s for s in found.document["settings"] if s["setting"] == "amdgpu.cwsr_enable"]
    assert "ROCm 7.1 of PyTorch 2.9.1+rocm7.1 is >=7.0,<7.2" in cwsr["decision"]
    assert rocmcfg("status", "--root", root, "--json").document["facts"]["pytorch"] == [
        {"version": "2.9.1+rocm7.1", "rocm": "7.1", "path": f"/{TORCH}"}
    ]
    assert "brings ROCm 7.1" in rocmcfg("plan", "-p", "gfx1201", "--root", root).out


@pytest.mark.parametrize(
    ("version", "names"),
    [("2.8.0", ["PYTORCH_HIP_ALLOC_CONF"]), ("2.9.1", ["PYTORCH_ALLOC_CONF"])],
)
def test_a_variable_takes_the_name_that_the_installed_pytorch_reads(
    tmp_path: Path, version: str, names: list[str]
) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1100", extra={TORCH: version_py(version, "6.4.4")})
    both = ("--with", "PYTORCH_ALLOC_CONF", "--with", "PYTORCH_HIP_ALLOC_CONF")
    found = rocmcfg("env", "-p", "gfx1100", *both, "--root", root, "--json").document
    assert list(found["variables"]) == names


@pytest.mark.parametrize("own", ["VIRTUAL_ENV", "CONDA_PREFIX", "HOME"])
@pytest.mark.parametrize(
    ("rocm", "count"), [("6.4", 0), ("7.1", 3)], ids=["before the fault", "with the fault"]
)
def test_env_and_run_go_by_the_pytorch_of_the_caller(tmp_path: Path, rocm: str, count: int, own: str) -> None:
    prefix = ".local" if own == "HOME" else "venv"
    place = tmp_path / prefix / "lib/python3.12/site-packages/torch/version.py"
    place.parent.mkdir(parents=True)
    place.write_text(version_py(f"2.9.1+rocm{rocm}", f"{rocm}.1"))
    none = {"VIRTUAL_ENV": "", "CONDA_PREFIX": "", "HOME": "/nonexistent"}
    told = {**none, own: str(tmp_path if own == "HOME" else tmp_path / prefix)}
    found = process(command("env", "-p", "rdna4", "--any-gpu", "--json"), env=told)
    assert len(found.document["variables"]) == count


def test_another_root_knows_nothing_of_the_callers_virtual_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", "/venv")
    wheel = {"venv/lib/python3.12/site-packages/torch/version.py": version_py("2.9.1+rocm6.4", "6.4.1")}
    root = debian_grub_host(tmp_path, rocm="7.1.0", extra=wheel)
    assert len(rocmcfg("env", "-p", "gfx1201", "--root", root, "--json").document["variables"]) == 3


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[cmdline]\namdgpu.noretry = 0\n", "write [module.amdgpu] in place of [cmdline]"),
        ("[amdgpu]\nnoretry = 0\n", "did you mean [module.amdgpu]?"),
        ("[module.amdgpu.noretry]\nvalue = 0\nbecuase = 'x'\n", "did you mean because?"),
        ("[module.amdgpu.noretry]\nvalue = 0\nwhen = { krnel = '>6' }\n", "did you mean kernel?"),
        ("[parameters.x]\nsummary = 'x'\nunti = 'GiB'\n", "did you mean unit?"),
        ('gfx = "gfx1100"\n', 'write gfx = ["gfx1100"]'),
        ('gfx = ["7900xtx"]\n', 'write "gfx1100"'),
        ('name = "mine"\n', "a profile has the name of its file"),
        ("notes = [x]\n", "put a text into quotes"),
        ('notes = ["x]\n', "close the quotes in the line where they begin"),
        ("notes = []\nnotes = []\n", "keep one of the two"),
        (
            "[module.amdgpu.noretry]\nvalue = 0\nconfidence = 'sure'\n",
            "must be 'confirmed', 'reported' or 'asked for'",
        ),
    ],
)
def test_a_mistake_in_a_profile_says_how_to_write_it(tmp_path: Path, text: str, hint: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('schema = 1\nsummary = "x"\n' + text)
    found = rocmcfg("profile", "validate", file)
    assert found.code == 1
    assert hint in unfolded(found.err)
    assert found.err.count("error[") == 1, "one mistake is said once"


def test_a_profile_that_is_refused_here_can_be_read(tmp_path: Path) -> None:
    laptop = debian_grub_host(tmp_path / "laptop", gfx=None)
    container = debian_grub_host(tmp_path / "container", gfx=None, container="docker")
    for root in (laptop, container):
        said = unfolded(rocmcfg("plan", "7900xtx", "--root", root).err)
        assert "rocmcfg profile show gfx1100" in said
        assert rocmcfg("profile", "show", "gfx1100", "--root", root).code == 0
