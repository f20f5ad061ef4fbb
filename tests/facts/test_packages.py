"""The versions of packages, from the databases of three package managers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rocmcfg.facts.packages import read_packages
from rocmcfg.host.local import LocalHost
from rocmcfg.host.problems import CommandResult
from rocmcfg.host.view import HostView

PATTERNS = ("rocm*", "linux-firmware*")


def host(root: Path, files: dict[str, str]) -> LocalHost:
    for path, text in {"etc/hostname": "x\n", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return LocalHost(str(root))


def test_dpkg_says_what_is_installed_and_what_only_was(tmp_path: Path) -> None:
    status = """\
Package: rocm-core
Status: install ok installed
Architecture: amd64
Version: 7.0.1.70001-42~22.04
Description: x
 Version: 1

Package: rocm-old
Status: deinstall ok config-files
Version: 5.0

Package: linux-firmware
Status: hold ok installed
Version: 2:20260101

Package: vim
Status: install ok installed
Version: 9
"""
    view = host(tmp_path, {"var/lib/dpkg/status": status})
    assert read_packages(view, PATTERNS) == (
        {"linux-firmware": "2:20260101", "rocm-core": "7.0.1.70001-42~22.04"},
        "",
    )


def test_pacman_has_a_folder_for_each_package(tmp_path: Path) -> None:
    names = ("linux-firmware-20260101.abc-1", "rocm-llvm-7.0.1-2", "vim-9-1", "rocm", "ALPM_DB_VERSION")
    view = host(tmp_path, {f"var/lib/pacman/local/{name}/desc": "" for name in names})
    assert read_packages(view, PATTERNS) == ({"linux-firmware": "20260101.abc-1", "rocm-llvm": "7.0.1-2"}, "")


def test_rpm_is_asked_and_several_versions_are_listed(tmp_path: Path) -> None:
    lines = "rocm-core 7.0.1-1.el9\nrocm-core 6.4.0-1.el9\nvim 9-1\nrocm-evil \x1b[31m\n\n"

    class Asked(HostView):
        def query(self, argv: Sequence[str]) -> CommandResult:
            assert argv[:2] == ("rpm", "-qa")
            return CommandResult(tuple(argv), 0, lines, "")

    host(tmp_path, {"usr/lib/sysimage/rpm/rpmdb.sqlite": ""})
    assert read_packages(Asked(str(tmp_path)), PATTERNS) == ({"rocm-core": "6.4.0-1.el9, 7.0.1-1.el9"}, "")
    assert read_packages(LocalHost(str(tmp_path)), PATTERNS) == ({}, "rpm cannot be asked")


def test_another_system_has_a_reason(tmp_path: Path) -> None:
    versions, reason = read_packages(host(tmp_path, {}), PATTERNS)
    assert versions == {}
    assert "dpkg, rpm or pacman" in reason
