"""The shipped profiles: do they say why, refer to things that exist, and resolve wherever they fit?

The first half reads the TOML as it stands, so that a slip in the data is found without the loader.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.change.planning.resolve import Resolution, resolve
from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.facts import BootChain, Driver, Facts, Gpu, Kernel, Os, computing
from rocmcfg.model.profile import Profile, Use
from rocmcfg.model.request import Request
from rocmcfg.model.version import KernelVersion, Version
from rocmcfg.state.values import Effective

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
SAFE_VALUE = re.compile(r"[A-Za-z0-9._,:;@%+=/-]+")
RANGE = re.compile(r"(>=|<=|==|>|<)\d+(\.\d+)*(,(>=|<=|==|>|<)\d+(\.\d+)*)*")

Table = dict[str, Any]
KNOWN = catalogue.load()
PROFILES: dict[str, Table] = {
    path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "profiles").glob("*.toml"))
}
GFX = {gpu.gfx for gpu in KNOWN.gpus}
EMPTY = LocalHost("/nonexistent-root")
LOADED = {p.name: p for p in profiles.load(EMPTY, profiles.names(EMPTY))}


def settings(profile: str) -> Iterator[tuple[str, Table]]:
    """Every setting of a profile by its id, in the long form."""
    table = PROFILES[profile]
    sections = [(module, names) for module, names in table.get("module", {}).items()]
    sections += [
        (prefix, table.get(section, {}))
        for section, prefix in (("features", "feature"), ("cmdline", "karg"), ("env", "env"))
    ]
    for prefix, names in sections:
        for name, value in names.items():
            yield f"{prefix}.{name}", value if isinstance(value, dict) else {"value": value}


SETTINGS = [(p, name, body) for p in PROFILES for name, body in settings(p)]
each_setting = pytest.mark.parametrize(
    ("profile", "name", "setting"), SETTINGS, ids=[f"{p}-{name}" for p, name, _ in SETTINGS]
)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_for_gpus_that_exist(name: str) -> None:
    profile = PROFILES[name]
    assert profile["summary"]
    assert set(profile.get("gfx", ())) <= GFX
    assert bool(profile.get("gfx")) != (profile.get("use") == "diagnosis")
    assert all(note.endswith((".", ".log")) for note in profile.get("notes", ()))


@pytest.mark.parametrize("name", [n for n, p in PROFILES.items() if "extends" in p])
def test_a_profile_narrows_the_one_it_extends(name: str) -> None:
    base = PROFILES[PROFILES[name]["extends"]]
    assert "extends" not in base
    assert set(PROFILES[name]["gfx"]) < set(base["gfx"])


@each_setting
def test_a_setting_is_in_the_catalogue(profile: str, name: str, setting: Table) -> None:
    kind, _, key = name.partition(".")
    if kind == "env":
        variable = KNOWN.variables[key]
        assert not variable.unknown
        assert setting["value"] in (variable.values or [setting["value"]])
        assert not variable.pattern or re.fullmatch(variable.pattern, setting["value"])
    elif kind == "karg":
        assert key in KNOWN.arguments
    else:
        assert key in KNOWN.features if kind == "feature" else name in KNOWN.parameters


@each_setting
def test_a_setting_says_why_with_evidence_and_at_what_cost(profile: str, name: str, setting: Table) -> None:
    assert setting["because"].endswith(".")
    assert setting["cost"].endswith(".")
    assert setting["evidence"]
    assert all(url.startswith("https://") for url in setting["evidence"])
    assert setting["confidence"] in ("confirmed", "reported", "asked for")


@each_setting
def test_a_value_is_safe_in_a_boot_file_and_inside_its_range(profile: str, name: str, setting: Table) -> None:
    value = setting["value"]
    if isinstance(value, bool | dict):
        return
    assert SAFE_VALUE.fullmatch(str(value))
    bounds = KNOWN.parameters[name].bounds if name in KNOWN.parameters else None
    assert bounds is None or bounds[0] <= value <= bounds[1]


@each_setting
def test_a_condition_names_ranges_fixes_and_gpus_of_its_profile(
    profile: str, name: str, setting: Table
) -> None:
    given = setting.get("when", [])
    for when in given if isinstance(given, list) else [given]:
        ranges = [when[key] for key in ("kernel", "rocm", "pytorch", "gpus") if key in when]
        assert all(RANGE.fullmatch(text) for text in ranges)
        assert when.get("lacks-fix", next(iter(KNOWN.fixes))) in KNOWN.fixes
        assert set(when.get("gfx", ())) <= set(PROFILES[profile]["gfx"])


@pytest.mark.parametrize("profile", PROFILES)
def test_miopen_settings_have_stored_choices_removed_after_a_rollback_and_not_before(profile: str) -> None:
    """GetSolutions and FindDbRecord::Validate pass over a stored choice that is forbidden now."""
    for name, setting in settings(profile):
        if name.startswith("env.MIOPEN_DEBUG_CONV_"):
            assert "ufdb" not in setting["because"]
            assert "after a rollback, remove ~/.config/miopen/*.ufdb.txt once" in setting["cost"]


def test_no_profile_overrides_the_architecture() -> None:
    """Passing an RDNA 1 card off as gfx1030 selects instructions that it lacks."""
    assert not [p for p, name, _ in SETTINGS if "HSA_OVERRIDE_GFX_VERSION" in name]


def test_what_was_shown_on_one_chip_is_confirmed_for_that_chip_only() -> None:
    for name, confidence in (("rdna2", "reported"), ("gfx1031", "confirmed"), ("rdna1", "asked for")):
        chosen = {s.id: s.confidence for s in LOADED[name].settings if not s.optional}
        wrong_results = chosen.pop("env.MIOPEN_DEBUG_CONV_DIRECT_OCL_WRW53")
        assert wrong_results == ("asked for" if name == "rdna1" else "reported")
        assert set(chosen.values()) == {confidence}, name


def test_the_area_for_saved_waves_is_too_small_on_strix_halo_alone() -> None:
    """kfd_get_vgpr_size_per_cu of 6.12 to 7.3: gfx1151 has 0x60000, gfx1150 the usual 0x40000."""
    halo = next(s for s in LOADED["gfx1151"].settings if s.id == "amdgpu.cwsr_enable")
    assert (halo.confidence, halo.optional) == ("confirmed", False)
    point = next(s for s in LOADED["gfx1150"].settings if s.id == "amdgpu.cwsr_enable")
    assert (point.confidence, point.optional, point.when) == ("asked for", True, ())
    (issue,) = (i for i in catalogue.known_issues() if i.id == "strix-cwsr-save-area")
    assert issue.gfx == ("gfx1151",)


def test_runtime_power_off_is_not_forbidden_where_the_driver_never_uses_it() -> None:
    """amdgpu_device_detect_runtime_pm_mode picks nothing by itself for CHIP_ARCTURUS."""
    assert "amdgpu.runpm" not in {s.id for s in LOADED["mi100"].settings}


@pytest.mark.parametrize("profile", ["rdna2", "rdna3", "gfx1103", "strix"])
def test_the_lockup_timeout_is_not_said_to_govern_the_queues_of_rocm(profile: str) -> None:
    """amdkfd reads neither the parameter nor the timeouts, and AMD's DKMS driver has the two seconds too."""
    (setting,) = (s for s in LOADED[profile].settings if s.id == "amdgpu.lockup_timeout")
    assert "HIP's queues have no such timeout" in setting.because
    assert {bool(when.dkms) for when in setting.when} == {True, False}


