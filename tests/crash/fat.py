"""What a power cut leaves of an EFI partition, which is FAT: no journal, no order among what is not synced.

`python -m tests.crash.fat [CHAIN…] [--act NAME] [--bugs NAME,…]`, as root, prints a table.

The vfat is that of a real kernel, which runs as a program (user-mode Linux). It has on record each write that
reaches the disk, in order, with each flush of the disk's cache and a mark before each step of the act
(dm-log-writes). A disk that is cut off has everything up to some flush, and of what came after that, any
part. So each prefix of the record is tried, and behind each flush, what a disk in another order may have: one
write alone, and all but one. The rest of the host is as its last step left it; of that file system, which
has a journal, other tests tell.

Each of these is looked at twice: as a boot loader finds it, by GRUB's driver of FAT, which repairs nothing;
and as the next boot does, after fsck.vfat: there `recover` runs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.support import recorded
from tests.support.hosts import other_host
from tests.support.program import SOURCE, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG, require_tool
from tests.support.trees import Tree

from .crashing import ROLLBACK, Act, CrashingHost, apply, copy, killed, seen
from .faulting import MEMORY, differences
from .planted import BUGS
from .power_cut import cut

OPTIONS = "codepage=437,iocharset=ascii,umask=0077"  # as an installer has it in /etc/fstab
GUEST_WORK = Path("/mnt/work")
_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
_MODULES = Path("/usr/lib/uml/modules")
_MOST_JOBS = 8  # the kernel takes 16 disks, and a job has two
_MEBIBYTES = 34  # the least that is FAT32 with clusters of one sector
_FIRST = apply(set=("amdgpu.runpm=0", "karg.iommu=pt"))
_SECOND = apply(set=("amdgpu.runpm=1", "env.HSA_XNACK=1"))


@dataclass(frozen=True, slots=True)
class Chain:
    """`make` lays a host out in a folder; `esp` is where its EFI partition is mounted. `by_tool`: a program
    of the host writes there, from the cases of this chain; only what is there at the end is looked at, since
    what a power cut leaves in its midst is its own affair."""

    name: str
    make: Callable[[Path], Path]
    esp: str
    by_tool: bool = False

    def of(self, kind: type[CrashingHost]) -> type[CrashingHost]:
        """The host, with its programs."""
        tools = SOURCE / "tests/cases" / self.name / "tools"
        return type(kind.__name__, (kind,), {"tools": tools if self.by_tool else None})


def _systemd_boot(folder: Path) -> Path:
    """Two entries, of kernels by kernel-install."""
    root = other_host(folder, "systemd-boot-kernel-install")
    entries = root / "boot/efi/loader/entries"
    entry = next(entries.iterdir())
    entry.with_name(entry.name.replace("6.12.107", "6.12.90")).write_text(
        entry.read_text().replace("6.12.107", "6.12.90")
    )
    return root


def _limine(folder: Path) -> Path:
    """A limine.conf of several clusters."""
    root = other_host(folder, "limine")
    with (root / "boot/limine.conf").open("a") as stream:
        stream.write("".join(f"# {n} what somebody wrote of his entries\n" for n in range(60)))
    return root


def _refind(folder: Path) -> Path:
    line = "root=UUID=3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3+rw+quiet+initrd=\\boot\\initramfs-linux.img"
    recorded.build(f"machine kernels=6.17.9-arch1-1 booted_with={line}", folder)
    overlay = SOURCE / "tests/cases/refind/trees/arch"
    shutil.copytree(overlay, folder / "host", symlinks=True, dirs_exist_ok=True)
    return folder / "host"


CHAINS = {
    chain.name: chain
    for chain in (
        Chain("systemd-boot", _systemd_boot, "boot/efi"),
        Chain("limine", _limine, "boot"),
        Chain("uki", lambda folder: other_host(folder, "uki-mkinitcpio"), "efi"),
        Chain("refind", _refind, "boot"),
        Chain("sdbootutil", lambda folder: other_host(folder, "opensuse-systemd-boot"), "boot/efi", True),
    )
}
ACTS: Mapping[str, tuple[tuple[Act, ...], Act]] = {  # what is done in peace, and what is cut off
    "apply": ((), _FIRST),
    "again": ((_FIRST,), _SECOND),
    "rollback": ((_FIRST,), ROLLBACK),
}


class Unable(Exception):
    """This machine cannot do it; why."""


def kernel() -> tuple[str, Path]:
    """The kernel that runs as a program, and its modules."""
    program = require_tool("linux.uml", "user-mode-linux")
    for tool, package in (("dmsetup", "dmsetup"), ("mcopy", "mtools"), ("mkfs.vfat", "dosfstools")):
        require_tool(tool, package)
    if os.geteuid() != 0:
        raise Unable("only root can read what a host holds")
    folders = [
        path / "kernel"
        for path in (_MODULES, Path(program).parents[1] / "lib/uml/modules")
        if path.exists()
        for path in path.iterdir()
    ]
    if not folders:
        raise Unable(f"no modules below {_MODULES}")
    return program, folders[0]


@dataclass(frozen=True)
class Job:
    chain: Chain
    act: str
    bugs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "-".join((self.chain.name, self.act, *self.bugs))


# -- the record ---------------------------------------------------------------------------------------

_SECTOR = 512
_FLUSH, _FUA, _DISCARD, _MARK = 1, 2, 4, 8  # drivers/md/dm-log-writes.c


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes at a place, or a `mark`. `flush`: all before it is on the disk; `at_once`: so is it itself."""

    at: int = 0
    content: bytes = b""
    flush: bool = False
    at_once: bool = False
    mark: str = ""


