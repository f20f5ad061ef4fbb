"""The proposals of --fix: what the files would look like, and nothing is written."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmcfg.advice.lint import proposal
from rocmcfg.advice.lint.check import check, mended, verdicts
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.kinds import PASTED
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.knowledge import catalogue
from rocmcfg.model.diagnostic import Severity
from rocmcfg.model.facts import Machine
from tests.lint.judging import judged, machine, told

CASES = {
    "a command line": (
        "/etc/default/grub",
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.gfxoff=0 amdgpu.sg_display=0 iommu=pt"\n',
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.ppfeaturemask=0xfff73fff iommu=pt"\n',
    ),
    "three command lines for three boots, the second empty": (
        "a.md",
        '```\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.cwsr_enable=0"\nGRUB_CMDLINE_LINUX_DEFAULT=""\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.cwsr_enabel=0"\n```\n',
        '```\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.cwsr_enable=0"\nGRUB_CMDLINE_LINUX_DEFAULT=""\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.cwsr_enable=0"\n```\n',
    ),
    "options of which nothing is left": (
        "modprobe.d/a.conf",
        "options amdgpu cwsr_enabel=0 runpm=0 sg_display=0\noptions amdgpu sg_display=0 tmz=0\n\n"
        "options amdgpu aspm=1 # x\n",
        "options amdgpu cwsr_enable=0 runpm=0\n\noptions amdgpu aspm=1\n",
    ),
    "a script": (
        "a.sh",
        'export TORCH_USE_HIPBLASLT="0"  # why\nPYTORCH_NO_HIP_MEMORY_CACHING=0 python x\n'
        "export PYTORCH_ROCM_ARCH=gfx1100  # gone\nexport A=1 PYTORCH_ROCM_ARCH=gfx1100\n",
        'export TORCH_BLAS_PREFER_HIPBLASLT="0"  # why\npython x\nexport A=1\n',
    ),
    "options that are given nothing else": (
        "a.sh",
        "docker run -e PYTORCH_ROCM_ARCH=gfx1100 -e HSA_ENABLE_SDMA=0 --env=PYTORCH_ROCM_ARCH=x image\n"
        "rpm-ostree kargs --append=amdgpu.sg_display=0 --append='iommu=pt amdgpu.tmz=0'\n",
        "docker run -e HSA_ENABLE_SDMA=0 image\nrpm-ostree kargs --append='iommu=pt'\n",
    ),
    "options that are given words of others too": (
        "a.sh",
        'grubby --update-kernel=ALL --args="rd.luks.uuid=luks-1 amdgpu.nosuch=1"\n'
        'kernelstub -a "quiet amdgpu.nosuch=1"\nqemu-system-x86_64 -append "root=/dev/sda amdgpu.nosuch=1"\n',
        'grubby --update-kernel=ALL --args="rd.luks.uuid=luks-1"\n'
        'kernelstub -a "quiet"\nqemu-system-x86_64 -append "root=/dev/sda"\n',
    ),
    "a value in the place of another": (
        "a.sh",
        "rpm-ostree kargs --replace=amdgpu.runpm=1=0\nrpm-ostree kargs --replace=amdgpu.cwsr_enabel=1=0\n"
        "grubby --args=amdgpu.runpm=1=0 --info=ALL\n",
        "rpm-ostree kargs --replace=amdgpu.runpm=1=0\nrpm-ostree kargs --replace=amdgpu.cwsr_enable=1=0\n"
        "grubby --info=ALL\n",
    ),
    "an option of a program that nobody knows": (
        "a.sh",
        "rocmcfg apply --set amdgpu.sg_display=0\n",
        "rocmcfg apply --set amdgpu.sg_display=0\n",
    ),
    "what is typed behind a prompt": (
        "a.md",
        "```bash\n$ export PYTORCH_ROCM_ARCH=a\n$ grubby --args amdgpu.sg_display=0 --update-kernel X\n```\n",
        "```bash\n$ export PYTORCH_ROCM_ARCH=a\n$ grubby --update-kernel X\n```\n",
    ),
    "an instruction of which nothing is left": (
        "Dockerfile",
        "FROM x\nENV PYTORCH_ROCM_ARCH=a PYTORCH_ROCM_ARCH=b\nENV PATH=x PYTORCH_ROCM_ARCH=c\n",
        "FROM x\nENV PATH=x\n",
    ),
    "a directive of which nothing is left": (
        "a.service",
        '[Service]\nEnvironment=PYTORCH_ROCM_ARCH=a\nEnvironment="A=b" PYTORCH_ROCM_ARCH=b\n',
        '[Service]\nEnvironment="A=b"\n',
    ),
    "a name that nothing reads, set twice alike": (
        "a.service",
        "[Service]\nEnvironment=TORCH_USE_HIPBLASLT=0\nEnvironment=A=b\nEnvironment=TORCH_USE_HIPBLASLT=0\n",
        "[Service]\nEnvironment=A=b\nEnvironment=TORCH_BLAS_PREFER_HIPBLASLT=0\n",
    ),
    "a name that nothing reads, set to two values": (
        "a.env",
        "TORCH_USE_HIPBLASLT=0\nTORCH_USE_HIPBLASLT=1\nA=b\nTORCH_USE_HIPBLASLT=0\n",
        "A=b\nTORCH_BLAS_PREFER_HIPBLASLT=0\n",
    ),
    "a name that is misspelt, set to two values": (
        "a.env",
        "HSA_ENABLE_SMDA=0\nHSA_ENABLE_SMDA=1\nA=b\nHSA_ENABLE_SMDA=0\n",
        "A=b\nHSA_ENABLE_SDMA=0\n",
    ),
    "one that is read first, below the others": (
        "/etc/default/grub",
        'GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runmp=0"\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runmp=1 $GRUB_CMDLINE_LINUX_DEFAULT"\n',
        'GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm=0"\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT"\n',
    ),
    "an earlier one that cannot be taken out": (
        "a.service",
        "[Service]\nEnvironment=A=b \\\n# c\n  TORCH_USE_HIPBLASLT=1\nEnvironment=TORCH_USE_HIPBLASLT=0\n",
        "[Service]\nEnvironment=A=b \\\n# c\n  TORCH_BLAS_PREFER_HIPBLASLT=1\n"
        "Environment=TORCH_BLAS_PREFER_HIPBLASLT=0\n",
    ),
    "the first word of a directive, in quotes": (
        "a.service",
        '[Service]\nEnvironment="PYTORCH_ROCM_ARCH=a" "A=b c"\nEnvironment=\'PYTORCH_ROCM_ARCH=a b\' A=b\n',
        '[Service]\nEnvironment="A=b c"\nEnvironment=A=b\n',
    ),
    "fish": (
        "a.fish",
        "set -gx TORCH_USE_HIPBLASLT '0'\nset --global --export PYTORCH_ROCM_ARCH gfx1100 # c\n"
        "set -x HSA_NO_SCRATCH_RECLAIM \"'1'\"\nif a; set -Ux PYTORCH_ROCM_ARCH x; end\n"
        "set -x HIP_VISIBLE_DEVICES 0 1\nset -e PYTORCH_ROCM_ARCH\nset -l PYTORCH_ROCM_ARCH 0\n",
        "set -gx TORCH_BLAS_PREFER_HIPBLASLT '0'\n"
        'set -x HSA_NO_SCRATCH_RECLAIM "1"\nif a; set -Ux PYTORCH_ROCM_ARCH x; end\n'
        "set -x HIP_VISIBLE_DEVICES 0 1\nset -e PYTORCH_ROCM_ARCH\nset -l PYTORCH_ROCM_ARCH 0\n",
    ),
    "quotes in a value of Python": (
        "a.py",
        "import os\nos.environ['HSA_NO_SCRATCH_RECLAIM'] = \"'1'\"\n",
        "import os\nos.environ['HSA_NO_SCRATCH_RECLAIM'] = \"1\"\n",
    ),
    "quotes in a value of YAML": (
        "a.yml",
        "a:\n  HSA_NO_SCRATCH_RECLAIM: \"'1'\"\n",
        'a:\n  HSA_NO_SCRATCH_RECLAIM: "1"\n',
    ),
    "YAML in braces, and a name above its value": (
        "a.yml",
        "a: {TORCH_USE_HIPBLASLT: 0}\nb:\n- name: TORCH_USE_HIPBLASLT\n  value: '0'\n",
        "a: {TORCH_BLAS_PREFER_HIPBLASLT: 0}\nb:\n- name: TORCH_BLAS_PREFER_HIPBLASLT\n  value: '0'\n",
    ),
    "a quote that belongs to one outside the token": (
        "/etc/default/grub",
        'GRUB_CMDLINE_LINUX_DEFAULT="HSA_ENABLE_SDMA="0" quiet amdgpu.dpm=0"\n',
        'GRUB_CMDLINE_LINUX_DEFAULT="HSA_ENABLE_SDMA="0" quiet"\n',
    ),
    "a token that begins with a quote which a backslash escapes": (
        "/etc/default/grub",
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet \\"amdgpu.gfxoff\\"=0 \\"amdgpu.dpm\\"=0"\n',
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet \\"amdgpu.gfxoff\\"=0 \\"amdgpu.dpm\\"=0"\n',
    ),
    "Python": (
        "a.py",
        "import os\nos.environ['TORCH_USE_HIPBLASLT'] = '0'\nos.environ['PYTORCH_ROCM_ARCH'] = 'x'\n"
        "if a:\n    os.environ['PYTORCH_ROCM_ARCH'] = 'x'\nos.environ['PYTORCH_ROCM_ARCH'] = b = 'x'\n",
        "import os\nos.environ['TORCH_BLAS_PREFER_HIPBLASLT'] = '0'\n\n"
        "if a:\n    os.environ['PYTORCH_ROCM_ARCH'] = 'x'\nos.environ['PYTORCH_ROCM_ARCH'] = b = 'x'\n",
    ),
    "a document, whose sentences stay whole": (
        "a.md",
        "Set `amdgpu.gfxoff=0` and amdgpu.sg_display=0.\n",
        "Set `amdgpu.gfxoff=0` and amdgpu.sg_display=0.\n",
    ),
    "a table of what somebody tried": (
        "post.md",
        "| 4 | Added `amdgpu.gfxoff=0` | crashed |\n\n```\namdgpu.gfxoff=0 quiet\n```\n",
        "| 4 | Added `amdgpu.gfxoff=0` | crashed |\n\n```\namdgpu.ppfeaturemask=0xfff73fff quiet\n```\n",
    ),
    "a script that searches for what it writes": (
        "a.sh",
        "grep -q amdgpu.gfxoff=0 /etc/default/grub ||\n"
        "  sed -i 's/CMDLINE=\"/&amdgpu.gfxoff=0 /' /etc/default/grub\ngrubby --args=amdgpu.noretry=0\n",
        "grep -q amdgpu.gfxoff=0 /etc/default/grub ||\n"
        "  sed -i 's/CMDLINE=\"/&amdgpu.gfxoff=0 /' /etc/default/grub\ngrubby\n",
    ),
    "a wrong name that is also printed": (
        "b.sh",
        "grubby --args='amdgpu.dc_feature_mask=0x2 amdgpu.noretry=0'\n"
        "printf 'amdgpu.dc_feature_mask=0x%x' 2\n",
        "grubby --args='amdgpu.dc_feature_mask=0x2'\nprintf 'amdgpu.dc_feature_mask=0x%x' 2\n",
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
        'GRUB_CMDLINE_LINUX="amdgpu.aspm=1"\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.aspm=-1"\n',
        'GRUB_CMDLINE_LINUX="amdgpu.aspm=1"\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.aspm=-1"\n',
    ),
    "neighbours of which the first one stands at the start": (
        "cmdline",
        "amdgpu.runpm=0 amdgpu.runpm=0 amdgpu.runpm=1 amdgpu.runpm=0\n",
        "amdgpu.runpm=0\n",
    ),
    "the last of continued lines": (
        "a.sh",
        "rpm-ostree kargs --append=quiet \\\n    --append=amdgpu.sg_display=0\nreboot\n",
        "rpm-ostree kargs --append=quiet\nreboot\n",
    ),
    "the last option of continued lines": (
        "a.sh",
        "docker run img \\\n  -e HSA_XNACK=0\nrm x\n",
        "docker run img\nrm x\n",
    ),
    "the last of a continued ENV": (
        "Dockerfile",
        "FROM x\nENV A=b \\\n    HSA_XNACK=0\nRUN make\n",
        "FROM x\nENV A=b\nRUN make\n",
    ),
    "one of several continued lines": (
        "a.sh",
        "docker run \\\n  -e HSA_XNACK=0 \\\n  img\n",
        "docker run \\\n  img\n",
    ),
    "a last line without an end": ("a.env", "A=b\nHSA_XNACK=0", "A=b\n"),
    "a list in quotes": (
        "a.md",
        '```conf\n"T0" "amdgpu.sg_display=0 root=UUID=1 quiet"\n```\n',
        '```conf\n"T0" "root=UUID=1 quiet"\n```\n',
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


def test_quotes_that_docker_takes_for_part_of_a_value_go_with_the_name_that_nothing_reads() -> None:
    (finding,) = judged("env.list", 'TORCH_USE_HIPBLASLT="0"\n').findings
    assert finding.spelt.text == "TORCH_BLAS_PREFER_HIPBLASLT=0"


def test_what_a_proposal_calls_for_is_proposed_with_it() -> None:
    knowledge = Knowledge(catalogue.load(), machine("gfx1100"))
    checked = check("cmdline", "amdgpu.lockup_timout=1 amdgpu.lockup_timeout=20000\n", knowledge)
    assert mended(checked, knowledge) == "amdgpu.lockup_timeout=20000\n"


ONCE = {
    "a feature beside its mask": (
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.ppfeaturemask=0xffffffff amdgpu.gfxoff=0"',
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.ppfeaturemask=0xfff77fff"',
    ),
    "two features": (
        "options amdgpu gfxoff=0 stutter=0",
        "options amdgpu ppfeaturemask=0xfff53fff",
    ),
    "a mask on another line": (
        "options amdgpu gfxoff=0\noptions amdgpu ppfeaturemask=0xffffffff",
        "options amdgpu ppfeaturemask=0xfff77fff",
    ),
    "a name that is right there already": (
        "export TORCH_USE_HIPBLASLT=0\nexport TORCH_BLAS_PREFER_HIPBLASLT=1",
        "export TORCH_BLAS_PREFER_HIPBLASLT=1",
    ),
    "each entry of a menu": (
        "menuentry a {\nlinux /vmlinuz amdgpu.gfxoff=0\n}\nmenuentry b {\nlinux /vmlinuz amdgpu.gfxoff=0\n}",
        "menuentry a {\nlinux /vmlinuz amdgpu.ppfeaturemask=0xfff73fff\n}\n"
        "menuentry b {\nlinux /vmlinuz amdgpu.ppfeaturemask=0xfff73fff\n}",
    ),
    "what asks to be left alone": (
        "options amdgpu ppfeaturemask=0xffffffff # rocmcfg: ignore\noptions amdgpu gfxoff=0",
        "options amdgpu ppfeaturemask=0xffffffff # rocmcfg: ignore\noptions amdgpu gfxoff=0",
    ),
}


@pytest.mark.parametrize("name", ONCE)
def test_in_an_example_a_proposal_writes_a_name_once(name: str) -> None:
    before, after = ONCE[name]
    text = "Do so:\n\n```\n{}\n```\n\nor so:\n\n```\noptions amdgpu runpm=0\n```\n"
    checked = judged("a.md", text.format(before), machine("gfx1100"))
    assert proposal.proposed(checked) == text.format(after)


_OLD, _NEW = "TORCH_USE_HIPBLASLT=0", "TORCH_BLAS_PREFER_HIPBLASLT=0"
_OFF, _MASK = "amdgpu.gfxoff=0", "amdgpu.ppfeaturemask=0xfff73fff"
EACH = {
    "commands of one line": ("a.sh", "OLD python a.py; OLD python b.py && OLD python c.py\n"),
    "exports of a script": ("a.sh", "export OLD; python a.py; export OLD; python b.py\n"),
    "branches": ("a.md", "```sh\nif a; then\nexport OLD\nelse\nexport OLD\nfi\n```\n"),
    "commands of an example": ("a.md", "```sh\nOLD python a.py\nOLD python b.py\n```\n"),
    "commands of an example of no language": ("a.md", "```\nOLD python a.py\nOLD python b.py\n```\n"),
    "a host and a container": ("a.md", "```sh\nexport OLD\ndocker run -e OLD img\n```\n"),
    "what sudo drops": ("a.sh", "OLD sudo OLD python a.py\n"),
    "programs of one command": ("a.sh", "mpirun -x OLD a : -x OLD b\nOLD docker run -e OLD img\n"),
    "two terminals": ("a.md", "```sh\nexport OLD\npython a.py\n# another one\nexport OLD\n```\n"),
    "two files": ("a.md", "```sh\nexport OLD\n# ~/.zshrc\nexport OLD\n```\n"),
    "two environments": ("a.md", "```env\nOLD\n# b.env\nOLD\n```\n"),
    "a sentence that was pasted": (PASTED, "Set OLD or OLD; then OFF and OFF too.\n"),
    "services": (
        "a.md",
        "```yaml\nservices:\n  a:\n    environment:\n      - OLD\n  b:\n    environment:\n      - OLD\n```\n",
    ),
    "stages": ("a.md", "```dockerfile\nFROM a\nENV OLD\nFROM b\nENV OLD\nRUN OLD a && OLD b\n```\n"),
    "units": ("a.md", "```ini\n[Service]\nEnvironment=OLD\n\n[Service]\nEnvironment=OLD\n```\n"),
    "functions": (
        "a.md",
        "```python\nimport os\ndef a():\n    os.environ['TORCH_USE_HIPBLASLT'] = '0'\n"
        "def b():\n    os.environ['TORCH_USE_HIPBLASLT'] = '0'\n```\n",
    ),
    "pasted commands": ("", "OLD python a.py; OLD python b.py\n"),
    "entries of systemd-boot": (
        "a.md",
        "```\ntitle a\nlinux /a\noptions root=UUID=1 OFF\n\n"
        "title b\nlinux /b\noptions root=UUID=2 OFF\n```\n",
    ),
    "entries of GRUB": ("a.md", "```\nlinux /vmlinuz root=UUID=1 OFF\nlinux /vmlinuz root=UUID=2 OFF\n```\n"),
    "boot tools": (
        "a.md",
        '```sh\nrpm-ostree kargs --append=OFF\ngrubby --update-kernel=ALL --args="OFF"\n```\n',
    ),
    "boot tools on one line": ("a.sh", "kernelstub -a OFF; rpm-ostree kargs --append=OFF\n"),
    "GRUB and modprobe": (
        "a.md",
        '```sh\nGRUB_CMDLINE_LINUX_DEFAULT="quiet OFF"\nsudo modprobe amdgpu gfxoff=0\n```\n',
    ),
    "one of two variables": (
        "a.md",
        '```sh\nGRUB_CMDLINE_LINUX="quiet OFF"\n# or\nGRUB_CMDLINE_LINUX="quiet OFF"\n```\n',
    ),
}


@pytest.mark.parametrize("name", EACH)
def test_what_another_command_or_boot_gets_is_mended_there_too(name: str) -> None:
    file, text = EACH[name]
    before = text.replace("OLD", _OLD).replace("OFF", _OFF)
    after = text.replace("OLD", _NEW).replace("OFF", _MASK)
    after = after.replace("['TORCH_USE", "['TORCH_BLAS_PREFER").replace(
        " gfxoff=0", _MASK[6:].replace(".", " ")
    )
    assert proposal.proposed(judged(file or PASTED, before, machine("gfx1100"))) == after


def test_a_name_that_is_set_twice_on_one_line_of_an_example_is_told() -> None:
    text = "```\nGRUB_CMDLINE_LINUX_DEFAULT='amdgpu.runpm=0 amdgpu.runpm=1'\n```\n\n`amdgpu.runpm=0` or 1\n"
    assert told(judged("a.md", text)) == [("amdgpu.runpm=0", "conflict")]
    assert told(judged("a.sh", 'kernelstub -a "amdgpu.runpm=0 amdgpu.runpm=1"\n')) == [
        ("amdgpu.runpm=0", "conflict")
    ]


_WORDS = [
    "amdgpu.gfxoff=0",
    "amdgpu.stutter=0",
    "amdgpu.ppfeaturemask=0xffffffff",
    "amdgpu.ppfeaturemask=0xfff7bfff",
    "amdgpu.noretry=0",
    "amdgpu.cwsr_enabel=0",
    "amdgpu.cwsr_enable=0",
    "amd_iommu=pt",
    "iommu=pt",
    "quiet",
]
_FORMS = {
    "grub": 'GRUB_CMDLINE_LINUX_DEFAULT="{}"',
    "command": 'sudo kernelstub -a "{}"',
    "options": "options amdgpu {}",
    "words": "{}",
    "wrong": "export TORCH_USE_HIPBLASLT=0 # {}",
    "right": "export TORCH_BLAS_PREFER_HIPBLASLT=0 # {}",
}
_LINES = st.tuples(st.sampled_from(list(_FORMS)), st.lists(st.sampled_from(_WORDS), min_size=1, unique=True))
_BODIES = st.lists(_LINES, min_size=1, max_size=3)
_BLOCKS = st.lists(st.tuples(st.sampled_from(["", "sh", "ini"]), _BODIES), min_size=1, max_size=4)


def _line(form: str, words: list[str]) -> str:
    if form == "options":
        words = [word[7:] for word in words if word.startswith("amdgpu.")]
    return _FORMS[form].format(" ".join(words))


def _most(checked: Checked) -> Counter[str]:
    """How often one boot or one process gets each name, where it gets it most often."""
    most: Counter[str] = Counter()
    for (_, name), times in Counter((checked.together(a), a.name) for a in checked.assignments).items():
        most[name] = max(most[name], times)
    return most


@settings(max_examples=300)
@given(_BLOCKS, st.sampled_from([machine(), machine("gfx1100"), machine("gfx1201", kernels=("6.18.2",))]))
def test_what_is_mended_in_blocks_is_clean_and_sets_no_name_twice(
    blocks: list[tuple[str, list[tuple[str, list[str]]]]], on: Machine
) -> None:
    text = "Do so:\n"
    for info, body in blocks:
        text += "\n".join(["", f"```{info}", *(_line(*one) for one in body), "```", ""])
    knowledge = Knowledge(catalogue.load(), on)
    checked = check("a.md", text, knowledge)
    after = mended(checked, knowledge)
    again = check("a.md", after, knowledge)
    left = [f for f in again.findings if "--fix does not edit it" not in f.remark.why]
    assert [f for f in left if f.remark.severity is not Severity.INFO] == []
    assert proposal.proposed(again) == after
    before = _most(checked)
    assert not {name: times for name, times in _most(again).items() if times > max(1, before[name])}
    shown = {v.replacement for v in verdicts(checked) if v.fate.value == "change"}
    assert all(one in after for one in shown), "a verdict says what the diff says"