# -- which one is for which GPU --------------------------------------------------------------------------

# What the families' profiles cover. A profile that has a GPU's own name comes before them.
AUTO = {
    "gfx908": "mi100",
    "gfx90a": "mi200",
    "gfx942": "mi300x",
    "gfx950": "mi350x",
    **{f"gfx101{n}": "rdna1" for n in range(4)},
    **{f"gfx103{n}": "rdna2" for n in (0, 2, 3, 4, 5, 6)},
}
OWN = (
    "gfx1031",
    "gfx1100",
    "gfx1101",
    "gfx1102",
    "gfx1103",
    "gfx1150",
    "gfx1151",
    "gfx1152",
    "gfx1200",
    "gfx1201",
)


def expected(gfx: str) -> tuple[str, ...]:
    """By the data: the profile of its own name, else those that list it, extend none and are not only for
    who names them."""
    if gfx in PROFILES:
        return (gfx,)
    apu = next(m.apu for m in KNOWN.gpus if m.gfx == gfx)
    return tuple(
        name
        for name, table in PROFILES.items()
        if gfx in table.get("gfx", ())
        and not {"extends", "use"} & set(table)
        and table.get("apu", apu) is apu
    )


def gpu(gfx: str, *, integrated: bool | None = None, node: int = 1) -> Gpu:
    model = next(m for m in KNOWN.gpus if m.gfx == gfx)
    return Gpu(gfx, gfx, "kfd", node=node, integrated=model.apu if integrated is None else integrated)


@pytest.mark.parametrize("gfx", sorted(GFX))
def test_auto_takes_one_profile_for_a_gpu_or_none(gfx: str) -> None:
    chosen = profiles.for_gpus(EMPTY, [gpu(gfx)])
    assert chosen == expected(gfx)
    assert len(chosen) <= 1, "two profiles for one GPU"
    assert chosen in [(gfx,), (AUTO.get(gfx, gfx),), ()]
    assert chosen or gfx not in (*AUTO, *OWN)