def record(log: Path) -> list[Written]:
    """Format: struct log_write_super and log_write_entry of drivers/md/dm-log-writes.c."""
    found = []
    with log.open("rb") as stream:
        magic, version, count, size = struct.unpack("<3QI", stream.read(28))
        assert (magic, version, size) == (0x6A736677736872, 1, _SECTOR), "no record of dm-log-writes"
        at = _SECTOR
        for _ in range(count):
            stream.seek(at)
            head = stream.read(_SECTOR)
            sector, sectors, flags, length = struct.unpack_from("<4Q", head)
            at += _SECTOR
            if flags & _MARK:
                found.append(Written(mark=head[32 : 32 + length].rstrip(b"\0").decode()))
                continue
            content = b"" if flags & _DISCARD else stream.read(sectors * _SECTOR)
            at += len(content)
            found.append(Written(sector * _SECTOR, content, bool(flags & _FLUSH), bool(flags & _FUA)))
    return found


@dataclass(frozen=True)
class CutOff:
    """What the disk has: entries of the record by number. `step` is the last that had begun, counted from
    1; 0 before the first; None once the command has said that it is done."""

    step: int | None
    has: tuple[int, ...]
    how: str


def cuts(entries: Sequence[Written]) -> Iterator[CutOff]:
    """Every prefix; and of what follows the last flush, each write alone and each one missing."""
    step: int | None = 0
    safe: list[int] = []
    loose: list[int] = []
    for number, entry in enumerate(entries):
        if entry.mark:
            step = None if entry.mark == "said" else int(entry.mark)
            yield CutOff(step, tuple(safe), f"flushed before {number}")
            if step is None:
                return
            continue
        if entry.flush:  # of itself, it may have been reached or not
            safe, loose = [*safe, *loose], []
        if entry.content:
            (safe if entry.at_once else loose).append(number)
            if len(loose) > 1:
                yield CutOff(step, (*safe, number), f"{number} alone")
                for lost in loose[:-1]:
                    yield CutOff(
                        step, (*safe, *(n for n in loose if n != lost)), f"up to {number} without {lost}"
                    )
        yield CutOff(step, (*safe, *loose), f"up to {number}")


# -- the guest ----------------------------------------------------------------------------------------


