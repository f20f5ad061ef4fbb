"""What posts about GPU faults really say: every wrong line is found, and no right one is accused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rocmcfg.model.facts import Machine
from tests.lint.judging import judged, machine, told

DATA = Path(__file__).parent / "data"
STABILITY = [
    ("amdgpu.gfxoff=0", "unknown", 3),
    ("gfxoff=0", "unknown", 1),
    ("/sys/module/amdgpu/parameters/gfxoff", "unknown", 1),
    ("amdgpu.tmz=0", "no_effect", 1),
    ("amdgpu.sg_display=0", "no_effect", 1),
    ("amdgpu.dcdebugmask=0x10", "no_effect", 1),
    ("dcdebugmask=16", "no_effect", 1),
    ("amdgpu.gpu_recovery=1", "taints", 1),
    ("amdgpu.gpu_recovery=1", "default", 1),
    ("gpu_recovery=1", "taints", 1),
    ("gpu_recovery=1", "default", 1),
    ("amdgpu.ppfeaturemask=0xfffd3fff", "side_effect", 1),
    ("PYTORCH_ROCM_ARCH=\"gfx1100\"", "build_only", 1),
    ("PYTORCH_HIP_ALLOC_CONF=garbage_collection_threshold:0.8,max_split_size_mb:512", "deprecated", 1),
]  # fmt: skip
ON_THE_CARD = [*STABILITY, ("HSA_OVERRIDE_GFX_VERSION=11.0.0", "default", 1)]
CONVOLUTION = [
    ("AMD_SERIALIZE_KERNEL=3", "debugging", 1),
    ("HSA_OVERRIDE_GFX_VERSION=10.3.0", "dangerous", 2),
    ("PYTORCH_ROCM_ARCH=gfx1030", "build_only", 1),
    ("GPU_DEVICE_ORDINAL=0", "no_effect", 1),
    ("MIOPEN_FIND_ENFORCE=3", "misread", 1),
    ("os.environ['TORCH_USE_HIPBLASLT'] = '0'", "unknown", 1),
    ("MIOPEN_DEBUG_CONV_WINOGRAD=1", "default", 1),
    ("noretry=0", "inverted", 2),
    ("vm_fragment_size=9", "default", 1),
    ("vm_update_mode=0", "no_effect", 1),
    ("gtt_size=8192", "misspelt", 1),
    ("HSA_USE_SVM=0", "misread", 1),
    ("HSA_XNACK=0", "no_effect", 1),
    ("TORCH_USE_HIPBLASLT=1", "unknown", 1),
]


@pytest.mark.parametrize(
    ("name", "on", "expected"),
    [
        ("stability.txt", machine("gfx1100"), ON_THE_CARD),
        ("convolution.txt", machine("gfx1010"), CONVOLUTION),
    ],
    ids=["stability", "convolution"],
)
def test_every_wrong_line_is_found_and_no_right_one_is_accused(
    name: str, on: Machine, expected: list[tuple[str, str, int]]
) -> None:
    found = Counter(told(judged(name, (DATA / name).read_text(), on)))
    assert found == Counter({(text, kind): count for text, kind, count in expected})


def test_without_a_known_gpu_the_same_lines_are_found_as_remarks() -> None:
    checked = judged("stability.txt", (DATA / "stability.txt").read_text())
    kinds = dict(told(checked))
    assert kinds["amdgpu.tmz=0"] in ("no_effect", "default")
    assert kinds["amdgpu.sg_display=0"] == "no_effect"
    assert kinds["amdgpu.dcdebugmask=0x10"] == "no_effect"
    for finding in checked.findings:
        if finding.remark.kind == "no_effect":
            assert finding.remark.severity.value == "info"
            assert finding.spelt.text is None, "nobody is told to take out what may act elsewhere"


def test_a_document_about_another_gpu_is_not_accused_of_this_one() -> None:
    text = "`HSA_OVERRIDE_GFX_VERSION=10.3.0`, `amdgpu.sg_display=0`\n"
    assert told(judged("a.md", text, machine("gfx1031"))) == [("amdgpu.sg_display=0", "no_effect")]
    assert [k for _, k in told(judged("a.md", text, machine("gfx1036")))] == []


def test_an_example_keeps_its_lines_where_they_end_in_crlf() -> None:
    text = "```sh\r\n# as a comment says\r\nexport TORCH_USE_HIPBLASLT=0\r\n```\r\n"
    assert told(judged("a.md", text)) == [("TORCH_USE_HIPBLASLT=0", "unknown")]
