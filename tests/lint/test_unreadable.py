"""Lines that set nothing, because who reads the file does not understand them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocmcfg.advice.lint.check import mended, verdicts
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.knowledge import catalogue
from rocmcfg.model.facts import Machine
from tests.lint.judging import judged
from tests.support.tools import require_tool

CASES = Path(__file__).parents[1] / "cases"
NAME = "GRUB_CMDLINE_LINUX_DEFAULT"
QUOTED = f'{NAME}="quiet amdgpu.cwsr_enable=0"\n'
# What is wrong, and what the line is to be.
WRONG = {
    "a quote without an end": f'{NAME}="quiet amdgpu.cwsr_enable=0\n',
    "a quote that ends in another line's": f'{NAME}="quiet amdgpu.cwsr_enable=0\nGRUB_CMDLINE_LINUX=""\n',
    "a quote without a beginning": f'{NAME}=quiet amdgpu.cwsr_enable=0"\n',
    "no quotes": f"{NAME}=quiet amdgpu.cwsr_enable=0\n",
    "no quotes in an export": f"export {NAME}=quiet iommu=pt\n",
    "no quotes, and all of it variables for the shell": f"{NAME}=quiet iommu=pt\n",
    "quotes of a word processor": f"{NAME}=“quiet amdgpu.cwsr_enable=0”\n",
    "a blank before the sign": f'{NAME} ="quiet amdgpu.cwsr_enable=0"\n',
    "a blank behind the sign": f'{NAME}= "quiet amdgpu.cwsr_enable=0"\n',
    "blanks in a branch": f'if true; then\n\t{NAME} = "quiet amdgpu.cwsr_enable=0"\nfi\n',
    "a misspelt name": 'GRUB_CMDLINE_LINUX_DEFUALT="quiet amdgpu.cwsr_enable=0"\nGRUB_TIMEOUT=1\n',
}


def _value(text: str) -> str:
    """What grub-mkconfig has of a file, which it reads under `set -e`."""
    script = f'set -e; . /dev/stdin; printf "%s" "${NAME}"'
    return subprocess.run(
        ["sh", "-c", script], input=text, capture_output=True, text=True, check=False
    ).stdout


@pytest.mark.parametrize("name", WRONG)
def test_what_sets_nothing_in_grub_s_file_is_told_and_mended(name: str) -> None:
    text = WRONG[name]
    meant = "quiet iommu=pt" if "iommu" in text else "quiet amdgpu.cwsr_enable=0"
    assert _value(text) != meant, "as sh has it"
    for file in ("/etc/default/grub", "x/etc/default/grub.d/50.cfg", "-"):
        (told,) = [f for f in judged(file, text).findings if f.remark.id in ("RC7118", "RC7102")]
        assert told.remark.why
        assert "grub-mkconfig" in told.remark.source
        assert text.splitlines()[told.line - 1][told.column - 1 :].startswith(told.text)
    checked = judged("/etc/default/grub", text)
    assert _value(mended(checked, Knowledge(catalogue.load(), Machine()))) == meant


_ENTRY = "title x\nversion 6.17.4\nlinux /vmlinuz-6.17.4\noptions root=UUID=x ro\noptions {}\n{}"


@pytest.mark.parametrize(("more", "severity"), [("grub_users $grub_users\n", "warning"), ("", "info")])
@pytest.mark.parametrize("sign", [";", "&", "|x", "<y", "{", "'", " #"])
def test_what_grub_would_end_an_entry_s_command_at_is_named(sign: str, more: str, severity: str) -> None:
    text = _ENTRY.format(f"amdgpu.runpm=0{sign}", more)
    findings = judged("/boot/loader/entries/x.conf", text).findings
    (slip,) = [finding for finding in findings if finding.remark.id == "RC7118"]
    assert (slip.line, slip.remark.severity.value) == (5, severity)
    assert slip.text.startswith(sign.strip()[0])
    fine = judged("/boot/loader/entries/x.conf", _ENTRY.format("amdgpu.runpm=0 $kernelopts", more))
    assert not [finding for finding in fine.findings if finding.remark.id == "RC7118"]


FINE = [
    "GRUB_DEFAULT=0\nGRUB_TIMEOUT_STYLE=hidden\nGRUB_TIMEOUT=0 # don't wait\n"
    "GRUB_DISTRIBUTOR=`( . /etc/os-release; echo ${NAME:-Debian} ) 2>/dev/null || echo Debian`\n"
    'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash"\nGRUB_CMDLINE_LINUX=""\n#GRUB_BADRAM="0x0123,0xfefe"\n',
    "GRUB_DISTRIBUTOR=\"$(sed 's, release .*$,,g' /etc/system-release)\"\nGRUB_DEFAULT=saved\n"
    'GRUB_DISABLE_SUBMENU=true\nGRUB_TERMINAL_OUTPUT="console"\nGRUB_CMDLINE_LINUX="rhgb quiet"\n'
    'GRUB_ENABLE_BLSCFG=true\nSUSE_BTRFS_SNAPSHOT_BOOTING="true"\nGRUB_USE_LINUXEFI="true"\n',
    "GRUB_CMDLINE_LINUX='quiet \\\n  splash'\n",
    'GRUB_CMDLINE_LINUX="quiet" GRUB_TIMEOUT=5\nexport GRUB_CMDLINE_LINUX="quiet" EXTRA\n',
    'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX dyndbg=\\"file a +p\\""\n',
    'export GRUB_COLOR_NORMAL="light-blue/black" GRUB_TIMEOUT\nGRUB_A=1 GRUB_B=2\nexport GRUB_MENU_PICTURE\n',
    'if [ "$GRUB_TIMEOUT" = 5 ]; then GRUB_TIMEOUT=1; fi\n',
    'case "$GRUB_DEFAULT" in\n a) GRUB_DEFAULT=b ;;\nesac\n',
    'GRUB_CMDLINE_LINUX_DEFAULTS="quiet"\nGRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULTS"\n',
    "GRUB_CMDLINE_LINUX=${GRUB_CMDLINE_LINUX:-quiet splash}\n",
    'GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }iommu=pt"\n',
    'GRUB_PRELOAD_MODULES="part_gpt part_msdos"\r\nGRUB_GFXMODE=auto\r\n',
]


def test_what_a_shell_reads_is_not_accused() -> None:
    trees = [path for path in CASES.glob("*/*/tree/etc/default/grub*") if path.is_file()]
    trees = [path for path in trees if "damaged" not in str(path)]
    assert len(trees) > 5
    for text in [*FINE, *(path.read_text() for path in trees)]:
        found = judged("/etc/default/grub", text).findings
        assert [f.text for f in found if f.remark.id in ("RC7118", "RC7102")] == [], text


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("option amdgpu cwsr_enable=0", {"option"}),
        ("optoins amdgpu cwsr_enable=0", {"optoins"}),
        ("options amdgup cwsr_enable=0", {"amdgup"}),
        ("options amd-gpu cwsr-enable=0", {"amd-gpu"}),
        ("options amdttn pages_limit=33554432", {"amdttn"}),
        ("optins amdgpuu cwsr_enable=0", {"optins", "amdgpuu"}),
        ("options atm debug=1", set()),
        ("options tmm pool=1", set()),
        ("softdep amdgpu pre: vfio", set()),
        ("alias amdgup amdgpu", set()),
    ],
)
def test_a_directive_and_a_module_that_modprobe_does_not_know(line: str, wrong: set[str]) -> None:
    for file in ("/etc/modprobe.d/a.conf", "-"):
        checked = judged(file, f"{line}\n")
        assert {f.text for f in checked.findings} == wrong
        assert all(f.remark.source == "modprobe.d(5)" and f.remark.why for f in checked.findings)
        right = mended(checked, Knowledge(catalogue.load(), Machine()))
        assert not judged(file, right).findings


def test_a_misspelt_directive_of_a_sentence_is_none() -> None:
    for text in ("option amdgpu dc=1 is the one\n", "An optional amdgpu dc=1\n", "\x0c\noption a b=1\n"):
        assert not [f for f in judged("-", text).findings if f.remark.id == "RC7118"]


def test_what_becomes_of_an_argument_is_told_in_a_line_that_is_mended_too() -> None:
    knowledge = Knowledge(catalogue.load(), Machine())
    checked = judged("/etc/default/grub", f"{NAME}=quiet amdgpu.gfxoff=0\n")
    (verdict,) = verdicts(checked)
    assert (verdict.fate.value, verdict.replacement) == ("change", "amdgpu.ppfeaturemask=0xfff73fff")
    assert mended(checked, knowledge) == f'{NAME}="quiet amdgpu.ppfeaturemask=0xfff73fff"\n'


def test_no_name_that_this_machines_grub_reads_is_taken_for_a_slip() -> None:
    sources = [Path(require_tool("grub-mkconfig", package="grub-common")), *Path("/etc/grub.d").iterdir()]
    names = {name for one in sources for name in re.findall(r"\bGRUB_[A-Z0-9_]+", one.read_text())}
    assert len(names) > 40
    texts = {name: judged("/etc/default/grub", f'{name}="1"\n') for name in names}
    assert not [
        name for name, checked in texts.items() if "RC7102" in {f.remark.id for f in checked.findings}
    ]
