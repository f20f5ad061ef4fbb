"""The proposals of --fix: what the files would look like, and nothing is written."""

from __future__ import annotations

import pytest

from rocmcfg.lint import proposal
from tests.lint.judging import judged, machine

CASES = {
    "a command line": (
        "/etc/default/grub",
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.gfxoff=0 amdgpu.sg_display=0 iommu=pt"\n',
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.ppfeaturemask=0xfff73fff iommu=pt"\n',
    ),
    "options of which nothing is left": (
        "modprobe.d/a.conf",
        "options amdgpu cwsr_enabel=0 runpm=0 sg_display=0\noptions amdgpu sg_display=0 tmz=0\n\n"
        "options amdgpu dc=1 # x\n",
        "options amdgpu cwsr_enable=0 runpm=0\n\noptions amdgpu dc=1\n",
    ),
    "a script": (
        "a.sh",
        'export TORCH_USE_HIPBLASLT="0"  # why\nPYTORCH_NO_HIP_MEMORY_CACHING=0 python x\n'
        "export PYTORCH_ROCM_ARCH=gfx1100  # gone\nexport A=1 PYTORCH_ROCM_ARCH=gfx1100\n",
        'export TORCH_BLAS_PREFER_HIPBLASLT="0"  # why\npython x\nexport A=1\n',
    ),
    "Python": (
        "a.py",
        "import os\nos.environ['TORCH_USE_HIPBLASLT'] = '0'\nos.environ['PYTORCH_ROCM_ARCH'] = 'x'\n",
        "import os\nos.environ['TORCH_BLAS_PREFER_HIPBLASLT'] = '0'\n",
    ),
    "a document, whose sentences stay whole": (
        "a.md",
        "Set `amdgpu.gfxoff=0` and amdgpu.sg_display=0.\n",
        "Set `amdgpu.ppfeaturemask=0xfff73fff` and amdgpu.sg_display=0.\n",
    ),
    "CRLF": ("a.env", "A=b\r\nTORCH_USE_HIPBLASLT=0\r\n", "A=b\r\nTORCH_BLAS_PREFER_HIPBLASLT=0\r\n"),
    "nothing": ("a.env", "HSA_XNACK=$X\n", "HSA_XNACK=$X\n"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_proposal(name: str) -> None:
    file, before, after = CASES[name]
    checked = judged(file, before, machine("gfx1100"))
    assert proposal.proposed(checked) == after
    again = judged(file, after, machine("gfx1100"))
    assert proposal.proposed(again) == after, "what is proposed has nothing left to propose"
    assert bool(proposal.diff(checked)) == (before != after)


def test_quotes_that_docker_takes_for_part_of_a_value_are_not_doubled() -> None:
    (finding,) = judged("env.list", 'TORCH_USE_HIPBLASLT="0"\n').findings
    assert finding.spelt.text == 'TORCH_BLAS_PREFER_HIPBLASLT="0"'
