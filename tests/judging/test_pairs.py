"""Pairs of kernel and ROCm that do not work together, and the setting that helps with others: AMD's table."""

from __future__ import annotations

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.judging.conditions import decide
from rocmcfg.judging.pairs import unworkable
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.facts import Facts
from rocmcfg.model.version import parse_version
from tests.judging.test_conditions import HOST, gpu, kernel, torch

# https://rocm.docs.amd.com/en/latest/reference/system-optimization/rdna3-5.html
OLD, NEW, OEM, HWE = "6.17.9", "7.2.13", "6.14.0-1018-oem", "6.17.0-19-generic"
TOO_OLD_ROCM, TOO_OLD_KERNEL = "strix-rocm-before-72", "strix-rocm-720-old-kernel"
TABLE = [  # kernel, ROCm, the pair that is warned of, whether amdgpu.cwsr_enable=0 is set
    (NEW, "7.1.1", TOO_OLD_ROCM, False),
    (NEW, "6.4.3", TOO_OLD_ROCM, False),
    (NEW, "7.9.0", TOO_OLD_ROCM, False),
    (NEW, "7.10.0", TOO_OLD_ROCM, False),
    (NEW, "7.2.0", "", False),
    (NEW, "7.2.1", "", False),
    (NEW, "7.11.0", "", False),
    (NEW, "10.0.0", "", False),
    ("6.18.4", "7.1.1", TOO_OLD_ROCM, False),
    ("6.12.64", "7.1.1", TOO_OLD_ROCM, False),
    (HWE, "7.1.1", TOO_OLD_ROCM, False),
    (OEM, "7.1.1", TOO_OLD_ROCM, False),
    (OEM, "7.2.0", "", False),
    ("6.17.0-18-generic", "7.1.1", "", True),
    ("6.14.0-1017-oem", "7.2.0", TOO_OLD_KERNEL, False),
    ("6.14.0-37-generic", "7.2.0", TOO_OLD_KERNEL, False),
    (OLD, "7.1.1", "", True),
    (OLD, "7.10.0", "", True),
    (OLD, "7.2.0", TOO_OLD_KERNEL, False),
    (OLD, "7.2.1", "", True),
    (OLD, "7.12.0", "", True),
    ("6.12.0-55.el10.x86_64", "7.1.1", "", None),
]


def host(release: str, rocm: str, gfx: str = "gfx1151", *, source: str = "/opt/rocm/.info/version") -> Facts:
    rocm_of_host = parse_version(rocm)
    return HOST._replace(gpus=(gpu(gfx),), kernels=(kernel(release),), rocm=rocm_of_host, rocm_source=source)


def told(facts: Facts) -> list[str]:
    warnings = unworkable(facts, catalogue.known_issues(), catalogue.load())
    return [warning.hint.rpartition("rocmcfg explain ")[2].rstrip("`)") for warning in warnings]


@pytest.mark.parametrize(("release", "rocm", "pair", "needed"), TABLE)
def test_strix_halo_is_told_what_does_not_work_together(
    release: str, rocm: str, pair: str, needed: bool | None
) -> None:
    facts = host(release, rocm)
    assert told(facts) == ([pair] if pair else [])
    (shipped,) = profiles.load(LocalHost("/nonexistent-root"), ["gfx1151"])
    cwsr = next(setting for setting in shipped.settings if setting.id == "amdgpu.cwsr_enable")
    assert decide(cwsr.when, facts, catalogue.load()).holds is needed


@pytest.mark.parametrize(
    ("gfx", "release", "rocm", "pair"),
    [
        ("gfx1012", "6.12.107", "10.0.0", "rdna1-rocm10-no-queue"),
        ("gfx1010", "7.2.13", "10.1", "rdna1-rocm10-no-queue"),
        ("gfx1012", "6.8.12", "10.0.0", ""),
        ("gfx1012", "6.12.107", "7.14.0", ""),
        ("gfx1030", "6.12.107", "10.0.0", ""),
    ],
)
def test_rdna1_is_told_of_rocm_10(gfx: str, release: str, rocm: str, pair: str) -> None:
    assert told(host(release, rocm, gfx)) == ([pair] if pair else [])


def test_only_what_is_certain_is_told() -> None:
    """A distribution's ROCm may have taken the fix, a wheel brings AMD's, DKMS replaces the kernel's half."""
    theirs = host(NEW, "7.1.1", source="/usr/include/rocm-core/rocm_version.h")
    assert told(theirs) == []
    assert told(theirs._replace(pytorch=(torch((2, 9, 1), (7, 1)),))) == [TOO_OLD_ROCM]
    assert told(host(NEW, "7.1.1")._replace(kernels=(kernel(NEW, dkms=True),))) == []
