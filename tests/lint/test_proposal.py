"""The proposals of --fix: what the files would look like, and nothing is written."""

from __future__ import annotations

import pytest

from rocmcfg.knowledge import catalogue
from rocmcfg.lint import proposal
from rocmcfg.lint.check import check, mended
from rocmcfg.lint.wording import Knowledge
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
    "a mask that loses, beside one that does nothing there": (
        "cmdline",
        "quiet amdgpu.dcdebugmask=0xfff amdgpu.dcdebugmask=0x10\n",
        "quiet\n",
    ),
    "a mask of a default without bits": (
        "cmdline",
        "amdgpu.dcdebugmask=0xfff\n",
        "amdgpu.dcdebugmask=0xfff\n",
    ),
    "the default that wins over what recovery entries get": (
        "/etc/default/grub",
        'GRUB_CMDLINE_LINUX="amdgpu.runpm=1"\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm=-1"\n',
        'GRUB_CMDLINE_LINUX="amdgpu.runpm=1"\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm=-1"\n',
    ),
    "neighbours of which the first one stands at the start": (
        "cmdline",
        "amdgpu.runpm=0 amdgpu.runpm=0 amdgpu.runpm=1 amdgpu.runpm=0\n",
        "amdgpu.runpm=0\n",
    ),
    "nothing": ("a.env", "HSA_XNACK=$X\n", "HSA_XNACK=$X\n"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_proposal(name: str) -> None:
    file, before, after = CASES[name]
    checked = judged(file, before, machine("gfx1100"))
    assert proposal.proposed(checked) == after
    again = judged(file, after, machine("gfx1100"))
    assert proposal.proposed(again) == after, "what is proposed has nothing left to propose"
    assert bool(proposal.diff(checked, after)) == (before != after)


def test_quotes_that_docker_takes_for_part_of_a_value_are_not_doubled() -> None:
    (finding,) = judged("env.list", 'TORCH_USE_HIPBLASLT="0"\n').findings
    assert finding.spelt.text == 'TORCH_BLAS_PREFER_HIPBLASLT="0"'


def test_what_a_proposal_calls_for_is_proposed_with_it() -> None:
    knowledge = Knowledge(catalogue.load(), machine("gfx1100"))
    checked = check("cmdline", "amdgpu.lockup_timout=1 amdgpu.lockup_timeout=2\n", knowledge)
    assert mended(checked, knowledge) == "amdgpu.lockup_timeout=2\n"
