"""Addons: byte for byte what ukify makes of the same stub."""

from __future__ import annotations

import hashlib
import io
import shutil
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.loaders.shared import pe_image
from rocmcfg.loaders.uki import addons
from tests.support.hosts.pe import AA64, X64, addon_stub, pe
from tests.support.tools import run

ARGUMENTS = {n: "x" * n for n in (511, 512, 513, 2000)} | {23: "amdgpu.runpm=0 iommu=pt"}
# what `ukify build --stub=… --cmdline=…` of systemd 262.1 (Debian 262.1-1) made of `addon_stub`, by the
# machine and the arguments' length; that of 257.13 differs by one NUL at the end of .sbat
_BY_UKIFY = {
    (X64, 23): "60c34ba3468178f1",
    (X64, 511): "e3a78f23cbe7fc26",
    (X64, 512): "f1c94374abd58771",
    (X64, 513): "dee351fc6d90b4b7",
    (X64, 2000): "1a798f2dcaef67a7",
    (AA64, 23): "8125fcdb2dc27f48",
    (AA64, 2000): "f009fb00397b5348",
}


def built(tmp_path: Path, machine: int, arguments: str) -> bytes:
    path = tmp_path / addons.stub_path(machine).lstrip("/")
    path.parent.mkdir(parents=True)
    path.write_bytes(addon_stub(machine))
    return addons.made(LocalHost(str(tmp_path)), machine, arguments)


@pytest.mark.parametrize(("machine", "length"), _BY_UKIFY)
def test_an_addon_has_the_bytes_that_ukify_gave_one(tmp_path: Path, machine: int, length: int) -> None:
    made = built(tmp_path, machine, ARGUMENTS[length])
    assert hashlib.sha256(made).hexdigest()[:16] == _BY_UKIFY[machine, length]
    assert pe_image.parse(io.BytesIO(made)).texts[".cmdline"] == ARGUMENTS[length]


@pytest.mark.skipif(not shutil.which("ukify"), reason="needs systemd-ukify")
@pytest.mark.parametrize("length", ARGUMENTS)
def test_an_addon_has_the_bytes_that_the_ukify_of_this_machine_gives_it(tmp_path: Path, length: int) -> None:
    (tmp_path / "stub").write_bytes(addon_stub())
    argv = ["ukify", "build", f"--stub={tmp_path}/stub", f"--cmdline={ARGUMENTS[length]}"]
    assert run([*argv, f"--output={tmp_path}/addon"]).returncode == 0
    real = (tmp_path / "addon").read_bytes()
    made = built(tmp_path, X64, ARGUMENTS[length])
    assert {at for at in range(len(real)) if real[at] != made[at]} <= {
        0x60,
        0x61,
        0x1C8,
    }  # sizes, by 257's NUL


@pytest.mark.parametrize(
    ("stub", "said"),
    [
        (b"", "does not begin"),
        (addon_stub()[:0x500], "ends at"),
        (pe({".text": b"x"}, signed=True), "it is signed"),
        (pe({f".s{n}": b"x" for n in range(16)}), "no room"),
        (addon_stub()[:0x60] + bytes(0x60) + addon_stub()[0xC0:], ""),
    ],
)
def test_a_damaged_stub_is_refused(tmp_path: Path, stub: bytes, said: str) -> None:
    path = tmp_path / addons.stub_path(X64).lstrip("/")
    path.parent.mkdir(parents=True)
    path.write_bytes(stub)
    with pytest.raises(Unreadable) as caught:
        addons.made(LocalHost(str(tmp_path)), X64, "a=1")
    assert said in caught.value.reason


def test_a_missing_stub_names_its_package(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        addons.made(LocalHost(str(tmp_path)), AA64, "a=1")
    assert caught.value.path.endswith("addonaa64.efi.stub")
    assert "systemd-boot-efi" in str(caught.value.diagnostics[0].hint)
