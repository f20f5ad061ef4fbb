"""What is said of a setting, on the machine that it is for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocmcfg.advice.lint import kinds, readers
from rocmcfg.advice.lint.assignment import Reading
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.proposal import proposed
from rocmcfg.advice.lint.source import whole
from rocmcfg.model.diagnostic import Severity
from tests.lint.judging import judged, machine, told
from tests.support.growth import grows_too_fast


@pytest.mark.parametrize(
    ("option", "kind", "severity", "replacement"),
    [
        ("cwsr_enable=foo", "illegal_value", "error", ""),
        ("ppfeaturemask=-1", "illegal_value", "error", ""),
        ("runpm=", "illegal_value", "error", ""),
        ("runpm", "illegal_value", "error", ""),
        ("runpm=7", "illegal_value", "warning", ""),
        ("gfxoff=0", "unknown", "warning", "ppfeaturemask=0xfff73fff"),
        ("gfxoff=1", "unknown", "warning", "ppfeaturemask=0xfff7bfff"),
        ("psr=0", "unknown", "warning", "dcdebugmask=0x000010"),
        ("cwsr_enabel=0", "misspelt", "warning", "cwsr_enable=0"),
        ("amdgpu.runpm=0", "misspelt", "warning", "runpm=0"),
        ("pages_limit=100", "misspelt", "warning", ""),
        ("nonsense_of_mine=1", "unknown", "warning", ""),
        ("cwsr_enable=1", "default", "info", ""),
        ("gttsize=4096", "deprecated", "warning", None),
        ("ppfeaturemask=0xfffd3fff", "side_effect", "warning", "ppfeaturemask=0xfff53fff"),
        ("dcfeaturemask=0x8", "side_effect", "warning", "dcfeaturemask=0x00000a"),
        ("ppfeaturemask=0xfff53fff", None, "", None),
        ("ppfeaturemask=0xfff7ffff", "taints", "info", None),
    ],
)
def test_an_option_of_the_driver(
    option: str, kind: str | None, severity: str, replacement: str | None
) -> None:
    checked = judged("/etc/modprobe.d/a.conf", f"options amdgpu {option}\n")
    assert [(f.remark.kind, f.remark.severity.value, f.spelt.text) for f in checked.findings] == (
        [(kind, severity, replacement)] if kind else []
    )
    assert all(f.remark.summary and not f.remark.summary.endswith(".") for f in checked.findings)


def test_a_mask_says_what_it_changes_beside_what_it_is_copied_for() -> None:
    (finding,) = judged("cmdline", "amdgpu.ppfeaturemask=0xfffd3fff").findings
    for word in ("turns gfxoff off", "turns stutter off", "turns gfx-dcs on"):
        assert word in finding.remark.summary
    assert "0xfff73fff" in finding.remark.why, "the mask of GFXOFF alone"


@pytest.mark.parametrize(
    ("mask", "proposal"),
    [
        ("0xffffffff", "0xfff7ffff"),  # GFX_DCS is in these by accident
        ("0xfffd7fff", "0xfff57fff"),
        ("0xffff7fff", "0xfff77fff"),
        ("0x4000", "0xfff7ffff"),  # one bit, taken for an addition
        ("0xfff57fff", None),  # meant as it is, as far as anybody can tell
    ],
)
def test_a_mask_keeps_what_its_author_set_and_the_taint_is_told_beside_it(
    mask: str, proposal: str | None
) -> None:
    found = judged("cmdline", f"amdgpu.ppfeaturemask={mask}").findings
    assert sorted(f.remark.kind for f in found) == ["side_effect", "taints"]
    wanted = f"amdgpu.ppfeaturemask={proposal}" if proposal else None
    assert [f.spelt.text for f in found if f.remark.kind == "side_effect"] == [wanted]
    assert max(len(f.remark.summary) for f in found) < 250
    (said,) = [f.remark.summary for f in found if f.remark.kind == "side_effect"]
    keeps = "the proposed mask still turns overdrive on, which taints kernels >=6.16"
    assert (keeps in said) is bool(proposal), "a second look says that it taints"


NORETRY = "options amdgpu noretry=0"
RETRYING = [
    (NORETRY, (), (), ("inverted", "warning")),
    (NORETRY, ("gfx1031",), (), ("inverted", "warning")),
    (NORETRY, ("gfx1010",), ("7.3.4",), ("inverted", "warning")),
    (NORETRY, ("gfx1010",), ("6.12.30",), ("default", "info")),
    (NORETRY, ("gfx90a",), (), ("misread", "info")),
    (NORETRY, ("gfx942",), ("6.12.30",), ("misread", "info")),
    (f"# Enable retry faults\n{NORETRY}", ("gfx1031",), (), None),
    (f"# Disable retry faults\n{NORETRY}", ("gfx1031",), (), ("inverted", "warning")),
    (f"# Enable the new way, no retries\n{NORETRY}", (), (), ("inverted", "warning")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "gfx", "kernels", "expected"), RETRYING)
def test_a_negated_name_is_inverted_where_its_author_means_the_opposite(
    text: str, gfx: tuple[str, ...], kernels: tuple[str, ...], expected: tuple[str, str] | None
) -> None:
    found = judged("modprobe.d/a.conf", f"{text}\n", machine(*gfx, kernels=kernels)).findings
    assert [(f.remark.kind, f.remark.severity.value) for f in found] == ([expected] if expected else [])


def test_words_beside_a_setting_count_in_a_document_too() -> None:
    text = "| `noretry=0` | enables page fault retry |\n| `amdgpu.noretry=0` | disables retries |\n"
    assert told(judged("a.md", text)) == [("amdgpu.noretry=0", "inverted")]


def test_a_size_in_another_unit_is_never_handed_on_as_it_is() -> None:
    on_a_line = judged("cmdline", "quiet amdgpu.gtt_size=8192 ro").findings
    assert [f.spelt.text for f in on_a_line] == ["ttm.pages_limit=2097152"]
    (option,) = judged("modprobe.d/a.conf", "options amdgpu gtt_size=8192\n").findings
    assert (option.spelt.text, "ttm.pages_limit=2097152" in option.remark.why) == ("", True)


@pytest.mark.parametrize(
    ("kernel", "taints"), [("6.13.5", False), ("6.14.0-37-generic", True), ("6.15", True)]
)
def test_kernels_between_two_that_were_read_taint_from_the_release_on(kernel: str, taints: bool) -> None:
    text = "options amdgpu sched_policy=1 reset_method=1\n"
    found = told(judged("modprobe.d/a.conf", text, machine(kernels=(kernel,))))
    assert [kind for _, kind in found] == (["taints", "taints"] if taints else [])


def test_a_parameter_that_these_kernels_lack_is_said_with_the_kernel() -> None:
    text = "options amdgpu rebar=0 mes=1\n"
    old, new = machine(kernels=("5.10.262",)), machine(kernels=("7.3.4",))
    assert dict(told(judged("modprobe.d/a.conf", text, old)))["rebar=0"] == "absent_here"
    found = dict(told(judged("modprobe.d/a.conf", text, new)))
    assert found.get("mes=1") == "absent_here"
    assert found.get("rebar=0") != "absent_here"


def test_an_illegal_value_is_judged_by_the_kernels_that_are_here() -> None:
    """enforce_isolation was a bool in 6.12 and takes numbers later."""
    text = "options amdgpu enforce_isolation=2\n"
    assert [k for _, k in told(judged("modprobe.d/a.conf", text, machine(kernels=("6.12.117",))))] == [
        "illegal_value"
    ]
    assert told(judged("modprobe.d/a.conf", text, machine(kernels=("7.3.4",)))) == []
    assert told(judged("modprobe.d/a.conf", text)) == [], (
        "where no kernel is known, one that takes it will do"
    )


def test_a_workaround_is_obsolete_where_every_kernel_has_the_fix() -> None:
    text = "options amdgpu cwsr_enable=0\n"
    fixed, open_ = ("6.18.5", "7.3.4"), ("6.17.13", "7.3.4")
    assert told(judged("modprobe.d/a.conf", text, machine("gfx1201", kernels=fixed))) == [
        ("cwsr_enable=0", "obsolete")
    ]
    assert told(judged("modprobe.d/a.conf", text, machine("gfx1201", kernels=open_))) == []
    assert told(judged("modprobe.d/a.conf", text, machine("gfx1103", kernels=fixed))) == []


def test_of_two_values_the_loser_is_told() -> None:
    text = (
        'GRUB_CMDLINE_LINUX="amdgpu.runpm=0 iommu=pt"\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm=1 iommu=pt"\n'
    )
    checked = judged("/etc/default/grub", text)
    assert told(checked) == [("amdgpu.runpm=0", "conflict"), ("iommu=pt", "duplicate")]
    assert "set to 1 at line 2" in checked.findings[0].remark.summary
    entries = "".join(f"menuentry '{n}' {{\nlinux /vmlinuz amdgpu.runpm={n}\n}}\n" for n in (0, 1))
    assert told(judged("grub.cfg", entries)) == []
    script = "export HSA_XNACK=0\n./a\nexport HSA_XNACK=1\n./b\n"
    assert told(judged("a.sh", script, machine("gfx90a"))) == []
    one, other, last = (f"export HIP_VISIBLE_DEVICES={n}" for n in (0, 1, 2))
    profile = f"{one}\nif x; then {other}; fi\n{last}\n"
    assert told(judged("/home/me/.bashrc", profile)) == [("HIP_VISIBLE_DEVICES=0", "conflict")]


OLD = "PYTORCH_ALLOC_CONF=max_split_size_mb:128"
DROPPED = [
    ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="amdgpu.runpm=0"\nGRUB_CMDLINE_LINUX="amdgpu.runpm=1"\n', 2),
    ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="amdgpu.runpm=0"\n\nGRUB_CMDLINE_LINUX=""\n', 3),
    ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="amdgpu.runpm=0"\nunset GRUB_CMDLINE_LINUX\n', 2),
    ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="amdgpu.runpm=0"\nif x; then GRUB_CMDLINE_LINUX=""; fi\n', 0),
    ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="amdgpu.runpm=0"\n[ -f x ] && GRUB_CMDLINE_LINUX=""\n', 0),
    ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="amdgpu.runpm=0"\nGRUB_CMDLINE_LINUX+=" quiet"\n', 0),
    ("/etc/sdboot-manage.conf", 'LINUX_OPTIONS="amdgpu.runpm=0"\nLINUX_OPTIONS=\n', 2),
    ("/etc/default/limine", 'KERNEL_CMDLINE[default]="amdgpu.runpm=0"\nKERNEL_CMDLINE[default]="quiet"\n', 2),
    ("/etc/default/limine", 'KERNEL_CMDLINE[default]="amdgpu.runpm=0"\nKERNEL_CMDLINE[fallback]=""\n', 0),
    ("/etc/profile.d/a.sh", f"export {OLD}\nunset PYTORCH_ALLOC_CONF\n", 2),
    ("/etc/profile.d/a.sh", f"export {OLD}\nif x; then unset PYTORCH_ALLOC_CONF; fi\n", 0),
    ("/etc/environment", f"{OLD}\nPYTORCH_ALLOC_CONF\n", 2),
    ("a.service", f"[Service]\nEnvironment={OLD}\nEnvironment=\nEnvironment=A=1\n", 3),
    ("a.service", f"[Service]\nEnvironment={OLD} A=1\nUnsetEnvironment=PYTORCH_ALLOC_CONF\n", 3),
    ("a.service", f"[Service]\nEnvironment=\nEnvironment={OLD}\n", 0),
    ("/etc/fish/conf.d/a.fish", f"set -gx {OLD.replace('=', ' ')}\nset -e PYTORCH_ALLOC_CONF\n", 2),
    ("/etc/fish/conf.d/a.fish", f"set -gx {OLD.replace('=', ' ')}\nset -gx PYTORCH_ALLOC_CONF\n", 2),
    (
        "/etc/fish/conf.d/a.fish",
        f"set -gx {OLD.replace('=', ' ')}\nif x; set -e PYTORCH_ALLOC_CONF; end\n",
        0,
    ),
    ("a.sh", f"export {OLD}\n./a\nunset PYTORCH_ALLOC_CONF\n", 0),  # a command in between had it
]


@pytest.mark.parametrize(("path", "text", "line"), DROPPED)
def test_a_setting_that_its_file_drops_again_has_no_effect(path: str, text: str, line: int) -> None:
    summaries = [f.remark.summary for f in judged(path, text).findings if f.remark.kind == "conflict"]
    name = "amdgpu.runpm=0" if "amdgpu" in text else OLD
    assert summaries == ([f"{name} has no effect: it is dropped at line {line}, column 1"] if line else [])


def test_a_value_with_a_specifier_is_not_judged_and_a_pair_of_them_is_one_sign() -> None:
    text = "[Service]\nEnvironment=HSA_OVERRIDE_GFX_VERSION=%i AMD_LOG_LEVEL=4%%\n"
    (finding,) = judged("a.service", text, machine("gfx1201")).findings
    assert finding.remark.summary == "AMD_LOG_LEVEL=4% is not a documented value"


L, D = "GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"
OF_TWO_VARIABLES = [
    # the text, the one that loses (line, value), and what of it may be taken out
    (f'{D}="amdgpu.runpm=1"\n{L}="amdgpu.runpm=0"\n', (2, "amdgpu.runpm=0"), None),
    (f'{L}="amdgpu.runpm=0"\n{D}="amdgpu.runpm=1"\n', (1, "amdgpu.runpm=0"), None),
    (f'{D}="amdgpu.runpm=1"\n{L}="amdgpu.runpm=1"\n', (1, "amdgpu.runpm=1"), ""),
    (f'{L}="amdgpu.runpm=1"\n{D}="amdgpu.runpm=1"\n', (2, "amdgpu.runpm=1"), ""),
    (f'{D}="amdgpu.runpm=1"\n{D}="amdgpu.runpm=0 ${D}"\n', (2, "amdgpu.runpm=0"), ""),
    (f'{D}="amdgpu.runpm=1"\n{D}="${{{D}}} amdgpu.runpm=0"\n', (1, "amdgpu.runpm=1"), ""),
    (f'{D}="amdgpu.runpm=1"\n{D}+=" amdgpu.runpm=0"\n', (1, "amdgpu.runpm=1"), ""),
    (f'{D}="amdgpu.runpm=1"\n{L}_RECOVERY="amdgpu.runpm=0"\n', None, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "loser", "replacement"), OF_TWO_VARIABLES)
def test_grub_puts_the_default_variable_last_wherever_it_stands(
    text: str, loser: tuple[int, str] | None, replacement: str | None
) -> None:
    found = judged("/etc/default/grub", text).findings
    assert [(f.line, f.text) for f in found] == ([loser] if loser else [])
    assert all(f.spelt.text == replacement for f in found)


@pytest.mark.parametrize(
    ("argument", "kind", "replacement"),
    [
        ("amd_iommu=pt", "misspelt", "iommu=pt"),
        ("iomu=pt", "misspelt", "iommu=pt"),
        ("amdgpuu.runpm=0", "misspelt", "amdgpu.runpm=0"),
        ("cwsr_enable=0", "misspelt", "amdgpu.cwsr_enable=0"),
        ("iommu=passthrough", "illegal_value", None),
    ],
)
def test_an_argument_of_the_kernel(argument: str, kind: str, replacement: str | None) -> None:
    checked = judged("cmdline", f"quiet {argument} ro\n")
    assert [(f.remark.kind, f.spelt.text) for f in checked.findings] == [(kind, replacement)]


def test_severities() -> None:
    """Errors and warnings make lint exit with 3: what merely does nothing here must not."""
    text = "options amdgpu cwsr_enable=x sg_display=0 vm_fragment_size=9 noretry=0 gfxoff=0\n"
    checked = judged("modprobe.d/a.conf", text, machine("gfx1100"))
    assert {f.text: f.remark.severity for f in checked.findings} == {
        "cwsr_enable=x": Severity.ERROR,
        "sg_display=0": Severity.INFO,
        "vm_fragment_size=9": Severity.INFO,
        "noretry=0": Severity.WARNING,
        "gfxoff=0": Severity.WARNING,
    }


def test_a_leading_0_makes_a_number_octal() -> None:
    text = "options amdgpu dcdebugmask=010 runpm=00 disable_cu=010 cwsr_enable=0 noretry=-1\n"
    found = [f for f in judged("modprobe.d/a.conf", text).findings if f.remark.kind == "misread"]
    assert [(f.text, f.remark.severity.value) for f in found] == [("dcdebugmask=010", "warning")]
    assert "read as 8" in found[0].remark.summary


def test_a_feature_is_proposed_on_the_mask_that_is_there_already() -> None:
    checked = judged("cmdline", "amdgpu.gfxoff=0 amdgpu.ppfeaturemask=0xfff7ffff\n")
    first = checked.findings[0]
    assert (first.text, first.spelt.text) == ("amdgpu.gfxoff=0", "")
    assert "0xfff77fff" in first.remark.why, "overdrive stays on"
    assert proposed(checked) == "amdgpu.ppfeaturemask=0xfff77fff\n"
    copied = judged("cmdline", "amdgpu.gfxoff=0 amdgpu.ppfeaturemask=0xffffffff\n").findings
    masks = {f.spelt.text for f in copied if f.spelt.text}
    assert masks == {"amdgpu.ppfeaturemask=0xfff77fff"}, "one mask is named, not one for each finding"
    two = judged("cmdline", "amdgpu.ppfeaturemask=0xfff7ffff amdgpu.gfxoff=0 amdgpu.stutter=0\n")
    assert proposed(two) == "amdgpu.ppfeaturemask=0xfff57fff\n", "both features go into the one mask"


def test_lines_that_were_copied_are_judged_alike_whatever_the_file_is_called() -> None:
    text = 'GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.gfxoff=0 amdgpu.ppfeaturemask=0xffffffff"\nexport A=b\n'
    kinds = {judged(name, text).kind for name in ("forum", "forum.txt", "post.md", "-")}
    assert kinds == {FileKind.GRUB_DEFAULTS}


@pytest.mark.parametrize(
    ("path", "before", "piece"),
    [
        ("a.service", "[Service]\n", "Environment=HSA_XNACK=1\nEnvironment=\n"),
        ("a.service", "[Service]\n", "Environment=HSA_XNACK=1\nUnsetEnvironment=HSA_XNACK\n"),
        ("a.service", "[Service]\nEnvironment=", "HSA_XNACK=1 \\\n"),
        ("/etc/environment", "", "HSA_XNACK=1\nHSA_XNACK\n"),
        ("/etc/profile.d/a.sh", "", "export HSA_XNACK=1\nunset HSA_XNACK\n"),
        ("/etc/fish/conf.d/a.fish", "", "set -gx HSA_XNACK 1\nset -e HSA_XNACK\n"),
        ("/boot/refind.conf", 'menuentry "a" {\n', 'options "amdgpu.dpm=0"\n'),
    ],
)
def test_what_is_set_and_dropped_again_and_again_is_read_in_linear_time(
    path: str, before: str, piece: str
) -> None:
    def reading(times: int) -> Callable[[], object]:
        text = whole(before + piece * times)
        return lambda: readers.read(kinds.of(path, text.text), text, Reading(), path)

    assert not grows_too_fast(reading, 4096)