def test_auto_tells_the_apu_among_the_instincts() -> None:
    assert profiles.for_gpus(EMPTY, [gpu("gfx942", integrated=True)]) == ("mi300a",)


def test_what_is_chosen_by_name_only_is_never_chosen_for_a_gpu() -> None:
    every = [gpu(gfx, integrated=apu) for gfx in GFX for apu in (True, False)]
    chosen = {name for names in profiles.for_each(EMPTY, every) for name in names}
    assert not [name for name in chosen if LOADED[name].use is not Use.AUTO]
    assert {p.name for p in LOADED.values() if p.use is not Use.AUTO} >= {
        "debug-gemm", "debug-faults", "debug-miopen", "rccl-rdna4", "no-caching"
    }  # fmt: skip


# -- do they resolve -------------------------------------------------------------------------------------


def facts_for(
    profile: Profile, builds: tuple[KernelVersion, ...], rocm: Version | None, dkms: bool = False
) -> Facts:
    """A host with two GPUs of each target that the profile names, or with one that none names."""
    targets = profile.gfx or ("gfx1100",)
    gpus = tuple(gpu(gfx, integrated=profile.apu, node=n) for gfx in targets for n in (1, 2))
    kernels = tuple(Kernel(f"{build}-amd64", build, Driver.MODULE, dkms=dkms) for build in builds)
    chain = BootChain(None, (), ())
    return Facts(Os("", "", ""), kernels, "", gpus, rocm, "", chain, "", True, memory=128 << 30)


def everything(profile: Profile) -> Request:
    optional = tuple(s.id for s in profile.settings if s.optional)
    given = tuple(f"profile.{p.name}={max(p.low, 1)}" for p in profile.parameters)
    return Request((profile.name,), set=given, with_=optional)


def resolved(profile: Profile, request: Request, facts: Facts) -> Resolution:
    def standing(_: str) -> Effective:
        return Effective()

    made = resolve([profile], request, facts, KNOWN, standing)
    assert not [d for d in made.diagnostics if d.severity.value == "error"]
    decided = [s.id for s in made.desired] + [s.setting for s in made.skipped]
    assert sorted(decided) == sorted(s.id for s in profile.settings)
    return made


BUILDS = KNOWN.parameters["amdgpu.runpm"].builds


@pytest.mark.bulk
@pytest.mark.parametrize("dkms", [False, True], ids=["in-tree", "DKMS"])
@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_every_profile_resolves_on_every_kernel_with_all_that_is_optional(
    build: KernelVersion, dkms: bool
) -> None:
    for profile in LOADED.values():
        if {"gfx1150", "gfx1151", "gfx1152"} & set(profile.gfx) and build.series < (5, 11):
            continue  # older than the chip by years; its ttm has no limit, which is said (RC2103)
        for rocm in (None, (6, 4, 1), (7, 1, 0), (7, 14, 0)):
            resolved(profile, everything(profile), facts_for(profile, (build,), rocm, dkms))


@pytest.mark.parametrize("name", LOADED)
def test_without_a_condition_every_setting_of_a_profile_is_written(name: str) -> None:
    profile = LOADED[name]
    request = everything(profile)
    facts = facts_for(profile, BUILDS[-6:], None)
    unconditional = Request(request.profiles, request.set, request.with_, unconditional=True)
    made = resolve([profile], unconditional, facts, KNOWN, lambda _: Effective())
    assert {s.id for s in made.desired} == {s.id for s in profile.settings}
    assert not [d for d in made.diagnostics if d.severity.value == "error"]


def test_profiles_of_the_gpus_of_one_host_go_together() -> None:
    """What two profiles disagree on would stop both."""
    for names in (
        ("gfx1201", "rccl-rdna4"),
        ("rdna2", "gfx1031"),
        ("rdna3", "gfx1151"),
        ("gfx1201", "gfx1100"),
    ):
        chosen = [LOADED[name] for name in names]
        gpus = tuple(gpu(gfx) for profile in chosen for gfx in profile.gfx for _ in range(2))
        facts = facts_for(chosen[0], BUILDS[-1:], (7, 2, 0))
        facts = Facts(facts.os, facts.kernels, "", gpus, facts.rocm, "", facts.boot, "", True)
        made = resolve(chosen, Request(names), facts, KNOWN, lambda _: Effective())
        assert not [d for d in made.diagnostics if d.severity.value == "error"], names
        assert len(computing(gpus)) >= 2
