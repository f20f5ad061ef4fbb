"""What is interrupted: a tree, and a command on it. To add one, add an entry to SCENARIOS."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rocmcfg.host.view import CommandResult
from tests.support.boots import reboot
from tests.support.hosts import debian_grub_host
from tests.support.modules import install_kernel
from tests.support.program import Result, rocmcfg
from tests.support.tools import require_tool

from .calls import CountedHost, CountedTree

OLD, NEW = "6.12.107+deb13-amd64", "9.9.9-new"
FIRST = ("apply", "--profile", "rdna4", "--set", "amdgpu.runpm=0", "--set", "karg.iommu=pt", "--yes")
# other variables, one file less and one more: files are made, changed and removed
SECOND = (
    *("apply", "--profile", "rdna4", "--set", "amdgpu.noretry=0"),
    *("--without", "env.DISABLE_ADDMM_CUDA_LT", "--via", "modprobe", "--yes"),
)
THIRD = ("apply", "--set", "amdgpu.cwsr_enable=0", "--set", "env.HSA_ENABLE_SDMA=0", "--yes")
TRY = (
    *("apply", "--set", "amdgpu.runpm=0", "--set", "amdgpu.cwsr_enable=0"),
    *("--set", "env.HSA_ENABLE_SDMA=0", "--trial", "--yes"),
)

TAKE_OVER = ("take-over", "--yes")


class KernelHost(CountedHost):
    """The real modinfo looks at the tree's modules, once for each question: what they are never changes."""

    known: ClassVar[dict[tuple[str, ...], CommandResult]] = {}

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if argv[0] != "modinfo":
            return super().query(argv)
        if tuple(argv) not in self.known:
            done = subprocess.run(
                [require_tool("modinfo", "kmod"), "-b", self.root, *argv[1:]], capture_output=True, text=True
            )
            self.known[tuple(argv)] = CommandResult(tuple(argv), done.returncode, done.stdout, done.stderr)
        return self.known[tuple(argv)]


@dataclass(frozen=True, slots=True)
class Scenario:
    """`prepare` makes the tree in a folder. `then` is a command that has to succeed once `act` is done, and
    shows that the host can still be used. `whole`: before the act nothing waits for a `recover`."""

    name: str
    prepare: Callable[[Path], Path]
    act: tuple[str, ...]
    then: tuple[str, ...] = THIRD
    host: type[CountedHost] = CountedHost
    whole: bool = True

    def run(self, root: Path, arguments: Sequence[str]) -> Result:
        return run(root, *arguments, host=self.host)


def run(root: Path, *arguments: str, host: type[CountedHost] = CountedHost) -> Result:
    return rocmcfg(*arguments, "--root", root, host=host)


def done(root: Path, *commands: tuple[str, ...], host: type[CountedHost] = CountedHost) -> Path:
    for command in commands:
        result = run(root, *command, host=host)
        assert result.code == 0, result.out + result.err
    return root


def bare(folder: Path) -> Path:
    """Its initramfs carries amdgpu: both tools have work to do."""
    return debian_grub_host(folder, amdgpu_in_initramfs=True, modprobe_d={"blacklist.conf": "# none\n"})


def owned(folder: Path) -> Path:
    """The owner has set parameters in each file out of which they can be moved."""
    site = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.dcdebugmask=0x10"\n'
    root = debian_grub_host(
        folder,
        amdgpu_in_initramfs=True,
        cmdline="quiet amdgpu.runpm=0",
        grub_d={"site.cfg": site},
        modprobe_d={"amdgpu.conf": "# mine\noptions amdgpu cwsr_enable=0\n"},
    )
    return with_menu(root, "update-grub")


def with_menu(root: Path, *command: str) -> Path:
    """The menu is the one that the program makes of the files."""
    assert CountedHost(str(root)).execute(command, timeout=60, progress=lambda: None).ok
    return root


def _taken_over(folder: Path) -> Path:
    return done(owned(folder), TAKE_OVER)


def _after(*commands: tuple[str, ...]) -> Callable[[Path], Path]:
    return lambda folder: done(bare(folder), *commands)


def _trial(boots: int, *commands: tuple[str, ...]) -> Callable[[Path], Path]:
    """A trial over what is applied, so many boots ago."""

    def prepare(folder: Path) -> Path:
        root = _applied_and_booted(folder)
        done(root, *(commands or (TRY,)))
        for _ in range(boots):
            reboot(root)
        return root

    return prepare


def _applied_and_booted(folder: Path) -> Path:
    root = done(debian_grub_host(folder), ("apply", "--set", "amdgpu.runpm=0", "--yes"))
    reboot(root)
    return root


def _cut_off(folder: Path) -> Path:
    """An apply over another, killed while it made the image anew."""
    from .faulting import at_call

    root = done(bare(folder), FIRST)
    at_call(root, SECOND, "run update-initramfs", folder)
    return root


def _new_kernel(folder: Path) -> Path:
    """Legal for the old kernel; the new one would not load its driver with it."""
    types = {"cwsr_enable": "int", "runpm": "int", "tmz": "int", "ppfeaturemask": "hexint"}
    root = debian_grub_host(folder, kernels=(OLD,), driver="missing", loaded=False)
    subprocess.run(["rm", "-r", str(root / f"usr/lib/modules/{OLD}")], check=True)
    install_kernel(root, OLD, types)
    settings = ("--set", "amdgpu.cwsr_enable=0", "--set", "amdgpu.runpm=-2")
    done(root, ("apply", *settings, "--any-gpu", "--yes"), host=KernelHost)
    install_kernel(root, NEW, {**types, "runpm": "uint"})
    return root


_ROLLBACK = ("rollback", "--yes")
SCENARIOS = (
    Scenario("apply", bare, FIRST),
    Scenario("apply-again", _after(FIRST), (*THIRD[:-1], "--set", "karg.iommu=pt", "--yes"), FIRST),
    Scenario("apply-modprobe", _after(FIRST), SECOND),
    Scenario("apply-tree", bare, FIRST, host=CountedTree),
    Scenario("take-over", owned, TAKE_OVER),
    Scenario("take-over-rollback", _taken_over, _ROLLBACK),
    Scenario("trial", _applied_and_booted, TRY, ("reject", "--yes")),
    Scenario("confirm", _trial(1), ("confirm", "--yes")),
    Scenario("reject-armed", _trial(0), ("reject", "--yes")),
    Scenario("reject-running", _trial(1), ("reject", "--yes")),
    Scenario("trial-ends", _trial(2), ("recover",), whole=False),
    Scenario("rollback", _after(FIRST, SECOND), _ROLLBACK),
    Scenario("rollback-to", _after(FIRST, SECOND, THIRD), ("rollback", "--to", "1", "--yes"), SECOND),
    Scenario("rollback-pristine", _after(FIRST, SECOND, THIRD), ("rollback", "--pristine", "--yes")),
    Scenario("recover", _cut_off, ("recover",), whole=False),
    Scenario("check-kernel", _new_kernel, ("check-kernel", NEW), (*THIRD, "--any-gpu"), KernelHost),
)
