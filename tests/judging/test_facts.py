"""What is said of single settings: facts that were wrong once, each with its right value.

A verdict is `about`, or the kind of its trap; with `?` behind it where it cannot be told on the machine.
"""

from __future__ import annotations

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.judging.conditions import decide
from rocmcfg.judging.judge import judge
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import split
from rocmcfg.model.version import parse_version
from tests.judging.test_conditions import HOST, gpu, kernel, torch

EMPTY = LocalHost("/nonexistent-root")
CACHING = "env.PYTORCH_NO_HIP_MEMORY_CACHING"


def verdicts(setting: str, gfx: str = "", release: str = "", pytorch: str = "") -> list[str]:
    machine = Machine(
        (kernel(release),) if release else (),
        (gpu(gfx),) if gfx else (),
        (torch(parse_version(pytorch) or ()),) if pytorch else (),
    )
    judged = judge(split(setting), machine, catalogue.load(), catalogue.known_issues())
    names = ((verdict.trap_kind or verdict.about.name.lower(), verdict.holds) for verdict in judged)
    return [name if holds else f"{name}?" for name, holds in names]


@pytest.mark.parametrize(
    ("setting", "pytorch", "said"),
    [
        # pytorch pull request 145905, in 2.7; c10/util/env.cpp (check_env)
        (f"{CACHING}=0", "2.6.0", ["presence_only"]),
        (f"{CACHING}=0", "2.7.0", []),
        (f"{CACHING}=0", "2.12.0", []),
        (f"{CACHING}=0", "", ["presence_only?"]),
        (f"{CACHING}=false", "", ["presence_only?"]),
        (f"{CACHING}=false", "2.9.1", ["illegal"]),
        (f"{CACHING}=1", "", []),
        (f"{CACHING}=1", "2.6.0", []),
        (f"{CACHING}=1", "2.9.1", []),
        (f"{CACHING}=yes", "2.6.0", []),
        (f"{CACHING}=yes", "2.9.1", ["illegal"]),
        (f"{CACHING}=yes", "", ["illegal"]),
        ("env.PYTORCH_NO_CUDA_MEMORY_CACHING=0", "", ["presence_only?"]),
        ("env.PYTORCH_NO_CUDA_MEMORY_CACHING=0", "2.8.0", []),
    ],
)
def test_what_pytorch_makes_of_a_value_depends_on_its_release(
    setting: str, pytorch: str, said: list[str]
) -> None:
    assert verdicts(setting, pytorch=pytorch) == said


OVERRIDE = "env.HSA_OVERRIDE_GFX_VERSION"


@pytest.mark.parametrize(
    ("setting", "gfx", "said"),
    [
        # display/amdgpu_dm/amdgpu_dm_audio.c reads it on every GPU
        ("amdgpu.audio=0", "gfx1100", []),
        ("amdgpu.audio=0", "gfx1151", []),
        ("amdgpu.deep_color=1", "gfx1100", ["no_effect"]),
        # amdgpu_device_should_recover_gpu says yes before it looks at the list of chips
        ("amdgpu.gpu_recovery=1", "gfx1013", ["default", "taints"]),
        ("amdgpu.gpu_recovery=1", "gfx1100", ["default", "taints"]),
        # gmc_v12_1.c
        ("amdgpu.mtype_local=1", "gfx1250", ["taints"]),
        ("amdgpu.mtype_local=1", "gfx1201", ["no_effect", "taints"]),
        # ROCR-Runtime#354; ROCm#4557 on registers
        (f"{OVERRIDE}=", "gfx1151", ["dangerous"]),
        (f"{OVERRIDE}=", "", ["dangerous"]),
        (f"{OVERRIDE}=11.0.0", "gfx1102", ["dangerous"]),
        (f"{OVERRIDE}=11.0.0", "gfx1103", ["dangerous"]),
        (f"{OVERRIDE}=11.0.0", "gfx1150", ["dangerous"]),
        (f"{OVERRIDE}=11.0.0", "gfx1152", ["dangerous"]),
        (f"{OVERRIDE}=11.0.0", "gfx1151", ["obsolete"]),
        (f"{OVERRIDE}=11.0.0", "gfx1101", []),
        (f"{OVERRIDE}=11.0.0", "gfx1100", ["default"]),
        # clr rocclr/utils/flags.hpp has none of them
        ("env.GPU_MAX_ALLOC_PERCENT=100", "gfx1100", ["misnamed"]),
        ("env.GPU_USE_SYNC_OBJECTS=1", "gfx1100", ["misnamed"]),
        ("env.GPU_FORCE_64BIT_PTR=1", "gfx1100", ["misnamed"]),
        ("env.ROC_ENABLE_PRE_VEGA=1", "gfx1100", ["no_effect"]),
        ("env.ROC_ENABLE_PRE_VEGA=1", "gfx803", []),
        ("env.GPU_SINGLE_ALLOC_PERCENT=100", "gfx1100", []),
        ("env.TORCH_USE_HIP_DSA=1", "gfx1100", ["build_only"]),
        ("env.OLLAMA_VULKAN=1", "gfx1100", []),
        ("env.OLLAMA_LLM_LIBRARY=vulkan", "gfx1100", []),
        ("env.MIOPEN_DEBUG_AMD_WINOGRAD_FURY_RXS_F2X3=0", "gfx1103", []),
        ("env.MIOPEN_DEBUG_AMD_WINOGRAD_FURY_RXS_F3X2=never", "gfx1103", ["illegal"]),
        ("karg.amd_iommu=off", "gfx1151", ["costly"]),
    ],
)
def test_a_setting_is_judged_by_what_its_reader_does(setting: str, gfx: str, said: list[str]) -> None:
    assert sorted(verdicts(setting, gfx, "7.3.4")) == sorted(said)


