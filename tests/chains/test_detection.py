"""Which boot loader a host uses, by evidence; never supported unless it is one that we can configure."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg import initramfs
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.loaders import detection, registry
from rocmcfg.loaders.shared.efi import handed_over
from rocmcfg.model.facts import BootChain
from tests.support.hosts import (
    DEBIAN_KERNEL,
    Link,
    arch_grub,
    arch_systemd_boot,
    bls_entry,
    debian_grub_host,
    efi_variable,
    firmware,
    make_root,
    other_host,
    programs,
)


def detect(root: Path, forced: str = "") -> BootChain:
    view = LocalHost(str(root))
    return detection.detect(view, initramfs.detect(view), forced)


@pytest.mark.parametrize("efi", [True, False])
def test_debian_with_grub_is_supported_and_proven_by_the_firmware(tmp_path: Path, efi: bool) -> None:
    found = detect(debian_grub_host(tmp_path, efi=efi))
    assert found.loader is not None
    assert (found.loader.name, found.loader.supported, found.loader.proof) == ("grub", True, efi)
    assert any("GRUB 2.12" in e for e in found.loader.evidence) == efi
    assert [g.name for g in found.initramfs] == ["initramfs-tools"]


def test_an_offline_debian_root_is_recognised_by_its_files(tmp_path: Path) -> None:
    found = detect(debian_grub_host(tmp_path, live=False))
    assert found.loader is not None
    assert found.loader.name == "grub"


@pytest.mark.parametrize("missing", ["usr/sbin/update-grub", "etc/default/grub", "boot/grub/grub.cfg"])
def test_grub_is_not_supported_on_half_of_its_evidence(tmp_path: Path, missing: str) -> None:
    root = debian_grub_host(tmp_path, efi=False)
    (root / missing).unlink()
    loader = detect(root).loader
    assert loader is None or not loader.supported


def test_two_complete_chains_ask_the_user_and_are_both_named(tmp_path: Path) -> None:
    root = other_host(tmp_path, "two-boot-chains")
    found = detect(root)
    assert found.loader is None
    assert {c.name for c in found.candidates} == {"grub-mkconfig", "systemd-boot"}
    assert all(c.name in found.refusal for c in found.candidates)
    for name in ("grub-mkconfig", "systemd-boot"):
        chosen = detect(root, name).loader
        assert chosen is not None
        assert chosen.name == name


@pytest.mark.parametrize(
    ("told", "loader"), [("systemd-boot 258.2", "systemd-boot"), ("GRUB 2:2.14", "grub-mkconfig"), ("", None)]
)
def test_the_firmware_settles_which_of_two_boots(tmp_path: Path, told: str, loader: str | None) -> None:
    files = {**arch_grub(), **arch_systemd_boot(), **firmware(told)}
    if not told:
        files = {p: f for p, f in files.items() if "LoaderInfo" not in p}
    found = detect(make_root(tmp_path, files)).loader
    assert (found.name if found else None) == loader


def test_a_backend_that_left_no_trace_cannot_be_forced(tmp_path: Path) -> None:
    found = detect(debian_grub_host(tmp_path), "limine")
    assert found.loader is None
    assert "limine" in found.refusal
    assert "grub" in found.refusal
    assert "none" in detect(make_root(tmp_path, {"etc/x": ""}, name="empty"), "grub").refusal


def test_a_host_without_any_loader_is_refused_with_a_reason(tmp_path: Path) -> None:
    found = detect(make_root(tmp_path, {"etc/x": ""}))
    assert (found.loader, found.candidates) == (None, ())
    assert found.refusal


@pytest.mark.parametrize(
    "leftover", ["boot/loader/loader.conf", "boot/efi/loader/loader.conf", "efi/loader/random-seed"]
)
def test_leftovers_of_another_loader_prove_nothing(tmp_path: Path, leftover: str) -> None:
    for efi in (True, False):
        loader = detect(
            debian_grub_host(tmp_path, efi=efi, extra={leftover: "timeout 3\n"}, name=str(efi))
        ).loader
        assert loader is not None
        assert loader.name == "grub"


def test_grub_tools_left_on_a_systemd_boot_host_do_not_make_it_a_grub_host(tmp_path: Path) -> None:
    extra = {"etc/default/grub": "GRUB_TIMEOUT=5\n", **programs("usr/sbin/update-grub")}
    loader = detect(other_host(tmp_path, "systemd-boot-kernel-install", extra=extra)).loader
    assert loader is not None
    assert loader.name == "systemd-boot"


def test_a_complete_leftover_grub_yields_to_what_the_firmware_says(tmp_path: Path) -> None:
    extra = {
        "etc/default/grub": "",
        "boot/grub/grub.cfg": "",
        "sbin": Link("usr/sbin"),
        **programs("usr/sbin/update-grub"),
    }
    loader = detect(other_host(tmp_path, "systemd-boot-kernel-install", extra=extra)).loader
    assert loader is not None
    assert (loader.name, loader.supported) == ("systemd-boot", True)


@pytest.mark.parametrize("content", [b"", b"\x06", b"\x06\0\0\0", b"\x06\0\0\0\xff", b"\xff" * 99])
def test_a_broken_firmware_variable_says_nothing(tmp_path: Path, content: bytes) -> None:
    (path,) = efi_variable("LoaderInfo", "x")
    loader = detect(debian_grub_host(tmp_path, extra={path: content})).loader
    assert loader is not None
    assert not loader.proof


def test_an_unreadable_firmware_variable_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: LocalHost, path: str) -> bytes | None:
        raise Unreadable(path, "Permission denied")

    monkeypatch.setattr(LocalHost, "read", refuse)
    assert handed_over(LocalHost(str(debian_grub_host(tmp_path))), "LoaderInfo", "grub") == ()


def test_only_supported_loaders_have_a_backend() -> None:
    assert registry.backend("grub").NAME == "grub"
    with pytest.raises(KeyError):
        registry.backend("nixos")


@pytest.mark.parametrize(
    "leftover", ["etc/limine-entry-tool.conf", "etc/default/limine", "usr/bin/limine-update"]
)
def test_what_limine_left_behind_without_a_menu_proves_nothing(tmp_path: Path, leftover: str) -> None:
    found = detect(other_host(tmp_path, "arch-systemd-boot", extra={leftover: ""}))
    assert [one.name for one in found.candidates] == ["systemd-boot"]


def test_sdboot_manage_stands_for_the_systemd_boot_below_it(tmp_path: Path) -> None:
    extra = {**programs("usr/bin/sdboot-manage"), "etc/sdboot-manage.conf": ""}
    found = detect(other_host(tmp_path, "arch-systemd-boot", extra=extra))
    assert [one.name for one in found.candidates] == ["sdboot-manage"]


@pytest.mark.parametrize(
    ("told", "read"), [("Limine 12.8.0", "limine"), ("systemd-boot 258.2", "systemd-boot"), ("", "limine")]
)
def test_of_several_menus_the_one_that_the_firmware_names_is_read(
    tmp_path: Path, told: str, read: str
) -> None:
    files = {**arch_systemd_boot(), "boot/limine.conf": "", **firmware(told)}
    if not told:
        files = {p: f for p, f in files.items() if "LoaderInfo" not in p}
    found = detection.reader_on(LocalHost(str(make_root(tmp_path, files))))
    assert found is not None
    assert read == found.NAME


def test_a_menu_of_debians_grub_that_shows_entries_as_files_is_another_chain(tmp_path: Path) -> None:
    """One that has entries of its own besides stays Debian's: its first entry is what boots."""
    entry = bls_entry("Debian", DEBIAN_KERNEL, "ro quiet")
    root = debian_grub_host(tmp_path, extra={"boot/loader/entries/debian.conf": entry})
    menu = root / "boot/grub/grub.cfg"
    menu.write_text(menu.read_text() + "insmod blsuki\nblscfg\n")
    own, to_files = menu.read_text(), "insmod blsuki\nblscfg\n"
    for text, name in ((own + to_files, "grub"), (to_files, "grub-bls")):
        menu.write_text(text)
        loader, reader = detect(root).loader, detection.reader_on(LocalHost(str(root)))
        assert loader is not None
        assert reader is not None
        assert (loader.name, reader.NAME) == (name, name)
