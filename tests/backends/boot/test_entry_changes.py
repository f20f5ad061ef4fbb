"""What a plan and an undo show of boot entries is what comes to be in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.hosts import other_host
from tests.support.program import Result, rocmcfg


def _shown(found: Result) -> dict[str, bytes]:
    changes = (change for step in found.document["activations"] for change in step["changes"])
    return {change["path"]: change["after"].encode() for change in changes}


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize(
    ("chain", "entry"),
    [
        ("limine", "boot/limine.conf"),
        ("arch-systemd-boot", "boot/loader/entries/arch.conf"),
        ("fedora-bls", "boot/loader/entries/*-6.17*.conf"),
    ],
)
def test_what_is_shown_of_an_entry_is_what_is_written(
    tmp_path: Path, chain: str, entry: str, end: str
) -> None:
    root = other_host(tmp_path, chain)
    (path,) = root.glob(entry)
    text = path.read_text().rstrip("\n")
    before = (text if not end else f"{text}\n".replace("\n", end)).encode()
    path.write_bytes(before)
    named = f"/{path.relative_to(root)}"
    planned = _shown(rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", root, "--json"))
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--yes", "--root", root).code == 0
    assert planned[named] == path.read_bytes() != before
    undone = _shown(rocmcfg("rollback", "--dry-run", "--root", root, "--json"))
    assert rocmcfg("rollback", "--yes", "--root", root, "--chroot").code == 0
    assert undone[named] == path.read_bytes() == before


def test_many_entries_are_counted_and_not_listed(tmp_path: Path) -> None:
    root = other_host(tmp_path, "arch-systemd-boot")
    folder = root / "boot/loader/entries"
    for number in range(40):
        (folder / f"arch-{number}.conf").write_text((folder / "arch.conf").read_text())
    shown = rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", root).out
    assert shown.count("/boot/loader/entries/") < 15
    assert "more kernel arguments of its entries" in " ".join(shown.split())
