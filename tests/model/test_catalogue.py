"""The catalogue's nouns: parameters between builds, fixes over stable series, feature bits."""

from __future__ import annotations

import pytest

from rocmcfg.model.catalogue import Epoch, Feature, Parameter
from rocmcfg.model.fix import Fix
from rocmcfg.model.spelling import ParamType
from rocmcfg.model.version import KernelVersion, parse_kernel


def version(text: str) -> KernelVersion:
    found = parse_kernel(text)
    assert found is not None
    return found


def parameter(*epochs: tuple[str, str, ParamType], config: str = "") -> Parameter:
    return Parameter(
        "amdgpu",
        "sample",
        "A sample.",
        tuple(Epoch(version(a), version(b), type, "0", "0444") for a, b, type in epochs),
        tuple(version(b) for b in ("5.10.1", "6.1.1", "6.12.1", "6.18.5", "6.18.15", "7.2.1")),
        config=config,
    )


def standing(found: Parameter, kernel: str) -> tuple[list[str], bool]:
    on = found.on(version(kernel))
    return [epoch.type.value for epoch in on.variants], on.certain


def test_a_build_of_the_catalogue_speaks_for_itself() -> None:
    found = parameter(("6.1.1", "6.12.1", ParamType.INT))
    assert found.id == "amdgpu.sample"
    assert standing(found, "6.1.1") == (["int"], True)
    assert standing(found, "6.12.1") == (["int"], True)
    assert standing(found, "5.10.1") == ([], True)
    assert standing(found, "6.18.5") == ([], True)


def test_a_kernel_between_builds_takes_what_its_neighbours_agree_on() -> None:
    found = parameter(("6.1.1", "6.12.1", ParamType.INT))
    assert standing(found, "6.8.0-90-generic") == (["int"], True)
    assert standing(found, "7.1.0") == ([], True)


def test_a_kernel_whose_neighbours_disagree_is_never_certain() -> None:
    found = parameter(("6.18.15", "7.2.1", ParamType.BOOL))
    assert standing(found, "6.18.9") == (["bool"], False)
    changed = parameter(("5.10.1", "6.1.1", ParamType.BOOL), ("6.12.1", "7.2.1", ParamType.INT))
    assert standing(changed, "6.8.0-90-generic") == (["bool", "int"], True)


def test_the_release_in_which_it_came_or_went_decides_between_neighbours() -> None:
    gone = parameter(("5.10.1", "6.1.1", ParamType.INT))._replace(removed="6.7")
    assert standing(gone, "6.8.0-90-generic") == ([], True)
    assert standing(gone, "6.6.9") == (["int"], False), "a distribution may have taken the removal over"
    come = parameter(("6.12.1", "7.2.1", ParamType.INT))._replace(since="6.5")
    assert standing(come, "6.8.0-90-generic") == (["int"], True)
    assert standing(come, "6.4.9") == (["int"], False)


def test_beyond_the_known_builds_the_nearest_one_counts() -> None:
    found = parameter(("7.2.1", "7.2.1", ParamType.INT))
    assert standing(found, "9.0") == (["int"], True)
    assert standing(found, "4.18.0-553.el8_10.x86_64") == ([], True)


def test_a_parameter_of_a_build_option_is_never_certain() -> None:
    found = parameter(("5.10.1", "7.2.1", ParamType.INT), config="DRM_AMDGPU_SI")
    assert standing(found, "6.12.1") == (["int"], False)


@pytest.mark.parametrize(
    ("kernel", "present"),
    [
        ("6.12.63", False),
        ("6.12.64", True),
        ("6.12.107+deb13-amd64", True),
        ("6.12.0-55.el10.x86_64", None),
        ("6.13.12", False),
        ("6.17.13", False),
        ("6.14.0-37-generic", False),
        ("6.18.3", False),
        ("6.18.4", True),
        ("6.19", True),
        ("6.19-rc1", True),
        ("7.0.0-12-generic", True),
        ("6.1.170", False),
    ],
)
def test_a_fix_is_in_mainline_and_in_the_stable_series_that_got_it(kernel: str, present: bool | None) -> None:
    fix = Fix(
        "sample", "A sample.", version("6.19"), (version("6.12.64"), version("6.18.4")), "cwsr_size", ()
    )
    assert fix.present_in(version(kernel)) is present


@pytest.mark.parametrize(
    ("kernel", "present"),
    [
        ("6.17.0-19-generic", True),
        ("6.17.0-41-generic", True),
        ("6.17.0-18-generic", False),
        ("6.17.0-1020-oem", False),
        ("6.14.0-1018-oem", True),
        ("6.14.0-37-generic", False),
        ("6.17.13", False),
    ],
)
def test_a_distribution_may_have_taken_a_fix_by_itself(kernel: str, present: bool) -> None:
    builds = ("6.14.0-1018-oem", "6.17.0-19-generic")
    fix = Fix("sample", "A sample.", version("6.19"), (version("6.18.4"),), "cwsr_size", (), builds)
    assert fix.present_in(version(kernel), kernel) is present


def test_a_feature_changes_its_own_bit_only() -> None:
    gfxoff = Feature("gfxoff", "amdgpu.ppfeaturemask", 0x8000, True, "")
    assert gfxoff.compose(0xFFF7BFFF, False) == 0xFFF73FFF
    assert gfxoff.compose(0xFFF73FFF, True) == 0xFFF7BFFF
    assert gfxoff.compose(0xFFF7FFFF, False) == 0xFFF77FFF  # another tool's overdrive bit survives


def test_a_bit_that_switches_something_off_is_set_to_disable_it() -> None:
    psr = Feature("psr", "amdgpu.dcdebugmask", 0x10, False, "")
    assert psr.compose(0, False) == 0x10
    assert psr.compose(0x12, True) == 0x2
