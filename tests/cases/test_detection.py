"""Every recorded host, asked by every backend: the right one is chosen, and no other one says yes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg import initramfs
from rocmcfg.host.local import LocalHost
from rocmcfg.loaders import detection, recognised, registry
from rocmcfg.model.facts import Detection
from tests.support.hosts import OTHER_HOSTS
from tests.support.stage import empty_folder

from .case import cases, lay_out, read

pytestmark = pytest.mark.bulk
FOLDERS = cases()
# What boots where something above it owns its arguments: both say yes, and the one above is asked first.
BENEATH = {
    "bootc": {"grub-bls", "rpm-ostree", "ostree"},
    "rpm-ostree": {"grub-bls", "ostree"},
    "kernelstub": {"systemd-boot"},
    "nixos": {"systemd-boot"},
    "proxmox-boot-tool": {"grub"},
    "sdbootutil": {"systemd-boot"},
    "limine": {"uki"},
}


def sayers(view: LocalHost) -> Iterator[Detection]:
    """All that say yes, without regard to the others."""
    yield from (one for backend in registry.backends() if (one := backend.detect(view)) is not None)
    above = recognised.decisive(view)
    yield from () if above is None else (above,)


@pytest.mark.parametrize("name", FOLDERS)
def test_exactly_the_right_backend_says_yes(name: str) -> None:
    expected = name.partition("/")[0]
    with empty_folder() as place:
        lay_out(read(FOLDERS[name]), place)
        view = LocalHost(str(place / "host"))
        said = {one.name: one for one in sayers(view)}
        chain = detection.detect(view, initramfs.detect(view))
    assert chain.loader is not None, chain.refusal
    assert chain.loader.name == expected
    proven = {one for one in said if said[one].proof} if said[expected].proof else {*said}
    assert proven - BENEATH.get(expected, set()) <= {expected}, said
    assert all(said[one].evidence for one in said)


def test_what_lies_beneath_is_there_somewhere() -> None:
    """The table names nothing that no host has."""
    found: dict[str, set[str]] = {}
    for name, folder in FOLDERS.items():
        loader = name.partition("/")[0]
        if loader in BENEATH:
            with empty_folder() as place:
                lay_out(read(folder), place)
                others = {one.name for one in sayers(LocalHost(str(place / "host")))} - {loader}
            found.setdefault(loader, set()).update(others)
    assert found == BENEATH


def test_every_layout_of_hosts_that_is_recorded_is_one_of_the_cases() -> None:
    """There are as many layouts as real hosts, and then some."""
    hosts = {read(folder).host.split()[0] for folder in FOLDERS.values()}
    trees = {str(tree) for folder in FOLDERS.values() for tree in read(folder).trees if Path(tree).is_dir()}
    assert len(hosts | trees) >= 30
    assert {*OTHER_HOSTS} - hosts <= {"two-boot-chains", "grub-with-leftover-loader-conf"}
