"""A price is no fault, a tool for debugging is no setting, and a limit that goes further cures as well."""

from __future__ import annotations

import pytest

from rocmcfg.advice.lint.check import Fate, verdicts
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.judging.parameters import goes_as_far
from rocmcfg.knowledge import catalogue
from rocmcfg.model.spelling import split
from tests.lint.judging import judged, machine, told


def fates(text: str, gfx: str = "", file: str = "cmdline", kernel: str = "") -> dict[str, str]:
    on = machine(*filter(None, [gfx]), kernels=tuple(filter(None, [kernel])))
    return {verdict.text: verdict.fate.value for verdict in verdicts(judged(file, text, on))}


@pytest.mark.parametrize(
    ("setting", "gfx"),
    [
        ("amd_iommu=off", "gfx1151"),
        ("iommu=off", "gfx1151"),
        ("idle=poll", ""),
        ("pcie_acs_override=downstream", ""),
        ("amdgpu.ppfeaturemask=0xfff73fff", "gfx1036"),
    ],
)
def test_what_people_pay_for_on_purpose_is_kept_and_its_price_is_named(setting: str, gfx: str) -> None:
    checked = judged("cmdline", f"{setting} quiet\n", machine(*filter(None, [gfx])))
    (verdict,) = verdicts(checked)
    assert verdict.fate is Fate.KEEP
    assert {kind for _, kind in told(checked)} <= {"costly", "dangerous", "side_effect"}
    assert "if what it gives is worth that" in checked.findings[0].remark.why


@pytest.mark.parametrize("setting", ["HIP_VISIBLE_DEVICES=-1", 'ROCR_VISIBLE_DEVICES=""'])
def test_what_hides_every_gpu_is_told(setting: str) -> None:
    checked = judged("x.sh", f"export {setting}\n", machine("gfx1100"))
    assert [kind for _, kind in told(checked)] == ["costly"]
    assert "hides every GPU" in checked.findings[0].remark.why


def test_the_clocks_are_no_price_of_anything() -> None:
    assert fates("amdgpu.ppfeaturemask=0xfff7bffe quiet\n", "gfx1100") == {
        "amdgpu.ppfeaturemask=0xfff7bffe": "take out"
    }


@pytest.mark.parametrize(
    "setting",
    [
        "amdgpu.vramlimit=32",
        "amdgpu.sched_policy=2",
        "amdgpu.vcnfw_log=1",
        "amdgpu.mes_log_enable=1",
        "amdgpu.lockup_timeout=1000",
        "amdgpu.queue_preemption_timeout_ms=1",
        "amdgpu.dcfeaturemask=0xffffffff",
        "amdgpu.vm_size=1",
    ],
)
def test_what_cannot_work_or_is_for_debugging_is_taken_out(setting: str) -> None:
    assert fates(f"{setting} quiet\n") == {setting: "take out"}


@pytest.mark.parametrize(
    ("setting", "gfx"),
    [
        ("amdgpu.lockup_timeout=0", ""),
        ("amdgpu.msi=1", ""),
        ("amdgpu.pcie_gen2=1", ""),
        ("iommu=soft", ""),
        ("GPU_MAX_HEAP_SIZE=100", ""),
        ("HSA_ENABLE_INTERRUPT=1", ""),
        ("PYTORCH_TUNABLEOP_TUNING=1", ""),
        ("NCCL_P2P_DISABLE=0", ""),
        ("HSA_OVERRIDE_GFX_VERSION=8.0.3", "gfx803"),
        ("HSA_OVERRIDE_GFX_VERSION=9.0.12", "gfx90c"),
    ],
)
def test_what_holds_without_it_is_not_needed(setting: str, gfx: str) -> None:
    file = "x.env" if setting[0].isupper() else "cmdline"
    assert fates(f"{setting}\n", gfx, file) == {setting: "not needed"}


def test_a_deprecated_limit_becomes_the_one_that_replaces_it() -> None:
    (verdict,) = verdicts(judged("cmdline", "amdgpu.gttsize=126976 quiet\n"))
    assert (verdict.fate, verdict.replacement) == (Fate.CHANGE, "ttm.pages_limit=32505856")
    assert fates("amdgpu.gttsize=-1 quiet\n") == {"amdgpu.gttsize=-1": "not needed"}


