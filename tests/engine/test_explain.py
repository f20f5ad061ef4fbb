"""`explain`: what a name is, what a value would do, which bits a mask changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.workflow.explaining import Explained, explain_name
from tests.support.hosts import debian_grub_host


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
    found = explain_name(host, "enforce_isolation", ["5.10.218", "6.12.43", "7.3.4"]).explanation.kernels
    assert [(on.present, on.types) for on in found] == [(False, ()), (True, ("bool",)), (True, ("int",))]


def test_who_sets_it_here_and_which_profiles_use_it(host: LocalHost) -> None:
    found = explain_name(host, "runpm")
    assert (found.now.value, found.now.source) == ("0", "/etc/default/grub:7")
    assert ("rdna3", "amdgpu.runpm") in found.profiles


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("gtt_size", "amdgpu.gttsize"),
        ("amdgpu.gtt_size=8192", "amdgpu.gttsize"),
        ("TORCH_USE_HIPBLASLT", "TORCH_BLAS_PREFER_HIPBLASLT"),
        ("amd_iommu=pt", "karg.iommu=pt"),
    ],
)
def test_a_name_that_is_not_what_it_seems_leads_to_the_right_one(
    host: LocalHost, text: str, instead: str
) -> None:
    assert explain_name(host, text).explanation.instead == instead


def test_a_misspelt_name_gets_the_nearest_ones(host: LocalHost) -> None:
    with pytest.raises(RocmcfgError) as stop:
        explain_name(host, "cwsr_enabel")
    assert "cwsr_enable" in stop.value.diagnostics[0].hint


def test_a_kernel_that_is_none_is_refused(host: LocalHost) -> None:
    with pytest.raises(RocmcfgError, match="not a kernel version"):
        explain_name(host, "runpm", ["latest"])


def test_every_name_of_the_catalogue_can_be_explained(host: LocalHost) -> None:
    from rocmcfg.knowledge import catalogue

    known = catalogue.load()
    names = [
        *known.parameters,
        *(f"feature.{name}" for name in known.features),
        *known.variables,
        *known.traps,
    ]
    assert all(explain_name(host, name, ["6.12.117"]).explanation.summary for name in names)
