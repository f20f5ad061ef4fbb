"""What the catalogue says beyond the binaries: meanings, traps, kernel arguments, variables, sources.

A slip here is a wrong sentence in `explain` or a wrong accusation in `lint`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from rocmcfg.change.planning.combine import parse_set
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.catalogue import Hardware, KernelArgument, Parameter, TrapKind, ValueTrap, Variable
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.profile import Setting
from rocmcfg.model.spelling import (
    SAFE_NAME,
    SAFE_VALUE,
    SAFE_VARIABLE,
    IllegalValue,
    ParamType,
    as_number,
    split,
    stored,
)
from rocmcfg.model.version import parse_range

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).resolve().parents[2] / "rocmcfg" / "knowledge" / "data"
KNOWN = catalogue.load()
ONE_SENTENCE = re.compile(r"[A-Z0-9].{10,200}\.")
SENTENCES = re.compile(r"[A-Za-z0-9^].{10,260}\.")

PARAMETERS = list(KNOWN.parameters.values())
ARGUMENTS = list(KNOWN.arguments.values())
VARIABLES = list(KNOWN.variables.values())
Entry = Parameter | KernelArgument | Variable


def name_of(entry: Entry) -> str:
    return entry.id if isinstance(entry, Parameter) else entry.name


def entries() -> list[Entry]:
    return [*PARAMETERS, *ARGUMENTS, *VARIABLES]


every_entry = pytest.mark.parametrize("entry", entries(), ids=name_of)
TRAPS: list[tuple[Entry, ValueTrap]] = [(entry, trap) for entry in entries() for trap in entry.traps]
every_trap = pytest.mark.parametrize(
    ("entry", "trap"), TRAPS, ids=[f"{name_of(e)}={t.values[0]}" for e, t in TRAPS]
)


@every_entry
def test_an_entry_has_one_sentence_and_says_where_it_comes_from(entry: Entry) -> None:
    assert ONE_SENTENCE.fullmatch(entry.summary)
    assert not re.search(r"[.!?]\s+[A-Z]", entry.summary)
    assert entry.sources
    assert all(SENTENCES.fullmatch(note) for note in entry.notes)


def test_notes_and_parameters_cover_each_other() -> None:
    document = tomllib.loads((DATA / "parameter_notes.toml").read_text())
    noted = {f"{m}.{n}" for m, rows in document.items() if m in KNOWN.modules() for n in rows}
    assert not noted - set(KNOWN.parameters), "notes about parameters that parameters.toml does not have"
    for module in KNOWN.modules():
        names = list(document[module])
        for name, right in zip(names, sorted(names), strict=True):
            assert name == right, f"parameter_notes.toml: [{module}.{right}] belongs before [{module}.{name}]"
    keys = {key for module in KNOWN.modules() for row in document[module].values() for key in row}
    assert keys <= {
        *("unit", "meanings", "bits", "acts_on", "notes", "traps", "sources", "copied", "pattern"),
        *("instead", "times", "limit", "must_be"),
    }


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.meanings and p.epochs], ids=name_of)
def test_a_value_with_a_meaning_is_legal_on_some_kernel_and_within_the_range(parameter: Parameter) -> None:
    for text in parameter.meanings:
        for end in text.split(".."):
            # backlight's automatic -1 is printed and cannot be written
            assert any(end == e.default or _legal(e.type, end) for e in parameter.epochs), text
            low, high = parameter.bounds or (-(2**63), 2**64)
            number = as_number(end)
            assert number is not None
            assert low <= number <= high


def _legal(type: object, text: str) -> bool:
    try:
        stored(type, text)  # type: ignore[arg-type]
    except IllegalValue:
        return False
    return True


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.bits], ids=name_of)
def test_a_bit_is_one_bit_of_a_mask_and_no_feature(parameter: Parameter) -> None:
    features = {f.bit for f in KNOWN.features.values() if f.parameter == parameter.id}
    assert parameter.mask
    assert all(bit.bit_count() == 1 for bit in parameter.bits)
    assert not features & set(parameter.bits)


def test_every_mask_of_the_driver_names_its_bits_or_says_why_not() -> None:
    """The others are lists of hardware that differs from chip to chip."""
    features = {f.parameter for f in KNOWN.features.values()}
    unnamed = {p.name for p in PARAMETERS if p.mask and not p.bits and p.id not in features}
    assert unnamed == {"ip_block_mask", "ras_mask", "pcie_gen_cap", "pcie_lane_cap"}


@pytest.mark.parametrize(
    ("mask", "count"), [("ppfeaturemask", 20), ("dcdebugmask", 22), ("dcfeaturemask", 11)]
)
def test_the_feature_masks_are_named_bit_by_bit_without_a_gap(mask: str, count: int) -> None:
    """amd_shared.h of 7.3.4: PP_FEATURE_MASK, DC_DEBUG_MASK, DC_FEATURE_MASK."""
    named = sum(f.bit for f in KNOWN.features.values() if f.parameter == f"amdgpu.{mask}")
    assert named == (1 << count) - 1


@every_trap
def test_a_trap_is_one_sentence_and_leads_to_a_setting_that_can_be_asked_for(
    entry: Entry, trap: ValueTrap
) -> None:
    assert ONE_SENTENCE.fullmatch(trap.summary)
    assert trap.kind in get_args(TrapKind)
    if trap.kernel:
        parse_range(trap.kernel)
    assert all(SAFE_VALUE.match(value) for value in trap.values if value not in ("*", ""))
    if trap.instead:
        setting = parse_set(str(trap.instead))
        assert isinstance(setting, Setting)
        assert _known(setting)


def _known(setting: Setting) -> bool:
    table = {Kind.PARAMETER: KNOWN.parameters, Kind.FEATURE: KNOWN.features, Kind.ENV: KNOWN.variables}
    return (setting.id if setting.kind is Kind.PARAMETER else setting.name) in table.get(
        setting.kind, KNOWN.arguments
    )


@pytest.mark.parametrize(
    ("entry", "trap"),
    [(e, t) for e, t in TRAPS if isinstance(e, Parameter)],
    ids=[f"{name_of(e)}={t.values[0]}" for e, t in TRAPS if isinstance(e, Parameter)],
)
def test_a_value_trap_is_about_a_value_that_the_kernel_takes(entry: Parameter, trap: ValueTrap) -> None:
    """An illegal value stops the driver, and is no trap but an error."""
    for value in (bound for one in trap.values for bound in one.split("..")):
        assert value == "*" or any(_legal(epoch.type, value) for epoch in entry.epochs)


def test_hardware_names_gpus_that_exist() -> None:
    import fnmatch

    named = {gpu.gfx for gpu in KNOWN.gpus}
    # amdgpu drives older generations of GCN too; the table of GPUs leaves them out.
    named |= {"gfx600", "gfx700", "gfx803"}
    for hardware in _hardware():
        for pattern in (*hardware.gfx, *hardware.not_gfx):
            assert fnmatch.filter(named, pattern), pattern


def _hardware() -> Iterator[Hardware]:
    for entry in entries():
        yield from (trap.acts_on for trap in entry.traps if trap.acts_on)
    yield from (p.acts_on for p in PARAMETERS if p.acts_on)
    yield from (v.acts_on for v in VARIABLES if v.acts_on)
    yield from (f.acts_on for f in KNOWN.features.values() if f.acts_on)


# -- kernel arguments -----------------------------------------------------------------------------------


def takes(entry: KernelArgument | Variable, value: str) -> bool:
    words = [value]
    if isinstance(entry, KernelArgument) and entry.words_join:
        words = value.split(",")
    if entry.values and all(word.lower() in entry.values for word in words):
        return True
    if entry.pattern:
        return re.fullmatch(entry.pattern, value) is not None
    return not entry.values


@pytest.mark.parametrize("argument", ARGUMENTS, ids=name_of)
def test_an_argument_takes_the_values_that_it_explains(argument: KernelArgument) -> None:
    assert SAFE_NAME.match(argument.name)
    assert all(takes(argument, value) for value in argument.meanings)
    assert all(value == value.lower() for value in argument.values)


@pytest.mark.parametrize(
    "text",
    [
        "iommu=pt", "iommu=soft", "amd_iommu=force_enable", "intel_iommu=on,sm_on", "pcie_aspm=off",
        "pcie_aspm.policy=performance", "pci=realloc=off", "pci=noats,realloc", "pci=big_root_window",
        "pci=resource_alignment=35@0000:03:00.0", "pcie_port_pm=off", "numa_balancing=disable",
        "transparent_hugepage=always", "modprobe.blacklist=amdgpu,radeon", "amd_pstate=active",
        "mem_encrypt=off", "video=HDMI-A-1:1920x1080@60", "drm.debug=0x1ff", "panic=5",
        "processor.max_cstate=1", "nmi_watchdog=0", "idle=nomwait", "acpi_enforce_resources=lax",
        "split_lock_detect=off", "hugepages=512", "vfio-pci.ids=1002:744c,1002:ab30",
        "mitigations=auto,nosmt",
    ],
)  # fmt: skip
def test_right_lines_are_known_and_right(text: str) -> None:
    name, _, value = text.partition("=")
    assert takes(KNOWN.arguments[name], value)


@pytest.mark.parametrize(
    "text",
    ["iommu=passthrough", "amd_iommu=pt", "amd_iommu=on", "pci=noast", "pcie_aspm=performance",
     "pcie_aspm.policy=perf", "idle=mwait", "numa_balancing=0", "transparent_hugepage=on", "amd_pstate=epp"],
)  # fmt: skip
def test_wrong_numbers_are_told_apart(text: str) -> None:
    name, _, value = text.partition("=")
    assert not takes(KNOWN.arguments[name], value)


# -- variables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", VARIABLES, ids=name_of)
def test_a_variable_says_who_reads_it_or_that_nobody_does(variable: Variable) -> None:
    assert SAFE_VARIABLE.match(variable.name)
    assert bool(variable.reader) != variable.unknown
    assert not variable.instead or variable.instead.name in KNOWN.variables
    assert all(SAFE_VALUE.match(word) and word == word.lower() for word in variable.values)
    if variable.values or variable.pattern:
        assert all(takes(variable, value) for value in variable.meanings)
        assert (
            not variable.default
            or " " in variable.default
            or takes(variable, variable.default)
            or (variable.name == "MIOPEN_GEMM_ENFORCE_BACKEND")
        )


@pytest.mark.parametrize(
    "text",
    [
        "HSA_OVERRIDE_GFX_VERSION=10.3.0", "HSA_OVERRIDE_GFX_VERSION=9.0.10", "HIP_VISIBLE_DEVICES=0,1",
        "ROCR_VISIBLE_DEVICES=GPU-bdad470151adc4b7", "ROCR_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=-1",
        "PYTORCH_ALLOC_CONF=garbage_collection_threshold:0.8,max_split_size_mb:512",
        "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True", "NCCL_PROTO=Simple", "NCCL_PROTO=^LL,LL128",
        "MIOPEN_FIND_MODE=normal", "MIOPEN_FIND_ENFORCE=SEARCH", "NCCL_DEBUG=INFO", "AMD_LOG_MASK=0x7FFFFFFF",
        "PYTORCH_ROCM_ARCH=gfx1030;gfx1100", "HIPBLASLT_LOG_MASK=32", "GPU_DEVICE_ORDINAL=0",
        "MIOPEN_FIND_MODE=trust_verify", "MIOPEN_DEBUG_FIND_ONLY_SOLVER=GemmFwdRest;ConvAsm1x1U",
        "HSA_SVM_GUARD_PAGES=2", "MIOPEN_DEBUG_CONV_GEMM=0", "HSA_ASYNCEVENTS_THREAD_PRIORITY=MAX",
    ],
)  # fmt: skip
def test_right_values_of_variables_are_taken(text: str) -> None:
    name, _, value = text.partition("=")
    assert takes(KNOWN.variables[name], value)


@pytest.mark.parametrize(
    "text",
    ["HSA_OVERRIDE_GFX_VERSION=gfx1030", "HSA_OVERRIDE_GFX_VERSION=10.3", "NCCL_PROTO=simpel",
     "MIOPEN_DEBUG_CONV_GEMM='0'", "MIOPEN_FIND_MODE=4", "AMD_SERIALIZE_KERNEL=4", "HIP_VISIBLE_DEVICES=all",
     "PYTORCH_ALLOC_CONF=expandable_segments=True"],
)  # fmt: skip
def test_wrong_numbers_of_variables_are_told_apart(text: str) -> None:
    name, _, value = text.partition("=")
    assert not takes(KNOWN.variables[name], value)


@pytest.mark.parametrize("name", ["MIOPEN_FIND_MODE", "MIOPEN_FIND_ENFORCE", "MIOPEN_DEBUG_CONV_GEMM"])
def test_a_word_that_makes_miopen_throw_is_an_error(name: str) -> None:
    """src/find_controls.cpp gives every other word to std::stoul, env.hpp throws by itself."""
    assert KNOWN.variables[name].strict


@pytest.mark.parametrize("name", ["HIP_FORCE_QUEUE_PROFILING", "GPU_USE_SYNC_OBJECTS", "GPU_FORCE_64BIT_PTR"])
def test_a_name_that_clr_does_not_have_is_not_said_to_be_read(name: str) -> None:
    """Neither rocclr/utils/flags.hpp of 2024 nor that of 2026 holds them; the first is called GPU_FORCE_…."""
    assert name not in KNOWN.variables or KNOWN.variables[name].unknown
    assert "GPU_FORCE_QUEUE_PROFILING" in KNOWN.variables


def test_every_variable_and_argument_of_the_profiles_is_known_and_its_value_legal() -> None:
    from rocmcfg.host.local import LocalHost

    view = LocalHost("/nonexistent-root")
    for profile in profiles.load(view, profiles.names(view)):
        for setting in profile.settings:
            if setting.kind not in (Kind.ENV, Kind.KARG):
                continue
            table = KNOWN.variables if setting.kind is Kind.ENV else KNOWN.arguments
            assert setting.name in table, f"{profile.name}: {setting.id}"
            values = setting.value if isinstance(setting.value, tuple) else (setting.value,)
            for value in values:
                assert value is True or takes(table[setting.name], str(value)), (
                    f"{profile.name}: {setting.id}"
                )


# -- what the lint of published advice depends on ---------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("amdgpu.noretry", "0", "inverted"),
        ("amdgpu.vm_fragment_size", "9", "default"),
        ("amdgpu.vm_update_mode", "0", "no_effect"),
        ("amdgpu.gpu_recovery", "1", "default"),
        ("amdgpu.dcdebugmask", "0x10", "no_effect"),
        ("amdgpu.mes", "1", "no_effect"),
        ("amdgpu.lockup_timeout", "-1", "dangerous"),
        ("amd_iommu", "pt", "misread"),
        ("pcie_aspm", "off", "misread"),
        ("numa_balancing", "0", "no_effect"),
        ("HSA_OVERRIDE_GFX_VERSION", "10.3.0", "dangerous"),
        ("HSA_OVERRIDE_GFX_VERSION", "11.0.0", "default"),
        ("HSA_USE_SVM", "0", "misread"),
        ("GPU_DEVICE_ORDINAL", "0", "no_effect"),
        ("MIOPEN_FIND_ENFORCE", "3", "misread"),
    ],
)
def test_the_traps_of_published_advice_are_there(name: str, value: str, kind: str) -> None:
    entry = KNOWN.parameters.get(name) or KNOWN.arguments.get(name) or KNOWN.variables[name]
    assert any(t.kind == kind and (value in t.values or "*" in t.values) for t in entry.traps)


@pytest.mark.parametrize(
    ("name", "gfx", "integrated", "acts"),
    [
        ("amdgpu.tmz", "gfx1100", False, False),
        ("amdgpu.tmz", "gfx1101", False, False),
        ("amdgpu.tmz", "gfx1102", False, False),
        ("amdgpu.tmz", "gfx906", False, False),
        ("amdgpu.tmz", "gfx1031", False, True),
        ("amdgpu.tmz", "gfx1201", False, False),
        ("amdgpu.tmz", "gfx1103", True, True),
        ("amdgpu.sg_display", "gfx1100", False, False),
        ("amdgpu.sg_display", "gfx1151", True, True),
        ("amdgpu.si_support", "gfx1030", False, False),
        ("amdgpu.runpm", "gfx1103", True, False),
        ("HSA_XNACK", "gfx1030", False, False),
        ("HSA_XNACK", "gfx90a", False, True),
        ("gfx-dcs", "gfx1030", False, False),
        ("gfx-dcs", "gfx1031", False, True),
        ("gfx-dcs", "gfx1100", False, False),
        ("avfs", "gfx1030", False, False),
        ("avfs", "gfx900", False, True),
        ("clock-stretch", "gfx906", False, False),
        ("od-fuzzy-fan-control", "gfx900", False, False),
        ("socclk-dpm", "gfx90c", True, False),
        ("sclk-deep-sleep", "gfx90c", True, False),
        ("sclk-deep-sleep", "gfx902", True, True),
    ],
)
def test_where_a_name_has_an_effect(name: str, gfx: str, integrated: bool, acts: bool) -> None:
    entry = KNOWN.parameters.get(name) or KNOWN.features.get(name) or KNOWN.variables[name]
    assert entry.acts_on is not None
    assert entry.acts_on.covers(gfx, integrated) is acts


def test_gfxoff_off_is_said_to_end_suspend_to_idle_on_every_apu() -> None:
    """amdgpu_acpi_is_s0ix_active of 6.12.117, 7.2.13 and 7.3.4 is false on an APU without the bit."""
    assert "any APU" in KNOWN.features["gfxoff"].summary


def test_a_kernel_argument_of_trap_and_catalogue_agree() -> None:
    """`apply` refuses amd_iommu=pt by the names, `lint` by the values."""
    assert not isinstance(parse_set("karg.amd_iommu=pt"), Diagnostic)
    assert KNOWN.traps["amd_iommu=pt"].instead == split("karg.iommu")


def test_every_parameter_whose_value_is_a_text_has_a_pattern_that_takes_the_documented_form() -> None:
    texts = {
        p.id
        for p in KNOWN.parameters.values()
        if {e.type for e in p.epochs} & {ParamType.CHARP, ParamType.STRING}
    }
    documented = {
        "amdgpu.disable_cu": "0.0.3,1.0.7",
        "amdgpu.lockup_timeout": "10000,60000,10000,10000",
        "amdgpu.virtual_display": "0000:26:00.0,4;0000:27:00.0",
    }
    assert texts == {*documented}, "one more: give it a pattern in parameter_notes.toml"
    for id, value in documented.items():
        assert re.fullmatch(KNOWN.parameters[id].pattern, value)
