"""Which GPUs a host has: KFD first, then IP discovery, then PCI ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocmcfg.facts.gpus import driven_gpus, driver_of, gfx_name, read_gpus
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.knowledge.catalogue import gpu_models
from rocmcfg.model.facts import Gpu
from tests.support.hosts import (
    GPUS,
    File,
    Link,
    debian_grub_host,
    gpu_files,
    make_root,
    partitioned_instinct_host,
    target_version,
)

NODE = "sys/class/kfd/kfd/topology/nodes/1/properties"
PCI = "sys/bus/pci/devices/0000:03:00.0"


def gpus(root: Path) -> tuple[Gpu, ...]:
    return read_gpus(LocalHost(str(root)), gpu_models())


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (90006, "gfx906"),
        (90010, "gfx90a"),
        (90012, "gfx90c"),
        (90402, "gfx942"),
        (90500, "gfx950"),
        (100300, "gfx1030"),
        (100306, "gfx1036"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
    ],
)
def test_the_kernels_number_reads_as_llvms_name(target: int, name: str) -> None:
    assert gfx_name(target) == name
    if name in GPUS:
        assert target_version(name) == target


@pytest.mark.parametrize("gfx", sorted(GPUS))
@pytest.mark.parametrize(
    ("kfd", "discovery", "source"),
    [(True, True, "kfd"), (False, True, "ip_discovery"), (False, False, "pci")],
)
def test_every_source_names_the_same_gpu(
    tmp_path: Path, gfx: str, kfd: bool, discovery: bool, source: str
) -> None:
    (gpu,) = gpus(make_root(tmp_path, gpu_files([gfx], kfd=kfd, ip_discovery=discovery)))
    if source == "pci" and not any(GPUS[gfx][1] in model.pci for model in gpu_models()):
        gpu = gpu._replace(gfx=gfx)  # the table has not every product's id
    assert (gpu.gfx, gpu.source, gpu.address, gpu.pci_id) == (gfx, source, "0000:03:00.0", GPUS[gfx][1])
    assert gpu.name
    assert (gpu.node == 1) is kfd


def test_a_card_beside_an_igpu_are_two_gpus_of_which_one_is_integrated(tmp_path: Path) -> None:
    for number, kfd in enumerate((True, False)):
        found = gpus(make_root(tmp_path, gpu_files(["gfx1201", "gfx1036"], kfd=kfd), name=str(number)))
        assert [(g.gfx, g.integrated) for g in found] == [("gfx1201", False), ("gfx1036", True)]


def test_only_gpus_to_which_amdgpu_is_bound_are_driven(tmp_path: Path) -> None:
    files = gpu_files(["gfx1201", "gfx1036"]) | {
        "sys/bus/pci/devices/0000:09:00.0/vendor": "0x1002\n",  # a card that is passed on to a guest
        "sys/bus/pci/devices/0000:09:00.0/class": "0x030000\n",
        "sys/bus/pci/devices/0000:09:00.0/driver": Link("../../drivers/vfio-pci"),
        "sys/bus/pci/drivers/vfio-pci/bind": "",
        "sys/bus/pci/devices/0000:00:1f.3/vendor": "0x1002\n",  # its sound device
        "sys/bus/pci/devices/0000:00:1f.3/class": "0x040300\n",
        "sys/bus/pci/devices/0000:00:1f.3/driver": Link("../../drivers/amdgpu"),
    }
    view = LocalHost(str(make_root(tmp_path, files)))
    assert driven_gpus(view) == ("0000:03:00.0", "0000:04:00.0")
    assert driver_of(view, "0000:09:00.0") == "vfio-pci"
    assert driver_of(view, "0000:0a:00.0") == ""
    bare = LocalHost(str(make_root(tmp_path, gpu_files(["gfx1201"], bound=False), name="unbound")))
    assert driven_gpus(bare) == ()


def test_a_gpu_that_kfd_does_not_list_is_found_by_pci(tmp_path: Path) -> None:
    files = gpu_files(["gfx1201"]) | {
        "sys/bus/pci/devices/0000:09:00.0/vendor": "0x1002\n",
        "sys/bus/pci/devices/0000:09:00.0/device": f"0x{GPUS['gfx1030'][1]}\n",
        "sys/bus/pci/devices/0000:09:00.0/class": "0x030000\n",
    }
    assert [(g.gfx, g.source) for g in gpus(make_root(tmp_path, files))] == [
        ("gfx1201", "kfd"),
        ("gfx1030", "pci"),
    ]


def test_a_host_without_an_amd_gpu_has_none(tmp_path: Path) -> None:
    foreign: dict[str, File] = {
        f"{PCI}/vendor": "0x10de\n",
        f"{PCI}/class": "0x030000\n",
        f"{PCI}/device": "0x2684\n",
        "sys/bus/pci/devices/0000:00:01.0/vendor": "0x1002\n",  # an AMD audio function
        "sys/bus/pci/devices/0000:00:01.0/class": "0x040300\n",
        "sys/bus/pci/devices/0000:00:01.0/device": "0xab30\n",
    }
    assert gpus(make_root(tmp_path, foreign)) == ()
    assert gpus(debian_grub_host(tmp_path, gfx=None, name="none")) == ()
    assert gpus(debian_grub_host(tmp_path, live=False, name="offline")) == ()


def test_partitions_are_64_nodes_of_8_cards_and_no_card_is_seen_twice(tmp_path: Path) -> None:
    found = gpus(partitioned_instinct_host(tmp_path))
    assert len(found) == 64
    assert {(g.gfx, g.source) for g in found} == {("gfx942", "kfd")}
    assert len({g.address for g in found}) == 8
    assert [g.node for g in found] == list(range(1, 65))


def test_an_unbound_gpu_is_known_by_its_pci_id(tmp_path: Path) -> None:
    (gpu,) = gpus(debian_grub_host(tmp_path, loaded=False))
    assert (gpu.gfx, gpu.source) == ("gfx1201", "pci")


def test_a_chip_that_we_do_not_know_is_named_as_such(tmp_path: Path) -> None:
    files = gpu_files(["gfx1201"], kfd=False, ip_discovery=False)
    (by_pci,) = gpus(make_root(tmp_path, files | {f"{PCI}/device": "0xfffe\n"}, name="a"))
    assert (by_pci.gfx, by_pci.source) == (None, "pci")
    assert "1002:fffe" in by_pci.name
    discovered = gpu_files(["gfx1201"], kfd=False)
    block = f"{PCI}/ip_discovery/die/0/11/0"
    (by_ip,) = gpus(make_root(tmp_path, discovered | {f"{block}/major": "13\n"}, name="b"))
    assert (by_ip.gfx, by_ip.source) == (None, "ip_discovery")
    assert "13.0.1" in by_ip.name
    kfd = gpu_files(["gfx1201"])
    kfd[NODE] = str(kfd[NODE]).replace("120001", "130002")
    (by_kfd,) = gpus(make_root(tmp_path, kfd, name="c"))
    assert (by_kfd.gfx, by_kfd.name) == ("gfx1302", "gfx1302")


def test_properties_of_a_node_are_there_for_conditions(tmp_path: Path) -> None:
    (gpu,) = gpus(make_root(tmp_path, gpu_files(["gfx1201"], cwsr_size=True)))
    assert gpu.properties["cwsr_size"] > 0


HUGE = b"9" * 5000
GPU_NODE = b"simd_count 1\ngfx_target_version 120001\n"
GARBAGE = [
    b"gfx_target_version " + HUGE,
    GPU_NODE + b"location_id \xc2\xb2\n",
    GPU_NODE + b"domain " + HUGE,
    GPU_NODE + b"device_id " + HUGE[:4000],
    b"\xc2\xb2",
    b"",
    b"\n",
    b"\xff\xfe\x00",
    b"gfx_target_version",
    b"-1\n",
    b"0x\n",
    HUGE,
    b"0x" + b"f" * 5000,
    b"nan",
]


@pytest.mark.parametrize("content", GARBAGE, ids=range(len(GARBAGE)))
@pytest.mark.parametrize("kfd", [True, False])
def test_garbage_in_sysfs_never_crashes(tmp_path: Path, content: bytes, kfd: bool) -> None:
    good = gpu_files(["gfx1201"], kfd=kfd)
    for number, path in enumerate(p for p, file in good.items() if isinstance(file, str)):
        for gpu in gpus(make_root(tmp_path, good | {path: content}, name=str(number))):
            assert gpu.name


@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from(["gfx_target_version", "simd_count", "device_id", "location_id", "domain", "x"]),
            st.one_of(st.integers(-5, 2**80).map(str), st.text(max_size=5)),
        ),
        max_size=8,
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_properties_of_a_node_are_read_or_passed_over(
    tmp_path: Path, lines: list[tuple[str, str]]
) -> None:
    text = "\n".join(f"{name} {value}" for name, value in lines)
    for gpu in gpus(make_root(tmp_path, {NODE: text.encode("utf-8", "surrogatepass")})):
        assert gpu.gfx
        assert gpu.gfx.startswith("gfx")


def test_a_node_that_a_container_hides_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root(tmp_path, gpu_files(["gfx1201", "gfx1036"]))
    real = LocalHost.read

    def read(self: LocalHost, path: str) -> bytes | None:
        if path == f"/{NODE}":
            raise Unreadable(path, "Operation not permitted")
        return real(self, path)

    monkeypatch.setattr(LocalHost, "read", read)
    assert [(g.gfx, g.source) for g in gpus(root)] == [("gfx1036", "kfd"), ("gfx1201", "ip_discovery")]


def test_a_chip_without_a_code_name_has_a_name_without_gaps(tmp_path: Path) -> None:
    (found,) = read_gpus(LocalHost(str(make_root(tmp_path, gpu_files(["gfx950"])))), gpu_models())
    assert found.name == "Instinct MI350X, MI355X"
