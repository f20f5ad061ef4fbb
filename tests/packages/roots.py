"""Clean Debian systems to install packages in, without virtual machines.

A system is built once by mmdebstrap and cached. Each test gets an overlay of it, and every command runs as
root of that system: own mounts, processes and host name, and a network that holds nothing, so that whatever
an installation fetched would fail.

What is not real in it: the kernel is this machine's, `grub-probe` answers for a disk that is not there, and
where a test asks for a `live` host, /sys and what /proc says of the kernel come from docs/demo/sample-host.
GRUB's scripts, initramfs-tools, apt, dpkg and sudo are Debian's own.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support import shared
from tests.support.tools import HANG

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "docs/demo/sample-host"
MIRROR = "http://deb.debian.org/debian"
PACKAGES = (
    "python3",
    "sudo",
    "kmod",
    "grub2-common",
    "grub-pc-bin",
    "initramfs-tools",
    "init-system-helpers",
)
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# For the build that leans on them; nothing else may find them. Earlier releases have older ones.
LIBRARIES = ("python3-typer", "python3-pydantic", "python3-jinja2", "python3-sh", "python3-distro")
# What grub-mkconfig and 10_linux ask about the disk of /, which is an overlay here.
GRUB_PROBE = """#!/bin/sh
case "$*" in
  *-t\\ device*|*target=device*) echo /dev/vda2 ;;
  *fs_uuid*) echo 3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3 ;;
  *partuuid*) echo 5c1f7d1e-02 ;;
  *target=fs*) echo ext2 ;;
  *partmap*) echo gpt ;;
  *hint*) echo hd0,gpt2 ;;
esac
"""


def cached(name: str, key: str, build: Callable[[Path], object]) -> Path:
    """The directory of this name and key; `build` fills it if nobody did. Others of the name that nobody uses
    are deleted."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    made = shared.made_once(shared.cache("packages") / f"{name}-{digest}", build)
    shared.forget_older_than(made, f"{name}-{'[0-9a-f]' * 12}", keep=1)
    return made


def system(suite: str, libraries: bool = False) -> Path:
    """The unpacked root of a clean Debian system, with what the README expects a host to have."""

    packages = (*PACKAGES, *(LIBRARIES if libraries else ()))

    def build(work: Path) -> None:
        debootstrap(suite, packages, work)
        probe = work / "usr/sbin/grub-probe"
        probe.write_text(GRUB_PROBE)
        (work / "etc/hosts").write_text("127.0.0.1 localhost sample\n")

    return cached(f"root-{suite}{'-with-libraries' * libraries}", f"{packages}{GRUB_PROBE}", build)


def debootstrap(suite: str, packages: tuple[str, ...], into: Path) -> None:
    """A minimal system and these packages, without device nodes."""
    # Old snapshots of a mirror are fine for a test; apt would refuse their expired signatures.
    options = ["--variant=minbase", '--aptopt=Acquire::Check-Valid-Until "false"']
    command = ["mmdebstrap", "--quiet", *options, f"--include={','.join(packages)}", suite]
    tar = into / "root.tar"
    shared.fetched([*command, tar, MIRROR], f"Debian {suite}", again=lambda: tar.unlink(missing_ok=True))
    must(["tar", "-xf", str(tar), "-C", str(into), "--exclude=./dev/*"])
    tar.unlink()


