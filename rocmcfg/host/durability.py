"""Puts on the disk what programs of the host wrote, so that it is there after a power cut too.

grub-mkconfig ends with `cat new > grub.cfg` and no sync (GRUB 2.06 and 2.12, util/grub-mkconfig.in), and an
initramfs generator syncs no more.
"""

from __future__ import annotations

import errno
import os
import signal

from rocmcfg.host.inside import Place

_FIFREEZE, _FITHAW = 0xC0045877, 0xC0045878  # _IOWR('X', 119, int) and 120 (linux/fs.h)
# what cannot be frozen: not by us, not of that kind, or frozen by somebody else, who did the same by it
_UNFROZEN = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EBUSY, errno.ENOSYS)


def settle(place: Place) -> None:
    """Write out the file system that holds this file or directory. Raises OSError.

    syncfs(2) is enough for a kernel, which replays a journal when it mounts. A boot loader does not: GRUB's
    drivers of ext4 and XFS read the blocks where they belong, so that after a power cut it would find the old
    menu. Freezing a file system empties its journal into place, as ostree and bootupd do for the same reason
    (ostree, ostree-sysroot-deploy.c, fsfreeze_thaw_cycle).
    """
    descriptor = os.open(place.name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place.directory)
    try:
        _syncfs(descriptor)
        _freeze_and_thaw(descriptor)
    finally:
        os.close(descriptor)


def _syncfs(descriptor: int) -> None:
    import ctypes

    if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _freeze_and_thaw(descriptor: int) -> None:
    """In a process of its own session that heeds no signal: whatever ends us leaves nothing frozen. Between
    the two calls it touches no file."""
    child = os.fork()
    if child == 0:
        os._exit(_frozen_and_thawed(descriptor))
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number and number not in _UNFROZEN:
        raise OSError(number, os.strerror(number)) if number > 0 else OSError("the freezing was killed")


def _frozen_and_thawed(descriptor: int) -> int:
    """0, or what was wrong as an errno."""
    import fcntl

    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        fcntl.ioctl(descriptor, _FIFREEZE, 0)
    except OSError as problem:
        return problem.errno or errno.EIO
    while True:
        try:
            fcntl.ioctl(descriptor, _FITHAW, 0)
        except InterruptedError:
            continue
        except OSError as problem:
            return problem.errno or errno.EIO
        return 0