def _run(*argv: str | Path, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    env = {"PATH": _PATH, "LC_ALL": "C", "MTOOLS_SKIP_CHECK": "1"}
    return subprocess.run(list(map(str, argv)), env=env, capture_output=True, check=check, timeout=HANG)


def boot(work: Path, python: Sequence[str], disks: Sequence[str]) -> None:
    """Runs Python in a guest, where `work` is GUEST_WORK. `disks`: ubdN=FILE, which is /dev/ubd with the
    letter of that number. Raises Unable, and AssertionError with what it said where it does not end well."""
    program, modules = kernel()
    (work / "uml").mkdir()
    (work / "arguments").write_text("\n".join(python))
    ended = subprocess.run(
        [
            *(program, "mem=512M", "rootfstype=hostfs", "rootflags=/", "ro", "con=null", "con0=null,fd:1"),
            *("quiet", f"uml_dir={work / 'uml'}", f"init={SOURCE / 'tests/crash/fat_guest.sh'}"),
            *(f"WORK={work}", f"SOURCE={SOURCE}", f"PYTHON={sys.executable}", f"MODULES={modules}", *disks),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=HANG,
        env={"PATH": _PATH, "HOME": "/"},
    )
    if not (work / "code").exists():
        printed = ended.stdout.decode(errors="replace")
        panic = re.search(r"Kernel panic.*", printed)
        raise Unable(f"{program} does not run here: {panic.group() if panic else printed[-400:]}")
    assert (work / "code").read_text() == "0\n", (work / "said").read_text()


def recorded_acts(work: Path, jobs: Sequence[Job]) -> dict[str, Recorded]:
    """Runs the jobs in one guest."""
    listed, disks = [], []
    found = {}
    for number, job in enumerate(jobs):
        folder = work / job.name
        folder.mkdir()
        start = job.chain.make(folder)
        for act in ACTS[job.act][0]:
            act.run(job.chain.of(CrashingHost)(str(start)))
        image, log = folder / "esp.img", folder / "log.img"
        image_of(start / job.chain.esp, image)
        with log.open("wb") as stream:
            stream.truncate(64 << 20)
        first = folder / "first.img"
        shutil.copyfile(image, first)
        root = copy(start, folder / "run")
        shutil.rmtree(root / job.chain.esp)
        (root / job.chain.esp).mkdir()
        listed.append(
            {
                "name": job.name,
                "chain": job.chain.name,
                "act": job.act,
                "root": str(root.relative_to(work)),
                "esp": job.chain.esp,
                "bugs": job.bugs,
            }
        )
        disks += [f"ubd{2 * number}={image}", f"ubd{2 * number + 1}={log}"]
        found[job.name] = Recorded(job, folder, start, first, log)
    (work / "jobs.json").write_text(json.dumps(listed))
    boot(work, ["-m", "tests.crash.fat_guest", str(GUEST_WORK)], disks)
    return found


def image_of(folder: Path, image: Path) -> None:
    with image.open("wb") as stream:
        stream.truncate(_MEBIBYTES << 20)
    _run("mkfs.vfat", "-F", "32", "-s", "1", image)
    names = sorted(folder.iterdir())
    _run("mcopy", "-i", image, "-s", "-m", *names, "::/")


# -- the verdict --------------------------------------------------------------------------------------


@dataclass
class Recorded:
    """A job that has run. `start` is the host before it, its partition's files among the others."""

    job: Job
    folder: Path
    start: Path
    image: Path
    log: Path
    points: int = 0

    @cached_property
    def entries(self) -> list[Written]:
        return record(self.log)

    @cached_property
    def act(self) -> Act:
        return ACTS[self.job.act][1]

    @cached_property
    def before(self) -> Tree:
        return self._seen(self.start)

    @cached_property
    def whole(self) -> Path:
        whole = copy(self.start, self.folder / "whole")
        self.act.run(self.job.chain.of(CrashingHost)(str(whole)))
        return whole

    @cached_property
    def after(self) -> Tree:
        return self._seen(self.whole)

    @cached_property
    def known(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """The files of the partition: before and after."""
        both = [_files(root / self.job.chain.esp) for root in (self.start, self.whole)]
        return {path: (both[0].get(path), both[1].get(path)) for path in sorted({*both[0], *both[1]})}

    def _seen(self, root: Path) -> Tree:
        """FAT keeps no modes, and not these times."""
        esp = self.job.chain.esp + "/"
        found = seen(root, times=False)
        return {path: (entry[3:] if path.startswith(esp) else entry) for path, entry in found.items()}

    def wrong(self, most: int = 5) -> list[str]:
        """What is wrong at any of the cuts, until there is enough of it."""
        found: list[str] = []
        done = set()
        for at in cuts(self.entries):
            if self.job.chain.by_tool and at.step is not None:
                continue
            has = tuple((self.entries[n].at, self.entries[n].content) for n in at.has)
            if (at.step, has) in done:
                continue
            done.add((at.step, has))
            self.points += 1
            where = "after it said that it was done" if at.step is None else f"in step {at.step}"
            found += [f"{self.job.name}, {where}, {at.how}: {problem}" for problem in self._at(at.step, has)]
            if len(found) >= most:
                break
        return found

    def _at(self, step: int | None, has: Sequence[tuple[int, bytes]]) -> Iterator[str]:
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            image, root = Path(name, "image"), Path(name, "root")
            cut(self.image, image)
            with image.open("r+b") as stream:
                for place, content in has:
                    stream.seek(place)
                    stream.write(content)
            yield from self._as_loader(image, step)
            checked = _run("fsck.vfat", "-a", "-w", image, check=False)
            if checked.returncode not in (0, 1):
                yield f"fsck.vfat cannot repair it: {checked.stdout.decode(errors='replace')}"
            copy(self._rest(step), root)
            esp = root / self.job.chain.esp
            _extract(image, esp)
            for lost in [*esp.glob("FSCK*.REC"), *esp.rglob("*~[0-9].ROC")]:
                lost.unlink()
            said = rocmcfg("recover", "--root", root, host=QuickHost)
            if said.code != 0:
                yield f"recover: exit {said.code}: {said.err[:200]}"
                return
            now = self._seen(root)
            if now != self.after and (step is None or now != self.before):
                yield (
                    f"after recover it is not before: {differences(self.before, now)}; "
                    f"not after: {differences(self.after, now)}"
                )

    def _as_loader(self, image: Path, step: int | None) -> Iterator[str]:
        """Each file is there as it was or as it shall be; once it is said to be done, as it shall be."""
        for path, (before, after) in self.known.items():
            allowed = (after,) if step is None else (before, after)
            if before == after and path not in self._first:
                continue
            said = _run("grub-fstest", image, "cat", f"/{path}", check=False)
            found = said.stdout if said.returncode == 0 else None
            if found not in allowed:
                size = "nothing" if found is None else f"{len(found)} bytes"
                yield f"a loader finds {size} of {path}"

    @cached_property
    def _first(self) -> str:
        """One file that does not change stands for the others."""
        return next((path for path, (before, after) in self.known.items() if before == after), "")

    def _rest(self, step: int | None) -> Path:
        """The host without its partition, as it is in a step."""
        place = self.folder / f"rest-{step}"
        if not place.exists():
            copy(self.whole if step is None else self.start, place)
            if step:
                assert killed(CrashingHost(str(place), step), self.act)
            shutil.rmtree(place / self.job.chain.esp)
        return place


def _extract(image: Path, folder: Path) -> None:
    """By mtools, which know nothing of modes. A folder of which fsck.vfat took all clusters looks to them
    like the partition's own."""
    folder.mkdir()
    _run("mcopy", "-i", image, "-s", "-n", "-m", "::/*", folder, check=False)
    top = sorted(path.name for path in folder.iterdir())
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and sorted(one.name for one in path.iterdir()) == top:
            shutil.rmtree(path)
            path.mkdir()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.fat")
    parser.add_argument("chain", nargs="*", help=", ".join(CHAINS))
    parser.add_argument("--act", default="", help=", ".join(ACTS))
    parser.add_argument("--bugs", default="", help=f"some of: {', '.join(BUGS)}")
    options = parser.parse_args(arguments)
    bugs = tuple(bug for bug in options.bugs.split(",") if bug)
    jobs = [
        Job(chain, act, bugs)
        for chain in CHAINS.values()
        for act in ACTS
        if (not options.chain or chain.name in options.chain) and options.act in ("", act)
    ]
    failed = 0
    for first in range(0, len(jobs), _MOST_JOBS):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            for done in recorded_acts(Path(folder), jobs[first : first + _MOST_JOBS]).values():
                began = time.monotonic()
                wrong = done.wrong()
                failed += bool(wrong)
                took = f"{time.monotonic() - began:.1f} s"
                print(f"{done.job.name:<30} {done.points:>4} points {took:>7}  {'' if wrong else 'as said'}")
                print(*(f"    {text}" for text in wrong), sep="\n", end="\n" if wrong else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
