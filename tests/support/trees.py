"""What a tree is, byte by byte, for tests that say "unchanged" or "as it was"."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

STATE = "var/lib/rocmcfg"
COPIES = "var/backups/rocmcfg"
Tree = dict[str, tuple[object, ...]]


def tree(root: Path, *, state: bool = True, times: bool = True) -> Tree:
    """Every path below `root` with kind, mode, owner, content and mtime; directories without their mtime.

    `state=False` leaves rocmcfg's own journals and copies out, and the directories above them where they hold
    nothing else. `times=False` leaves mtimes out.
    """
    found: Tree = {}
    for folder, directories, files in os.walk(root):
        for name in sorted([*directories, *files]):
            path = Path(folder, name)
            inside = str(path.relative_to(root))
            if not state and f"{inside}/".startswith((f"{STATE}/", f"{COPIES}/")):
                continue
            found[inside] = _entry(path, times=times)
    if not state:
        for parent in ("var/lib", "var/backups", "var"):
            if not any(path.startswith(parent + "/") for path in found):
                found.pop(parent, None)
    return found


def _entry(path: Path, *, times: bool) -> tuple[object, ...]:
    meta = path.lstat()
    common = (stat.filemode(meta.st_mode), meta.st_uid, meta.st_gid)
    if stat.S_ISLNK(meta.st_mode):
        return (*common, os.readlink(path))
    if not stat.S_ISREG(meta.st_mode):  # a folder, or a pipe, whose reader would wait
        return common
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return (*common, digest, meta.st_mtime_ns) if times else (*common, digest)


def with_directory_times(root: Path) -> Tree:
    """As `tree`, and the mtimes of directories too: nothing was created and removed again."""
    found = tree(root)
    for inside in list(found):
        meta = (root / inside).lstat()
        found[inside] = (*found[inside], meta.st_mtime_ns, meta.st_ctime_ns)
    return found