def test_a_variable_of_an_old_release_is_left_to_the_gpus_that_need_it() -> None:
    text, setting = "ROC_ENABLE_PRE_VEGA=1\n", "ROC_ENABLE_PRE_VEGA=1"
    assert fates(text, "gfx803", "x.env") == {setting: "keep"}
    assert fates(text, "gfx1100", "x.env") == {setting: "not needed"}


@pytest.mark.parametrize("version", ["11.0.0", "11.0.2", "11.5.0"])
def test_an_override_that_passes_over_code_for_the_gpu_itself_is_taken_out(version: str) -> None:
    setting = f"HSA_OVERRIDE_GFX_VERSION={version}"
    assert fates(f"{setting}\n", "gfx1151", "x.env") == {setting: "take out"}


def test_what_depends_on_an_unknown_kernel_is_left_to_the_author() -> None:
    setting = "amdgpu.noretry=0"
    assert fates(f"{setting} quiet\n", "gfx1013") == {setting: "keep"}
    assert fates(f"{setting} quiet\n", "gfx1013", kernel="7.3.4") == {setting: "change"}


@pytest.mark.parametrize(
    ("value", "cures"), [("10000", True), ("20000", True), ("5000", False), ("-1", False), ("0", False)]
)
def test_a_limit_that_goes_further_cures_as_well(value: str, cures: bool) -> None:
    known = catalogue.load()
    cure = split("amdgpu.lockup_timeout=10000")
    assert goes_as_far(cure, "amdgpu.lockup_timeout", value, known) is cures
    issues = tuple(issue for issue in catalogue.known_issues() if issue.id == "lockup-timeout-2s")
    knowledge = Knowledge(known, machine("gfx1201"), open_issues=issues)
    assert bool(knowledge.cured_by(split(f"amdgpu.lockup_timeout={value}"))) is cures


def test_a_number_that_is_no_limit_cures_as_it_is_alone() -> None:
    cure = split("amdgpu.vm_fragment_size=4")
    assert not goes_as_far(cure, "amdgpu.vm_fragment_size", "9", catalogue.load())


LIMINE = (
    "/Arch Linux\n//linux\n    cmdline: root=/dev/x{}\n/Rescue\n//linux\n    cmdline: root=/dev/x nomodeset\n"
)
GRUB = (
    "menuentry 'Debian' {{\n linux /vmlinuz ro{}\n}}\n"
    "menuentry 'Debian (recovery mode)' {{\n linux /vmlinuz ro nomodeset\n}}\n"
)
BLS = "title Fedora (0-rescue)\nlinux /vmlinuz\noptions root=/dev/x nomodeset\n"
REFIND = '"Boot normally" "root=/dev/x{}"\n"Boot with fallback" "root=/dev/x nomodeset"\n'


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("/boot/limine.conf", LIMINE),
        ("/boot/grub/grub.cfg", GRUB),
        ("/boot/loader/entries/rescue.conf", BLS),
        ("/boot/refind_linux.conf", REFIND),
        (
            "/etc/default/grub",
            'GRUB_CMDLINE_LINUX_DEFAULT="quiet{}"\nGRUB_CMDLINE_LINUX_RECOVERY="nomodeset"\n',
        ),
        ("/etc/default/limine", 'KERNEL_CMDLINE[default]="quiet{}"\nKERNEL_CMDLINE[fallback]="nomodeset"\n'),
        ("/etc/sdboot-manage.conf", 'LINUX_OPTIONS="quiet{}"\nLINUX_FALLBACK_OPTIONS="nomodeset"\n'),
    ],
)
def test_nomodeset_is_meant_in_an_entry_for_rescue_and_harmful_in_any_other(file: str, text: str) -> None:
    assert told(judged(file, text.format(""))) == []
    if "{}" in text:
        harmful = judged(file, text.format(" nomodeset"))
        assert told(harmful) == [("nomodeset", "dangerous")]
        assert harmful.findings[0].line < text.count("\n")


def test_a_file_that_hands_over_what_reads_it_is_told_so_by_lint_as_by_a_plan() -> None:
    checked = judged("x.env", "MIOPEN_USER_DB_PATH=/tmp/miopen\nROCM_PATH=/opt/rocm\n")
    assert told(checked) == [("MIOPEN_USER_DB_PATH=/tmp/miopen", "hands_over")]
    assert verdicts(checked)[0].fate is Fate.KEEP
