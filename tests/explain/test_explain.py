"""`explain`: what a name is, what a value would do, which bits a mask changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.advice.explain.explain import explain
from rocmcfg.advice.explain.explanation import Question
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.knowledge import catalogue
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.facts import Driver, Gpu, Kernel, Machine
from rocmcfg.model.issue import KnownIssue, cause
from rocmcfg.model.spelling import split
from rocmcfg.model.version import KernelVersion, parse_kernel
from rocmcfg.state.values import Running
from rocmcfg.workflow.explaining import Explained, Target, explain_name
from tests.support.hosts import debian_grub_host

KNOWN = catalogue.load()
APUS = {model.gfx for model in KNOWN.gpus if model.apu}


def ask(
    name: str,
    value: str | None = None,
    *,
    kernel: str = "6.12.117",
    gfx: tuple[str, ...] = (),
    known_issues: tuple[KnownIssue, ...] = (),
) -> Question:
    version = parse_kernel(kernel)
    assert version is not None
    gpus = tuple(Gpu(name, name, "kfd", integrated=name in APUS) for name in gfx)
    machine = Machine((Kernel(kernel, version, Driver.MODULE),), gpus)
    return Question(split(name)._replace(value=value), machine, KNOWN, known_issues)


@pytest.fixture
def host(tmp_path: Path) -> LocalHost:
    root = debian_grub_host(tmp_path, cmdline="quiet amdgpu.runpm=0")
    return LocalHost(str(root))


def changed(found: Explained) -> dict[str, bool]:
    return {bit.feature: bit.on for bit in found.explanation.bits if bit.on != bit.default}


def test_the_popular_mask_is_told_apart_from_the_default_bit_by_bit(host: LocalHost) -> None:
    found = explain_name(host, "ppfeaturemask=0xfffd3fff")
    assert found.explanation.default == 0xFFF7BFFF
    assert changed(found) == {"gfxoff": False, "stutter": False, "gfx-dcs": True}


def test_bits_without_a_name_are_not_passed_over(host: LocalHost) -> None:
    assert explain_name(host, "ppfeaturemask=0x7ff7bfff").explanation.unnamed == 0x80000000


def test_a_feature_names_its_mask_and_the_value_that_changes_nothing_else(host: LocalHost) -> None:
    found = explain_name(host, "gfxoff").explanation
    assert (found.name, found.kind) == ("feature.gfxoff", "feature")
    assert any("0xfff73fff" in remark for remark in found.remarks)


def test_a_bit_that_switches_off_is_read_the_right_way_round(host: LocalHost) -> None:
    assert changed(explain_name(host, "dcdebugmask=0x10")) == {"psr": False}


@pytest.mark.parametrize("text", ["cwsr_enable=foo", "amdgpu.ppfeaturemask=-1", "runpm=0xffffffff"])
def test_a_value_that_stops_the_driver_is_named_for_every_kernel(host: LocalHost, text: str) -> None:
    assert all(on.verdict for on in explain_name(host, text).explanation.kernels)


def test_a_legal_value_is_shown_as_the_kernel_will_print_it(host: LocalHost) -> None:
    (on,) = explain_name(host, "dcdebugmask=0x10").explanation.kernels
    assert (on.reads_back, on.verdict) == ("16", "")


def test_another_kernel_than_those_here_can_be_asked_about(host: LocalHost) -> None:
    found = explain_name(
        host, "enforce_isolation", Target(("5.10.218", "6.12.43", "7.3.4"))
    ).explanation.kernels
    assert [(on.present, on.types) for on in found] == [(False, ()), (True, ("bool",)), (True, ("int",))]


def test_who_sets_it_here_and_which_profiles_use_it(host: LocalHost) -> None:
    found = explain_name(host, "runpm")
    assert (found.next_boot, found.source) == ("0", "/etc/default/grub:7")
    assert ("rdna3", "amdgpu.runpm", "0") in [one[:3] for one in found.profiles]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hsa_status_error_exception", "HSA_STATUS_ERROR_EXCEPTION"),
        ("code: 0x1016", "HSA_STATUS_ERROR_EXCEPTION"),
        ("error 700", "hipErrorIllegalAddress"),
        ("HIP error: 700", "hipErrorIllegalAddress"),
        ("209", "hipErrorNoBinaryForGpu"),
    ],
)
def test_what_a_library_returned_is_explained_by_name_and_number(
    host: LocalHost, text: str, name: str
) -> None:
    found = explain_name(host, text).explanation
    assert (found.name, found.kind) == (name, "status")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("HSA_STATUS_ERROR_OUT_OF_RESOURCE", "HSA_STATUS_ERROR_OUT_OF_RESOURCES"),
        ("hiperroroutofmemry", "hipErrorOutOfMemory"),
        ("HSA_ENABLE_SDMMA", "env.HSA_ENABLE_SDMA"),
    ],
)
def test_a_slip_leads_to_the_nearest_name(host: LocalHost, text: str, near: str) -> None:
    with pytest.raises(RocmcfgError) as refused:
        explain_name(host, text)
    assert refused.value.diagnostics[0].hint == f"did you mean {near}?"


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("gtt_size", "ttm.pages_limit"),
        ("amdgpu.gtt_size=8192", "ttm.pages_limit=2097152"),
        ("karg.amdgpu.gtt_size=8192", "ttm.pages_limit=2097152"),
        ("karg.runpm=0", "amdgpu.runpm=0"),
        ("cwsr=0", "amdgpu.cwsr_enable=0"),
        ("TORCH_USE_HIPBLASLT", "TORCH_BLAS_PREFER_HIPBLASLT"),
        ("amd_iommu=pt", "karg.iommu=pt"),
    ],
)
def test_a_name_that_is_not_what_it_seems_leads_to_the_right_one(
    host: LocalHost, text: str, instead: str
) -> None:
    assert explain_name(host, text).explanation.instead == instead


def test_a_feature_with_a_value_says_what_the_value_makes_of_it(host: LocalHost) -> None:
    on = explain_name(host, "overdrive=1").explanation
    assert "0xfff7ffff" in on.meaning
    assert any("features.overdrive = true" in remark for remark in on.remarks)
    off = explain_name(host, "feature.psr=false").explanation
    assert ("off" in off.meaning, "0x000010" in off.meaning) == (True, True)
    assert any("features.psr = false" in remark for remark in off.remarks)
    assert explain_name(host, "feature.psr=maybe").explanation.verdict


@pytest.mark.parametrize(("kernel", "taints"), [("6.13", False), ("6.14", True), ("6.15.2", True)])
def test_a_taint_begins_with_its_release(host: LocalHost, kernel: str, taints: bool) -> None:
    (on,) = explain_name(host, "sched_policy=2", Target((kernel,))).explanation.kernels
    assert on.taints is taints


def test_a_value_that_undoes_a_cure_is_judged_for_the_gpu_in_the_question(host: LocalHost) -> None:
    opposite, issue = "env.TORCH_BLAS_PREFER_HIPBLASLT=1", "rdna4-hipblaslt-gltr-overread"
    (harm,) = explain_name(host, opposite, Target(gfx=("gfx1201",))).explanation.harms
    assert f"undoes the cure of {issue} on gfx1201" in harm
    assert not explain_name(host, opposite, Target(gfx=("gfx942",))).explanation.harms
    cure = opposite.replace("=1", "=0")
    assert not explain_name(host, cure, Target(gfx=("gfx1201",))).explanation.harms
    (harm,) = explain_name(host, "gfxoff=false", Target(gfx=("gfx1201",))).explanation.harms
    assert "suspend to idle" in harm


def test_an_octal_number_is_called_one(host: LocalHost) -> None:
    found = explain_name(host, "dcdebugmask=010").explanation
    assert any("octal" in remark and "8" in remark for remark in found.remarks)


def test_a_misspelt_name_gets_the_nearest_ones(host: LocalHost) -> None:
    with pytest.raises(RocmcfgError) as stop:
        explain_name(host, "cwsr_enabel")
    assert "cwsr_enable" in stop.value.diagnostics[0].hint


@pytest.mark.parametrize(
    "text", ["", "=", "=1", "amdgpu.", "karg.", "env.", "ttm.=1", "amdgpu.../initstate", "../amdgpu.runpm"]
)
def test_what_is_no_name_is_not_looked_for_in_a_path(host: LocalHost, text: str) -> None:
    assert not Running(host).parameter(text).present
    with pytest.raises(RocmcfgError) as stop:
        explain_name(host, text)
    assert stop.value.diagnostics[0].id == "RC6001"


def test_a_kernel_that_is_none_is_refused(host: LocalHost) -> None:
    with pytest.raises(RocmcfgError, match="not a kernel version"):
        explain_name(host, "runpm", Target(("latest",)))


def test_every_name_of_the_catalogue_can_be_explained() -> None:
    names = [
        *KNOWN.parameters,
        *(f"feature.{name}" for name in KNOWN.features),
        *(f"karg.{name}" for name in KNOWN.arguments),
        *KNOWN.variables,
        *KNOWN.traps,
    ]
    for name in names:
        found = explain(ask(name, kernel="6.12.117"))
        assert found.summary
        assert found.sources or found.kind == "misnomer"


@given(
    st.text(max_size=40), st.none() | st.text(max_size=20), st.sampled_from(["", "amdgpu.", "karg.", "env."])
)
def test_no_text_breaks_it(name: str, value: str | None, scope: str) -> None:
    try:
        said = explain(ask(scope + name, value)).summary
    except RocmcfgError as stop:
        said = stop.diagnostics[0].id
    assert said


@given(st.sampled_from(sorted({*KNOWN.parameters, *KNOWN.variables, *KNOWN.arguments})), st.text(max_size=20))
def test_any_value_of_any_name_is_explained(name: str, value: str) -> None:
    assert explain(ask(name, value)).summary


# -- what a value does, and where ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "meaning"),
    [
        ("iommu=pt", "argument", "untranslated"),
        ("karg.iommu=pt", "argument", "untranslated"),
        ("pcie_aspm.policy=performance", "argument", "stay awake"),
        ("drm.debug=0x6", "argument", "driver; mode setting"),
        ("svm_default_granularity=0x9", "parameter", "2 MiB"),
        ("timeout_period=20", "parameter", "limit"),
        ("HIPBLASLT_LOG_MASK=33", "variable", "errors; bench lines"),
        ("MIOPEN_FIND_MODE=FAST", "variable", "database"),
        ("PYTORCH_NO_HIP_MEMORY_CACHING=0", "variable", "on in PyTorch before 2.7, as with any"),
    ],
)
def test_a_value_says_what_it_does(text: str, kind: str, meaning: str) -> None:
    name, _, value = text.partition("=")
    found = explain(ask(name, value))
    assert found.kind == kind
    assert meaning in found.meaning
    assert found.verdict == ""


@pytest.mark.parametrize(
    "text",
    [
        "iommu=passthrough",
        "numa_balancing=0",
        "HSA_OVERRIDE_GFX_VERSION=gfx1030",
        "MIOPEN_DEBUG_CONV_GEMM='0'",
    ],
)
def test_a_value_that_is_not_taken_is_named(text: str) -> None:
    name, _, value = text.partition("=")
    assert explain(ask(name, value)).verdict


def test_an_inverted_value_leads_to_the_right_one() -> None:
    found = explain(ask("noretry", "0", gfx=("gfx1030",)))
    assert [trap.kind for trap in found.traps if trap.here is not False] == ["inverted"]
    assert found.instead == "amdgpu.noretry=1"
    found = explain(ask("noretry", "0", gfx=("gfx90a",)))
    assert [trap.kind for trap in found.traps if trap.here is not False] == ["misread"]
    assert not found.instead


@pytest.mark.parametrize(
    ("gfx", "here"), [(("gfx1100",), True), (("gfx1030",), False), (("gfx1030", "gfx1100"), True), ((), None)]
)
def test_a_trap_says_whether_it_lies_on_this_hosts_gpus(gfx: tuple[str, ...], here: bool | None) -> None:
    traps = explain(ask("HSA_OVERRIDE_GFX_VERSION", "11.0.0", gfx=gfx)).traps
    assert [trap.here for trap in traps if trap.kind == "default"] == [here]


@pytest.mark.parametrize(("kernel", "here"), [("6.12.117", True), ("6.1.192", False)])
def test_a_trap_of_some_kernels_is_judged_by_those_here(kernel: str, here: bool) -> None:
    (trap,) = explain(ask("mes", "1", kernel=kernel)).traps
    assert trap.here is here


@pytest.mark.parametrize(
    ("name", "gfx", "here"),
    [
        ("tmz", "gfx1100", False),
        ("tmz", "gfx1103", True),
        ("sg_display", "gfx1201", False),
        ("HSA_XNACK", "gfx90a", True),
    ],
)
def test_a_name_says_whether_it_acts_on_this_hosts_gpus(name: str, gfx: str, here: bool) -> None:
    found = explain(ask(name, gfx=(gfx,)))
    assert found.acts_here is here
    assert found.acts_on


def test_bits_that_are_no_features_are_decoded_too() -> None:
    found = explain(ask("debug_mask", "0x4"))
    assert {(bit.feature, bit.bit, bit.on) for bit in found.bits if bit.on} == {("", 4, True)}
    assert found.unnamed == 0


@pytest.mark.parametrize(("name", "word"), [("overdrive", "true"), ("gfx-dcs", "true"), ("gfxoff", "false")])
def test_a_feature_is_written_as_what_it_is_not_by_default(host: LocalHost, name: str, word: str) -> None:
    remarks = explain_name(host, name).explanation.remarks
    assert f"write features.{name} = {word} in a profile, or --set feature.{name}={word}" in remarks


def test_overdrive_says_where_it_taints() -> None:
    assert any("taints" in r for r in explain(ask("ppfeaturemask", "0xffffffff", kernel="7.3.4")).harms)
    assert not any("taints" in r for r in explain(ask("ppfeaturemask", "0xfff7bfff", kernel="7.3.4")).harms)


def test_an_unsigned_long_has_64_bits_and_no_sign() -> None:
    assert explain(ask("ttm.pages_limit", "25165824")).kernels[0].reads_back == "25165824"
    assert explain(ask("ttm.pages_limit", "-1")).kernels[0].verdict


def test_the_variable_of_one_kfd_node_is_known() -> None:
    found = explain(ask("HSA_OVERRIDE_GFX_VERSION_1", "10.3.0", gfx=("gfx1010",)))
    assert found.name == "env.HSA_OVERRIDE_GFX_VERSION_1"
    assert any(trap.here for trap in found.traps)
    assert explain(ask("HSA_XNACK_1")).summary.startswith("Nothing reads HSA_XNACK_1")


def test_what_only_amds_driver_has_is_no_accusation_where_that_driver_is() -> None:
    kernel = Kernel("6.8.0", KernelVersion((6, 8, 0, 0)), Driver.MODULE)
    for dkms, present in ((False, False), (True, None)):
        question = Question(split("no_evict"), Machine((kernel._replace(dkms=dkms),)), KNOWN)
        assert explain(question).kernels[0].present is present


def test_known_issues_that_name_it_are_listed_those_of_this_gpu_first() -> None:
    found = explain(ask("cwsr_enable", gfx=("gfx1201",), known_issues=catalogue.known_issues())).issues
    assert (found[0].issue, found[0].role) == ("rdna4-expert-sched-cwsr", "helps")
    assert {m.role for m in found} >= {"helps", "does_not_help"}
    assert [m.concerns for m in found] == sorted((m.concerns for m in found), reverse=True)


def test_a_variable_that_has_to_go_is_told_from_one_that_helps() -> None:
    found = explain(
        ask("HSA_OVERRIDE_GFX_VERSION", gfx=("gfx1010",), known_issues=catalogue.known_issues())
    ).issues
    assert {m.issue: m.role for m in found}["rdna1-override-crash"] == "unset"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("gfxof", "gfxoff"),
        ("cwsr_enabel", "cwsr_enable"),
        ("pcie_aspn", "pcie_aspm"),
        ("karg.iomu", "iommu"),
        ("ROCR_VISIBLE_DEVICE", "ROCR_VISIBLE_DEVICES"),
        ("ttm.page_limit", "pages_limit"),
    ],
)
def test_misspelt_names_of_every_kind_get_near_ones(text: str, near: str) -> None:
    with pytest.raises(RocmcfgError) as stop:
        explain(ask(text))
    assert near in stop.value.diagnostics[0].hint


# -- value and source now --------------------------------------------------------------------------------


def test_a_kernel_argument_says_who_sets_it_and_what_runs(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, cmdline="quiet iommu=pt", booted_with="quiet")
    found = explain_name(LocalHost(str(root)), "iommu")
    assert (found.next_boot, found.source, found.running) == ("pt", "/etc/default/grub:7", None)
    assert ("rdna3", "karg.iommu", "pt") in [one[:3] for one in found.profiles]


def test_a_variable_says_which_file_sets_it_and_what_the_caller_has(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, extra={"etc/environment.d/10-gpu.conf": "HSA_XNACK=1\n"})
    found = explain_name(LocalHost(str(root)), "HSA_XNACK", environment={"HSA_XNACK": "0"})
    assert (found.next_boot, found.running) == ("1", "0")
    assert found.source == "/etc/environment.d/10-gpu.conf:1"


# -- what the catalogue lacks ----------------------------------------------------------------------------

MODINFO = {
    "parmtype": "cwsr_enable:int\nbrand_new:uint\n",
    "parm": "brand_new:Size of the new thing\n\t\t0 = small, 1 = large (uint)\n"
    "cwsr_enable:CWSR enable (0 = Off, 1 = On (Default)) (int)\n",
}


class AskingHost(LocalHost):
    """A host whose modinfo is played back."""

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if argv[0] != "modinfo":
            return None
        return CommandResult(tuple(argv), 0, MODINFO[argv[4]] if argv[5] == "amdgpu" else "", "")


def test_a_parameter_that_only_the_hosts_modinfo_has_is_explained_as_new(tmp_path: Path) -> None:
    host = AskingHost(str(debian_grub_host(tmp_path)))
    for name in ("brand_new", "amdgpu.brand-new=3", "karg.amdgpu.brand_new"):
        found = explain_name(host, name).explanation
        assert (found.name, found.kind) == ("amdgpu.brand_new", "new")
        assert "modinfo -p amdgpu" in found.summary
        assert found.kernels[0].types == ("uint",)
    assert explain_name(host, "brand_new=-1").explanation.kernels[0].verdict


def test_a_parameter_that_only_sysfs_has_is_explained_as_new(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, parameters={"brand_new": "7"})
    found = explain_name(LocalHost(str(root)), "brand_new")
    assert (found.explanation.kind, found.running) == ("new", "7")


def test_the_hosts_own_modinfo_and_sysfs_win_over_the_catalogue(tmp_path: Path) -> None:
    """modinfo of this host knows two parameters; sysfs of the running kernel has no sg_display."""
    asked = explain_name(AskingHost(str(debian_grub_host(tmp_path, name="asked"))), "runpm").explanation
    assert [on.present for on in asked.kernels] == [False]
    root = debian_grub_host(tmp_path, name="seen")
    (root / "sys/module/amdgpu/parameters/sg_display").unlink()
    seen = explain_name(LocalHost(str(root)), "sg_display").explanation
    assert [on.present for on in seen.kernels] == [False]


def test_a_fix_that_a_note_names_is_told_with_its_versions() -> None:
    remarks = " ".join(explain(ask("cwsr_enable")).remarks)
    assert "cwsr-expert-scheduling was added in kernel 6.12.64, 6.18.4 and 6.19" in remarks


def test_what_is_confirmed_of_an_issue_is_its_cause_and_of_a_setting_that_it_helps() -> None:
    """The two labels are of two things, and are printed so."""
    assert cause("fault", "confirmed") == "cause confirmed"
    assert cause("fault", "reported") == "cause reported"
    assert cause("advice", "confirmed") == "confirmed"
