"""The modules on a host of other boot chains than the fleet's, as tests/cases has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import case as cases
from tests.support.trees import with_directory_times

from .plays import Task, play, with_tools

HOSTS = {
    "grub-bls": "grub-bls/fedora",
    "systemd-boot": "systemd-boot/kernel-install",
    "uki": "uki/mkinitcpio",
    "limine": "limine/cachyos",
    "rpm-ostree": "rpm-ostree/silverblue",
}
APPLY: Task = {"profile": {"set": {"amdgpu.runpm": "0", "karg.iommu": "pt"}}}
ABSENT: Task = {"profile": {"state": "absent"}}


@pytest.mark.parametrize("loader", HOSTS)
def test_a_play_rehearses_applies_once_and_takes_back(loader: str, collections: Path, tmp_path: Path) -> None:
    case = cases.read(cases.CASES / HOSTS[loader])
    cases.lay_out(case, tmp_path)
    host = tmp_path / "host"
    runs = with_tools(tmp_path / "bin", own=case.tools)
    found, before = with_directory_times(host), cases.tree_of(host)

    rehearsed = play(collections, tmp_path / "a", [APPLY], "--check", "--diff", root=host, executable=runs)
    assert with_directory_times(host) == found
    assert rehearsed.results[0]["changed"]
    assert "amdgpu.runpm=0" in rehearsed.output

    tasks: list[Task] = [APPLY, APPLY, {"settings_info": {"pending_ok": True}}, {"host_facts": {}}]
    done = play(collections, tmp_path / "b", tasks, root=host, executable=runs)
    assert [result["failed"] for result in done.results] == [False] * 4, done.output
    assert [result["changed"] for result in done.results] == [True, False, False, False]
    assert done.results[0]["reboot_required"]
    known = done.results[3]["ansible_facts"]["rocmcfg"]
    assert known["boot_chain"]["loader"] == loader

    back = play(collections, tmp_path / "c", [ABSENT, ABSENT], root=host, executable=runs)
    assert [result["changed"] for result in back.results] == [True, False], back.output
    left = cases.tree_of(host)
    paths = {path for path in before.keys() | left if before.get(path) != left.get(path)}
    assert paths <= case.stays.keys()
