"""What is never written: a table of requests and the one reason why each is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity
from tests.support.hosts import ROOT_UUID, Driver, debian_grub_host
from tests.support.trees import with_directory_times
from tests.support.usecases import plan


@dataclass(frozen=True)
class Refusal:
    name: str
    ask: Mapping[str, Any]
    id: str
    says: tuple[str, ...]  # words of summary, detail, location or hint
    host: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


def value(text: str, *says: str, id: str = "RC2104", **host: Any) -> Refusal:
    return Refusal(f"value {text}", {"set": (text,)}, id, says, host)


TWO: dict[str, Any] = {"kernels": ("6.12.107+deb13-amd64", "6.16.3+deb13-amd64")}

REFUSALS = (
    # a value that would stop the module from loading is a black screen
    value("amdgpu.cwsr_enable=foo", "stops amdgpu from loading", "is not a number"),
    value("amdgpu.ppfeaturemask=-1", "hexint does not accept a minus sign"),
    value("amdgpu.cwsr_enable=0xffffffff", "does not fit type int"),
    value("amdgpu.gttsize=8192,", "is not a number"),
    value("amdgpu.gttsize=8G", "is not a number"),
    value("amdgpu.runpm=08", "is not a number"),
    value("amdgpu.cwsr_enable=010", "out of range", id="RC2105"),
    value("amdgpu.cwsr_enable=2", "out of range", "0 to 1", id="RC2105"),
    value("amdgpu.hws_gws_support=2", "is not Y, N, 1 or 0"),
    value("amdgpu.lockup_timeout=" + "1" * 256, "Longer than 255"),
    *(value(f"amdgpu.lockup_timeout={text}", "starts no GPU") for text in ("abc", "10s", "08", "2000,x")),
    # one kernel of several is enough: it may be the one that boots
    value("amdgpu.enforce_isolation=2", "6.12.107+deb13-amd64", **TWO),
    # names
    value("amdgpu.stutter=0", "features.stutter = false", "write feature.stutter=false", id="RC2101"),
    value(
        "amdgpu.gfxoff=0", "no suspend to idle (s2idle) on gfx1201", "leave amdgpu.gfxoff out", id="RC2101"
    ),
    value("amdgpu.gtt_size=8192", "ttm.pages_limit", id="RC2101"),
    value("amdgpu.cwsr_enabel=0", "did you mean", "cwsr_enable", id="RC2101"),
    value("amdgpu.zzzz=0", "modinfo -p amdgpu", id="RC2101"),
    value("amdgpu.seamless=1", "added in 6.7", id="RC2103", kernels=("6.1.0-47-amd64",)),
    value("feature.gfxof=false", "did you mean gfxoff?", id="RC2020"),
    value("feature.zzzz=false", "known features: ", id="RC2020"),
    value("feature.gfxoff=perhaps", "true or false", id="RC2002"),
    value("env.TORCH_USE_HIPBLASLT=0", "TORCH_BLAS_PREFER_HIPBLASLT", id="RC2016"),
    value("env.MIOPEN_DEBUG_CONV_GEMM=maybe", "It accepts 0, 1", id="RC2017"),
    value("karg.amd_iommu=pt", "karg.iommu", id="RC2015"),
    Refusal(
        "with of what is not there", {"profiles": ("rdna4",), "with_": ("nope",)}, "RC2013", ("choose from",)
    ),
    Refusal(
        "without of what is misspelt",
        {"profiles": ("rdna4",), "without": ("amdgpu.cwsr_enabel",)},
        "RC2013",
        ("amdgpu.cwsr_enable",),
    ),
    # the host
    Refusal("profile for another GPU", {"profiles": ("gfx1100",)}, "RC2010", ("gfx1201", "--any-gpu")),
    Refusal("no AMD GPU", {"profiles": ("rdna4",)}, "RC2010", ("no AMD GPU was found",), {"gfx": None}),
    Refusal("auto without a GPU", {"profiles": ("auto",)}, "RC2024", ("no AMD GPU",), {"gfx": None}),
    Refusal(
        "no kernel has the driver",
        {"set": ("amdgpu.runpm=0",)},
        "RC3011",
        ("linux-modules-extra",),
        {"driver": "missing"},
    ),
    Refusal(
        "a mask of somebody's that is no number",
        {"set": ("feature.gfxoff=false",)},
        "RC2022",
        ("/etc/modprobe.d/bad.conf:1",),
        {"modprobe_d": {"bad.conf": "options amdgpu ppfeaturemask=all\n"}},
    ),
    Refusal(
        "a mask of two features at two places",
        {"profiles": ("PROFILE",), "set": ("feature.stutter=false",)},
        "RC2021",
        ("same `via`",),
        {
            "extra": {
                "etc/rocmcfg/profiles/PROFILE.toml": 'schema = 1\nsummary = "x"\n[features.gfxoff]\n'
                'value = false\nvia = "modprobe"\n'
            }
        },
    ),
    Refusal(
        "a backend that is not there",
        {"set": ("amdgpu.runpm=0",), "boot_backend": "limine"},
        "RC3014",
        ("no trace of that loader",),
    ),
)


@pytest.mark.parametrize("case", REFUSALS, ids=str)
def test_it_is_refused_with_its_reason_and_a_way_out(tmp_path: Path, case: Refusal) -> None:
    root = debian_grub_host(tmp_path, **case.host)
    before = with_directory_times(root)
    with pytest.raises(RocmcfgError) as stop:
        plan(LocalHost(str(root)), **case.ask)
    errors = [d for d in stop.value.diagnostics if d.severity is Severity.ERROR]
    assert case.id in [d.id for d in errors]
    found = next(d for d in errors if d.id == case.id)
    for words in case.says:
        assert words in _all(found), _all(found)
    assert stop.value.diagnostics[0].severity is Severity.ERROR, "the cause must come first"
    assert with_directory_times(root) == before


def _all(diagnostic: Diagnostic) -> str:
    return "\n".join((diagnostic.summary, diagnostic.detail, diagnostic.location, diagnostic.hint))


@pytest.mark.parametrize(("length", "fits"), [(2047, True), (2048, False)])
def test_the_command_line_may_be_as_long_as_the_kernel_takes(tmp_path: Path, length: int, fits: bool) -> None:
    """COMMAND_LINE_SIZE is 2048 on x86 with the final NUL; GRUB puts BOOT_IMAGE= in front."""
    kernel, ours = "6.12.107+deb13-amd64", "amdgpu.runpm=0"
    fixed = f"BOOT_IMAGE=/boot/vmlinuz-{kernel} root=UUID={ROOT_UUID} ro  {ours}"
    root = debian_grub_host(tmp_path, kernels=(kernel,), cmdline="p=" + "x" * (length - len(fixed) - 2))
    if fits:
        assert plan(LocalHost(str(root)), set=(ours,)).changes
        return
    with pytest.raises(RocmcfgError) as stop:
        plan(LocalHost(str(root)), set=(ours,))
    assert "would have 2048 bytes" in stop.value.diagnostics[0].summary


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    with pytest.raises(RocmcfgError) as stop:
        plan(
            LocalHost(str(root)),
            profiles=("gfx1100",),
            set=("amdgpu.cwsr_enable=foo", "amdgpu.gfxoff=0", "karg.amd_iommu=pt", "feature.gfxof=false"),
        )
    ids = {d.id for d in stop.value.diagnostics}
    assert {"RC2010", "RC2104", "RC2101", "RC2015", "RC2020"} <= ids


def test_two_profiles_that_disagree_are_refused_with_both_places(tmp_path: Path) -> None:
    profile = 'schema = 1\nsummary = "x"\n[module.amdgpu]\nrunpm = {}\n'
    extra = {f"etc/rocmcfg/profiles/{n}.toml": profile.format(v) for n, v in (("one", 0), ("two", 1))}
    host = LocalHost(str(debian_grub_host(tmp_path, extra=extra)))
    with pytest.raises(RocmcfgError) as stop:
        plan(host, profiles=("one", "two"))
    (found,) = [d for d in stop.value.diagnostics if d.severity is Severity.ERROR]
    assert found.id == "RC2011"
    assert "/etc/rocmcfg/profiles/one.toml:4" in found.detail
    assert found.location == "/etc/rocmcfg/profiles/two.toml:4"
    # and the user decides
    decided = plan(host, profiles=("one", "two"), set=("amdgpu.runpm=2",))
    assert [r.setting.text for r in decided.rows] == ["2"]


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ({"cmdline": "quiet amdgpu.cwsr_enable=foo"}, "/etc/default/grub:7"),
        ({"modprobe_d": {"a.conf": "# x\noptions amdgpu cwsr_enable=foo\n"}}, "/etc/modprobe.d/a.conf:2"),
    ],
    ids=["on the command line", "in modprobe.d"],
)
def test_somebody_elses_illegal_value_is_refused_at_its_place(
    tmp_path: Path, host: Mapping[str, Any], place: str
) -> None:
    """One bad value fails the load even where a later one is right."""

    class Asked(LocalHost):
        def query(self, argv: Sequence[str]) -> CommandResult:
            return CommandResult(tuple(argv), 0, "cwsr_enable:int\nrunpm:int\n", "")

    root = debian_grub_host(tmp_path, **host)
    with pytest.raises(RocmcfgError) as stop:
        plan(Asked(str(root)), set=("amdgpu.cwsr_enable=0",))
    (found,) = [d for d in stop.value.diagnostics if d.severity is Severity.ERROR]
    assert found.id == "RC3017"
    assert found.location == place
    assert "stops amdgpu from loading" in found.summary


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        ("6.8.0-90-generic", "amdgpu.enforce_isolation=Y"),
        ("6.8.0-90-generic", "amdgpu.enforce_isolation=2"),  # absent below, bool above
        ("6.8.0-90-generic", "amdgpu.seamless=1"),
        ("6.8.0-90-generic", "amdgpu.cwsr_enable=0"),
        ("6.14.0-37-generic", "amdgpu.enforce_isolation=2"),
        ("6.14.0-37-generic", "amdgpu.enforce_isolation=Y"),
    ],
)
def test_a_kernel_without_data_never_refuses_what_its_neighbours_disagree_on(
    tmp_path: Path, kernel: str, text: str
) -> None:
    made = plan(LocalHost(str(debian_grub_host(tmp_path, kernels=(kernel,)))), set=(text,))
    assert [r.setting.id for r in made.rows] == [text.partition("=")[0]]


def test_a_parameter_that_only_one_installed_kernel_has_is_a_warning(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.1.0-47-amd64", "6.12.107+deb13-amd64"))
    made = plan(LocalHost(str(root)), set=("amdgpu.seamless=1",))
    (found,) = [d for d in made.diagnostics if d.id == "RC2102"]
    assert found.severity is Severity.WARNING
    assert "6.1.0-47-amd64" in found.summary


@pytest.mark.parametrize("text", ["0x2710", "+2000", "2000,60000,2000,2000", "1,2,3,4,5", "2000,", "2000,,5"])
def test_a_list_of_numbers_that_the_driver_reads_is_not_refused(tmp_path: Path, text: str) -> None:
    made = plan(
        LocalHost(str(debian_grub_host(tmp_path))), set=(f"amdgpu.lockup_timeout={text}",), unconditional=True
    )
    assert [row.setting.text for row in made.rows] == [text]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("amdgpu.gpu_recovery=1", "RC2107"),
        ("amdgpu.gttsize=8192", "RC2108"),
        ("env.PYTORCH_NO_HIP_MEMORY_CACHING=0", "RC2018"),
        ("mystery.option=1", "RC2109"),
    ],
)
def test_what_is_legal_and_unwise_is_said_and_done(tmp_path: Path, text: str, id: str) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.16.3+deb13-amd64",))
    made = plan(LocalHost(str(root)), set=(text,))
    assert id in [d.id for d in made.diagnostics]
    assert len(made.rows) == 1


def test_shell_code_in_the_grub_defaults_is_said_and_the_menu_read_instead(tmp_path: Path) -> None:
    code = 'GRUB_CMDLINE_LINUX_DEFAULT="$(cat /etc/kernel-arguments)"\nGRUB_CMDLINE_LINUX=""\n'
    root = debian_grub_host(tmp_path, grub_default=code, cmdline="quiet amdgpu.runpm=0")
    made = plan(LocalHost(str(root)), set=("amdgpu.runpm=0",))
    assert [r.outcome for r in made.rows] == ["adopted"]


def test_an_entry_written_by_hand_is_named_because_it_boots_without_the_arguments(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    menu = root / "boot/grub/grub.cfg"
    custom = (
        "\n### BEGIN /etc/grub.d/40_custom ###\nmenuentry 'My kernel' {\n\tlinux\t/vmlinuz root=/dev/sda\n}\n"
        "### END /etc/grub.d/40_custom ###\n"
    )
    menu.write_text(menu.read_text() + custom)
    made = plan(LocalHost(str(root)), set=("amdgpu.runpm=0",))
    (found,) = [d for d in made.diagnostics if d.id == "RC3107"]
    assert "My kernel" in found.summary


@pytest.mark.parametrize("driver", ["missing", "builtin"])
def test_a_driver_that_is_missing_or_built_in_concerns_its_own_parameters_alone(
    tmp_path: Path, driver: Driver
) -> None:
    root = debian_grub_host(tmp_path, driver=driver)
    told = refused(plan, LocalHost(str(root)), set=("amdgpu.runpm=0",), via="modprobe")
    assert {"RC3011", "RC2014"} & told
    other = refused(plan, LocalHost(str(root)), set=("snd_hda_intel.power_save=0",), via="modprobe")
    assert not {"RC3011", "RC2014"} & other


def refused(plan: Any, view: LocalHost, **request: Any) -> set[str]:
    try:
        return {diagnostic.id for diagnostic in plan(view, **request).diagnostics}
    except RocmcfgError as problem:
        return {diagnostic.id for diagnostic in problem.diagnostics}
