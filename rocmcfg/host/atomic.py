"""Write durably: temporary file, fsync, rename, fsync of the directory. Nothing is ever half written.

FAT has no journal, and Linux's vfat needs two steps to replace a file. The rename removes the temporary name
of the new file, and frees the clusters of the old file as soon as no process holds it; the name leads to the
new content only once the new file's inode is written (vfat_rename in fs/fat/namei_vfat.c and fat_evict_inode
in fs/fat/inode.c; seen with Linux 6.1). A power cut between the two steps, which the fsync of the directory
does not prevent, leaves a name that leads nowhere. So the old file is held until the new one has been synced
again, after the directory: at each moment the name leads to the old content or to the new. If there was no
old file, the new one is synced before the directory, since its name leads nowhere until then.

`path` is a path, or with `directory` (a descriptor) a name in that directory: see `inside.Place`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from rocmcfg.model.file_state import FileState

# Readers of modprobe.d (*.conf), grub.d (*.cfg), environment.d (*.conf), profile.d (*.sh) and run-parts (no
# dots) ignore files with this suffix, so one left by a power cut has no effect.
TEMP_SUFFIX = ".rocmcfg-new"
_FICLONE = 0x40049409  # _IOW(0x94, 9, int) (linux/fs.h)
_PIECE = 1 << 20  # bytes that are copied at a time


def temp_name(path: str) -> str:
    """Return the name of a file's temporary copy. It is fixed, so that recovery finds a copy left by a
    crash."""
    return os.path.join(os.path.dirname(path), "." + os.path.basename(path) + TEMP_SUFFIX)


def replace_file(
    path: str,
    state: FileState,
    *,
    keep_mtime: bool,
    directory: int | None = None,
    source: int | None = None,
) -> None:
    """Replace the file at `path` with one in this state, in one atomic, durable step. With a `source`, a
    descriptor, the content is copied from it, whatever its size. Raises OSError."""
    temp = temp_name(path)
    _unlink(temp, directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temp, flags, 0o600, dir_fd=directory)
    try:
        if source is None:
            write_all(descriptor, state.content)
        else:
            _copy_all(source, descriptor)
        if (state.uid, state.gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, state.uid, state.gid)
        os.fchmod(descriptor, state.mode)
        for name, value in state.xattrs:
            _set_attribute(descriptor, name, value)
        if keep_mtime:
            os.utime(descriptor, ns=(state.mtime_ns, state.mtime_ns))
        os.fsync(descriptor)
    except BaseException:
        os.close(descriptor)
        _unlink(temp, directory)
        raise
    try:
        with _held(path, directory) as replaced:
            os.rename(temp, path, src_dir_fd=directory, dst_dir_fd=directory)
            if not replaced:
                _sync_renamed(descriptor)
            sync_dir(os.path.dirname(path), directory)
            if replaced:
                _sync_renamed(descriptor)
    finally:
        os.close(descriptor)


def create_file(path: str, pieces: Iterable[bytes], *, directory: int | None = None) -> None:
    """Create a file of any size that only its owner can read, and write the pieces into it as they come. A
    file that is not complete is removed. Raises OSError, or what `pieces` raises."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600, dir_fd=directory)
    try:
        for piece in pieces:
            write_all(descriptor, piece)
        os.fsync(descriptor)
    except BaseException:
        _unlink(path, directory)
        raise
    finally:
        os.close(descriptor)


def remove_file(path: str, *, directory: int | None = None) -> None:
    _unlink(temp_name(path), directory)
    with _held(path, directory):
        _unlink(path, directory)
        sync_dir(os.path.dirname(path), directory)


def discard_temporary(path: str, *, directory: int | None = None) -> None:
    _unlink(temp_name(path), directory)


def append_line(path: str, line: bytes, *, directory: int | None = None) -> None:
    """Append the whole line or nothing, durably. The rest of an earlier line that a crash cut off is removed
    first, since it would make the new line unreadable. Raises OSError."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    new = False
    try:
        descriptor = os.open(path, flags, dir_fd=directory)
    except FileNotFoundError:
        new = True
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
    try:
        if new:
            os.fchmod(descriptor, 0o600)  # whatever the umask is
        end = os.pread(descriptor, os.fstat(descriptor).st_size, 0).rfind(b"\n") + 1
        os.ftruncate(descriptor, end)
        os.lseek(descriptor, end, os.SEEK_SET)
        try:
            write_all(descriptor, line)
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, end)
            raise
    finally:
        os.close(descriptor)
    if new:
        sync_dir(os.path.dirname(path), directory)


def make_directory(path: str, mode: int, *, directory: int | None = None) -> None:
    """Make a directory durably. Raises FileExistsError where there is one, or another OSError."""
    os.mkdir(path, mode, dir_fd=directory)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, dir_fd=directory)
    try:
        # on FAT this syncs only the cluster table, so that the name leads to an allocated cluster
        os.fsync(descriptor)
        os.fchmod(descriptor, mode)  # whatever the umask is; never by name, which may lead elsewhere by now
    finally:
        os.close(descriptor)
    sync_dir(os.path.dirname(path), directory)


def rename_directory(path: str, name: str, *, directory: int | None = None) -> None:
    """Give a directory another name in the same folder, durably. Raises OSError, also where the name is
    taken."""
    sync_dir(path, directory)
    os.rename(path, os.path.join(os.path.dirname(path), name), src_dir_fd=directory, dst_dir_fd=directory)
    sync_dir(os.path.dirname(path), directory)


def remove_directory(path: str, *, directory: int | None = None) -> None:
    with _held(path, directory):
        os.rmdir(path, dir_fd=directory)
        sync_dir(os.path.dirname(path), directory)


def sync_dir(path: str, directory: int | None = None) -> None:
    descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of the content, since one write(2) may write only a part of it. Raises OSError."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _copy_all(source: int, descriptor: int) -> None:
    """Share the blocks where the file system can (ioctl_ficlone(2)); otherwise copy them, and leave holes for
    zeros."""
    with suppress(OSError):
        fcntl.ioctl(descriptor, _FICLONE, source)
        return
    at = 0
    while piece := os.pread(source, _PIECE, at):
        if piece.count(0) == len(piece):
            os.lseek(descriptor, len(piece), os.SEEK_CUR)
        else:
            write_all(descriptor, piece)
        at += len(piece)
    os.ftruncate(descriptor, at)


@contextmanager
def _held(path: str, directory: int | None) -> Iterator[bool]:
    """Hold the inode of the file with this name, and so its place on the disk, until the block ends. Yield
    whether there is such a file."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)


def _set_attribute(descriptor: int, name: str, value: bytes) -> None:
    """Set an extended attribute, unless it has this value already: SELinux shows the same label on all files
    of a FAT, which cannot store one (selinux_inode_listsecurity and selinux_inode_setxattr in
    security/selinux/hooks.c)."""
    with suppress(OSError):
        if os.getxattr(descriptor, name) == value:
            return
    os.setxattr(descriptor, name, value)


def _sync_renamed(descriptor: int) -> None:
    os.fsync(descriptor)


def _unlink(path: str, directory: int | None) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path, dir_fd=directory)
