"""Whether a setting is needed: yes, no (and since what), or unknown. Facts in, one decision out."""

from __future__ import annotations

from typing import Any

import pytest

from rocmcfg.judging.conditions import decide
from rocmcfg.knowledge import catalogue
from rocmcfg.model.facts import BootChain, Driver, Facts, Gpu, Kernel, Os, PyTorch
from rocmcfg.model.profile import Condition
from rocmcfg.model.version import Version, parse_kernel, parse_range, parse_rocm_range


def kernel(release: str, *, dkms: bool = False, running: bool = False) -> Kernel:
    version = parse_kernel(release)
    assert version is not None
    return Kernel(release, version, Driver.MODULE, dkms, running)


def gpu(gfx: str | None, *, integrated: bool = False) -> Gpu:
    return Gpu(gfx, str(gfx), "kfd", integrated=integrated)


def torch(version: Version, rocm: Version | None = None, *, own: bool = False) -> PyTorch:
    return PyTorch(version, ".".join(map(str, version)), rocm, "/x", own)


HOST = Facts(Os("", "", ""), (), "", (), None, "", BootChain(None, (), ()), "", True)
NAVI48, NAVI31, RAPHAEL = gpu("gfx1201"), gpu("gfx1100"), gpu("gfx1036", integrated=True)


def when(**parts: Any) -> Condition:
    readers = {"kernel": parse_range, "rocm": parse_rocm_range, "pytorch": parse_range, "gpus": parse_range}
    ranges = {name: readers[name](value) for name, value in parts.items() if name in readers}
    return Condition(**{**parts, **ranges})


