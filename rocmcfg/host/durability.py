"""Sync files that programs of the host wrote, so that they survive a power cut.

grub-mkconfig ends with `cat new > grub.cfg` and no sync (GRUB 2.06 and 2.12, util/grub-mkconfig.in), and
initramfs generators do not sync either.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal

from rocmcfg.host.inside import Place

_FIFREEZE, _FITHAW = 0xC0045877, 0xC0045878  # _IOWR('X', 119, int) and 120 (linux/fs.h)


def settle(place: Place) -> None:
    """Write out the file system that holds this file or directory. Raises OSError.

    syncfs(2) is enough for a kernel, which replays the journal when it mounts. A boot loader does not: GRUB's
    drivers of ext4 and XFS read the blocks in their final places, so after a power cut GRUB would find the
    old menu. Freezing a file system writes its journal into place; ostree and bootupd do so for the same
    reason (ostree, ostree-sysroot-deploy.c, fsfreeze_thaw_cycle). Linux's vfat cannot be frozen, and syncfs
    does not flush the disk's own cache there, but fsync does (fat_file_fsync in fs/fat/file.c).
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    if place.directory is not None:  # links were already followed, inside the root
        flags |= os.O_NOFOLLOW
    descriptor = os.open(place.name, flags, dir_fd=place.directory)
    try:
        _syncfs(descriptor)
        try:
            os.fsync(descriptor)
        except OSError as problem:
            # EFI variables have no blocks on a disk and refuse it (fs/efivarfs/file.c has no fsync): the
            # firmware has them once they are written
            if problem.errno != errno.EINVAL:
                raise
        _freeze_and_thaw(descriptor)
    finally:
        os.close(descriptor)


def _syncfs(descriptor: int) -> None:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        failed = library.syncfs(descriptor)
    except (ImportError, AttributeError, MemoryError):  # a Python or a C library without it, or SELinux
        os.sync()
        return
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _freeze_and_thaw(descriptor: int) -> None:
    """Freeze the file system and thaw it again, in a process with its own session that blocks all signals
    except KILL, so that nothing stays frozen if rocmcfg is ended. Between the two calls that process touches
    no file. Where freezing is refused (not root, a sandbox, a file system that does not support it), syncing
    must do. Raises OSError."""
    child = os.fork()
    if child == 0:
        number = errno.EIO
        try:
            number = _frozen_and_thawed(descriptor)
        finally:
            os._exit(number)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number:
        raise OSError(number, os.strerror(number)) if number > 0 else OSError("the freezing was killed")


def _frozen_and_thawed(descriptor: int) -> int:
    """Freeze and thaw; return 0, or the errno of the failure."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        fcntl.ioctl(descriptor, _FIFREEZE, 0)
    except OSError as problem:
        return errno.EIO if problem.errno == errno.EIO else 0
    while True:
        try:
            fcntl.ioctl(descriptor, _FITHAW, 0)
        except InterruptedError:
            continue
        except OSError as problem:
            return problem.errno or errno.EIO
        return 0
