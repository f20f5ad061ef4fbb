"""Durable writes: nothing is ever half written, and what a crash leaves is found again."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rocmcfg.host import atomic
from rocmcfg.model.file_state import FileState

OLD = b"old\n"
ROOT = os.geteuid() == 0


def state(content: bytes = b"new\n", mode: int = 0o644, **more: int) -> FileState:
    return FileState(
        content, mode, more.get("uid", os.geteuid()), more.get("gid", os.getegid()), more.get("mtime_ns", 0)
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "zz-rocmcfg.conf"
    path.write_bytes(OLD)
    return path


class Crash(BaseException):
    """What no `except Exception` catches, as a power cut."""


@pytest.mark.parametrize("step", ["rename", "fsync", "fchmod", "write"])
def test_a_crash_at_any_step_leaves_the_old_content(
    file: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(os, step, crash)
        with pytest.raises(Crash):
            atomic.replace_file(str(file), state(), keep_mtime=False)
    assert file.read_bytes() == OLD
    atomic.replace_file(str(file), state(), keep_mtime=False)
    assert file.read_bytes() == b"new\n"
    assert os.listdir(file.parent) == [file.name]


def test_what_a_crash_left_is_discarded(file: Path) -> None:
    temporary = Path(atomic.temp_name(str(file)))
    temporary.write_text("half")
    atomic.discard_temporary(str(file))
    atomic.discard_temporary(str(file))
    assert os.listdir(file.parent) == [file.name]
    temporary.write_text("half")
    atomic.remove_file(str(file))
    atomic.remove_file(str(file))
    assert os.listdir(file.parent) == []


@pytest.mark.parametrize(
    "path",
    [
        "/etc/modprobe.d/zz-rocmcfg.conf",
        "/etc/default/grub.d/zz-rocmcfg.cfg",
        "/etc/environment.d/90-rocmcfg.conf",
        "/etc/profile.d/zz-rocmcfg.sh",
        "/etc/kernel/postinst.d/rocmcfg",
    ],
)
def test_no_reader_takes_a_temporary_file_for_its_own(path: str) -> None:
    name = os.path.basename(atomic.temp_name(path))
    assert name.startswith(".")
    assert not name.endswith((".conf", ".cfg", ".sh"))
    assert os.path.dirname(atomic.temp_name(path)) == os.path.dirname(path)


def test_the_content_is_durable_before_it_gets_its_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real_fsync, real_rename = os.fsync, os.rename

    def fsync(descriptor: int) -> None:
        calls.append("fsync directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "fsync file")
        real_fsync(descriptor)

    def rename(old: str, new: str, **places: int | None) -> None:
        calls.append("rename")
        real_rename(old, new, **places)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    atomic.replace_file(str(file), state(), keep_mtime=False)
    assert calls == ["fsync file", "rename", "fsync directory", "fsync file"]
    calls.clear()
    atomic.remove_file(str(file))
    assert calls == ["fsync directory"]
    calls.clear()
    atomic.replace_file(str(file), state(), keep_mtime=False)
    assert calls == ["fsync file", "rename", "fsync file", "fsync directory"]


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o666, 0o4755])
def test_the_mode_is_as_asked_whatever_the_umask(file: Path, mode: int) -> None:
    old = os.umask(0o077)
    try:
        atomic.replace_file(str(file), state(mode=mode), keep_mtime=False)
    finally:
        os.umask(old)
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_the_time_of_a_file_is_restored_only_on_request(file: Path) -> None:
    atomic.replace_file(str(file), state(mtime_ns=1_234_567_891_234_567_890), keep_mtime=True)
    assert file.stat().st_mtime_ns == 1_234_567_891_234_567_890
    atomic.replace_file(str(file), state(mtime_ns=1_234_567_891_234_567_890), keep_mtime=False)
    assert file.stat().st_mtime_ns != 1_234_567_891_234_567_890


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
def test_the_owner_is_restored_before_the_mode(file: Path) -> None:
    atomic.replace_file(str(file), state(mode=0o4755, uid=12, gid=34), keep_mtime=False)
    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12, 34, 0o4755)


def test_extended_attributes_are_restored(file: Path) -> None:
    try:
        os.setxattr(file, "user.sample", b"x")
    except OSError:
        pytest.skip("this file system keeps no extended attributes")
    saved = FileState(b"new\n", 0o644, os.geteuid(), os.getegid(), 0, (("user.sample", b"\0y"),))
    atomic.replace_file(str(file), saved, keep_mtime=False)
    assert os.getxattr(file, "user.sample") == b"\0y"


def test_a_symbolic_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(OLD)
    link.symlink_to(target)
    atomic.replace_file(str(link), state(), keep_mtime=False)
    assert target.read_bytes() == OLD
    assert not link.is_symlink()


def test_a_link_in_place_of_the_temporary_file_is_not_followed(file: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(OLD)
    Path(atomic.temp_name(str(file))).symlink_to(victim)
    atomic.replace_file(str(file), state(), keep_mtime=False)
    assert victim.read_bytes() == OLD
    assert file.read_bytes() == b"new\n"


def test_a_write_that_the_kernel_cuts_short_is_continued(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: real(descriptor, bytes(content)[:3]))
    atomic.replace_file(str(file), state(b"0123456789"), keep_mtime=False)
    assert file.read_bytes() == b"0123456789"


# -- the journal's append --------------------------------------------------------------------------------


def test_lines_are_appended_and_private(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    atomic.append_line(str(path), b"one\n")
    atomic.append_line(str(path), b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("torn", [b"to", b"t" * 9000])
@pytest.mark.parametrize("whole", [b"", b"one\n", b"a\nb\n"])
def test_a_torn_line_is_cut_off_before_the_next(tmp_path: Path, torn: bytes, whole: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(whole + torn)
    atomic.append_line(str(path), b"two\n")
    assert path.read_bytes() == whole + b"two\n"


def test_a_line_that_fails_halfway_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    atomic.append_line(str(path), b"one\n")
    real = os.write
    calls = []

    def full(descriptor: int, content: bytes) -> int:
        calls.append(content)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return real(descriptor, bytes(content)[:2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            atomic.append_line(str(path), b"two\n")
    assert path.read_bytes() == b"one\n"


def test_a_line_is_durable_when_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "journal"
    atomic.append_line(str(path), b"one\n")
    assert synced == [str(path), str(tmp_path)]
    synced.clear()
    atomic.append_line(str(path), b"two\n")
    assert synced == [str(path)]


def test_an_append_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic links"):
        atomic.append_line(str(tmp_path / "link"), b"x\n")
    assert not (tmp_path / "target").exists()
