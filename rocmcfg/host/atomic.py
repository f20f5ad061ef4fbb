"""Durable writes: temporary file, fsync, rename, fsync of the directory. Nothing is ever half written."""

from __future__ import annotations

import os

from rocmcfg.model.state import FileState

# None of modprobe.d (*.conf), grub.d (*.cfg), environment.d (*.conf), profile.d (*.sh) and run-parts
# (no dots) reads a file of this name, so that one left by a power cut does nothing.
TEMP_SUFFIX = ".rocmcfg-new"


def temp_name(path: str) -> str:
    """Fixed, so that recovery finds what a crash left."""
    return os.path.join(os.path.dirname(path), "." + os.path.basename(path) + TEMP_SUFFIX)


def replace_file(path: str, state: FileState, *, keep_mtime: bool) -> None:
    temp = temp_name(path)
    _unlink(temp)
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _write_all(descriptor, state.content)
        if (state.uid, state.gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, state.uid, state.gid)
        os.fchmod(descriptor, state.mode)
        for name, value in state.xattrs:
            os.setxattr(descriptor, name, value)
        if keep_mtime:
            os.utime(descriptor, ns=(state.mtime_ns, state.mtime_ns))
        os.fsync(descriptor)
    except BaseException:
        os.close(descriptor)
        _unlink(temp)
        raise
    os.close(descriptor)
    os.rename(temp, path)
    sync_dir(os.path.dirname(path))


def remove_file(path: str) -> None:
    _unlink(temp_name(path))
    _unlink(path)
    sync_dir(os.path.dirname(path))


def discard_temporary(path: str) -> None:
    _unlink(temp_name(path))


def append_line(path: str, line: bytes) -> None:
    """All of the line or nothing of it. What a crash left of an earlier line is cut off first: behind it the
    new line would be unreadable."""
    new = not os.path.exists(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if new:
            os.fchmod(descriptor, 0o600)  # whatever the umask says
        end = _end_of_whole_lines(descriptor)
        os.ftruncate(descriptor, end)
        os.lseek(descriptor, end, os.SEEK_SET)
        try:
            _write_all(descriptor, line)
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, end)
            raise
    finally:
        os.close(descriptor)
    if new:
        sync_dir(os.path.dirname(path))


def _end_of_whole_lines(descriptor: int) -> int:
    end = os.fstat(descriptor).st_size
    while end:
        start = max(0, end - 4096)
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def sync_dir(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
