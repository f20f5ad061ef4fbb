"""Find out whether the kernel in a root's /proc was booted from that root. A rescue system binds its own
/proc and /sys into the host that it repairs: the machine that they show is the host's, the boot is not."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress

from rocmcfg.model.regex import regex

BOOT_ID = "/proc/sys/kernel/random/boot_id"
# proc_pid_mountinfo(5) of the first process, readable by everybody: mount ID, mounted file system, and place
MOUNTS_OF_FIRST = "/proc/1/mountinfo"
_MOUNT = regex(r"^([0-9]+) [0-9]+ (\S+ \S+) (\S+) ", re.MULTILINE)
# Files that describe the boot and the running system, not the machine. Of the firmware's variables, those
# that last as long as the boot (UEFI, "Globally Defined Variables"; systemd's Boot Loader Interface).
OF_A_BOOT = regex(
    r"/proc/(?!cpuinfo$|meminfo$)|/sys/module/|/sys/kernel/mm/|/sys/devices/system/cpu/[^/]+/cpu(?:freq|idle)\b"
    r"|/sys/bus/pci/devices/[^/]+/current_\w+_partition$"
    r"|/sys/firmware/efi/efivars/(?:BootCurrent|LoaderEntrySelected|LoaderFeatures|LoaderInfo|StubInfo)-"
)


def is_lent(root: int, below: Callable[[str], str], here: Callable[[str], str]) -> bool:
    """Return whether the kernel in the root's /proc was booted from elsewhere. `root` is the open directory;
    `below` reads a file below it, `here` one of the running system. A /proc of another kernel than the
    running one was recorded together with the root. For the running one, the root of the first process is the
    booted system: a container may have the same directory of the same file system in another place."""
    boot_id = below(BOOT_ID)
    if not boot_id or boot_id != here(BOOT_ID):
        return False
    at = ""
    with suppress(OSError):
        at = os.readlink(f"/proc/self/fd/{root}")
    id = "".join(re.findall(r"^mnt_id:\s*([0-9]+)$", here(f"/proc/self/fdinfo/{root}"), re.MULTILINE))
    mounts = _MOUNT.findall(below(MOUNTS_OF_FIRST))
    booted = [what for _, what, where in mounts if where == "/"][-1:]  # the topmost
    every = (*mounts, *_MOUNT.findall(here("/proc/self/mountinfo")))
    return not booted or [what for *mount, what, where in every if (*mount, where) == (id, at)][:1] != booted