TABLE: dict[str, tuple[Condition, dict[str, Any], bool | None, str]] = {
    # -- PyTorch
    "PyTorch inside": (when(pytorch="<2.9"), {"pytorch": (torch((2, 8, 0)),)}, True, "PyTorch 2.8.0 is <2.9"),
    "PyTorch past it": (when(pytorch="<2.9"), {"pytorch": (torch((2, 9, 1)),)}, False, "since PyTorch 2.9"),
    "PyTorch before it": (when(pytorch=">=2.9"), {"pytorch": (torch((2, 8, 0)),)}, False, "not needed: "),
    "no PyTorch": (when(pytorch="<2.9"), {}, None, "no system-wide PyTorch"),
    "one of two PyTorches is enough": (
        when(pytorch="<2.9"),
        {"pytorch": (torch((2, 8, 0)), torch((2, 9, 1)))},
        True,
        "PyTorch 2.8.0 is",
    ),
    "the caller's PyTorch counts alone": (
        when(pytorch="<2.9"),
        {"pytorch": (torch((2, 9, 1), own=True), torch((2, 8, 0)))},
        False,
        "PyTorch 2.9.1 is not",
    ),
    # -- ROCm
    "the system's ROCm past it": (when(rocm=">=7.0,<7.2"), {"rocm": (7, 2, 0)}, False, "since ROCm 7.2"),
    "the system's ROCm before it": (when(rocm=">=7.0,<7.2"), {"rocm": (6, 4)}, False, "not needed: ROCm 6.4"),
    "a wheel's ROCm inside": (
        when(rocm=">=7.0,<7.2"),
        {"rocm": (7, 2, 0), "pytorch": (torch((2, 9, 1), (7, 1)),)},
        True,
        "ROCm 7.1 of PyTorch 2.9.1",
    ),
    "a wheel that does not tell its patch level": (
        when(rocm=">7.0.2"),
        {"pytorch": (torch((2, 9, 1), (7, 0)),)},
        None,
        "whether ROCm 7.0 of PyTorch 2.9.1",
    ),
    "a wheel at the bound that is not included": (
        when(rocm=">=7.0,<7.2"),
        {"pytorch": (torch((2, 11, 0), (7, 2)),)},
        False,
        "since ROCm 7.2: ROCm 7.2 of PyTorch 2.11.0",
    ),
    "a range within that patch level": (
        when(rocm=">=7.0.1,<7.0.3"),
        {"pytorch": (torch((2, 9, 1), (7, 0)),)},
        None,
        "it is unknown whether",
    ),
    "the wheel of the caller's environment counts alone": (
        when(rocm=">=7.0,<7.2"),
        {"rocm": (7, 1, 0), "pytorch": (torch((2, 12, 0), (7, 2, 3), own=True),)},
        False,
        "since ROCm 7.2: ROCm 7.2.3 of PyTorch 2.12.0",
    ),
    "a wheel of the caller that names no ROCm leaves the system's": (
        when(rocm=">=7.0,<7.2"),
        {"rocm": (7, 1, 0), "pytorch": (torch((2, 12, 0), own=True),)},
        True,
        "ROCm 7.1.0",
    ),
    "a preview that is numbered ahead of it": (
        when(rocm=">=7.0,<7.2"),
        {"rocm": (7, 10, 0)},
        True,
        "ROCm 7.10.0 is >=7.0,<7.2",
    ),
    "a wheel of a preview": (
        when(rocm=">=7.2.1"),
        {"pytorch": (torch((2, 9, 1), (7, 9)),)},
        False,
        "not needed: ROCm 7.9 of",
    ),
    "a preview that is numbered by time": (
        when(rocm=">=7.0,<7.2"),
        {"rocm": (7, 11, 0)},
        False,
        "since ROCm 7.2: ROCm 7.11.0",
    ),
    # -- kernels
    "a kernel that hides its stable level": (
        when(kernel=">=6.8.3"),
        {"kernels": (kernel("6.8.0-90-generic"),)},
        None,
        "whether kernel 6.8.0-90-generic",
    ),
    "its series is enough where the range asks no more": (
        when(kernel=">=6.8"),
        {"kernels": (kernel("6.8.0-90-generic"),)},
        True,
        "is >=6.8",
    ),
    "a hidden stable level of the series that ends the range": (
        when(kernel="<6.19"),
        {"kernels": (kernel("6.19.0-3-generic"),)},
        False,
        "since kernel 6.19",
    ),
    "every kernel past the range": (
        when(kernel="<6.19"),
        {"kernels": (kernel("6.19.1"), kernel("7.0.2"))},
        False,
        "since kernel 6.19: kernels 6.19.1, 7.0.2 are not <6.19",
    ),
    "a fix names the releases that brought it": (
        when(lacks_fix="cwsr-save-area-size"),
        {"kernels": (kernel("6.18.5"), kernel("6.19.0"))},
        False,
        "since kernel 6.12.64, 6.18.4 and 6.19: every installed kernel",
    ),
    # -- GPUs and driver
    "two of them": (when(gpus=">=2"), {"gpus": (NAVI48, NAVI48)}, True, "2 GPUs here"),
    "an iGPU is not counted beside a card": (when(gpus=">=2"), {"gpus": (NAVI48, RAPHAEL)}, False, "1 GPU "),
    "those of the target are counted": (
        when(gpus=">=2", gfx=("gfx1201",)),
        {"gpus": (NAVI48, NAVI31)},
        False,
        "1 gfx1201 GPU here",
    ),
    "an unknown GPU may be one": (when(gpus=">=2"), {"gpus": (NAVI48, gpu(None))}, None, "is unknown"),
    "no GPU seen": (when(gpus=">=2"), {}, None, "is unknown"),
    "an unknown GPU may be the one asked for": (
        when(gfx=("gfx1100",)),
        {"gpus": (gpu(None),)},
        None,
        "known",
    ),
    "an iGPU present": (when(igpu=True), {"gpus": (NAVI48, RAPHAEL)}, True, "gfx1036"),
    "an iGPU present where none may be": (when(igpu=False), {"gpus": (NAVI48, RAPHAEL)}, False, "gfx1036"),
    "no iGPU": (when(igpu=False), {"gpus": (NAVI48,)}, True, "no integrated GPU"),
    "no GPU, so no iGPU is seen": (when(igpu=False), {}, None, "it is unknown whether"),
    "DKMS": (when(dkms=True), {"kernels": (kernel("6.8.1", dkms=True), kernel("6.12.1"))}, True, "6.8.1 has"),
    "no DKMS": (
        when(dkms=True),
        {"kernels": (kernel("6.12.1"),)},
        False,
        "no installed kernel has AMD's DKMS",
    ),
    "without DKMS": (when(dkms=False), {"kernels": (kernel("6.12.1"),)}, True, "has its own driver"),
    "no kernel": (when(dkms=True), {}, None, "no kernel"),
    # -- several parts
    "a part that fails decides before an unknown one": (
        when(rocm=">=7.0", gpus=">=2"),
        {"gpus": (NAVI48,)},
        False,
        "not needed: 1 GPU",
    ),
    "what never applied is not called over": (
        when(rocm=">=7.0,<7.2", gpus=">=2"),
        {"gpus": (NAVI48,), "rocm": (7, 2, 0)},
        False,
        "not needed: ",
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_decision(name: str) -> None:
    condition, facts, holds, said = TABLE[name]
    decision = decide([condition], HOST._replace(**facts), catalogue.load())
    assert decision.holds is holds
    assert said in decision.text, decision.text


SAVE_AREA = (when(lacks_fix="cwsr-save-area-size"), when(rocm="<7.2.1"))


@pytest.mark.parametrize(
    ("release", "rocm", "holds"),
    [
        ("6.17.8", (7, 1, 0), True),
        ("6.17.8", (7, 2, 1), True),
        ("6.18.4", (7, 1, 0), True),
        ("6.18.4", None, None),
        ("6.17.8", None, True),
        ("6.18.4", (7, 2, 1), False),
    ],
)
def test_of_two_alternatives_one_is_enough(release: str, rocm: Version | None, holds: bool | None) -> None:
    """What ends the need is said of both."""
    decision = decide(SAVE_AREA, HOST._replace(kernels=(kernel(release),), rocm=rocm), catalogue.load())
    assert decision.holds is holds
    if holds is False:
        assert decision.since == "kernel 6.12.64, 6.18.4 and 6.19 and ROCm 7.2.1"
