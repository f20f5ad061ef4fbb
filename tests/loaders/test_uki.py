"""How systemd-stub puts the line of a unified kernel image together, on each version: what is built in, what
an addon of ours appends, and what the entry of a trial says instead."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.shared import pe_image
from rocmcfg.loaders.shared.loader_entries import TRIAL_ID
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.loaders.shared.one_shot import Listed, copied
from rocmcfg.loaders.uki import BACKEND, addons, reader
from rocmcfg.loaders.uki.reader import Uki

from .efi_program import printing
from .machine import FIRST, Machine
from .packages import unpacked

CHAINS = ("uki",)  # docs/generators/boot_chains.py looks for this name
SUITES = {"bookworm-backports": 254, "trixie": 257, "sid": 262}
EFI = "usr/lib/systemd/boot/efi"
IMAGE = "EFI/Linux/arch.efi"
OURS = f"{IMAGE}.extra.d/{reader.OURS}"
ENTRY = f"loader/entries/{TRIAL_ID}.conf"
BUILT_IN = "root=x quiet"
ADDED = "rocmcfg.begin iommu=pt rocmcfg.end"
ARGUMENTS = ("amdgpu.runpm=0", "panic=10", "rocmcfg.trial=0123abcd")


def of_systemd(suite: str, name: str) -> bytes:
    return (unpacked("systemd-boot-efi", suite) / EFI / name).read_bytes()


def image(suite: str) -> bytes:
    stub = of_systemd(suite, "linuxx64.efi.stub")
    sections = {".osrel": b"ID=arch\nPRETTY_NAME=Arch\nVERSION_ID=1\n", ".cmdline": BUILT_IN.encode()}
    return pe_image.with_sections(
        stub, {**sections, ".uname": b"6.17.9-arch1-1", ".linux": printing("kernel")}
    )


def own_addon(suite: str) -> bytes:
    """As the program makes it of the stub of this systemd."""
    return addons.made(LocalHost(str(unpacked("systemd-boot-efi", suite))), 0x8664, ADDED)


def machine(work: Path, suite: str, *, path: str = IMAGE) -> Machine:
    made = Machine(work)
    made.put(FIRST, of_systemd(suite, "systemd-bootx64.efi"))
    made.put("loader/loader.conf", b"timeout 0\n")
    made.put(path, image(suite))
    return made


def line(made: Machine) -> str:
    """Without what the stub of systemd 262 says by itself of a serial console."""
    return made.boot().removeprefix("kernel ").removesuffix("console=uart,io,0x3f8").strip()


def entry_of_trial(work: Path, suite: str) -> bytes:
    """As the program makes it on a host with this image."""
    (work / "host/efi/EFI/Linux").mkdir(parents=True)
    (work / "host/efi" / IMAGE).write_bytes(image(suite))
    listed = Listed("arch.efi", f"/efi/{IMAGE}", "/efi", default=True)
    found = BACKEND.TRIAL.original(LocalHost(str(work / "host")), listed)
    assert found is not None
    folder, text, _ = found
    assert f"{folder}/{TRIAL_ID}.conf" == f"/efi/{ENTRY}"
    return copied(text, ARGUMENTS)


@pytest.mark.parametrize("suite", SUITES)
def test_a_trial_boots_once_with_the_addons_behind_its_arguments(tmp_path: Path, suite: str) -> None:
    made = machine(tmp_path, suite)
    made.put(OURS, own_addon(suite))
    made.put(ENTRY, entry_of_trial(tmp_path, suite))
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert line(made) == " ".join((BUILT_IN, *ARGUMENTS, ADDED))
    assert line(made) == f"{BUILT_IN} {ADDED}"


def test_an_older_loader_knows_no_other_key(tmp_path: Path) -> None:
    """Why the entry has `efi`, and not `uki`."""
    made = machine(tmp_path, "trixie")
    made.put(ENTRY, entry_of_trial(tmp_path, "trixie").replace(b"\nefi ", b"\nuki "))
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert line(made) == BUILT_IN


def test_an_older_stub_reads_no_addons(tmp_path: Path) -> None:
    made = machine(tmp_path, "bookworm")
    made.put(OURS, own_addon("trixie"))
    assert line(made) == BUILT_IN
    assert reader.READS_ADDONS > 252


@pytest.mark.parametrize("suite", ["trixie", "sid"])
@pytest.mark.parametrize("name", ["arch", "6.12+deb13"])
def test_a_boot_counter_hides_addons_where_the_reader_says_so(tmp_path: Path, suite: str, name: str) -> None:
    """The reader takes those of systemd 254 for hidden, which 254.26 finds nevertheless."""
    path = f"EFI/Linux/{name}+3.efi"
    made = machine(tmp_path, suite, path=path)
    uki = Uki(f"/{path}", pe_image.parse(io.BytesIO(image(suite))), Role.NORMAL)
    assert uki.stub == SUITES[suite]
    made.put(uki.own_addon.strip("/"), own_addon(suite))
    assert line(made) == (BUILT_IN if uki.hides_addons else f"{BUILT_IN} {ADDED}")
    assert f"{name}+2-1.efi" in made.names("EFI/Linux")


@pytest.mark.parametrize("suite", ["trixie", "sid"])
def test_secure_boot_takes_signed_addons_and_no_line_of_an_entry(tmp_path: Path, suite: str) -> None:
    made = Machine(tmp_path, secure_boot=True)
    made.put(FIRST, made.signed(of_systemd(suite, "systemd-bootx64.efi")))
    made.put("loader/loader.conf", b"timeout 0\n")
    made.put(IMAGE, made.signed(image(suite)))
    made.put(OURS, own_addon(suite))
    assert line(made) == BUILT_IN
    made.put(OURS, made.signed(own_addon(suite)))
    made.put(ENTRY, entry_of_trial(tmp_path, suite))
    made.set_variable("LoaderEntryOneShot", f"{TRIAL_ID}.conf")
    assert line(made) == f"{BUILT_IN} {ADDED}"
