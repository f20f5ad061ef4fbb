"""A boot partition that is not mounted, that may not be written to, or that is full: nothing is begun that
could not be ended, and nothing is written into the folder where it should be."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rocmcfg.host import atomic
from rocmcfg.model.state import FileState
from tests.crash.fat import CHAINS, Chain
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.trees import tree

APPLY = ("apply", "--set", "amdgpu.runpm=0", "--set", "karg.iommu=pt", "--yes")
ROLLBACK = ("rollback", "--yes")
OURS = [chain for chain in CHAINS.values() if not chain.by_tool]


def run(root: Path, *arguments: str, host: type[QuickHost] = QuickHost) -> Result:
    return rocmcfg(*arguments, "--root", root, host=host)


@pytest.mark.parametrize("chain", OURS, ids=lambda chain: chain.name)
def test_what_is_on_a_partition_is_not_taken_back_without_it(tmp_path: Path, chain: Chain) -> None:
    root = chain.make(tmp_path)
    place = root / chain.esp
    before = tree(root, state=False, times=False)
    assert run(root, *APPLY).code == 0
    place.rename(tmp_path / "away")
    place.mkdir()
    found = tree(root)
    refused = run(root, *ROLLBACK)
    assert refused.code == 1, refused
    assert "RC3121" in refused.err
    assert tree(root) == found
    place.rmdir()
    (tmp_path / "away").rename(place)
    assert run(root, *ROLLBACK).code == 0
    assert tree(root, state=False, times=False) == before


def test_a_generated_menu_is_not_taken_back_without_its_partition(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path / "host")
    (root / "etc/fstab").write_text("UUID=x /boot ext4 defaults 0 2\n")
    assert run(root, *APPLY).code == 0
    (root / "boot").rename(tmp_path / "away")
    (root / "boot").mkdir()
    found = tree(root)
    refused = run(root, *ROLLBACK)
    assert (refused.code, tree(root)) == (1, found), refused
    assert "cannot use /boot: " in refused.err
    (root / "boot").rmdir()
    (tmp_path / "away").rename(root / "boot")
    assert run(root, *ROLLBACK).code == 0
    assert "amdgpu.runpm" not in (root / "boot/grub/grub.cfg").read_text()


@pytest.mark.parametrize("chain", OURS, ids=lambda chain: chain.name)
def test_a_read_only_partition_is_a_plain_refusal(tmp_path: Path, chain: Chain) -> None:

    class ReadOnly(QuickHost):
        def writable_problem(self, path: str) -> str:
            there = path.startswith(f"/{chain.esp}")
            return "the file system is read-only" if there else super().writable_problem(path)

    root = chain.make(tmp_path)
    found = tree(root)
    refused = run(root, *APPLY, host=ReadOnly)
    assert refused.code == 1, refused
    assert "read-only" in refused.err
    assert tree(root) == found
    assert run(root, *APPLY).code == 0
    found = tree(root)
    refused = run(root, *ROLLBACK, host=ReadOnly)
    assert refused.code == 1, refused
    assert tree(root) == found
    assert run(root, *ROLLBACK).code == 0


def test_a_full_partition_is_taken_back_and_told_what_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = CHAINS["limine"].make(tmp_path)
    before = tree(root, state=False)
    real = os.open

    def full(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if ".limine.conf" in str(path) and flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, mode, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", full)
        failed = run(root, *APPLY)
    assert failed.code == 4, failed
    assert "free at least" in failed.err
    assert tree(root, state=False) == before


def test_a_label_that_the_file_system_shows_and_does_not_take_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SELinux on FAT."""

    def refused(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    label = (("security.selinux", b"system_u:object_r:dosfs_t:s0\0"),)
    state = FileState(b"new\n", 0o644, os.geteuid(), os.getegid(), 0, label)
    monkeypatch.setattr(os, "setxattr", refused)
    monkeypatch.setattr(os, "getxattr", lambda *_: label[0][1])
    atomic.replace_file(str(tmp_path / "entry.conf"), state, keep_mtime=False)
    assert (tmp_path / "entry.conf").read_bytes() == b"new\n"
    monkeypatch.setattr(os, "getxattr", refused)
    with pytest.raises(OSError, match="not supported"):
        atomic.replace_file(str(tmp_path / "entry.conf"), state, keep_mtime=False)
