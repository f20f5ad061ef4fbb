"""What is planned for a host and a request: one row of a table per rule.

A case names the host (see tests/support/hosts), the request, and the settings that the plan must hold as
`id → (value, target, outcome)`. `line` is the kernel command line afterwards, less what the host had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.model.plan import Plan
from tests.support.hosts import debian_grub_host
from tests.support.usecases import plan

# Boots with the CWSR fix: 6.12.64 and 6.18.4 brought it, 6.13 to 6.17 never had it (fixes.toml).
FIXED, BROKEN, NEVER = "6.12.107+deb13-amd64", "6.12.43+deb13-amd64", "6.14.0-37-generic"
OLD = "6.8.0-90-generic"  # the catalogue has no build of this series
RDNA4_ENV = {
    "env.TORCH_BLAS_PREFER_HIPBLASLT": ("0", "environment", "applied"),
    "env.ROCBLAS_USE_HIPBLASLT": ("0", "environment", "applied"),
    "env.DISABLE_ADDMM_CUDA_LT": ("1", "environment", "applied"),
}
CWSR = {"amdgpu.cwsr_enable": ("0", "cmdline", "applied")}
GFXOFF_OFF = "amdgpu.ppfeaturemask=0xfff73fff"


@dataclass(frozen=True)
class Case:
    name: str
    settings: Mapping[str, tuple[str | None, str, str]]
    line: tuple[str, ...] = ()
    host: Mapping[str, Any] = field(default_factory=dict)
    ask: Mapping[str, Any] = field(default_factory=lambda: {"profiles": ("rdna4",)})
    skipped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


def sets(*texts: str, **more: Any) -> dict[str, Any]:
    return {"set": texts, **more}


CASES = (
    # -- conditions: a workaround only where it is needed, and always where that cannot be told ----------
    Case(
        "kernel without the fix gets the workaround",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (BROKEN,)},
    ),
    Case(
        "kernel of a series that never got the fix gets it too",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (NEVER,)},
    ),
    Case(
        "the running driver shows the fix",
        RDNA4_ENV,
        host={"kernels": (FIXED,), "cwsr_size": True},
        skipped={"amdgpu.cwsr_enable": "has the fix"},
    ),
    Case(
        "a fixed version that is not running counts by its number",
        RDNA4_ENV,
        host={"kernels": (FIXED,), "live": False, "gfx": None},
        ask={"profiles": ("rdna4",), "any_gpu": True},
        skipped={"amdgpu.cwsr_enable": "every installed kernel has the fix"},
    ),
    Case(
        "one installed kernel without the fix is enough",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (BROKEN, "6.18.5+deb14-amd64"), "running": "6.18.5+deb14-amd64", "cwsr_size": True},
    ),
    Case(
        "the probe outvotes the version where a distribution took the fix back",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (FIXED,), "cwsr_size": False},
    ),
    Case(
        "the probe outvotes the version where a distribution backported the fix",
        RDNA4_ENV,
        host={"kernels": (BROKEN,), "cwsr_size": True},
        skipped={"amdgpu.cwsr_enable": "has the fix"},
    ),
    Case(
        "a DKMS driver that does not run cannot be told, so the setting is applied and that is said",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (FIXED,), "driver": "dkms", "live": False, "gfx": None},
        {"profiles": ("rdna4",), "any_gpu": True},
        notes=("RC2012",),
    ),
    Case(
        "a running DKMS driver is probed like any other",
        RDNA4_ENV,
        host={"kernels": (NEVER,), "driver": "dkms", "cwsr_size": True},
        skipped={"amdgpu.cwsr_enable": "has the fix"},
    ),
    Case(
        "ROCm 7.2 no longer uses the mode",
        RDNA4_ENV,
        host={"kernels": (NEVER,), "rocm": "7.2.0"},
        skipped={"amdgpu.cwsr_enable": "ROCm 7.2.0 is not >=7.0,<7.2"},
    ),
    Case(
        "ROCm before 7.0 never used it",
        {},
        host={"kernels": (NEVER,), "rocm": "6.4.3"},
        skipped={"amdgpu.cwsr_enable": "not needed", "env.ROCBLAS_USE_HIPBLASLT": "not needed"},
    ),
    Case(
        "without a system-wide ROCm the settings are applied and that is said",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (NEVER,), "rocm": None},
        notes=("RC2012",),
    ),
    Case(
        "unconditional asks no condition",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (FIXED,), "cwsr_size": True, "rocm": "7.2.0"},
        {"profiles": ("rdna4",), "unconditional": True},
    ),
    # -- masks -------------------------------------------------------------------------------------------
    Case(
        "a feature is composed onto the default of the kernel",
        {"feature.gfxoff": ("0xfff73fff", "cmdline", "applied")},
        (GFXOFF_OFF,),
        ask=sets("feature.gfxoff=false"),
    ),
    Case(
        "a bit that the user set survives",
        {
            "feature.gfxoff": ("0xfff77fff", "cmdline", "applied"),
            "feature.gfx-dcs": ("0xfff77fff", "cmdline", "applied"),
        },
        ("amdgpu.ppfeaturemask=0xfff77fff",),
        {"cmdline": "quiet amdgpu.ppfeaturemask=0xffffffff"},
        sets("feature.gfxoff=off", "feature.gfx-dcs=false"),
    ),
    Case(
        "a bit that is off already stays off",
        {"feature.gfxoff": ("0xfff73fff", "cmdline", "adopted")},
        host={"cmdline": "quiet amdgpu.ppfeaturemask=0xfff73fff"},
        ask=sets("feature.gfxoff=false"),
    ),
    Case(
        "a bit that is on already stays on",
        {"feature.overdrive": ("0xffffffff", "cmdline", "adopted")},
        host={"cmdline": "quiet amdgpu.ppfeaturemask=0xffffffff"},
        ask=sets("feature.overdrive=true"),
    ),
    Case(
        "a mask in somebody's modprobe.d is the one to compose onto",
        {"feature.gfxoff": ("0xfff77fff", "cmdline", "applied")},
        ("amdgpu.ppfeaturemask=0xfff77fff",),
        {"modprobe_d": {"overdrive.conf": "options amdgpu ppfeaturemask=0xfff7ffff\n"}},
        sets("feature.gfxoff=false"),
    ),
    Case(
        "two features of one mask become one argument",
        {
            "feature.gfxoff": ("0xfff53fff", "cmdline", "applied"),
            "feature.stutter": ("0xfff53fff", "cmdline", "applied"),
        },
        ("amdgpu.ppfeaturemask=0xfff53fff",),
        ask=sets("feature.gfxoff=false", "feature.stutter=false"),
    ),
    Case(
        "a feature beside the whole mask changes that mask",
        {
            "amdgpu.ppfeaturemask": ("0xffff7fff", "cmdline", "applied"),
            "feature.gfxoff": ("0xffff7fff", "cmdline", "applied"),
        },
        ("amdgpu.ppfeaturemask=0xffff7fff",),
        ask=sets("amdgpu.ppfeaturemask=0xffffffff", "feature.gfxoff=false"),
    ),
    Case(
        "a feature whose bit switches off counts the other way round",
        {"feature.psr": ("0x10", "cmdline", "applied")},
        ("amdgpu.dcdebugmask=0x10",),
        ask=sets("feature.psr=false"),
    ),
    # -- other people's settings -------------------------------------------------------------------------
    Case(
        "an equal argument of the user is adopted",
        {**{"amdgpu.cwsr_enable": ("0", "cmdline", "adopted")}, **RDNA4_ENV},
        host={"kernels": (NEVER,), "cmdline": "quiet amdgpu.cwsr_enable=0"},
    ),
    Case(
        "an equal argument is adopted however its value is spelt",
        {"amdgpu.dcdebugmask": ("0x10", "cmdline", "adopted")},
        host={"cmdline": "amdgpu.dcdebugmask=0x10"},
        ask=sets("amdgpu.dcdebugmask=16"),
    ),
    Case(
        "another value of the user is overridden by ours, which comes later on the line",
        {"amdgpu.runpm": ("0", "cmdline", "applied")},
        ("amdgpu.runpm=0",),
        {"cmdline": "quiet amdgpu.runpm=1"},
        sets("amdgpu.runpm=0"),
    ),
    Case(
        "an argument whose later duplicate wins is not adopted",
        {"karg.iommu": ("pt", "cmdline", "applied")},
        ("iommu=pt",),
        {"cmdline": "iommu=pt iommu=off"},
        sets("karg.iommu=pt"),
    ),
    Case(
        "an argument that adds up is adopted wherever it stands",
        {"karg.pci": ("nommconf", "cmdline", "adopted")},
        host={"cmdline": "pci=nommconf pci=noaer"},
        ask=sets("karg.pci=nommconf"),
    ),
    Case(
        "a bare argument is adopted as well",
        {"karg.nomodeset": (None, "cmdline", "adopted")},
        host={"cmdline": "nomodeset"},
        ask=sets("karg.nomodeset"),
    ),
    Case(
        "a drop-in that sorts after ours wins, and the plan says so",
        {"amdgpu.runpm": ("0", "cmdline", "overridden")},
        ("amdgpu.runpm=0",),
        {
            "grub_d": {
                "zzz-later.cfg": 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.runpm=1"\n'
            }
        },
        sets("amdgpu.runpm=0"),
    ),
    Case(
        "a modprobe.d file that sorts after ours wins, and the plan says so",
        {"amdgpu.runpm": ("0", "modprobe", "overridden")},
        host={"modprobe_d": {"zzz.conf": "options amdgpu runpm=1\n"}},
        ask=sets("amdgpu.runpm=0", via="modprobe"),
    ),
    Case(
        "the command line wins over modprobe.d, and the plan says so",
        {"amdgpu.runpm": ("0", "modprobe", "overridden")},
        host={"cmdline": "quiet amdgpu.runpm=1"},
        ask=sets("amdgpu.runpm=0", via="modprobe"),
    ),
    Case(
        "an earlier modprobe.d file does not win",
        {"amdgpu.runpm": ("0", "modprobe", "applied")},
        host={"modprobe_d": {"amdgpu.conf": "options amdgpu runpm=1\n"}},
        ask=sets("amdgpu.runpm=0", via="modprobe"),
    ),
    Case(
        "a variable that a later environment.d file sets differently is overridden",
        {"env.HSA_XNACK": ("0", "environment", "overridden")},
        host={"extra": {"etc/environment.d/99-mine.conf": 'HSA_XNACK="1"\n'}},
        ask=sets("env.HSA_XNACK=0"),
    ),
    # -- options of the request --------------------------------------------------------------------------
    Case(
        "with adds what is optional",
        {**CWSR, **RDNA4_ENV, "env.PYTORCH_NO_HIP_MEMORY_CACHING": ("1", "environment", "applied")},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (NEVER,)},
        {"profiles": ("rdna4",), "with_": ("PYTORCH_NO_HIP_MEMORY_CACHING",)},
    ),
    Case(
        "without leaves a setting out, by its full or its short name",
        {"env.ROCBLAS_USE_HIPBLASLT": ("0", "environment", "applied")},
        host={"kernels": (NEVER,)},
        ask={
            "profiles": ("rdna4",),
            "without": ("cwsr-enable", "env.DISABLE_ADDMM_CUDA_LT", "TORCH_BLAS_PREFER_HIPBLASLT"),
        },
        skipped={"amdgpu.cwsr_enable": "--without", "env.PYTORCH_NO_HIP_MEMORY_CACHING": "optional"},
    ),
    Case(
        "set wins over the profile",
        {"amdgpu.cwsr_enable": ("1", "cmdline", "applied"), **RDNA4_ENV},
        ("amdgpu.cwsr_enable=1",),
        {"kernels": (NEVER,)},
        {"profiles": ("rdna4",), "set": ("amdgpu.cwsr_enable=1",)},
    ),
    Case(
        "a parameter under its kernel-argument name is the parameter",
        {"amdgpu.runpm": ("0", "cmdline", "applied")},
        ("amdgpu.runpm=0",),
        ask=sets("karg.amdgpu.runpm=0"),
    ),
    Case(
        "dashes in a parameter's name are underscores",
        {"amdgpu.cwsr_enable": ("0", "cmdline", "applied")},
        ("amdgpu.cwsr_enable=0",),
        ask=sets("amdgpu.cwsr-enable=0"),
    ),
    Case(
        "one switch for a bool of an older kernel and an int of a newer one is written so that both read it",
        {"amdgpu.enforce_isolation": ("1", "cmdline", "applied")},
        ("amdgpu.enforce_isolation=1",),
        {"kernels": (FIXED, "6.16.3+deb13-amd64")},
        sets("amdgpu.enforce_isolation=1"),
    ),
    Case(
        "two profiles that agree are one",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (NEVER,)},
        {"profiles": ("rdna4", "gfx1201")},
    ),
    Case(
        "auto takes the profile of the graphics card, not that of the integrated GPU beside it",
        {**CWSR, **RDNA4_ENV},
        ("amdgpu.cwsr_enable=0",),
        {"kernels": (NEVER,), "gfx": ("gfx1201", "gfx1036")},
        {"profiles": ("auto",)},
        notes=("RC2025",),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_plan(tmp_path: Path, case: Case) -> None:
    made = plan(LocalHost(str(debian_grub_host(tmp_path, **case.host))), **case.ask)
    rows = {r.setting.id: (r.setting.text, r.setting.channel.value, r.outcome) for r in made.rows}
    assert rows == dict(case.settings)
    line = made.command_line
    assert line is not None
    added = Counter(line.after) - Counter(line.before)
    assert added == Counter(case.line), "ours come to what is there, at their place"
    assert not Counter(line.before) - Counter(line.after), "nothing of others goes"
    reasons = {s.setting: s.reason for s in made.skipped}
    for setting, reason in case.skipped.items():
        assert reason in reasons[setting]
    assert set(case.notes) <= {d.id for d in made.diagnostics}
    assert not [d for d in made.diagnostics if d.severity.value == "error"]
    _files_hold(made)


def _files_hold(made: Plan) -> None:
    """Each file has just the settings of its target that are not adopted, and GRUB is run for its drop-in."""
    files = {c.path: (c.after or b"").decode() for c in made.changes}
    wanted = {
        "/etc/default/grub.d/zz-rocmcfg.cfg": [
            r.setting.karg for r in made.rows if r.setting.channel == "cmdline" and r.outcome != "adopted"
        ],
        "/etc/modprobe.d/zz-rocmcfg.conf": [
            r.setting.karg.removeprefix("amdgpu.") for r in made.rows if r.setting.channel == "modprobe"
        ],
        "/etc/environment.d/90-rocmcfg.conf": [
            r.setting.karg for r in made.rows if r.setting.channel == "environment"
        ],
    }
    for path, texts in wanted.items():
        assert (path in files) == bool(texts), path
        for text in texts:
            assert text in files[path]
    tools = [a.tool for a in made.due]
    assert ("update-grub" in tools) == ("/etc/default/grub.d/zz-rocmcfg.cfg" in files)
    assert len([p for p in files if "rocmcfg" not in p]) == 0, "a file that is not ours"
