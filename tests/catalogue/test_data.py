"""The rest of the catalogue: does it refer to things that exist?

Reads the TOML as it stands, so that a slip in the data is found without the loader.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
SAFE_VALUE = re.compile(r"[A-Za-z0-9._,:;@%+=/-]+")
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
FEATURES.pop("sources")
FIXES = data("fixes")
GPUS: list[Table] = data("gpus")["gpu"]
TRAPS: list[Table] = data("traps")["trap"]


def exists(setting: str) -> bool:
    """Whether `amdgpu.runpm` or `feature.gfxoff` is in the catalogue; any kernel argument is."""
    kind, _, name = setting.partition(".")
    known = {
        "amdgpu": PARAMETERS,
        "ttm": data("parameters")["ttm"],
        "feature": FEATURES,
        "karg": {name: None},
    }
    return name in known.get(kind, {})


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_one_bit_of_a_mask(name: str) -> None:
    feature = FEATURES[name]
    assert ("needed_for" in feature) is ("needed_on" in feature)
    assert set(feature) - {"acts_on", "notes", "sources", "taints", "needed_for", "needed_on", "traded"} == {
        "parameter",
        "bit",
        "set_means",
        "summary",
    }
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
def test_a_fix_names_its_releases_and_its_probe_if_there_is_one(name: str) -> None:
    fix = FIXES[name]
    assert set(fix) | {"probe", "builds"} == {"summary", "mainline", "stable", "probe", "builds", "evidence"}
    mainline = tuple(map(int, fix["mainline"].split(".")))
    stable = [tuple(map(int, release.split("."))) for release in fix["stable"]]
    assert len(mainline) == 2
    assert stable == sorted(stable)
    assert all(len(release) == 3 and release[:2] < mainline for release in stable)
    assert set(fix.get("probe", {"kfd_property"})) == {"kfd_property"}
    assert all(url.startswith("https://") for url in fix["evidence"])


@pytest.mark.parametrize("gpu", GPUS, ids=[f"{gpu['gc_ip'] or gpu['gfx']} {gpu['codename']}" for gpu in GPUS])
def test_a_gpu_is_named_the_way_the_kernel_and_llvm_do(gpu: Table) -> None:
    assert set(gpu) - {"apu", "also"} == {"gc_ip", "gfx", "family", "codename", "products", "pci"}
    older = re.fullmatch(r"gfx[678]\d\d", gpu["gfx"])
    assert gpu["gc_ip"] == "" if older else re.fullmatch(r"\d+\.\d+\.\d+", gpu["gc_ip"])
    assert gpu["pci"] or not older
    assert re.fullmatch(r"gfx\d{1,2}[0-9a-f]{2}", gpu["gfx"])
    assert all(re.fullmatch(r"[0-9a-f]{4}", device) for device in gpu["pci"])


def test_a_graphics_core_version_or_pci_id_stands_for_one_gpu() -> None:
    cores = {(gpu["gc_ip"], gpu["gfx"]) for gpu in GPUS if gpu["gc_ip"]}
    devices = [device for gpu in GPUS for device in gpu["pci"]]
    assert len({core for core, _ in cores}) == len(cores)
    assert len(set(devices)) == len(devices)


def test_the_graphics_core_version_is_not_the_gfx_name() -> None:
    gfx = {gpu["gc_ip"]: gpu["gfx"] for gpu in GPUS}
    assert (gfx["11.0.1"], gfx["11.0.3"], gfx["10.1.10"]) == ("gfx1103", "gfx1101", "gfx1010")


def test_traps_are_not_names_of_parameters_and_lead_to_what_exists() -> None:
    names = [trap["name"] for trap in TRAPS]
    assert len(set(names)) == len(names)
    for trap in TRAPS:
        assert set(trap) - {"times"} == {"name", "instead", "summary"}
        assert trap["name"] not in PARAMETERS
        assert exists(trap["instead"])
        assert SENTENCE.fullmatch(trap["summary"])


def test_nothing_offers_a_gfxoff_parameter() -> None:
    assert not exists("amdgpu.gfxoff")
    assert [trap["instead"] for trap in TRAPS if trap["name"] == "gfxoff"] == ["feature.gfxoff"]


def test_no_link_is_to_a_name_that_another_tracker_will_have() -> None:
    """docs/decisions/0048: ROCm/ROCm is to become TheRock's name, whose issues have other numbers."""
    files = [*(ROOT / "rocmcfg/knowledge/data").rglob("*.toml"), *(ROOT / "profiles").glob("*.toml")]
    assert len(files) > 150
    assert not [file.name for file in files if "github.com/ROCm/ROCm/" in file.read_text()]
