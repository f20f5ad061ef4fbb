"""A boot partition that is not mounted, that may not be written to, or that is full: nothing is begun that
could not be ended, and nothing is written into the folder where it should be."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg.host import atomic
from rocmcfg.model.file_state import FileState
from tests.crash.calls import CountedHost
from tests.crash.chains import CHAINS as EVERY_CHAIN
from tests.crash.fat import CHAINS, Chain
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, in_namespace, needs_mounts, rocmcfg, tool_command
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
        def writable_problem(self, path: str, size: int = 0) -> str:
            there = path.startswith(f"/{chain.esp}")
            return "the file system is read-only" if there else super().writable_problem(path, size)

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


def test_a_program_that_keeps_arguments_and_writes_entries_is_not_begun_on_a_read_only_partition(
    tmp_path: Path,
) -> None:
    """kernelstub, whose own file is on another file system than the entries that it writes; what it wrote
    there is put on the disk too."""
    chain = next(chain for chain in EVERY_CHAIN if chain.name == "kernelstub")
    entries = f"/{chain.boot}/loader/entries"
    settled: list[str] = []

    class Sound(CountedHost):
        def settle(self, paths: Sequence[str]) -> None:
            settled.extend(paths)

    class ReadOnly(Sound):
        def writable_problem(self, path: str, size: int = 0) -> str:
            there = path.startswith(f"/{chain.boot}")
            return "the file system is read-only" if there else super().writable_problem(path, size)

    root = chain.make(tmp_path)
    sound, read_only = chain.of(Sound), chain.of(ReadOnly)
    for act in (("apply", *chain.settings), ROLLBACK):
        before = tree(root)
        refused = run(root, *act, host=read_only)
        assert refused.code == 1, refused
        assert f"cannot write {entries}" in " ".join(refused.err.split())
        assert tree(root) == before
        assert entries not in settled
        assert run(root, *act, host=sound).code == 0
        assert entries in settled
        settled.clear()


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


MAKERS = {"grub": debian_grub_host, **{chain.name: chain.make for chain in OURS}}


@needs_mounts
@pytest.mark.parametrize("trouble", ["full", "read-only"])
@pytest.mark.parametrize("name", MAKERS)
def test_an_undo_begins_nothing_that_it_cannot_end(tmp_path: Path, name: str, trouble: str) -> None:
    """On a real file system, which is /boot, and GRUB's menu by a program."""
    root = MAKERS[name](tmp_path)
    place = root / (CHAINS[name].esp if name in CHAINS else "boot")
    before = tree(root, state=False, times=False)
    assert run(root, *APPLY).code == 0
    applied = tree(root)
    tools = tmp_path / "tools"
    tools.mkdir()
    making = {
        "full": 'cat /dev/zero > "$place/filler" 2> "$work/ignored"',
        "read-only": 'mount -o remount,ro "$place"',
    }[trouble]
    script = (
        'place=$1; work=$2; shift 2; mv "$place" "$work/saved" && mkdir "$place" && '
        'mount -t tmpfs -o size=2m,mode=0755 tmpfs "$place" && cp -a "$work/saved/." "$place/" && '
        f'{{ {making}; "$@"; code=$?; }}; mount -o remount,rw "$place"; rm -f "$place/filler"; '
        'rm -r "$work/saved"; cp -a "$place" "$work/saved"; umount "$place"; rmdir "$place"; '
        'mv "$work/saved" "$place"; exit $code'
    )
    undo = tool_command(tools, *ROLLBACK, "--root", root)
    undone = in_namespace(script, place, tmp_path, *undo)
    if (name, trouble) == ("uki", "full"):  # what is only taken away needs no room
        assert undone.code == 0, undone
    else:
        assert undone.code == 1, undone
        assert ("is full: " if trouble == "full" else "read-only") in " ".join(undone.err.split())
        assert tree(root) == applied
        assert run(root, *ROLLBACK).code == 0
    assert tree(root, state=False, times=False) == before