@dataclass(frozen=True, slots=True)
class Root:
    """A system that one test may do anything to. `live` is what stands in for the kernel's files, or None."""

    lower: Path | str  # several, as overlayfs takes them: the uppermost first
    work: Path
    live: Path | None = None

    def run(
        self, command: str, *, env: Mapping[str, str] | None = None, read_only: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell command as root of this system; stdout and stderr come in one, as on a terminal."""
        variables = {
            "PATH": PATH,
            "HOME": "/root",
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
            **(env or {}),
        }
        settings = [f"{name}={value}" for name, value in variables.items()]
        return self.from_outside(
            "chroot", "merged", "/usr/bin/env", "-i", *settings, "/bin/sh", "-c", command, read_only=read_only
        )

    def from_outside(self, *argv: str, read_only: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a program of this machine, in a folder where the system is `merged`."""
        for name in ("upper", "work", "merged"):
            (self.work / name).mkdir(exist_ok=True)
        script = "\n".join([*self._mounts(read_only), f"exec {shlex.join(argv)}"])
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--uts", "--ipc"]
        return subprocess.run(
            [*alone, "sh", "-ec", script],
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=HANG,
            check=False,
        )

    def ok(self, command: str, *, env: Mapping[str, str] | None = None) -> str:
        """As `run`, for what must succeed: its output."""
        done = self.run(command, env=env)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def _mounts(self, read_only: bool) -> Iterator[str]:
        yield "hostname sample"
        yield f"mount -t overlay overlay -o lowerdir={self.lower},upperdir=upper,workdir=work merged"
        yield "mount -t proc proc merged/proc"
        yield "mount -t tmpfs tmpfs merged/run && mkdir merged/run/lock && mount -t tmpfs tmpfs merged/dev"
        yield "mkdir merged/dev/pts && mount -t devpts -o newinstance,ptmxmode=666 devpts merged/dev/pts"
        yield "ln -s pts/ptmx merged/dev/ptmx"
        for node in ("null", "zero", "full", "random", "urandom", "tty"):
            yield f"touch merged/dev/{node} && mount --bind /dev/{node} merged/dev/{node}"
        if self.live:
            yield f"mount --bind {self.live}/sys merged/sys"
            for name in (
                "cmdline",
                "modules",
                "version",
                "sys/kernel/osrelease",
                "sys/kernel/random/boot_id",
            ):
                # A kernel without loadable modules, which some test machines have, lacks /proc/modules.
                ours, theirs = f"{self.live}/proc/{name}", f"merged/proc/{name}"
                yield f"test ! -e {theirs} || mount --bind {ours} {theirs}"
        if read_only:
            yield "mount -o remount,ro merged"

    def exists(self, path: str) -> bool:
        return self.run(f"test -e {shlex.quote(path)}").returncode == 0

    def write(self, path: str, text: str, mode: str = "644") -> None:
        quoted = shlex.quote(path)
        self.ok(
            f"mkdir -p $(dirname {quoted}); printf %s {shlex.quote(text)} >{quoted}; chmod {mode} {quoted}"
        )

    def bring(self, file: Path, path: str) -> None:
        """Copy a file of this machine in, to a directory that the system has."""
        target = self.work / "upper" / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)

    def reboot(self) -> None:
        """What a boot of the first menu entry would show: command line, boot id, values of amdgpu."""
        assert self.live
        menu = self.ok("cat /boot/grub/grub.cfg")
        line = re.search(r"^\s*linux\s+(\S+ .*)$", menu, re.MULTILINE)
        assert line, menu
        (self.live / "proc/cmdline").write_text(f"BOOT_IMAGE={line[1].strip()}\n")
        (self.live / "proc/sys/kernel/random/boot_id").write_text(f"{uuid.uuid4()}\n")
        for name, value in re.findall(r"amdgpu\.(\w+)=(\S+)", line[1]):
            (self.live / "sys/module/amdgpu/parameters" / name).write_text(f"{value}\n")


@contextmanager
def fresh(
    suite: str, work: Path, *, live: bool = False, on: Path | None = None, libraries: bool = False
) -> Iterator[Root]:
    """A new system of a release; `live`: with the sample host's GPU, kernel and boot menu; `on`: what another
    one, which must not be used any more, has on top of the release; `libraries`: with those that the program
    can use of the release."""
    lower = ":".join(str(path) for path in (on, system(suite, libraries)) if path)
    root = Root(lower, work, work / "live" if live else None)
    if root.live:
        for name in ("sys", "proc"):
            shutil.copytree(SAMPLE / name, root.live / name, symlinks=True)
        for name in ("boot", "usr/lib/modules", "etc/default/grub"):
            place = work / "upper" / name
            if (SAMPLE / name).is_dir():
                shutil.copytree(SAMPLE / name, place, symlinks=True, dirs_exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(SAMPLE / name, place)
    yield root
    shutil.rmtree(work, ignore_errors=True)


def must(command: list[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout
