"""GPUs of machines whose KFD somebody recorded and published: old kernels, several cards, partitions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rocmcfg.facts.gpus import read_gpus
from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge.catalogue import gpu_models
from tests.support.hosts import make_root

RECORDED = Path(__file__).parent / "recorded"


def recorded(tmp_path: Path, name: str) -> LocalHost:
    """A host with KFD's nodes as they were, and the devices that they name."""
    files = {}
    _, *nodes = (RECORDED / f"{name}.txt").read_text().split("== ")
    for node in nodes:
        number, _, properties = node.partition("\n")
        files[f"sys/class/kfd/kfd/topology/nodes/{number}/properties"] = properties
        said = dict(line.split(" ", 1) for line in properties.splitlines())
        place, domain = int(said["location_id"]) & ~7, int(said.get("domain", 0))
        device = f"sys/bus/pci/devices/{domain:04x}:{place >> 8:02x}:{place >> 3 & 31:02x}.0"
        if said["simd_count"] != "0":
            files |= {f"{device}/vendor": "0x1002\n", f"{device}/class": "0x120000\n"}
            files[f"{device}/device"] = f"{int(said['device_id']):#06x}\n"
    return LocalHost(str(make_root(tmp_path, files)))


@pytest.mark.parametrize(
    ("name", "gfx", "cards", "nodes"),
    [
        ("mi25", "gfx900", 1, 2),  # of a kernel that does not say the target
        ("mi210", "gfx90a", 8, 8),
        ("mi300x-cpx", "gfx942", 2, 16),  # eight partitions of each
        ("mi308-partitioned", "gfx942", 4, 16),
    ],
)
def test_a_recorded_machine(tmp_path: Path, name: str, gfx: str, cards: int, nodes: int) -> None:
    gpus = read_gpus(recorded(tmp_path, name), gpu_models())
    assert Counter(gpu.gfx for gpu in gpus) == {gfx: nodes}
    assert {gpu.source for gpu in gpus} == {"kfd"}
    assert len({gpu.address for gpu in gpus}) == cards
    assert len({gpu.node for gpu in gpus}) == nodes
    assert not any(gpu.integrated for gpu in gpus)
