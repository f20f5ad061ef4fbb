"""A post that recommends a wrong setting is told so, whatever other words stand around it; one that calls it
wrong is not."""

from __future__ import annotations

import pytest

from tests.lint.judging import judged, told

RECOMMENDED = [
    "To avoid crashes, set amdgpu.gfxoff=0",
    "Avoid freezes with amdgpu.gtt_size=8192.",
    "I drop it into GRUB: amdgpu.gfxoff=0",
    "If the wrong GPU is chosen, export HIP_VISBLE_DEVICES=0 helps",
    "If the wrong GPU is chosen, `export HIP_VISBLE_DEVICES=0` helps",
    "```bash\nexport TORCH_USE_HIPBLASLT=0  # avoids the wrong library\n```",
    "After I removed the old driver, `amdgpu.gfxoff=0` helped.",
    "Instead of reinstalling I set `amdgpu.gfxoff=0`.",
    "The old way is deprecated; use `amdgpu.gfxoff=0`.",
    "Don't forget to set `amdgpu.gfxoff=0`.",
    "Don't panic: `amdgpu.gfxoff=0` helps.",
    'Add it: kernelstub -a "amdgpu.gfxoff=0" (never -o: it replaces everything)',
    "It never crashed again with `amdgpu.gfxoff=0`.",
    "`amdgpu.gfxoff=0` is not the only one: add `amdgpu.runpm=0`.",
    "There is no other cure than `amdgpu.gfxoff=0`.",
    "Set `amdgpu.gfxoff=0`, wrong clocks otherwise.",
    "| `amdgpu.gfxoff=0` | Avoids the wrong clock |",
    "```sh\n# Don't let it sleep\nexport TORCH_USE_HIPBLASLT=0\n```",
    "`amdgpu.gfxoff=0` has no effect on performance and cures the hang.",
    "Not only amdgpu.gfxoff=0 but more.",
    "Remove quiet and add amdgpu.gfxoff=0.",
    "Why not amdgpu.gfxoff=0?",
    "What was wrong: `amdgpu.gfxoff=0` was missing.",
    "How to avoid: amdgpu.gfxoff=0",
    "Did it crash again? No: `amdgpu.gfxoff=0` cured it.",
    "`amdgpu.gfxoff=0` did not help.",
    "- `amdgpu.gfxoff=0`\n\nDeprecated options:",
    "`amdgpu.gfxoff=0`\nis what I set. Nothing else is wrong.",
    "```\noptions amdgpu noretry=0  # Disable page fault retries\n```",
    "`amdgpu.gfxoff=0` is a workaround for the deprecated firmware",
]
CALLED_WRONG = [
    "Setting `TORCH_USE_HIPBLASLT=0` has no effect.",
    "| `amdgpu.gfxoff=0` | ignored by the kernel |",
    "Do not set `amdgpu.gfxoff=0`.",
    "Don't use `export TORCH_USE_HIPBLASLT=0`, it is read by nothing.",
    "Never `amdgpu.gfxoff=0`.",
    "Avoid `amdgpu.gfxoff=0`; it is unknown.",
    "Avoid setting the parameter amdgpu.gfxoff=0.",
    "Remove `amdgpu.gfxoff=0` from GRUB.",
    "Write `iommu=pt` instead of `amd_iommu=pt`.",
    "Write `iommu=pt`, not `amd_iommu=pt`.",
    "`amdgpu.gfxoff=0` does not exist.",
    "`amdgpu.gfxoff=0` is ignored, `amdgpu.noretry=0` is inverted.",
    "`amdgpu.gfxoff=0` and `amdgpu.gtt_size=1` are unknown to the driver.",
    "Do not set `amdgpu.gfxoff=0` or `amdgpu.gtt_size=1`.",
    "The line amdgpu.gfxoff=0 isn't a parameter.",
    "`amdgpu.gfxoff=0` is not a valid parameter.",
    "`amd_iommu=pt` should be `iommu=pt`.",
    "| wrong | `amdgpu.gfxoff=0` |",
    "| `amdgpu.gfxoff=0` | Does not exist. |",
    "`amdgpu.gfxoff=0` (deprecated)",
    "`amdgpu.gfxoff=0`, which does nothing",
    "There is no `TORCH_USE_HIPBLASLT=0`.",
    "You should never\nset `amdgpu.gfxoff=0`.",
    "```sh\nexport TORCH_USE_HIPBLASLT=0  # WRONG\n```",
    "```sh\n# Don't do this\nexport TORCH_USE_HIPBLASLT=0\n\nexport A=1\n```",
    "```\n# wrong:\noptions amdgpu gfxoff=0 # x\noptions amdgpu gfxoff=0\n# ok:\noptions amdgpu aspm=1\n```",
    "`options amdgpu gfxoff=0` was removed. `amdgpu.gfxoff=0` no longer works.",
    "**Never** set `amdgpu.gfxoff=0`",
]


@pytest.mark.parametrize("text", RECOMMENDED)
def test_everyday_words_hide_no_recommendation(text: str) -> None:
    assert told(judged("a.md", f"{text}\n"))


@pytest.mark.parametrize("text", CALLED_WRONG)
def test_what_is_said_of_a_setting_itself_counts(text: str) -> None:
    assert told(judged("a.md", f"{text}\n")) == []


def test_one_sentence_recommends_and_warns() -> None:
    text = "Never set `amdgpu.gfxoff=0`; to avoid hangs set `amdgpu.noretry=0`, not `amd_iommu=pt`.\n"
    assert told(judged("a.md", text)) == [("amdgpu.noretry=0", "inverted")]
