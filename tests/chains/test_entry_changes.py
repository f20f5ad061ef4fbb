"""What a plan and an undo show of boot entries is what comes to be in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.case import CASES, read, stage_of
from tests.support.hosts import other_host
from tests.support.program import Result, rocmcfg
from tests.support.stage import Typed, empty_folder
from tests.support.tool_host import QuickHost


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
    assert rocmcfg("rollback", "--yes", "--root", root, host=QuickHost).code == 0
    assert undone[named] == path.read_bytes() == before


@pytest.mark.parametrize("name", ["grub-bls/trial", "limine/trial"])
@pytest.mark.parametrize("end", ["reject", "confirm"])
def test_what_is_shown_of_a_trials_entries_is_what_is_written(name: str, end: str) -> None:
    """The words of one boot, or the entry that has them; and how it all is once the trial has ended."""
    with empty_folder() as place:
        stage, host = stage_of(read(CASES / name), place), place / "host"

        def run(command: str) -> Result:
            said = stage.run(Typed(f"{command} --root host"))
            assert said.code == 0, (command, said)
            return Result(said.code, said.out, said.err)

        def require_written(found: Result, before: dict[str, bytes]) -> None:
            now = _entries(host)
            assert _shown(found) == {path: now[path] for path in now if now[path] != before[path]}

        fresh = _entries(host)
        require_written(run("rocmcfg apply --set amdgpu.runpm=0 --trial --yes --json"), fresh)
        tried = _entries(host)
        assert tried != fresh
        if end == "reject":
            shown = run("rocmcfg rollback --dry-run --json")
            run("rocmcfg reject --yes")
            assert _entries(host) == fresh
        else:
            stage.run(Typed("reboot"))
            shown = run("rocmcfg confirm --yes --json")
        require_written(shown, tried)


def _entries(host: Path) -> dict[str, bytes]:
    found = [*host.glob("boot/loader/entries/*.conf"), *host.rglob("limine.conf")]
    return {f"/{path.relative_to(host)}": path.read_bytes() for path in found if path.is_file()}


def test_many_entries_are_counted_and_not_listed(tmp_path: Path) -> None:
    root = other_host(tmp_path, "arch-systemd-boot")
    folder = root / "boot/loader/entries"
    for number in range(40):
        (folder / f"arch-{number}.conf").write_text((folder / "arch.conf").read_text())
    shown = rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", root).out
    listed = shown.count("/boot/loader/entries/")
    assert 5 < listed < 15
    assert f"  and {41 - listed} more\n" in shown
    whole = rocmcfg("plan", "--set", "amdgpu.runpm=0", "--diff", "--root", root).out
    assert whole.count("--- /boot/loader/entries/") == 41
