"""Journals that hosts have already: without the line that says how things were before programs ran."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocmcfg.records.journal import digest
from tests.crash.faulting import at_call
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg
from tests.support.trees import tree

APPLY = ("apply", "--set", "amdgpu.runpm=0", "--set", "karg.iommu=pt", "--via", "modprobe", "--yes")


def _older(root: Path) -> None:
    """Take out of the newest journal what an older rocmcfg did not write."""
    path = sorted(root.glob("var/lib/rocmcfg/transactions/*/journal.jsonl"))[-1]
    records = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [record for record in records if record["kind"] != "before"]
    assert len(kept) == len(records) - 1
    text = ""
    for record in kept:
        del record["sum"]
        body = json.dumps(record, sort_keys=True, separators=(",", ":"))
        text += f'{body[:-1]},"sum":"{digest(body.encode())[:16]}"}}\n'
    path.write_text(text)


def _menu_and_options(root: Path) -> dict[str, tuple[object, ...]]:
    found = tree(root, state=False, times=False)
    return {path: entry for path, entry in found.items() if not path.startswith("boot/initrd")}


def test_what_an_older_rocmcfg_applied_is_rolled_back(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    before = _menu_and_options(root)
    assert rocmcfg(*APPLY, "--root", root, tools=tmp_path).code == 0
    _older(root)
    result = rocmcfg("rollback", "--yes", "--root", root, tools=tmp_path)
    assert result.code == 0, result.err
    assert _menu_and_options(root) == before


@pytest.mark.parametrize("at", ["run update-initramfs", "run update-grub"])
def test_what_an_older_rocmcfg_left_unfinished_is_undone(tmp_path: Path, at: str) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    before = _menu_and_options(root)
    at_call(root, APPLY, at, tmp_path)
    _older(root)
    result = rocmcfg("recover", "--root", root, tools=tmp_path)
    assert result.code == 0, result.err
    assert _menu_and_options(root) == before
