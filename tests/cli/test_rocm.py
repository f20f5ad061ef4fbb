"""Where no ROCm is installed for the whole system, as with PyTorch's wheels: what depends on the release is
said to be unknown once, --rocm names it, and plan, lint, issues, status and verify conclude the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.records.receipt import load
from rocmcfg.workflow.applying import check_kernel
from tests.support.hosts import debian_grub_host, kernel_modules, make_root
from tests.support.program import Result, rocmcfg, unfolded
from tests.support.tool_host import QuickHost
from tests.support.usecases import apply, quiet

CWSR, CWSR_ISSUE = "amdgpu.cwsr_enable", "rdna4-expert-sched-cwsr"  # ROCm 7.0 and 7.1
HIPBLASLT_ISSUE = "rdna4-hipblaslt-gltr-overread"  # ROCm 7.0.2 and later
UNKNOWN = "--rocm V"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, gfx=("gfx1201",), rocm=None)


def planned(root: Path, *options: str) -> set[str]:
    found = rocmcfg("plan", *options, "--root", root, "--json").document
    return {row["setting"] for row in found["settings"]}


def states(root: Path, *options: str) -> dict[str, str]:
    found = rocmcfg("issues", *options, "--root", root, "--json").document
    return {issue["issue"]: issue["state"] for issue in found["issues"]}


def cured(root: Path, *options: str) -> dict[str, str]:
    """By issue, the ROCm releases that have it, where lint does not know which one is in use."""
    line = "amdgpu.cwsr_enable=0 TORCH_BLAS_PREFER_HIPBLASLT=0"
    found = rocmcfg("lint", line, *options, "--root", root, "--json").document
    return {purpose["issue"]: purpose["rocm"] for purpose in found["purposes"] if purpose["issue"]}


def test_what_is_unknown_is_possible_for_all_of_them(root: Path) -> None:
    assert CWSR in planned(root)
    found = states(root)
    assert (found[CWSR_ISSUE], found[HIPBLASLT_ISSUE]) == ("possible", "possible")
    assert cured(root)[CWSR_ISSUE] == ">=7.0,<7.2"


@pytest.mark.parametrize(("release", "needed"), [("7.1", True), ("7.2.3", False)])
def test_a_release_that_is_named_decides_for_all_of_them(root: Path, release: str, needed: bool) -> None:
    named = ("--rocm", release)
    assert (CWSR in planned(root, *named)) is needed
    found = states(root, *named)
    assert (CWSR_ISSUE in found) is needed
    assert found[HIPBLASLT_ISSUE] == "open"
    assert (CWSR_ISSUE in states(root, "--gfx", "gfx1201", *named)) is needed
    for judged_for in ((), ("--gfx", "gfx1201", "--kernel", "6.12")):
        assert cured(root, *named, *judged_for).get(CWSR_ISSUE) == ("" if needed else None)
        said = rocmcfg("lint", f"{CWSR}=0", *named, *judged_for, "--root", root).out
        assert ("set by profile" in said or CWSR_ISSUE in said) is needed, said
        assert UNKNOWN not in said


@pytest.mark.parametrize("words", [("plan",), ("issues",), ("lint", f"{CWSR}=0")])
def test_the_option_is_named_once(root: Path, words: tuple[str, ...]) -> None:
    assert _said(rocmcfg(*words, "--root", root)).count(UNKNOWN) == 1
    assert UNKNOWN not in _said(rocmcfg(*words, "--rocm", "7.2.3", "--root", root))


def test_a_rendering_says_once_for_all_settings_what_is_unknown(root: Path) -> None:
    told = rocmcfg("render", "-f", "nixos", "--root", root, "--json").document["diagnostics"]
    (remark,) = [one for one in told if one["id"] == "RC2012"]
    assert CWSR in remark["summary"]
    assert "env.ROCBLAS_USE_HIPBLASLT" in remark["summary"]
    assert UNKNOWN in remark["hint"]


def test_two_reasons_for_not_knowing_are_one_remark() -> None:
    """A rendering for no host knows neither a kernel nor a release of ROCm."""
    told = rocmcfg("render", "--profile", "gfx1201", "-f", "nixos", "--json").document["diagnostics"]
    (remark,) = [one for one in told if one["id"] == "RC2012"]
    kernel, others = remark["detail"].splitlines()
    assert kernel.startswith(f"{CWSR}: no kernel is installed")
    assert others == (
        "env.TORCH_BLAS_PREFER_HIPBLASLT, env.ROCBLAS_USE_HIPBLASLT, env.DISABLE_ADDMM_CUDA_LT: "
        "the ROCm release in use is unknown"
    )
    assert UNKNOWN in remark["hint"]


def _said(found: Result) -> str:
    return unfolded(found.out + found.err)


def test_status_and_issues_use_what_the_apply_was_told(root: Path) -> None:
    assert (
        rocmcfg("apply", "auto", "--rocm", "7.2.3", "--add", f"{CWSR}=0", "--root", root, "--yes").code == 0
    )
    assert json.loads((root / "var/lib/rocmcfg/receipt.json").read_text())["request"]["rocm"] == "7.2.3"
    assert "7.2.3 (--rocm)" in rocmcfg("status", "--root", root).out
    assert CWSR_ISSUE not in states(root)
    assert CWSR_ISSUE not in cured(root)
    wanted = rocmcfg("verify", "--profile", "rdna4", "--root", root, "--json").document["checks"]
    assert CWSR not in [check["name"] for check in wanted]
    again = unfolded(rocmcfg("verify", "--root", root).out).replace("\\ ", "")
    assert f"sudo rocmcfg apply --profile auto --set {CWSR}=0 --rocm 7.2.3" in again


def test_status_finds_what_the_named_release_no_longer_needs(root: Path) -> None:
    assert rocmcfg("apply", "--rocm", "7.1", "--root", root, "--yes").code == 0
    receipt = root / "var/lib/rocmcfg/receipt.json"
    receipt.write_text(receipt.read_text().replace('"rocm": "7.1"', '"rocm": "7.2.3"'))
    (unnecessary,) = rocmcfg("status", "--root", root, "--json").document["unnecessary"]
    assert unnecessary["setting"] == CWSR
    assert unnecessary["command"].endswith(f"--rocm 7.2.3 --root {root}")
    assert rocmcfg("apply", "--rocm", "7.2.3", "--root", root, "--yes").code == 0
    assert not rocmcfg("status", "--root", root, "--json").document["unnecessary"]


def test_a_kernel_that_refuses_a_setting_leaves_the_release_on_record(root: Path) -> None:
    class Refusing(QuickHost):
        def query(self, argv: Sequence[str]) -> CommandResult | None:
            if argv[0] == "modinfo" and "6.17.0-new" in argv:
                return CommandResult(tuple(argv), 0, "cwsr_enable:int\nrunpm:bool\n", "")
            return super().query(argv)

    apply(QuickHost(str(root)), profiles=("gfx1201",), set=("amdgpu.runpm=2",), rocm="7.1")
    make_root(root.parent, kernel_modules("6.17.0-new"), name=root.name)
    told = check_kernel(Refusing(str(root)), "6.17.0-new", quiet)
    assert "RC4042" in [one.id for one in told]
    applied = load(LocalHost(str(root)))
    assert applied is not None
    assert applied.request.rocm == "7.1"
    assert "amdgpu.runpm" not in [setting.id for setting in applied.settings]


@pytest.mark.parametrize("words", [("plan",), ("apply", "--yes"), ("issues",), ("lint", "a=1"), ("env",)])
def test_a_text_that_is_no_release_is_refused(root: Path, words: tuple[str, ...]) -> None:
    found = rocmcfg(*words, "--rocm", "seven", "--root", root)
    assert found.code == 2
    assert "'seven' is not a ROCm version" in unfolded(found.err)


def test_what_is_no_longer_needed_is_kept_by_the_command_that_says_so(root: Path) -> None:
    assert rocmcfg("apply", "--rocm", "7.1", "--root", root, "--yes").code == 0
    said = unfolded(rocmcfg("plan", "--rocm", "7.2.3", "--root", root).out)
    assert f"--rocm 7.2.3 --add {CWSR}=0 --root {root}" in said.replace("\\ ", "")
    keeping = ("--profile", "auto", "--rocm", "7.2.3", "--add", f"{CWSR}=0")
    assert CWSR in planned(root, *keeping)
    assert "Removed" not in rocmcfg("plan", *keeping, "--root", root).out
