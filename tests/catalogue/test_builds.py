"""parameters.toml against the binaries it was written from.

`builds.json` holds what the `__param` sections of 16 kernels say, each build as the difference from the
one before. It is evidence: a failure here is cured in parameters.toml, never in builds.json.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "rocmcfg" / "knowledge" / "data"

TYPES = {"int", "uint", "ulong", "ullong", "hexint", "bool", "bint", "charp", "string"}
KEYS = {
    "summary",
    "since",
    "removed",
    "config",
    "deprecated",
    "rewritten",
    "mask",
    "range",
    "epochs",
    "lacks",
}
KEYS |= {"computed", "taints_since"}
DKMS_KEYS = {"summary", "dkms_only", "type"}

Facts = tuple[str, str, str, bool]  # type, permission, default as sysfs prints it, taints


def replay() -> dict[str, dict[str, Facts]]:
    """Every build in full, oldest first."""
    current: dict[str, Facts] = {}
    full: dict[str, dict[str, Facts]] = {}
    for build in json.loads((HERE / "builds.json").read_text())["builds"]:
        for name in build["gone"]:
            del current[name]
        for name, (type_, permission, default, *taints) in build["set"].items():
            current[name] = (type_, permission, default, taints == ["taints"])
        full[build["version"]] = dict(current)
    return full


CATALOGUE: dict[str, Any] = tomllib.loads((DATA / "parameters.toml").read_text())
# What the kernels' own driver declares; AMD's DKMS driver was not read.
PARAMETERS: dict[str, Any] = {n: p for n, p in CATALOGUE["amdgpu"].items() if "dkms_only" not in p}
EVERYTHING = [(module, name) for module in ("amdgpu", "ttm", "amdttm") for name in CATALOGUE[module]]
every_parameter = pytest.mark.parametrize(
    ("module", "name"), EVERYTHING, ids=[f"{m}.{n}" for m, n in EVERYTHING]
)
BUILDS: list[str] = CATALOGUE["builds"]
BINARIES = replay()


def facts(epoch: dict[str, Any]) -> Facts:
    return epoch["type"], epoch["permission"], epoch["default"], epoch.get("taints", False)


def order(version: str) -> tuple[tuple[int, ...], int]:
    numbers, _, candidate = version.partition("-rc")
    return tuple(int(n) for n in numbers.split(".")), -1 if candidate else 0


# Those that were read in full, and newer ones that somebody looked into for one parameter.
KERNELS = sorted(
    {*BUILDS, *(e[end] for p in PARAMETERS.values() for e in p["epochs"] for end in ("from", "to"))},
    key=order,
)


def span(epoch: dict[str, Any]) -> tuple[int, int]:
    return KERNELS.index(epoch["from"]), KERNELS.index(epoch["to"])


def catalogue_of(version: str) -> dict[str, Facts]:
    position = KERNELS.index(version)
    return {
        name: facts(epoch)
        for name, parameter in PARAMETERS.items()
        for epoch in parameter["epochs"]
        if span(epoch)[0] <= position <= span(epoch)[1]
    }


def test_the_catalogue_lists_the_builds_that_were_read() -> None:
    assert list(BINARIES) == BUILDS
    assert len(BUILDS) >= 16


def test_builds_are_in_the_order_of_their_versions() -> None:
    assert sorted(BUILDS, key=order) == BUILDS


@every_parameter
def test_an_epoch_names_kernels_that_were_read_or_newer_ones(module: str, name: str) -> None:
    """One in between would say of every build after it that it lacks the parameter, or has it."""
    for epoch in CATALOGUE[module][name].get("epochs", ()):
        for end in ("from", "to"):
            kernel = epoch[end]
            where = f"parameters.toml, {module}.{name}: {end} = {kernel!r}"
            assert re.fullmatch(r"\d+\.\d+\.\d+(-rc\d+)?", kernel), f"{where} is not a release such as 7.4.0"
            assert kernel in BUILDS or order(kernel) > order(BUILDS[-1]), (
                f"{where} is none of the kernels under `builds`, and not newer than the last of them"
            )


@pytest.mark.parametrize("version", BUILDS)
def test_the_catalogue_agrees_with_the_binary(version: str) -> None:
    """Presence, type, permission, default and taint of every parameter."""
    assert catalogue_of(version) == BINARIES[version]


def test_a_parameter_that_no_binary_has_depends_on_the_kernel_configuration() -> None:
    read = {name for build in BINARIES.values() for name in build}
    read |= {n for n, p in PARAMETERS.items() for e in p["epochs"] if order(e["from"]) > order(BUILDS[-1])}
    assert {name for name in PARAMETERS if name not in read} == {"pcie_p2p"}
    assert PARAMETERS["pcie_p2p"]["config"] == "CONFIG_HSA_AMD_P2P"


def test_parameters_are_in_alphabetical_order() -> None:
    assert set(CATALOGUE) == {"schema", "builds", "amdgpu", "ttm", "amdttm"}
    for module in ("amdgpu", "ttm", "amdttm"):
        names = list(CATALOGUE[module])
        for name, right in zip(names, sorted(names), strict=True):
            assert name == right, f"parameters.toml: [{module}.{right}] belongs before [{module}.{name}]"
    assert len(PARAMETERS) >= 104


def test_ttm_has_the_parameters_that_its_module_declares() -> None:
    """modinfo of ttm.ko, Debian 6.1.192 and 6.12.117; amdttm is the same code under AMD's name."""
    assert set(CATALOGUE["ttm"]) == set(CATALOGUE["amdttm"])
    assert {e["type"] for p in CATALOGUE["ttm"].values() for e in p["epochs"]} == {"ulong"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_epochs_are_ordered_and_maximal(name: str) -> None:
    epochs = PARAMETERS[name]["epochs"]
    for epoch in epochs:
        assert epoch["type"] in TYPES
        assert span(epoch)[0] <= span(epoch)[1]
    for earlier, later in itertools.pairwise(epochs):
        gap = span(later)[0] - span(earlier)[1]
        assert gap > 0, "epochs overlap"
        lacks = any(
            order(earlier["to"]) < order(one) < order(later["from"])
            for one in PARAMETERS[name].get("lacks", ())
        )
        assert gap > 1 or lacks or facts(earlier) != facts(later), "one epoch written as two"


@pytest.mark.parametrize("name", [n for n, p in PARAMETERS.items() if "removed" in p])
def test_a_removed_parameter_is_in_no_later_binary(name: str) -> None:
    removed = tuple(int(n) for n in PARAMETERS[name]["removed"].split("."))
    for version, build in BINARIES.items():
        series = tuple(int(n) for n in version.split(".")[:2])
        assert name not in build or series < removed


@every_parameter
def test_a_summary_is_one_sentence(module: str, name: str) -> None:
    summary = CATALOGUE[module][name]["summary"]
    assert re.fullmatch(r"[A-Z].{20,160}\.", summary), f"{len(summary)} characters"
    assert not re.search(r"[.!?]\s+[A-Z]", summary)


def test_no_two_parameters_share_a_summary() -> None:
    summaries = [CATALOGUE[module][name]["summary"].lower() for module, name in EVERYTHING]
    assert len(set(summaries)) == len(summaries)


@every_parameter
def test_keys_are_known_and_ranges_run_upwards(module: str, name: str) -> None:
    parameter = CATALOGUE[module][name]
    assert set(parameter) <= (DKMS_KEYS if parameter.get("dkms_only") else KEYS)
    for key in ("since", "removed"):
        assert re.fullmatch(r"\d+\.\d+", parameter.get(key, "0.0"))
    low, high = parameter.get("range", (0, 1))
    assert low < high
