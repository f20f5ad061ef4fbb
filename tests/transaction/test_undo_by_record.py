"""An undo takes back what its record says was written, also where what stands there now cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.fat import CHAINS
from tests.support.hosts import debian_grub_host, other_host
from tests.support.program import rocmcfg

APPLY = ("apply", "--set", "amdgpu.runpm=0", "--yes")

MENUS: dict[str, tuple[Callable[[Path], Path], str]] = {  # a host, and the files with its entries
    "systemd-boot": (CHAINS["systemd-boot"].make, "boot/efi/loader/entries/*.conf"),
    "grub-bls": (lambda folder: other_host(folder, "fedora-bls"), "boot/loader/entries/*.conf"),
    "limine": (CHAINS["limine"].make, "boot/limine.conf"),
    "refind": (CHAINS["refind"].make, "boot/refind_linux.conf"),
}


@pytest.mark.parametrize("name", MENUS)
@pytest.mark.parametrize(
    "command", [("rollback", "--yes"), ("rollback", "--pristine", "--yes")], ids=" ".join
)
def test_our_part_behind_a_quote_that_somebody_opened_is_taken_back(
    tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    make, pattern = MENUS[name]
    root = make(tmp_path)
    assert rocmcfg(*APPLY, "--root", root).code == 0
    written = [path for path in root.glob(pattern) if "rocmcfg.begin" in path.read_text()]
    assert written
    for path in written:
        quote = '""' if name == "refind" else '"'  # within a quoted line, rEFInd reads two as one
        path.write_text(path.read_text().replace("rocmcfg.begin", f"foo={quote}bar rocmcfg.begin"))
    undone = rocmcfg(*command, "--root", root)
    assert undone.code == 0, undone
    for path in written:
        assert "rocmcfg" not in path.read_text(), path
        assert f"foo={quote}bar" in path.read_text()


def test_a_menu_that_hides_our_arguments_in_a_quote_is_due_all_the_same(tmp_path: Path) -> None:
    """Without the program that generates it, an undo leaves that program to the user."""
    root = debian_grub_host(tmp_path)
    assert rocmcfg(*APPLY, "--root", root).code == 0
    menu = root / "boot/grub/grub.cfg"
    menu.write_text(menu.read_text().replace(" quiet", r" foo=\"bar quiet amdgpu.runpm=0"))
    undone = rocmcfg("rollback", "--yes", "--root", root)
    assert undone.code == 0, undone
    assert "RC4016" in undone.err
    assert "update-grub" in undone.out + undone.err


@pytest.mark.parametrize("name", ["systemd-boot", "grub-bls"])
@pytest.mark.parametrize(
    "command", [("rollback", "--yes"), ("rollback", "--pristine", "--yes")], ids=" ".join
)
def test_an_entry_that_names_another_system_since_is_taken_back(
    tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    """Its owner moved the root file system: the part between our marks is ours all the same."""
    make, pattern = MENUS[name]
    root = make(tmp_path)
    assert rocmcfg(*APPLY, "--root", root).code == 0
    written = [path for path in root.glob(pattern) if "rocmcfg.begin" in path.read_text()]
    for path in written:
        text = re.sub(r"root=\S+", "root=UUID=00000000-1111-2222-3333-444444444444", path.read_text())
        path.write_text(text)
    undone = rocmcfg(*command, "--root", root)
    assert undone.code == 0, undone
    for path in written:
        assert "rocmcfg" not in path.read_text(), undone
        assert "root=UUID=00000000" in path.read_text()


def test_an_entry_that_a_rocmcfg_of_another_system_wrote_keeps_its_part(tmp_path: Path) -> None:
    make, pattern = MENUS["systemd-boot"]
    root = make(tmp_path)
    entry = next(iter(root.glob(pattern)))
    other = entry.with_name("other.conf")
    text = re.sub(r"root=\S+", "root=UUID=00000000-1111-2222-3333-444444444444", entry.read_text())
    text = re.sub(r"machine-id.*\n", "machine-id 00000000111122223333444444444444\n", text)
    other.write_text(re.sub(r"(?m)^(options.*)$", r"\1 rocmcfg.begin amdgpu.runpm=0 rocmcfg.end", text))
    before = other.read_text()
    assert rocmcfg(*APPLY, "--root", root).code == 0
    assert rocmcfg("rollback", "--yes", "--root", root).code == 0
    assert other.read_text() == before
