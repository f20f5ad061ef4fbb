"""The rest of the catalogue and the shipped profiles: do they refer to things that exist?

Reads the TOML as it stands, so that a slip in the data is found without the loader.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
SAFE_VALUE = re.compile(r"[A-Za-z0-9._,:;@%+=/-]+")
RANGE = re.compile(r"(>=|<=|==|>|<)\d+(\.\d+)*(,(>=|<=|==|>|<)\d+(\.\d+)*)*")
SENTENCE = re.compile(r"[A-Z0-9].{10,200}\.")

Table = dict[str, Any]


def read(path: Path) -> Table:
    table = tomllib.loads(path.read_text())
    assert table.pop("schema") == 1
    return table


def data(name: str) -> Table:
    return read(ROOT / "rocmcfg" / "knowledge" / "data" / f"{name}.toml")


PARAMETERS = data("parameters")["amdgpu"]
FEATURES = data("features")
FIXES = data("fixes")
GPUS: list[Table] = data("gpus")["gpu"]
VARIABLES = data("environment")
TRAPS: list[Table] = data("traps")["trap"]
PROFILES = {path.stem: read(path) for path in sorted((ROOT / "profiles").glob("*.toml"))}
GFX = {gpu["gfx"] for gpu in GPUS}


def exists(setting: str) -> bool:
    """Whether `amdgpu.runpm`, `feature.gfxoff` or `env.NAME` is in the catalogue; any kernel argument is."""
    kind, _, name = setting.partition(".")
    known = {"amdgpu": PARAMETERS, "feature": FEATURES, "env": VARIABLES, "karg": {name: None}}
    return name in known.get(kind, {})


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


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_one_bit_of_a_mask(name: str) -> None:
    feature = FEATURES[name]
    assert set(feature) == {"parameter", "bit", "set_means", "summary"}
    assert exists(feature["parameter"])
    assert PARAMETERS[feature["parameter"].removeprefix("amdgpu.")]["mask"] is True
    assert feature["bit"].bit_count() == 1
    assert feature["set_means"] in ("on", "off")
    assert SENTENCE.fullmatch(feature["summary"])


def test_no_two_features_name_the_same_bit() -> None:
    bits = [(f["parameter"], f["bit"]) for f in FEATURES.values()]
    assert len(set(bits)) == len(bits)


def test_gfxoff_alone_turns_todays_default_into_the_minimal_mask() -> None:
    """0xfff73fff; the popular 0xfffd3fff also clears stutter and sets gfx-dcs."""
    default = int(PARAMETERS["ppfeaturemask"]["epochs"][-1]["default"], 16)
    bits = {name: FEATURES[name]["bit"] for name in ("gfxoff", "stutter", "gfx-dcs", "overdrive")}
    assert default & ~bits["gfxoff"] == 0xFFF73FFF
    assert (default & ~bits["gfxoff"] & ~bits["stutter"]) | bits["gfx-dcs"] == 0xFFFD3FFF
    assert not default & (bits["overdrive"] | bits["gfx-dcs"])


@pytest.mark.parametrize("name", FIXES)
def test_a_fix_names_its_releases_and_its_probe(name: str) -> None:
    fix = FIXES[name]
    assert set(fix) == {"summary", "mainline", "stable", "probe", "evidence"}
    mainline = tuple(map(int, fix["mainline"].split(".")))
    stable = [tuple(map(int, release.split("."))) for release in fix["stable"]]
    assert len(mainline) == 2
    assert stable == sorted(stable)
    assert all(len(release) == 3 and release[:2] < mainline for release in stable)
    assert set(fix["probe"]) == {"kfd_property"}
    assert all(url.startswith("https://") for url in fix["evidence"])


@pytest.mark.parametrize("gpu", GPUS, ids=[gpu["gc_ip"] for gpu in GPUS])
def test_a_gpu_is_named_the_way_the_kernel_and_llvm_do(gpu: Table) -> None:
    assert set(gpu) - {"apu"} == {"gc_ip", "gfx", "family", "codename", "products", "pci"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", gpu["gc_ip"])
    assert re.fullmatch(r"gfx\d{1,2}[0-9a-f]{2}", gpu["gfx"])
    assert all(re.fullmatch(r"[0-9a-f]{4}", device) for device in gpu["pci"])


def test_a_graphics_core_version_or_pci_id_stands_for_one_gpu() -> None:
    cores = {(gpu["gc_ip"], gpu["gfx"]) for gpu in GPUS}
    devices = [device for gpu in GPUS for device in gpu["pci"]]
    assert len({core for core, _ in cores}) == len(cores)
    assert len(set(devices)) == len(devices)


def test_the_graphics_core_version_is_not_the_gfx_name() -> None:
    gfx = {gpu["gc_ip"]: gpu["gfx"] for gpu in GPUS}
    assert (gfx["11.0.1"], gfx["11.0.3"], gfx["10.1.10"]) == ("gfx1103", "gfx1101", "gfx1010")


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_says_who_reads_it_or_that_nobody_does(name: str) -> None:
    variable = VARIABLES[name]
    assert set(variable) <= {"summary", "reader", "values", "presence_only", "unknown", "instead"}
    assert SENTENCE.fullmatch(variable["summary"])
    assert ("reader" in variable) != variable.get("unknown", False)
    assert variable.get("instead", name) in VARIABLES
    assert all(SAFE_VALUE.fullmatch(word) for word in variable.get("values", ()))


def test_traps_are_not_names_of_parameters_and_lead_to_what_exists() -> None:
    names = [trap["name"] for trap in TRAPS]
    assert len(set(names)) == len(names)
    for trap in TRAPS:
        assert set(trap) == {"name", "instead", "summary"}
        assert trap["name"] not in PARAMETERS
        assert exists(trap["instead"])
        assert SENTENCE.fullmatch(trap["summary"])


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_for_gpus_that_exist(name: str) -> None:
    profile = PROFILES[name]
    assert set(profile) <= {"summary", "gfx", "extends", "notes", "module", "features", "cmdline", "env"}
    assert profile["summary"]
    assert set(profile["gfx"]) <= GFX
    assert all(note.endswith(".") for note in profile.get("notes", ()))


@pytest.mark.parametrize("name", [n for n, p in PROFILES.items() if "extends" in p])
def test_a_profile_narrows_the_one_it_extends(name: str) -> None:
    base = PROFILES[PROFILES[name]["extends"]]
    assert "extends" not in base
    assert set(PROFILES[name]["gfx"]) < set(base["gfx"])


@each_setting
def test_a_setting_is_in_the_catalogue(profile: str, name: str, setting: Table) -> None:
    assert exists(name)


@each_setting
def test_a_setting_says_why_with_evidence_and_at_what_cost(profile: str, name: str, setting: Table) -> None:
    allowed = {"value", "because", "evidence", "cost", "confidence", "when", "optional", "via"}
    assert set(setting) <= allowed
    assert setting["because"].endswith(".")
    assert setting["cost"].endswith(".")
    assert setting["evidence"]
    assert all(url.startswith("https://") for url in setting["evidence"])
    assert setting["confidence"] in ("confirmed", "reported", "asked for")


@each_setting
def test_a_value_is_safe_in_a_boot_file_and_legal(profile: str, name: str, setting: Table) -> None:
    kind, _, key = name.partition(".")
    value = setting["value"]
    if kind == "feature":
        assert isinstance(value, bool)
        return
    assert SAFE_VALUE.fullmatch(str(value))
    if kind == "env":
        assert isinstance(value, str)
        assert value in VARIABLES[key].get("values", [value])
    if kind == "amdgpu" and "range" in PARAMETERS[key]:
        low, high = PARAMETERS[key]["range"]
        assert low <= value <= high


@each_setting
def test_a_condition_uses_the_closed_vocabulary(profile: str, name: str, setting: Table) -> None:
    when = setting.get("when", {})
    assert set(when) <= {"kernel", "rocm", "lacks-fix", "gfx"}
    assert all(RANGE.fullmatch(when[key]) for key in ("kernel", "rocm") if key in when)
    assert when.get("lacks-fix", next(iter(FIXES))) in FIXES
    assert set(when.get("gfx", ())) <= set(PROFILES[profile]["gfx"])


@pytest.mark.parametrize("profile", PROFILES)
def test_miopen_settings_tell_the_user_about_stored_choices(profile: str) -> None:
    for name, setting in settings(profile):
        if name.startswith("env.MIOPEN_DEBUG_CONV_"):
            assert "~/.config/miopen/*.ufdb.txt" in setting["because"]
            assert "rollback" in setting["cost"]


def test_no_profile_overrides_the_architecture() -> None:
    """Passing an RDNA 1 card off as gfx1030 selects instructions that it lacks."""
    assert not [p for p, name, _ in SETTINGS if "HSA_OVERRIDE_GFX_VERSION" in name]


def test_nothing_offers_a_gfxoff_parameter() -> None:
    assert not exists("amdgpu.gfxoff")
    assert [trap["instead"] for trap in TRAPS if trap["name"] == "gfxoff"] == ["feature.gfxoff"]
