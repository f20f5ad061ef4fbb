"""Our lines in a file that somebody else owns: written, verified, undone; what others write there stays."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support import usecases
from tests.support.hosts import other_host
from tests.support.program import Result, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.trees import tree

DEFAULTS = "etc/default/grub"


@pytest.fixture(params=["arch-grub", "opensuse-grub2"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return other_host(tmp_path, request.param)


def apply(root: Path, *settings: str) -> None:
    usecases.apply(QuickHost(str(root)), set=settings)


def run(root: Path, *words: str) -> Result:
    return rocmcfg(*words, "--root", root, host=QuickHost)


def text(root: Path) -> str:
    return (root / DEFAULTS).read_text()


def write(root: Path, content: str) -> None:
    (root / DEFAULTS).write_text(content)


def seen(root: Path) -> object:
    return tree(root, state=False, times=False)


@pytest.mark.parametrize("damage", ["value", "comment", "line"])
def test_altered_lines_are_refused_before_anything_is_touched(root: Path, damage: str) -> None:
    before = text(root)
    apply(root, "amdgpu.runpm=0")
    ours = text(root).removeprefix(before)
    comment, line, _ = ours.split("\n")
    altered = {"value": ours.replace("runpm=0", "runpm=1"), "comment": f"{line}\n", "line": f"{comment}\n"}
    write(root, before + altered[damage])
    held = seen(root)
    for words in (("rollback", "--yes"), ("rollback", "--dry-run")):
        found = run(root, *words, "--json")
        assert (found.code, found.ids) == (1, ["RC4022"])
    assert seen(root) == held
    found = run(root, "verify", "--json")
    assert "RC5001" in found.ids
    assert found.document["checks"][0]["status"] == "drift"
    found = run(root, "apply", "--set", "amdgpu.runpm=0", "--set", "karg.iommu=pt", "--yes", "--json")
    if damage != "comment":  # without it the line is somebody's own, and has the value already
        assert found.ids[:1] == ["RC4002"]
        assert run(root, "rollback", "--yes", "--force").code == 0
        assert text(root) == before
        kept = [line for line in journal(root) if line["kind"] == "kept"]
        assert [line["path"] for line in kept] == ["/etc/default/grub"]


def journal(root: Path) -> list[dict[str, object]]:
    (found,) = root.glob("var/lib/rocmcfg/transactions/000001/journal.jsonl")
    return [json.loads(line) for line in found.read_text().splitlines()]


def test_lines_without_a_record_are_named_with_how_to_be_rid_of_them(root: Path) -> None:
    apply(root, "amdgpu.runpm=0")
    shutil.rmtree(root / "var/lib/rocmcfg")
    found = run(root, "rollback", "--yes", "--json")
    assert found.ids == ["RC4026"]
    (problem,) = found.document["diagnostics"]
    assert "/etc/default/grub" in problem["detail"]
    assert f"sudo sh {root}/var/backups/rocmcfg/undo.sh" in problem["hint"]
    apply(root, "amdgpu.runpm=0")  # puts them on record
    assert run(root, "verify", "--json").document["diagnostics"] == []


def test_the_file_keeps_its_owner_and_mode_and_gets_its_mtime_back(root: Path) -> None:
    (root / DEFAULTS).chmod(0o600)
    if os.geteuid() == 0:
        os.chown(root / DEFAULTS, 0, 4)
    before = (root / DEFAULTS).stat()
    apply(root, "amdgpu.runpm=0")
    now = (root / DEFAULTS).stat()
    assert (now.st_mode, now.st_uid, now.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    usecases.rollback(QuickHost(str(root)))
    now = (root / DEFAULTS).stat()
    assert (now.st_mode, now.st_uid, now.st_gid, now.st_mtime_ns) == (
        *(before.st_mode, before.st_uid, before.st_gid),
        before.st_mtime_ns,
    )
