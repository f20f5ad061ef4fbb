"""GRUB gives a trial's arguments to one boot: as grub-mkconfig's menu has it, and with entries as files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocmcfg.files.templates import trial_head
from rocmcfg.loaders.shared.grub_files import TRIAL_TOKEN
from rocmcfg.loaders.shared.grub_files.templates import trial_hook_cfg
from tests.support.tools import require_tool

from .efi_program import printing
from .machine import FIRST, Machine
from .packages import unpacked

CHAINS = ("grub", "grub-mkconfig", "grub-bls")  # docs/generators/boot_chains.py looks for these names
LOADER = "usr/lib/grub/x86_64-efi/monolithic/grubx64.efi"
PREFIX = "EFI/debian"  # what Debian's image has built in
ARGUMENTS = "amdgpu.runpm=0 panic=10 rocmcfg.trial=0123abcd"
HEAD = """
set timeout=0
if [ -s $prefix/grubenv ]; then
  load_env
fi
"""
MENU = f"""
{trial_hook_cfg()}
menuentry one {{
  linux /vmlinuz root=x quiet {TRIAL_TOKEN}
}}
"""
# 01_users and 10_linux of Fedora and RHEL
BLS_MENU = """
if [ -f ${prefix}/user.cfg ]; then
  source ${prefix}/user.cfg
fi
insmod blsuki
blscfg
"""
ENTRY = "title Arch\nversion 6.17\nlinux /vmlinuz\noptions {}\n"


def machine(work: Path, suite: str, menu: str) -> Machine:
    made = Machine(work)
    made.put(FIRST, (unpacked("grub-efi-amd64-unsigned", suite) / LOADER).read_bytes())
    made.put("vmlinuz", printing("linux"))
    made.put(f"{PREFIX}/grub.cfg", (HEAD + menu).encode())
    arm(made, "")
    return made


def arm(made: Machine, arguments: str) -> None:
    block = made.work / "grubenv"
    editenv = require_tool("grub-editenv", package="grub-common")
    command = ["set", f"rocmcfg_next={arguments}"] if arguments else ["create"]
    subprocess.run([editenv, block, *command], check=True)
    made.put(f"{PREFIX}/grubenv", block.read_bytes())


def held(made: Machine) -> str:
    lines = made.get(f"{PREFIX}/grubenv").decode().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("rocmcfg_next="))


@pytest.mark.parametrize("suite", ["trixie", "sid"])  # 2.06 starts nothing without Linux's own header
def test_a_generated_menu_gives_them_once(tmp_path: Path, suite: str) -> None:
    made = machine(tmp_path, suite, MENU)
    arm(made, ARGUMENTS)
    assert made.boot() == f"linux BOOT_IMAGE=/vmlinuz root=x quiet {ARGUMENTS}"
    assert held(made) == ""
    assert made.boot() == "linux BOOT_IMAGE=/vmlinuz root=x quiet"


def test_an_entry_that_is_a_file_gets_them_once(tmp_path: Path) -> None:
    """GRUB 2.14, whose blscfg fills variables in as Fedora's does."""
    made = machine(tmp_path, "sid", BLS_MENU)
    modules = unpacked("grub-efi-amd64-bin", "sid") / "usr/lib/grub/x86_64-efi"
    made.put(f"{PREFIX}/x86_64-efi/blsuki.mod", (modules / "blsuki.mod").read_bytes())
    made.put(f"{PREFIX}/user.cfg", (trial_head() + trial_hook_cfg()).encode())
    made.put(
        "loader/entries/arch.conf",
        ENTRY.format(f"root=x quiet rocmcfg.begin {TRIAL_TOKEN} rocmcfg.end").encode(),
    )
    arm(made, ARGUMENTS)
    assert (
        made.boot().split()
        == f"linux BOOT_IMAGE=/vmlinuz root=x quiet rocmcfg.begin {ARGUMENTS} rocmcfg.end".split()
    )
    assert held(made) == ""
    left = ["linux", "BOOT_IMAGE=/vmlinuz", "root=x", "quiet", "rocmcfg.begin", "rocmcfg.end"]
    assert made.boot().split() == left


def test_a_block_that_cannot_be_written_gives_them_never(tmp_path: Path) -> None:
    """Here save_env is given a file that is not there: what it could not take out stays unused."""
    made = machine(
        tmp_path, "sid", MENU.replace("save_env rocmcfg_next", "save_env -f /not/there rocmcfg_next")
    )
    arm(made, ARGUMENTS)
    assert made.boot() == "linux BOOT_IMAGE=/vmlinuz root=x quiet"
    assert held(made) == ARGUMENTS
