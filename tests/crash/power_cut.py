"""What a power cut leaves of a real file system at the moment at which a command says that it is done.

`python -m tests.crash.power_cut [FILE-SYSTEM…] [--bugs NAME,…]`, as root, prints a table.

The file system lies in an image behind a loop device. What it sent to the device is in the image; what the
kernel still holds, of files and of the device's own buffers, is not. So a copy of the image's bytes, taken
without any sync and while it is mounted, is a disk that was cut off then: one that forgot nothing that it
was given, and so the kindest of all disks. It is looked at twice: as a kernel mounts it, which replays its
journal, and with GRUB's own drivers (`grub-fstest`), which do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support import fake_tools
from tests.support.program import SOURCE, environment, process
from tests.support.tool_host import SETTLES
from tests.support.tools import require_tool
from tests.support.trees import Tree

from .faulting import MEMORY, differences, open_transactions, whole
from .planted import BUGS, planted
from .scenarios import FIRST, SECOND, bare, done

_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
# At its end grub-mkconfig 2.06 and 2.12 write the menu in place, through a shell, and sync nothing.
_UPDATE_GRUB = """#!{python} -IS
import sys
from pathlib import Path

sys.path.insert(0, {support!r})
import fake_tools

def install(menu, content):
    new = menu.with_name(menu.name + ".new")
    new.write_bytes(content)
    with open(menu, "wb") as stream:
        stream.write(new.read_bytes())
    new.unlink()

