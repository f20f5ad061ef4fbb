"""systemd-stub puts the line of a unified kernel image together, as each version does it: what is built in, what an
addon of ours appends, and what an entry of a trial says instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.backends.boot.uki import addon, reader

from .efi_program import printing
from .machine import FIRST, Machine
from .packages import unpacked

STUBS = ("bookworm-backports", "trixie", "sid")  # 254, 257 and 262
EFI = "usr/lib/systemd/boot/efi"
IMAGE = "EFI/Linux/arch.efi"
OURS = f"{IMAGE}.extra.d/{reader.OURS}"
BUILT_IN = "root=x quiet"
ADDED = "rocmcfg.begin iommu=pt rocmcfg.end"


def of_systemd(suite: str, name: str) -> bytes:
    return (unpacked("systemd-boot-efi", suite) / EFI / name).read_bytes()


def image(suite: str) -> bytes:
    stub = of_systemd(suite, "linuxx64.efi.stub")
    sections = {".osrel": b"ID=arch\nPRETTY_NAME=Arch\nVERSION_ID=1\n", ".cmdline": BUILT_IN.encode()}
    return addon.with_sections(stub, {**sections, ".uname": b"6.17.9-arch1-1", ".linux": printing("kernel")})


def machine(work: Path, suite: str, secure_boot: bool = False) -> Machine:
    made = Machine(work)
    made.put(FIRST, of_systemd(suite, "systemd-bootx64.efi"))
    made.put("loader/loader.conf", b"timeout 0\n")
    made.put(IMAGE, image(suite))
    return made


@pytest.mark.parametrize("suite", STUBS)
def test_an_addon_is_appended(tmp_path: Path, suite: str) -> None:
    made = machine(tmp_path, suite)
    assert made.boot() == f"kernel {BUILT_IN}"
    made.put(OURS, addon.build(of_systemd(suite, "addonx64.efi.stub"), ADDED))
    assert made.boot() == f"kernel {BUILT_IN} {ADDED}"


@pytest.mark.parametrize("suite", STUBS)
@pytest.mark.parametrize("key", ["efi", "linux", "uki"])
def test_x(tmp_path: Path, suite: str, key: str) -> None:
    made = machine(tmp_path, suite)
    made.put(OURS, addon.build(of_systemd(suite, "addonx64.efi.stub"), ADDED))
    made.put(
        "loader/entries/_-rocmcfg-trial.conf", f"title x\n{key} /{IMAGE}\noptions root=y trial=1\n".encode()
    )
    made.set_variable("LoaderEntryOneShot", "_-rocmcfg-trial.conf")
    print("TRIED", suite, key, made.boot())
    print("AFTER", suite, key, made.boot())