def test_what_was_measured_slower_is_not_proposed_for_speed() -> None:
    """kyuz0/amd-strix-halo-toolboxes#66: iommu=pt was the slow arm beside amd_iommu=off."""
    (verdict,) = judge(split("karg.amd_iommu=off"), Machine(), catalogue.load())
    assert "measured" in verdict.why
    assert verdict.instead is None


PROFILES = {p.name: p for p in profiles.load(EMPTY, profiles.names(EMPTY))}
WRW53 = "env.MIOPEN_DEBUG_CONV_DIRECT_OCL_WRW53"
WRW2 = "env.MIOPEN_DEBUG_CONV_DIRECT_OCL_WRW2"


@pytest.mark.parametrize(
    ("profile", "id", "optional", "confidence"),
    [
        # MIOpen#3540: WRW53 gives wrong gradients, and is picked sooner without the other two
        ("rdna2", WRW53, False, "reported"),
        ("gfx1031", WRW53, False, "reported"),
        ("gfx1031", WRW2, False, "confirmed"),
        # nobody reported the fault on RDNA 1
        ("rdna1", WRW53, False, "asked for"),
        ("rdna1", WRW2, False, "asked for"),
        ("rdna1", "env.MIOPEN_DEBUG_CONV_GEMM", False, "asked for"),
        # the three that the mission asks for, each with what is known of it
        ("rdna3", "feature.gfxoff", False, "asked for"),
        ("rdna3", "amdgpu.runpm", False, "reported"),
        ("rdna3", "amdgpu.tmz", False, "asked for"),
        ("gfx1103", "env.HSA_ENABLE_SDMA", True, "asked for"),
        # AMD's acceptance guides
        ("mi350x", "karg.pci", False, "confirmed"),
        ("mi350x", "karg.numa_balancing", False, "confirmed"),
        ("gfx1152", "ttm.pages_limit", False, "confirmed"),
    ],
)
def test_a_setting_has_the_confidence_that_its_source_gives(
    profile: str, id: str, optional: bool, confidence: str
) -> None:
    setting = next(setting for setting in PROFILES[profile].settings if setting.id == id)
    assert (setting.optional, setting.confidence) == (optional, confidence)


@pytest.mark.parametrize(
    ("profile", "id", "rocm", "needed"),
    [
        # rocm-systems pull request 7183 is of June 2026
        ("rccl-rdna4", "env.NCCL_PROTO", "7.1.1", False),
        ("rccl-rdna4", "env.NCCL_PROTO", "7.10.0", False),
        ("rccl-rdna4", "env.NCCL_PROTO", "7.2.0", True),
        ("rccl-rdna4", "env.NCCL_PROTO", "7.11.0", True),
        ("rccl-rdna4", "env.NCCL_PROTO", "7.13.0", True),
        ("rccl-rdna4", "env.NCCL_PROTO", "7.14.0", False),
        # the over-read is in the preview 7.10.0 as in 7.1.1
        ("gfx1201", "env.ROCBLAS_USE_HIPBLASLT", "7.10.0", True),
        ("gfx1201", "env.ROCBLAS_USE_HIPBLASLT", "7.0.2", False),
        ("gfx1201", "amdgpu.cwsr_enable", "7.10.0", True),
        ("gfx1201", "amdgpu.cwsr_enable", "7.11.0", False),
    ],
)
def test_a_setting_is_for_the_releases_that_its_source_names(
    profile: str, id: str, rocm: str, needed: bool
) -> None:
    setting = next(setting for setting in PROFILES[profile].settings if setting.id == id)
    two = (gpu("gfx1201"), gpu("gfx1201"))
    facts = HOST._replace(gpus=two, kernels=(kernel("6.17.9"),), rocm=parse_version(rocm))
    assert decide(setting.when, facts, catalogue.load()).holds is needed


@pytest.mark.parametrize(
    ("id", "kernel_release", "fixed"),
    [("bc250-gpu-info-missing", "7.3.4", True), ("bc250-gpu-info-missing", "6.17.9", False)],
)
def test_a_fault_ends_with_the_kernel_that_was_read(id: str, kernel_release: str, fixed: bool) -> None:
    issue = next(issue for issue in catalogue.known_issues() if issue.id == id)
    assert issue.fixed_kernels is not None
    assert issue.fixed_kernels.contains(parse_version(kernel_release) or ()) is fixed
