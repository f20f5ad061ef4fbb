"""What people type without knowing our names: it is understood, and said how; else the right one is named."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg, unfolded


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))


def plan(root: Path, *options: str) -> Any:
    found = rocmcfg("plan", *options, "--root", root, "--json")
    assert found.code == 0, found.out
    return found.document


def read_as(document: Any) -> list[str]:
    return [one["summary"] for one in document["diagnostics"] if one["id"] == "RC2058"]


def settings(document: Any) -> dict[str, str]:
    return {one["setting"]: one["value"] for one in document["settings"]}


# -- profiles ------------------------------------------------------------------------------------------


def test_without_a_profile_auto_is_meant(root: Path) -> None:
    assert plan(root) == plan(root, "--profile", "auto")
    assert plan(root, "--set", "amdgpu.runpm=0")["profiles"] == []
    assert plan(root, "--add", "amdgpu.runpm=0")["profiles"] == []
    for words in (("env",), ("render", "--format", "nixos"), ("apply", "--dry-run")):
        named = rocmcfg(*words, "--root", root, "--profile", "auto").out
        assert rocmcfg(*words, "--root", root).out == named
    applied = rocmcfg("apply", "--root", root, "--yes", "--json").document
    assert applied["profiles"] == ["gfx1201"]


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("GFX1201", "gfx1201"),
        ("RX 9070", "gfx1201"),
        ("rx9070xt", "gfx1201"),
        ("AMD Radeon RX 9070 XT", "gfx1201"),
        ("9070 GRE", "gfx1201"),
        ("navi48", "gfx1201"),
        ("RDNA 4", "rdna4"),
        ("Auto", "auto"),
        ("7900xtx", "gfx1100"),
        ("RX 7900", "gfx1100"),
        ("rx 7700s", "gfx1102"),
        ("strix halo", "gfx1151"),
        ("Ryzen AI Max+ 395", "gfx1151"),
        ("8060S", "gfx1151"),
        ("780m", "gfx1103"),
        ("gfx1030", "rdna2"),
        ("MI300X", "mi300x"),
        ("MI325X", "mi300x"),
        ("MI300A", "mi300a"),
        ("MI250X", "mi200"),
    ],
)
def test_a_profile_by_what_a_gpu_is_called(root: Path, name: str, profile: str) -> None:
    for words in (("-p", name), (name,)):
        document = plan(root, *words, "--any-gpu")
        assert document["profiles"] == plan(root, "-p", profile, "--any-gpu")["profiles"]
        assert read_as(document) == [f"{name} is read as {profile}"]
    shown = rocmcfg("profile", "show", name, "--root", root, "--json")
    assert shown.code == (1 if profile == "auto" else 0)


def test_a_right_name_is_not_remarked_upon(root: Path) -> None:
    assert read_as(plan(root, "gfx1201", "--profile", "rccl-rdna4", "--set", "amdgpu.runpm=0")) == []


def test_a_local_profile_is_asked_before_the_gpus(root: Path) -> None:
    folder = root / "etc/rocmcfg/profiles"
    folder.mkdir(parents=True)
    (folder / "9070.toml").write_text('schema = 1\nsummary = "Mine."\nextends = "rdna4"\n')
    document = plan(root, "9070")
    assert (document["profiles"], read_as(document)) == (["9070"], [])


@pytest.mark.parametrize("sudo", [False, True])
def test_a_name_of_several_gpus_is_answered_with_commands(
    root: Path, sudo: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.delenv("SUDO_USER", raising=False)
    if sudo:
        monkeypatch.setenv("SUDO_USER", "anna")
    for words in (["-p", "navi 3"], ["--profile=navi 3"], ["-pnavi 3"], ["navi 3"]):
        found = rocmcfg("plan", *words, "--any-gpu", "--root", root)
        assert found.code == 1
        assert "error[RC1019]" in found.err
        said = unfolded(found.err)
        for name in ("gfx1100", "gfx1101", "gfx1102"):
            right = [words[-1].replace("navi 3", name)]
            command = ["sudo"] * sudo + ["rocmcfg", "plan", *words[:-1], *right, "--any-gpu", "--root"]
            assert shlex.join(command) in said
            assert rocmcfg(*command[1 + sudo :], root).code == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [("9071xt", "RX 9070 XT"), ("RX 580", "no profile is for RX 580 (gfx803)"), ("gfx1202", "gfx1201")],
)
def test_an_unknown_profile_is_answered_with_the_nearest(root: Path, name: str, said: str) -> None:
    found = rocmcfg("plan", name, "--root", root)
    assert found.code == 1
    assert "error[RC1010]" in found.err
    assert said in unfolded(found.err)


# -- settings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant", "setting", "value"),
    [
        ("cwsr_enable=0", "amdgpu.cwsr_enable=0", "amdgpu.cwsr_enable", "0"),
        ("CWSR-ENABLE=0", "amdgpu.cwsr_enable=0", "amdgpu.cwsr_enable", "0"),
        ("AMDGPU.Cwsr_Enable=0", "amdgpu.cwsr_enable=0", "amdgpu.cwsr_enable", "0"),
        ("gfxoff=0", "feature.gfxoff=0", "feature.gfxoff", "0xfff73fff"),
        ("features.gfxoff=false", "feature.gfxoff=false", "feature.gfxoff", "0xfff73fff"),
        ("iommu=pt", "karg.iommu=pt", "karg.iommu", "pt"),
        ("hsa_enable_sdma=0", "env.HSA_ENABLE_SDMA=0", "env.HSA_ENABLE_SDMA", "0"),
        ("ttm.pages_limit=2GiB", "ttm.pages_limit=524288", "ttm.pages_limit", "524288"),
        ("gttsize=2g", "amdgpu.gttsize=2048", "amdgpu.gttsize", "2048"),
    ],
)
def test_a_setting_by_its_bare_name(root: Path, text: str, meant: str, setting: str, value: str) -> None:
    for option in ("--set", "--add"):
        document = plan(root, option, text)
        assert settings(document) == {setting: value}
        assert read_as(document) == [f"{text} is read as {meant}"]
    assert f"note[RC2058]: {text} is read as {meant}" in rocmcfg("plan", "--set", text, "--root", root).err


def test_what_was_read_is_what_is_kept(root: Path) -> None:
    for text in ("runpm=0", "RUNPM=-1"):
        assert rocmcfg("apply", "--add", text, "--root", root, "--yes").code == 0
    assert settings(plan(root, "--add", "noretry=0"))["amdgpu.runpm"] == "-1"


@pytest.mark.parametrize("text", ["gtt_gib=4", "GTT_GIB=4G", "profile.gtt_gib=4GiB", "gtt_gib=4096M"])
def test_a_number_of_a_profile_takes_a_size(tmp_path: Path, text: str) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1151")
    document = plan(root, "--set", text)  # without its profile it means nothing, so that auto is asked too
    assert document["profiles"] == ["gfx1151"]
    assert settings(document)["ttm.pages_limit"] == str(4 << 18)
    # the short form is how the pages write it
    said = [] if text in ("gtt_gib=4",) else [f"{text} is read as profile.gtt_gib=4"]
    assert read_as(document) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pages_limit=2G", "--set ttm.pages_limit=2G"),
        ("pages_limit=2G", "--set amdttm.pages_limit=2G"),
        ("cwsr_enble=0", "did you mean cwsr_enable"),
        ("HSA_ENABLE_SDMAA=0", "did you mean HSA_ENABLE_SDMA"),
        ("gttgib=96", "did you mean gtt_gib"),
        ("cwsr_enable", "write --set amdgpu.cwsr_enable=VALUE"),
        ("quite_unknown_thing=0", "env.NAME=VALUE"),
    ],
)
def test_a_bare_name_of_several_or_of_none(root: Path, text: str, said: str) -> None:
    found = rocmcfg("plan", "--set", text, "--root", root)
    assert found.code == 2
    assert "error[RC2001]" in found.err
    assert said in unfolded(found.err)


def test_a_size_that_is_no_whole_number_is_refused(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1151")
    assert "RC2002" in rocmcfg("plan", "--set", "gtt_gib=1500M", "--root", root).err


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CWSR_ENABLE", "amdgpu.cwsr_enable"),
        ("GFXOFF", "feature.gfxoff"),
        ("hsa_enable_sdma=0", "env.HSA_ENABLE_SDMA"),
        ("IOMMU=pt", "karg.iommu"),
        ("ttm.pages_limit=96G", "ttm.pages_limit"),
        ("gtt_gib", "profile.gtt_gib"),
        ("profile.gtt_gib=96", "profile.gtt_gib"),
        ("RX 9070 XT", "gfx1201"),
        ("rx9070xt", "gfx1201"),
        ("Strix Halo", "gfx1151"),
        ("mi300x", "mi300x"),
        ("GFX1201", "gfx1201"),
    ],
)
def test_explain_understands_the_same(root: Path, text: str, name: str) -> None:
    found = rocmcfg("explain", text, "--root", root, "--json")
    assert found.code == 0, found.out
    assert found.document["name"] == name


# -- commands ------------------------------------------------------------------------------------------


def test_undo_is_rollback_and_all_is_pristine(root: Path) -> None:
    for _ in range(2):
        assert rocmcfg("apply", "rdna4", "--root", root, "--yes").code == 0
        assert rocmcfg("apply", "--set", "runpm=0", "--root", root, "--yes").code == 0
    undone = rocmcfg("undo", "--root", root, "--yes", "--json").document
    assert undone["command"] == "rollback"
    rest = rocmcfg("rollback", "--all", "--root", root, "--yes", "--json").document
    assert rest["transactions"] == [3, 2, 1]


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("help", "--help"),
        ("help plan", "plan --help"),
        ("help profile show", "profile show --help"),
        ("help undo", "rollback --help"),
        ("undo --help", "rollback --help"),
        ("help help", "--help"),
    ],
)
def test_help_as_a_command(words: str, same: str) -> None:
    assert rocmcfg(*words.split()).out == rocmcfg(*same.split()).out
    assert rocmcfg(*words.split()).code == 0


# -- explain -------------------------------------------------------------------------------------------


def test_explain_takes_several_settings(root: Path) -> None:
    told = rocmcfg("explain", "amdgpu.dpm=0", "amdgpu.runpm=0", "--root", root)
    assert told.code == 0
    assert told.out.index("amdgpu.dpm") < told.out.index("amdgpu.runpm")
    assert rocmcfg("explain", "amdgpu.dpm=0", "amdgpu.runpm=0", "--root", root, "--json").code == 2
    misspelt = rocmcfg("explain", "amdgpu.cwsr_enabled=0 pci=noats root=LABEL=x", "--root", root)
    assert "did you mean amdgpu.cwsr_enable=0?" in misspelt.err
    assert "root" not in misspelt.err.replace(str(root), "")
    asked = rocmcfg("explain", "MIOPEN_FIND_MOD=FAST", "amdgpu.runpm=0", "--root", root)
    assert "did you mean env.MIOPEN_FIND_MODE=FAST?" in asked.err


# -- another host --------------------------------------------------------------------------------------


def test_commands_for_another_host_name_it_and_say_who_runs_its_programs(root: Path) -> None:
    planned = rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", root)
    assert "update-grub  left to you, unless you add --chroot" in planned.out
    applied = unfolded(rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").out)
    assert applied.endswith(f"Undo: sudo rocmcfg rollback --root {root}")
    undone = rocmcfg("rollback", "--root", root, "--yes").out
    assert "- /etc/default/grub.d/zz-rocmcfg.cfg" in undone
    assert "+++" not in undone


def test_all_power_features_off_is_warned_of(root: Path) -> None:
    planned = rocmcfg("plan", "--set", "amdgpu.ppfeaturemask=0x0", "--root", root, "--json")
    assert "RC2050" in planned.ids


def test_a_root_before_the_command_is_meant_for_it(root: Path) -> None:
    for words in (("status",), ("profile", "list")):
        found = rocmcfg("--root", root, *words)
        assert (found.code, found.out) == (0, rocmcfg(*words, "--root", root).out)
    assert rocmcfg("--root", root).code == 2


def test_an_unknown_number_of_a_profile_leads_to_those_that_there_are(root: Path) -> None:
    said = unfolded(rocmcfg("plan", "--set", "profile.gpu_memory=96G", "--root", root).err)
    command = said.partition("`rocmcfg ")[2].partition("`")[0]
    answer = unfolded(rocmcfg(*shlex.split(command), "--root", root).err)
    assert "did you mean profile.gtt_gib" in answer
