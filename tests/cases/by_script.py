"""undo.sh, run on the host of a case as somebody runs it in a rescue system."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support import fake_tools
from tests.support.stage import empty_folder
from tests.support.tools import require_tool
from tests.support.trees import Tree

from .case import Case, tree_of

SCRIPT = Path(__file__).parents[2] / "packaging/undo.sh"
# `chroot ROOT PROGRAM ARGUMENT…`: the program of the case, or the stand-in of `fake_tools`.
_CHROOT = f"""#!{sys.executable} -IS
import itertools, os, sys
sys.path.insert(0, {str(SCRIPT.parents[1])!r})
root, words = sys.argv[1], sys.argv[2:]
if words[0] == "env":
    words = list(itertools.dropwhile(lambda word: "=" in word, words[1:]))
own = os.path.join({{tools!r}}, words[0])
if os.path.exists(own):
    os.execv(own, [own, root, *words[1:]])
os.execv(sys.executable, [sys.executable, "-IS", {fake_tools.__file__!r}, words[0], root, *words[1:]])
"""
# `sh -c … PLACE COMMAND…`: the command, with the stand-ins where programs are looked for first, and the
# kernel's /proc mounted on the host. What the stand-ins read there is what was recorded, which lies above it.
_MOUNTED = """
place=$1 && shift
mount --bind "$place/bin" /usr/local/sbin || exit
if [ -d "$place/host/proc/self" ]; then
  mkdir -p "$place/recorded" && mount --bind "$place/host/proc" "$place/recorded" &&
    mount --bind /proc "$place/host/proc" && mount --bind "$place/recorded" "$place/host/proc" || exit
fi
exec "$@"
"""


def run(
    case: Case, place: Path, *arguments: str, shell: tuple[str, ...] = ("dash",)
) -> subprocess.CompletedProcess[str]:
    """As somebody runs it in another system, where the host's disks are mounted at `place`/host; its /proc
    too where a case has programs to be run."""
    (place / "bin").mkdir(exist_ok=True)
    if shell[0] == "busybox":  # its own programs too, as far as it has them
        subprocess.run(["busybox", "--install", "-s", place / "bin"], check=True)
    for name in ("chroot", "sync"):
        (place / "bin" / name).unlink(missing_ok=True)
    (place / "bin/sync").symlink_to("/bin/true")  # it would wait for all disks of this machine
    chroot = place / "bin/chroot"
    chroot.write_text(_CHROOT.replace("{tools!r}", repr(str(case.tools))))
    chroot.chmod(0o755)
    path: list[str | Path] = [place / "bin", os.environ["PATH"]]
    mounted: list[str] = []
    if os.geteuid() == 0:  # which heeds no PATH, and believes the kernel's /proc alone
        require_tool("unshare", "util-linux")
        mounted = ["unshare", "--mount", "sh", "-c", _MOUNTED, "sh", str(place)]
    return subprocess.run(
        [*mounted, *shell, str(SCRIPT), "--root", str(place / "host"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": ":".join(map(str, path))},
    )


class TakenBack(NamedTuple):
    """How undo.sh ended, what it said, and how it left the host."""

    code: int
    said: str
    left: Tree

    def differs(self, untouched: Tree) -> dict[str, tuple[object, object]]:
        """Paths that are not as on a host without rocmcfg: what each is there, and what it is here."""
        was, now = compared(untouched), compared(self.left)
        both = {path: (was.get(path), now.get(path)) for path in was.keys() | now.keys()}
        return {path: (before, after) for path, (before, after) in both.items() if before != after}


def taken_back(case: Case, host: Path, shell: tuple[str, ...] = ("dash",)) -> TakenBack:
    """Run undo.sh on a copy of this host."""
    with empty_folder() as place:
        copy = place / "host"
        shutil.copytree(host, copy, symlinks=True)
        (copy / "proc/self").mkdir(parents=True, exist_ok=True)
        done = run(case, place, shell=shell)
        return TakenBack(done.returncode, f"{done.stdout}{done.stderr}", tree_of(copy))


def compared(found: Tree) -> Tree:
    """Without /var, where copies of what was taken back are."""
    return {path: entry for path, entry in found.items() if not f"{path}/".startswith("var/")}
