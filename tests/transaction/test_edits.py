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
MINE = "GRUB_TIMEOUT=1\n"


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


def menu(root: Path) -> str:
    (found,) = root.glob("boot/grub*/grub.cfg")
    return found.read_text()


def seen(root: Path) -> object:
    return tree(root, state=False, times=False)


def test_it_is_applied_verified_in_sync_and_undone_to_the_byte(root: Path) -> None:
    before, state, generated = seen(root), os.stat(root / DEFAULTS), menu(root)
    apply(root, "amdgpu.runpm=0", "karg.iommu=pt")
    assert text(root).startswith(str((Path(root) / DEFAULTS).read_text())[:20])
    assert " amdgpu.runpm=0 iommu=pt" in menu(root).replace("}", " ")
    assert (root / DEFAULTS).stat().st_mode == state.st_mode
    assert run(root, "plan", "--set", "amdgpu.runpm=0", "--set", "karg.iommu=pt").out.endswith(
        "In sync: nothing to change.\n"
    )
    found = run(root, "verify", "--json").document
    assert [check["status"] for check in found["checks"]] == ["pending_reboot"] * 2
    assert found["diagnostics"] == []
    usecases.rollback(QuickHost(str(root)))
    assert seen(root) == before
    assert menu(root) == generated
    assert (root / DEFAULTS).stat().st_mtime_ns == state.st_mtime_ns


@pytest.mark.parametrize("ends", ["", "\n"])
def test_a_file_without_a_final_line_break_gets_it_back_as_it_was(root: Path, ends: str) -> None:
    write(root, text(root).rstrip("\n") + ends)
    before = text(root)
    apply(root, "amdgpu.runpm=0")
    apply(root, "amdgpu.runpm=1")
    assert text(root).count("rocmcfg") == 2
    usecases.rollback(QuickHost(str(root)))
    assert text(root).count("amdgpu.runpm=0") == 1
    usecases.rollback(QuickHost(str(root)))
    assert text(root) == before


@pytest.mark.parametrize("ends", ["", "\n"])
def test_what_others_wrote_since_stays_and_the_dry_run_says_so(root: Path, ends: str) -> None:
    before = text(root).rstrip("\n") + ends
    write(root, before)
    apply(root, "amdgpu.runpm=0")
    write(root, f"{MINE}{text(root)}# the end")
    assert run(root, "verify", "--json").document["diagnostics"] == []
    told = run(root, "rollback", "--dry-run", "--json").document
    usecases.rollback(QuickHost(str(root)))
    assert text(root) == f"{MINE}{before.rstrip()}\n# the end"
    (change,) = told["changes"]
    assert change["after"] == text(root)
    assert "amdgpu" not in menu(root)


def test_several_transactions_are_taken_back_around_what_others_wrote(root: Path) -> None:
    before = text(root)
    apply(root, "amdgpu.runpm=0")
    write(root, text(root) + MINE)
    apply(root, "amdgpu.runpm=1", "karg.iommu=pt")
    write(root, text(root) + "# last\n")
    told = run(root, "rollback", "--pristine", "--dry-run", "--json").document
    found = run(root, "rollback", "--pristine", "--yes", "--json")
    assert found.code == 0, found.out
    assert text(root) == f"{before}{MINE}# last\n"
    assert [change["after"] for change in told["changes"]] == [text(root)]


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


def test_lines_that_others_took_out_need_no_undo(root: Path) -> None:
    before = text(root)
    apply(root, "amdgpu.runpm=0")
    write(root, before + MINE)
    usecases.rollback(QuickHost(str(root)))
    assert text(root) == before + MINE


def test_a_link_in_its_place_is_not_written_through(root: Path) -> None:
    place = root / DEFAULTS
    place.rename(root / "etc/grub-elsewhere")
    place.symlink_to("../grub-elsewhere")
    found = run(root, "apply", "--set", "amdgpu.runpm=0", "--yes", "--json")
    assert found.code != 0
    assert "RC4001" in found.ids


def test_a_link_is_nobodys_business_where_nothing_of_ours_is_in_it(root: Path) -> None:
    place = root / DEFAULTS
    place.rename(root / "etc/grub-elsewhere")
    place.symlink_to("../grub-elsewhere")
    assert run(root, "apply", "--set", "env.HSA_XNACK=1", "--yes").code == 0


def test_lines_without_a_record_are_named_with_how_to_be_rid_of_them(root: Path) -> None:
    apply(root, "amdgpu.runpm=0")
    shutil.rmtree(root / "var/lib/rocmcfg")
    found = run(root, "rollback", "--yes", "--json")
    assert found.ids == ["RC4026"]
    (problem,) = found.document["diagnostics"]
    assert "take the lines of rocmcfg out of /etc/default/grub; sudo grub" in problem["hint"]
    assert "rm " not in problem["hint"]
    apply(root, "amdgpu.runpm=0")  # puts them on record
    assert run(root, "verify", "--json").document["diagnostics"] == []


def test_the_file_keeps_its_owner_and_mode(root: Path) -> None:
    (root / DEFAULTS).chmod(0o600)
    if os.geteuid() == 0:
        os.chown(root / DEFAULTS, 0, 4)
    before = (root / DEFAULTS).stat()
    for rolled_back in (False, True):
        if rolled_back:
            usecases.rollback(QuickHost(str(root)))
        else:
            apply(root, "amdgpu.runpm=0")
        now = (root / DEFAULTS).stat()
        assert (now.st_mode, now.st_uid, now.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_a_later_line_that_starts_anew_is_seen_by_verify(root: Path) -> None:
    apply(root, "amdgpu.runpm=0")
    write(root, text(root) + 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
    usecases.quiet("")
    host = QuickHost(str(root))
    (tool,) = [name for name in ("grub-mkconfig", "grub2-mkconfig") if host.has_tool(name)]
    (path,) = root.glob("boot/grub*/grub.cfg")
    host.execute((tool, "-o", f"/{path.relative_to(root)}"), timeout=60, progress=lambda: None)
    found = run(root, "verify", "--json").document
    assert [check["status"] for check in found["checks"]] == ["drift"]
