"""systemd-boot boots the copy of a trial once, on each version: the loader deletes the variable itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.loaders.shared.loader_entries import TRIAL_ID, entry_id
from rocmcfg.loaders.shared.one_shot import copied

from .efi_program import printing
from .machine import FIRST, Machine
from .packages import SUITES, unpacked

CHAINS = (
    "systemd-boot",
    "sdboot-manage",
    "kernelstub",
    "sdbootutil",
)  # docs/generators/boot_chains.py looks for these names
ENTRY = "title Arch\nlinux /kernel.efi\noptions root=x quiet\n"
ARGUMENTS = ("amdgpu.runpm=0", "panic=10", "rocmcfg.trial=0123abcd")
LOADER = "usr/lib/systemd/boot/efi/systemd-bootx64.efi"


def machine(work: Path, suite: str, conf: str = "timeout 0\n") -> Machine:
    made = Machine(work)
    made.put(FIRST, (unpacked("systemd-boot-efi", suite) / LOADER).read_bytes())
    made.put("loader/loader.conf", conf.encode())
    made.put("kernel.efi", printing("kernel"))
    return made


@pytest.mark.parametrize("suite", SUITES)
def test_the_copy_boots_once(tmp_path: Path, suite: str) -> None:
    made = machine(tmp_path, suite, "timeout 0\ndefault *\n")
    made.put("loader/entries/arch.conf", ENTRY.encode())
    made.put(f"loader/entries/{TRIAL_ID}.conf", copied(ENTRY.encode(), ARGUMENTS))
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert made.boot() == "kernel root=x quiet " + " ".join(ARGUMENTS)
    assert made.boot() == "kernel root=x quiet"


def test_an_entry_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    made = machine(tmp_path, "trixie", "timeout 0\ndefault @saved\n")
    made.put("loader/entries/arch.conf", ENTRY.encode())
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert made.boot() == "kernel root=x quiet"


@pytest.mark.parametrize("suite", SUITES)
def test_what_is_booted_once_is_not_saved(tmp_path: Path, suite: str) -> None:
    """With `default @saved`, and a kernel that comes between."""
    made = machine(tmp_path, suite, "timeout 0\ndefault @saved\n")
    made.put("loader/entries/arch.conf", ENTRY.encode())
    made.put(f"loader/entries/{TRIAL_ID}.conf", copied(ENTRY.encode(), ARGUMENTS))
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert "rocmcfg.trial" in made.boot()
    made.put("loader/entries/later.conf", ENTRY.replace("quiet", "later").encode())
    assert made.boot() == "kernel root=x later"


@pytest.mark.parametrize("suite", SUITES)
def test_a_trial_takes_no_try_of_a_counted_entry(tmp_path: Path, suite: str) -> None:
    """Its own name, without the counter, stays what it was."""
    made = machine(tmp_path, suite)
    made.put("loader/entries/arch+3.conf", ENTRY.encode())
    made.put(f"loader/entries/{TRIAL_ID}.conf", copied(ENTRY.encode(), ARGUMENTS))
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert "rocmcfg.trial" in made.boot()
    assert "arch+3.conf" in made.names("loader/entries")
    assert made.boot() == "kernel root=x quiet"
    names = made.names("loader/entries")
    assert names == [f"{TRIAL_ID}.conf", "arch+2-1.conf"]
    assert entry_id(names[1]) == "arch"


@pytest.mark.parametrize("suite", SUITES)
def test_boot_counting_would_not_end_every_trial(tmp_path: Path, suite: str) -> None:
    """Why it is not used: with `efi` in place of `linux`, systemd-boot from 259 on counts nothing down, and
    boots such an entry each time (systemd#40405). Before that it was booted once."""
    made = machine(tmp_path, suite)
    made.put("loader/entries/arch.conf", ENTRY.encode())
    counted = ENTRY.replace("linux", "efi").replace("quiet", "counted")
    made.put("loader/entries/z-trial+1.conf", counted.encode())
    booted = [made.boot(), made.boot()]
    assert booted[0] == "kernel root=x counted"
    broken = "z-trial+1.conf" in made.names("loader/entries")
    assert booted[1] == f"kernel root=x {'counted' if broken else 'quiet'}"
    assert broken is (suite == "sid"), "a systemd that counts again: is the reason still one?"