fake_tools._replace = install
sys.exit(fake_tools.update_grub(Path(sys.argv[1])))
"""


@dataclass(frozen=True, slots=True)
class FileSystem:
    """`check` is what a boot does before it mounts one that was not unmounted; `options` are of the mount."""

    name: str
    make: tuple[str, ...]
    package: str
    mebibytes: int
    check: tuple[str, ...] = ()
    options: str = "defaults"


FILE_SYSTEMS = (
    FileSystem("ext2", ("mkfs.ext2", "-q"), "e2fsprogs", 24, ("e2fsck", "-y")),
    FileSystem("ext3", ("mkfs.ext3", "-q"), "e2fsprogs", 24, ("e2fsck", "-y")),
    FileSystem("ext4", ("mkfs.ext4", "-q"), "e2fsprogs", 24, ("e2fsck", "-y")),
    # another mount namespace, made while the image was mounted, may still hold it
    FileSystem("xfs", ("mkfs.xfs", "-q"), "xfsprogs", 320, options="nouuid"),
    FileSystem("btrfs", ("mkfs.btrfs", "-q"), "btrfs-progs", 128),
    FileSystem("vfat", ("mkfs.vfat",), "dosfstools", 24, ("fsck.vfat", "-a")),
)
LAYOUTS = ("boot", "whole")  # a /boot of its own, or one file system for all


@dataclass(frozen=True, slots=True)
class Act:
    """`before` is run in peace. `killed`: then a second apply is killed at its first program."""

    name: str
    before: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]
    says: str
    killed: bool = False


VARIABLES = ("apply", "--set", "env.HSA_ENABLE_SDMA=0", "--yes")
ACTS = (
    Act("apply", (FIRST,), SECOND, "Applied as"),
    Act("rollback", (FIRST, SECOND), ("rollback", "--yes"), "Rolled back:"),
    Act("recover", (FIRST,), ("recover",), "Rolled back:", killed=True),
    # No program runs, so no file system is synced whole. Files are removed, since ext4's driver, which some
    # kernels use for ext2 too, syncs the parent of a new file itself (ext4_sync_parent in fs/ext4/fsync.c).
    Act("rollback-variables", (VARIABLES,), ("rollback", "--yes"), "Rolled back:"),
)


class Unable(Exception):
    """This machine cannot do it; why."""


def offered(kind: FileSystem) -> None:
    """Raises Unable where the kernel does not have it."""
    subprocess.run(["modprobe", "-q", kind.name], env={"PATH": _PATH}, check=False, capture_output=True)
    known = [line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()]
    if kind.name not in known:
        raise Unable(f"this kernel has no {kind.name}: nothing is shown of it here")


def loops() -> None:
    """Raises Unable where no image can be mounted at all."""
    if os.geteuid() != 0:
        raise Unable("only root can mount an image")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        image = _made(FILE_SYSTEMS[0], Path(folder, "probe"))
        place = Path(folder, "place")
        place.mkdir()
        try:
            with mounted(FILE_SYSTEMS[0], image, place):
                return
        except subprocess.CalledProcessError as problem:
            raise Unable(f"no image can be mounted here: {problem.stderr.strip()}") from problem


def _made(kind: FileSystem, image: Path) -> Path:
    require_tool(kind.make[0], kind.package)
    with open(image, "wb") as stream:
        stream.truncate(kind.mebibytes << 20)
    _run(*kind.make, str(image))
    return image


def _run(*argv: str, check: bool = True) -> str:
    done = subprocess.run(argv, env={"PATH": _PATH}, capture_output=True, text=True, check=check)
    return done.stdout.strip()


@contextmanager
def mounted(kind: FileSystem, image: Path, place: Path) -> Iterator[None]:
    device = _run("losetup", "--find", "--show", str(image))
    try:
        _run("mount", "-t", kind.name, "-o", kind.options, device, str(place))
        try:
            yield
        finally:
            _run("umount", str(place))
    finally:
        _run("losetup", "--detach", device)


def cut(image: Path, place: Path) -> Path:
    """The bytes of the image as they are: what the loop device wrote, and nothing of what the kernel holds
    above it."""
    with open(image, "rb") as source, open(place, "wb") as target:
        size = os.fstat(source.fileno()).st_size
        target.truncate(size)
        at = 0
        while at < size:
            try:
                at = os.lseek(source.fileno(), at, os.SEEK_DATA)
            except OSError:  # only a hole is left
                break
            end = os.lseek(source.fileno(), at, os.SEEK_HOLE)
            os.lseek(target.fileno(), at, os.SEEK_SET)
            while at < end:
                at += os.sendfile(target.fileno(), source.fileno(), at, end - at)
    return place


class Cut:
    """One command on one file system, cut off as it says that it is done; `wrong` is what is not there."""

    def __init__(
        self, kind: FileSystem, layout: str, act: Act, folder: Path, bugs: Sequence[str] = ()
    ) -> None:
        self.kind, self.layout, self.act = kind, layout, act
        self.wrong: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.tools = _tools(folder)
        start = _start(act, folder)
        image = _made(kind, folder / "image")
        root, place = folder / "tree", folder / "tree"
        place.mkdir()
        if layout == "boot":
            shutil.copytree(start, root, symlinks=True, dirs_exist_ok=True)
            place = root / "boot"
            shutil.rmtree(place)
            place.mkdir()
        inside = start / "boot" if layout == "boot" else start
        with mounted(kind, image, place):
            shutil.copytree(inside, place, symlinks=True, dirs_exist_ok=True)
        with mounted(kind, image, place):  # once more, so that all of the beginning is on the disk
            self._say(root, image, folder / "cut", bugs)
            live = {p: p.read_bytes() for p in sorted((root / "boot").rglob("*")) if p.is_file()}
            self.after = self._tree(root)
        self._as_grub(folder / "cut", root, live)
        self._as_kernel(folder / "cut", root, place, live)

    def _say(self, root: Path, image: Path, copy: Path, bugs: Sequence[str]) -> None:
        argv = planted(bugs, self.tools, *self.act.command, "--root", root)
        with subprocess.Popen(
            argv,
            cwd=SOURCE,
            env=environment({SETTLES: "1"}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdout is not None
            said = ""
            for line in child.stdout:
                said += line
                if self.act.says in line:
                    cut(image, copy)
                    break
            rest, errors = child.communicate()
        assert child.returncode == 0, said + rest + errors
        assert copy.exists(), f"it never said {self.act.says!r}: {said}"

    def _as_grub(self, copy: Path, root: Path, live: dict[Path, bytes]) -> None:
        for path, wanted in live.items():
            name = "/" + str(path.relative_to(root / "boot" if self.layout == "boot" else root))
            found = subprocess.run(
                [require_tool("grub-fstest", "grub-common"), str(copy), "cat", name],
                env={"PATH": _PATH, "LC_ALL": "C"},
                capture_output=True,
            )
            if found.returncode != 0:
                self.wrong.append(f"GRUB cannot read {name}: {found.stderr.decode(errors='replace').strip()}")
            elif found.stdout != wanted:
                self.wrong.append(f"GRUB finds another {name} ({len(found.stdout)} bytes of {len(wanted)})")

    def _as_kernel(self, copy: Path, root: Path, place: Path, live: dict[Path, bytes]) -> None:
        if self.kind.check:
            _run(*self.kind.check, str(copy), check=False)
        with mounted(self.kind, copy, place):
            for path, wanted in live.items():
                found = path.read_bytes() if path.exists() else b""
                if found != wanted:
                    self.wrong.append(
                        f"the kernel finds another {path.name} ({len(found)} bytes of {len(wanted)})"
                    )
            if self.layout == "whole":
                self._recovers(root)

    @staticmethod
    def _tree(root: Path) -> Tree:
        """Without what a check found that has no name any more, such as our lock."""
        found = whole(root, times=False)
        return {path: entry for path, entry in found.items() if not path.startswith("lost+found/")}

    def _recovers(self, root: Path) -> None:
        recovered = process(planted((), self.tools, "recover", "--root", root), env={SETTLES: "1"})
        if recovered.code != 0:
            self.wrong.append(f"recover after the cut: exit {recovered.code}: {recovered.err.strip()[:200]}")
        if self._tree(root) != self.after:
            self.wrong.append(
                "after recover it is not what was said: " + differences(self.after, self._tree(root))
            )
        if open_transactions(root):
            self.wrong.append(f"open: {open_transactions(root)}")


def _tools(folder: Path) -> Path:
    tools = folder / "tools"
    tools.mkdir()
    program = tools / "update-grub"
    support = str(Path(fake_tools.__file__).parent)
    program.write_text(_UPDATE_GRUB.format(python=sys.executable, support=support))
    program.chmod(0o755)
    return tools


def _start(act: Act, folder: Path) -> Path:
    from .faulting import at_call

    root = done(bare(folder), *act.before)
    if act.killed:
        at_call(root, SECOND, "run update-initramfs", folder)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.power_cut")
    parser.add_argument("file_system", nargs="*", help=", ".join(kind.name for kind in FILE_SYSTEMS))
    parser.add_argument("--bugs", default="", help=f"some of: {', '.join(BUGS)}")
    options = parser.parse_args(arguments)
    bugs = [bug for bug in options.bugs.split(",") if bug]
    loops()
    failed = 0
    for kind in FILE_SYSTEMS:
        if options.file_system and kind.name not in options.file_system:
            continue
        try:
            offered(kind)
        except Unable as reason:
            print(f"{kind.name:<6} {reason}")
            continue
        for layout in LAYOUTS:
            for act in ACTS:
                began = time.monotonic()
                with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                    wrong = Cut(kind, layout, act, Path(folder), bugs).wrong
                failed += bool(wrong)
                took = f"{time.monotonic() - began:.1f} s"
                print(f"{kind.name:<6} {layout:<6} {act.name:<9} {took:>6}  {'as said' if not wrong else ''}")
                print(*(f"    {text}" for text in wrong), sep="\n", end="\n" if wrong else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
