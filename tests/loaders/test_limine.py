"""Limine gives a kernel our part of its line, and boots the copy of a trial once, where it can. No package
index has Limine: ROCMCFG_LIMINE names a folder with its programs, each as VERSION.efi (BOOTX64.EFI there)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.limine import BACKEND, trial
from rocmcfg.loaders.shared import efi
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.loaders.shared.entry_options import CARRIER
from rocmcfg.loaders.shared.loader_entries import TRIAL_ID

from .efi_program import printing
from .machine import FIRST, Machine

CHAIN = "limine"  # docs/generators/boot_chains.py looks for this name
PROGRAMS = sorted(Path(os.environ.get("ROCMCFG_LIMINE", "/nonexistent")).glob("*.efi"))
ARGUMENTS = ("amdgpu.runpm=0", "panic=10", "rocmcfg.trial=0123abcd")
# before version 9 the key of a program's path was image_path, its protocol efi_chainload
CONF = (
    "timeout: 0\n{more}/Linux #1\n    protocol: efi_chainload\n    path: boot():/kernel.efi\n"
    "    image_path: boot():/kernel.efi\n    cmdline: root=x quiet\n/Other\n    protocol: efi_chainload\n"
    "    path: boot():/kernel.efi\n    image_path: boot():/kernel.efi\n    cmdline: other\n"
)
pytestmark = pytest.mark.skipif(
    not PROGRAMS, reason="no package has Limine: ROCMCFG_LIMINE names its programs"
)
each = pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)


def machine(work: Path, program: Path) -> Machine:
    made = Machine(work, screen=True)
    made.put(FIRST, program.read_bytes())
    made.put("kernel.efi", printing("kernel"))
    return made


def host(root: Path, *, more: str = "", selected: str = r"Linux \#1") -> LocalHost:
    """What Limine leaves in the firmware, its configuration, and what its trial would be."""
    variable = root / efi.path("LoaderEntrySelected").strip("/")
    for path, content in (
        (root / "boot/limine.conf", CONF.format(more=more).encode()),
        (variable, b"\6\0\0\0" + f"{selected}\0".encode("utf-16-le")),
        (root / CARRIER.strip("/"), b""),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return LocalHost(str(root))


def written(view: LocalHost, root: Path) -> bytes:
    BACKEND.write_entries(view)
    return (root / "boot/limine.conf").read_bytes()


@each
def test_our_part_of_a_line_reaches_the_kernel(tmp_path: Path, program: Path) -> None:
    view = host(tmp_path / "host")
    (tmp_path / "host" / CARRIER.strip("/")).write_bytes(b"amdgpu.runpm=0")
    made = machine(tmp_path, program)
    made.put("limine.conf", written(view, tmp_path / "host"))
    assert made.boot() == "kernel root=x quiet rocmcfg.begin amdgpu.runpm=0 rocmcfg.end"


@each
@pytest.mark.parametrize("more", ["", "default_entry: 2\n", "remember_last_entry: yes\n"], ids=str.strip)
def test_the_copy_boots_once(tmp_path: Path, program: Path, more: str) -> None:
    """From 11.4 on; older ones do not look at the variable. And why none is tried where it remembers."""
    view = host(tmp_path / "host", more=more)
    files = trial.LimineTrial().propose(view, Observed(BACKEND.read(view), (), (), ()), ARGUMENTS)
    (tmp_path / "host" / trial.COPY.strip("/")).write_bytes(files[trial.COPY][0])
    made = machine(tmp_path, program)
    made.put("limine.conf", written(view, tmp_path / "host"))
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    can = tuple(map(int, program.stem.split("."))) >= (11, 4)
    default = "kernel other" if more.startswith("default") else "kernel root=x quiet"
    tried = "kernel root=x quiet " + " ".join(ARGUMENTS)
    assert made.boot() == (tried if can else default)
    assert made.boot() == (tried if can and more.startswith("remember") else default)


@each
def test_an_entry_that_is_gone_is_passed_over(tmp_path: Path, program: Path) -> None:
    made = machine(tmp_path, program)
    made.put("limine.conf", CONF.format(more="").encode())
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert made.boot() == "kernel root=x quiet"
