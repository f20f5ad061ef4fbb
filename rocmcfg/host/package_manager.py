"""Find out whether a package manager is running on a host: its hooks generate boot menu and images from the
files that exist when they begin. Locks are queried and never taken.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from rocmcfg.host import runner
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from rocmcfg.host.inside import Place

# Record locks of fcntl(2) on the whole file: dpkg doc/spec/frontend-api.txt, "Database Locking" (apt and
# unattended-upgrades hold the frontend's); rpm lib/rpmlock.c, in the two folders that distributions use for
# its database (dnf and zypper install by rpm; they hold their own locks even while they are idle).
_RECORD_LOCKS = {
    "/var/lib/dpkg/lock-frontend": "apt or another frontend of dpkg",
    "/var/lib/dpkg/lock": "dpkg",
    "/var/lib/rpm/.rpm.lock": "rpm",
    "/usr/lib/sysimage/rpm/.rpm.lock": "rpm",
}
# Files that their program keeps open while it changes the host: libalpm handle.c, _alpm_handle_lock
# (one left by a crash is open in no process); apk-tools src/database.c.
_OPEN_FILES = {"/var/lib/pacman/db.lck": "pacman", "/lib/apk/db/lock": "apk"}
# Variables that dpkg sets for the scripts of packages (dpkg(1), "Internal environment"), and a frontend for
# dpkg.
_INSIDE = ("DPKG_MAINTSCRIPT_PACKAGE", "DPKG_FRONTEND_LOCKED")
_FLOCK = "hhqqi"  # struct flock of <fcntl.h>: type, whence, start, length, process
# A lock for reading is kept away only by one for writing: everybody may lock what everybody may read.
_WHOLE_FILE = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
_SAFELY = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_DEFAULT_WAIT = 600.0  # seconds
_LONGEST = 86_400.0
_PAUSE = 0.5
_COMM = 15  # characters of a program's name that the kernel keeps (TASK_COMM_LEN in include/linux/sched.h)


class RunningProgram(NamedTuple):
    """A running package manager, or a program that writes menus or images, which holds no lock and so has no
    `path`. `process` is 0 where it is not known, as for a lock of another PID namespace."""

    name: str
    path: str
    process: int


class PackageManagerRunning(RocmcfgError):
    def __init__(self, manager: RunningProgram) -> None:
        by = f" by process {manager.process}" if manager.process else ""
        held = f"{manager.path} is held{by}" if manager.path else f"it is process {manager.process}"
        hint = (
            "wait until it finishes, then run the command again; the variable "
            "ROCMCFG_PACKAGE_TIMEOUT=SECONDS sets how long rocmcfg itself waits, 0 for not at all"
        )
        summary = f"{manager.name} is running on this host, and may write the boot menu; nothing was changed"
        super().__init__(error("RC3036", summary, detail=held, location=manager.path, hint=hint))


def running_manager(placed: Callable[[str], AbstractContextManager[Place]]) -> RunningProgram | None:
    """Return the package manager that holds a lock; None where none does, where the caller may not check, and
    inside the package manager's own transaction: a hook must not wait for the program that waits for it.
    `placed` finds a path of the host."""
    if any(os.environ.get(name) for name in _INSIDE):
        return None
    for path, name in (*_RECORD_LOCKS.items(), *_OPEN_FILES.items()):
        with suppress(OSError), placed(path) as place:
            process = _opener(place) if path in _OPEN_FILES else _holder(place)
            if process is not None and process not in _ancestors():
                return RunningProgram(name, path, process)
    return None


def running_generator(root: str, programs: Collection[str]) -> RunningProgram | None:
    """Return the one of these programs that somebody else runs on the host at `root`; None where none runs,
    and inside of one of them, as in a hook of it. A program counts by its name and its root directory, so
    that one of a container is no business of the host. It must be root's or the caller's: everybody may give
    a program such a name."""
    names = {os.fsencode(name[:_COMM]): name for name in programs}
    with suppress(OSError):
        wanted, ancestors = os.stat(root), {*_ancestors()}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{entry}/comm", "rb") as stream:  # any bytes
                name = stream.read().rstrip(b"\n")
                if name not in names or not os.path.samestat(wanted, os.stat(f"/proc/{entry}/root")):
                    continue
                if not runner.users_of(entry) <= {0, os.geteuid()}:
                    continue
                return None if int(entry) in ancestors else RunningProgram(names[name], "", int(entry))
    return None


def wait(look: Callable[[], RunningProgram | None], progress: Callable[[str], None]) -> None:
    """Wait until none is running. Raises PackageManagerRunning after ROCMCFG_PACKAGE_TIMEOUT seconds."""
    started, longest = time.monotonic(), _longest()
    while (manager := look()) is not None:
        waited = time.monotonic() - started
        if waited >= longest:
            raise PackageManagerRunning(manager)
        holds = f", which holds {manager.path}" if manager.path else f" (process {manager.process})"
        progress(f"{waited:.0f} s: waiting for {manager.name}{holds}")
        time.sleep(_PAUSE)


def _longest() -> float:
    try:
        wanted = float(os.environ.get("ROCMCFG_PACKAGE_TIMEOUT", ""))
    except ValueError:
        return _DEFAULT_WAIT
    return wanted if 0 <= wanted < _LONGEST else _DEFAULT_WAIT


def _holder(place: Place) -> int | None:
    """Return the process that holds a record lock, 0 if it is not known; None where none does. Raises
    OSError."""
    descriptor = os.open(place.name, _SAFELY, dir_fd=place.directory)
    try:
        kind, *_, process = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _WHOLE_FILE))
        return None if kind == fcntl.F_UNLCK else max(process, 0)
    finally:
        os.close(descriptor)


def _opener(place: Place) -> int | None:
    """Return the process that has a file open; None where none has. Raises OSError."""
    wanted = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            ours = runner.users_of(entry) <= {0, os.geteuid()}
            for number in os.listdir(f"/proc/{entry}/fd") if ours else ():
                with suppress(OSError):
                    if os.path.samestat(wanted, os.stat(f"/proc/{entry}/fd/{number}")):
                        return int(entry)
    return None


def _ancestors() -> Iterator[int]:
    """Yield this process, its parent and so on, from proc_pid_stat(5), where the name may hold blanks."""
    process = os.getpid()
    while process > 0:
        yield process
        try:
            with open(f"/proc/{process}/stat", "rb") as stream:
                process = int(stream.read().rpartition(b")")[2].split()[1])
        except OSError as problem:
            if problem.errno == errno.ENOENT and process == os.getpid():
                yield os.getppid()  # no /proc here
            return
