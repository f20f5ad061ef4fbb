"""The script of a transaction where a program of the host cannot run: its files come back from copies."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocmcfg.change.transaction import undo_script
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG, require_tool

MENU = "boot/grub/grub.cfg"
SHELLS = pytest.mark.parametrize("shell", [("dash",), ("busybox", "sh"), ("bash", "--posix")], ids=" ".join)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path)


def apply(root: Path, setting: str) -> None:
    done = rocmcfg("apply", "--add", setting, "--yes", "--root", root, host=QuickHost)
    assert done.code == 0, done.err


def undo(root: Path, *arguments: str, shell: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
    """Run it where the programs of the host cannot run, as the kernel's /proc is not mounted there."""
    require_tool(shell[0], shell[0])
    command = [*shell, f"{root}{undo_script.PATH}", "--root", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG)


@SHELLS
def test_a_rescue_system_gets_the_menu_from_before_all_transactions(
    host: Path, shell: tuple[str, ...]
) -> None:
    before = (host / MENU).read_bytes(), (host / MENU).stat().st_mode
    apply(host, "amdgpu.runpm=0")
    apply(host, "amdgpu.mes=0")
    after = (host / MENU).read_bytes()
    assert b"amdgpu.runpm=0" in after
    done = undo(host, shell=shell)
    assert (done.returncode, (host / MENU).read_bytes(), (host / MENU).stat().st_mode) == (0, *before), (
        done.stderr
    )
    assert f"/{MENU}" in done.stderr
    assert (host / "var/backups/rocmcfg" / MENU).read_bytes() == after
    assert not (host / "var/lib/rocmcfg").exists()


def test_a_menu_that_was_generated_since_is_left_to_its_program(host: Path) -> None:
    apply(host, "amdgpu.runpm=0")
    with (host / MENU).open("ab") as file:
        file.write(b"# a new kernel\n")
    generated = (host / MENU).read_bytes()
    done = undo(host)
    assert (done.returncode, (host / MENU).read_bytes()) == (1, generated)
    assert "update-grub" in done.stderr
    assert (host / "var/lib/rocmcfg").exists()


def test_a_menu_that_was_generated_between_two_applies_is_left_to_its_program(host: Path) -> None:
    """The copy of the first apply lacks what came in between."""
    apply(host, "amdgpu.runpm=0")
    with (host / MENU).open("ab") as file:
        file.write(b"# a new kernel\n")
    apply(host, "amdgpu.mes=0")
    applied = (host / MENU).read_bytes()
    assert undo(host).returncode == 1
    assert (host / MENU).read_bytes() == applied


def test_a_damaged_copy_is_not_used(host: Path) -> None:
    apply(host, "amdgpu.runpm=0")
    applied = (host / MENU).read_bytes()
    for copy in host.glob("var/lib/rocmcfg/transactions/*/backups/*"):
        copy.write_bytes(copy.read_bytes() + b"x")
    assert undo(host).returncode == 1
    assert (host / MENU).read_bytes() == applied


def test_an_undo_that_was_cut_off_after_the_menu_ends(host: Path) -> None:
    before = (host / MENU).read_bytes()
    apply(host, "amdgpu.runpm=0")
    (host / MENU).write_bytes(before)
    done = undo(host)
    assert (done.returncode, (host / MENU).read_bytes()) == (0, before), done.stderr
    assert not (host / "var/lib/rocmcfg").exists()


def test_a_folder_that_takes_no_writes_stops_it_before_the_first_change(host: Path) -> None:
    apply(host, "amdgpu.runpm=0")
    script = (host / undo_script.PATH.lstrip("/")).read_text()
    # stands in for a /boot that is mounted read-only: [ -w ] of a test in the shell
    place = host / undo_script.PATH.lstrip("/")
    place.write_text(script.replace('[ -w "$(at "${file%/*}")" ]', '[ "${file%/*}" != /boot/grub ]'))
    assert place.read_text() != script
    before = {path: path.read_bytes() for path in host.rglob("*") if path.is_file() and not path.is_symlink()}
    done = undo(host)
    assert done.returncode == 1
    assert "cannot write in /boot/grub" in done.stderr
    assert all(path.read_bytes() == content for path, content in before.items())
