"""What a real vfat does to rocmcfg: pytest runs these inside the kernel that `fat.boot` boots, for test_vfat.

A disk of the guest is the EFI partition of a host whose other files are in memory. Nothing is on record here,
and no power is cut: that is `fat.py`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from rocmcfg.host.local import LocalHost
from tests.support.program import Result, problem, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.trees import Tree, tree

from .fat import CHAINS, OPTIONS, Chain

DISK = "/dev/ubda"
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def _run(*argv: str | Path) -> None:
    done = subprocess.run(list(map(str, argv)), env={"PATH": _PATH}, capture_output=True, text=True)
    assert not done.returncode, (argv, done.stderr)


class Vfat(NamedTuple):
    """A host whose partition is a vfat, mounted at `esp`."""

    chain: Chain
    root: Path

    @property
    def esp(self) -> Path:
        return self.root / self.chain.esp

    def mount(self, *options: str) -> None:
        _run("mount", "-t", "vfat", "-o", ",".join((OPTIONS, *options)), DISK, self.esp)

    def unmount(self) -> None:
        _run("umount", self.esp)

    def forget(self, *options: str) -> None:
        """What the kernel still knows of the files, as fractions of a second, is gone."""
        self.unmount()
        self.mount(*options)

    def rocmcfg(self, *arguments: str) -> Result:
        return rocmcfg(*arguments, "--root", self.root, host=QuickHost)

    def apply(self, *more: str) -> Result:
        return self.rocmcfg("apply", "--set", "amdgpu.runpm=0", *more, "--yes", "-q")

    def rollback(self) -> Result:
        return self.rocmcfg("rollback", "--pristine", "--yes", "-q")

    def seen(self) -> Tree:
        """FAT keeps no modes and owners, and not these times."""
        found = tree(self.root, state=False, times=False)
        top = f"{self.chain.esp}/"
        return {path: (entry[3:] if path.startswith(top) else entry) for path, entry in found.items()}

    def changed(self, before: Tree) -> set[str]:
        now = self.seen()
        return {path for path in now.keys() | before if now.get(path) != before.get(path)}

    def fill(self) -> Path:
        """The file that takes all the room there is."""
        full = self.esp / "full"
        with full.open("ab", buffering=0) as stream:
            for block in (1 << 16, 512):
                with contextlib.suppress(OSError):
                    while True:
                        stream.write(bytes(block))
        return full


class Make(Protocol):
    """`prepare` is called with the files of the partition before they are on it."""

    def __call__(self, name: str, prepare: Callable[[Path], object] = ...) -> Vfat: ...


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Make]:
    hosts: list[Vfat] = []

    def of(name: str, prepare: Callable[[Path], object] = lambda _: None) -> Vfat:
        chain = CHAINS[name]
        host = Vfat(chain, chain.make(tmp_path))
        content = tmp_path / "content"
        host.esp.rename(content)
        prepare(content)
        host.esp.mkdir()
        _run("mkfs.vfat", "-F", "32", "-s", "1", DISK)
        host.mount()
        hosts.append(host)
        shutil.copytree(content, host.esp, dirs_exist_ok=True, copy_function=shutil.copyfile)
        host.forget()
        return host

    yield of
    for host in hosts:
        while os.path.ismount(host.esp):
            host.unmount()


@pytest.mark.parametrize("chain", ["systemd-boot", "uki"])
def test_nothing_is_begun_on_one_that_is_mounted_read_only(made: Make, chain: str) -> None:
    host = made(chain)
    before = host.seen()
    host.forget("ro")
    assert "read-only" in problem(host.apply(), "RC3002", 1)
    assert not host.changed(before)
    host.forget()
    assert host.apply().code == 0
    applied = host.seen()
    host.forget("ro")
    assert "read-only" in problem(host.rollback(), "RC3002", 1)
    assert not host.changed(applied)
    host.forget()
    assert host.rollback().code == 0
    assert not host.changed(before)


@pytest.mark.parametrize("chain", ["limine", "uki"])
def test_all_is_as_before_where_one_gets_full(made: Make, chain: str) -> None:
    host = made(chain)
    before = host.seen()
    full = host.fill()
    # to exchange a file needs room for both, which is looked at first; a new one is begun and taken back
    assert "is full" in problem(host.apply(), "RC3002", 4 if chain == "uki" else 1)
    full.unlink()
    assert not host.changed(before)
    assert host.apply().code == 0
    applied = host.seen()
    full = host.fill()
    undone = host.rollback()
    if chain == "uki":  # to take files away needs no room
        assert undone.code == 0
    else:
        assert "is full" in problem(undone, "RC3002", 1)
    full.unlink()
    if chain != "uki":
        assert not host.changed(applied)
        assert host.rollback().code == 0
    assert not host.changed(before)


@pytest.mark.parametrize(
    ("chain", "refusal"),
    [("systemd-boot", "RC3014"), ("limine", "RC3121"), ("uki", "RC3160"), ("refind", "RC3014")],
)
def test_one_that_is_not_mounted_is_asked_for(made: Make, chain: str, refusal: str) -> None:
    host = made(chain)
    (host.root / "etc").mkdir(exist_ok=True)
    line = f"UUID=1A2B-3C4D /{host.chain.esp} vfat umask=0077,noauto,x-systemd.automount 0 2\n"
    (host.root / "etc/fstab").write_text(line)
    mounted = host.seen()
    host.unmount()
    bare = host.seen()
    assert "mount" in problem(host.apply(), refusal, 1)
    assert not host.changed(bare)
    host.mount()
    assert host.apply().code == 0
    host.unmount()
    applied = host.seen()
    assert "mount" in problem(host.apply("--set", "karg.iommu=pt"), refusal, 1)
    assert "mount" in problem(host.rollback(), "RC3121", 1)
    verified = host.rocmcfg("verify")
    assert verified.code == 3
    assert "is its partition mounted?" in " ".join(verified.out.split())
    assert not host.changed(applied)
    host.mount()
    assert host.rollback().code == 0
    assert not host.changed(mounted)


def _in_capitals(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rename(path.with_name(path.name.upper()))


@pytest.mark.parametrize("chain", ["systemd-boot", "limine", "uki"])
def test_names_in_capitals_are_found_as_loaders_find_them(made: Make, chain: str) -> None:
    host = made(chain, _in_capitals)
    before = host.seen()
    assert host.apply().code == 0
    assert host.rocmcfg("verify").code == 6
    assert any(path.startswith(host.chain.esp) for path in host.changed(before))
    assert host.rollback().code == 0
    assert not host.changed(before)


def test_an_image_that_is_named_in_small_letters_elsewhere_is_one_image(made: Make) -> None:
    host = made("uki")
    preset = host.root / "etc/mkinitcpio.d/linux.preset"
    preset.write_text(re.sub("/efi/EFI/Linux/", "/efi/efi/linux/", preset.read_text()))
    before = host.seen()
    planned = host.rocmcfg("plan", "--set", "amdgpu.runpm=0")
    assert "the normal entries (1 now)" in " ".join(planned.out.split()), planned
    assert host.apply().code == 0
    assert host.rollback().code == 0
    assert not host.changed(before)


@pytest.mark.parametrize("chain", ["systemd-boot", "refind"])
def test_what_was_written_is_known_by_its_content_and_not_by_its_time(made: Make, chain: str) -> None:
    """A time is kept in steps of two seconds, and a copy or another system sets it as it likes."""
    host = made(chain)
    before = host.seen()
    assert host.apply().code == 0
    host.forget()
    assert host.rocmcfg("verify").code == 6
    ours = [path for path in host.esp.rglob("*") if path.is_file() and b"runpm=0" in path.read_bytes()]
    assert ours
    for path in ours:
        found = path.stat()
        path.write_bytes(path.read_bytes().replace(b"runpm=0", b"runpm=1"))
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    host.forget()
    assert host.rocmcfg("verify").code == 3
    assert host.apply().code == 0
    for path in host.esp.rglob("*"):
        os.utime(path, (1, 1 << 30))
    host.forget()
    assert host.rocmcfg("verify").code == 6
    assert host.rollback().code == 0
    assert not host.changed(before)


def _automounter(place: Path, ready: int) -> None:
    """What systemd does for an automount unit, once. The kernel waits with what anybody asks of the place
    but this process group (fs/autofs; include/uapi/linux/auto_fs.h, protocol 5)."""
    os.setpgid(0, 0)
    requests, end = os.pipe()
    options = f"fd={end},pgrp={os.getpgrp()},minproto=5,maxproto=5,direct"
    subprocess.run(["mount", "-t", "autofs", "-o", options, "autofs", place], pass_fds=[end], check=True)
    top = os.open(place, os.O_DIRECTORY)
    os.write(ready, b"1")
    request = os.read(requests, 304)
    _run("mount", "-t", "vfat", "-o", OPTIONS, DISK, place)
    fcntl.ioctl(top, 0x9360, struct.unpack_from("I", request, 8)[0])  # AUTOFS_IOC_READY


@pytest.mark.parametrize("ask", ["names", "is_dir", "write"])
def test_an_automount_is_mounted_by_our_looking(made: Make, tmp_path: Path, ask: str) -> None:
    made("systemd-boot").unmount()
    place = tmp_path / "automount"
    place.mkdir()
    told, ready = os.pipe()
    daemon = os.fork()
    if not daemon:
        _automounter(place, ready)
        os._exit(0)
    assert os.read(told, 1) == b"1"
    host = LocalHost("/")
    try:
        if ask == "names":
            assert len(host.names(f"{place}/loader/entries")) == 2
        elif ask == "is_dir":
            assert host.is_dir(f"{place}/loader/entries")
        else:
            host.write(f"{place}/new", host.new_file(b"1", 0o644), keep_mtime=False)
            assert (place / "new").read_bytes() == b"1"
    finally:
        _run("umount", place)
        _run("umount", place)
        os.waitpid(daemon, 0)
