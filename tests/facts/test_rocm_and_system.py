"""The installed ROCm, the operating system, and whether this is a container."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.facts.rocm import read_rocm
from rocmcfg.facts.system import read_container, read_hardware, read_os
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from tests.support.hosts import (
    CONTAINER_MARKERS,
    OTHER_HOSTS,
    File,
    Link,
    debian_grub_host,
    make_root,
    other_host,
    rocm_files,
)

HEADER = "usr/include/rocm-core/rocm_version.h"


def rocm(tmp_path: Path, files: dict[str, File]) -> tuple[tuple[int, ...] | None, str]:
    return read_rocm(LocalHost(str(make_root(tmp_path, files))))


def test_the_release_that_opt_rocm_points_to_counts_not_the_newest(tmp_path: Path) -> None:
    files = rocm_files("7.1.0") | {"opt/rocm-7.10.0/.info/version": "7.10.0-1\n"}
    assert rocm(tmp_path, files) == ((7, 1, 0), "/opt/rocm/.info/version")


def test_without_a_link_the_newest_release_counts_by_number(tmp_path: Path) -> None:
    files: dict[str, File] = {f"opt/rocm-{v}/.info/version": f"{v}-1\n" for v in ("7.9.0", "7.10.1", "6.4.3")}
    files |= {"opt/rocm-broken/.info/version": "9.9\n", "opt/rocmx/.info/version": "9\n", "opt/rocm-8/x": ""}
    assert rocm(tmp_path, files) == ((7, 10, 1), "/opt/rocm-7.10.1/.info/version")


@pytest.mark.parametrize("name", ["version-dev", "version-utils"])
def test_older_packages_name_the_file_differently(tmp_path: Path, name: str) -> None:
    assert rocm(tmp_path, {f"opt/rocm/.info/{name}": "6.2.4-139\n"}) == ((6, 2, 4), f"/opt/rocm/.info/{name}")


def test_the_release_that_opt_rocm_core_points_to_counts(tmp_path: Path) -> None:
    files: dict[str, File] = {f"opt/rocm/core-{v}/.info/version": f"{v}.0\n" for v in ("7.14", "10.0")}
    files["opt/rocm/lib"] = Link("core-7.14/lib")
    older: dict[str, File] = {"opt/rocm-7.2.0/.info/version": "7.2.0-1\n"}
    assert rocm(tmp_path, {**files, **older})[0] == (10, 0, 0)
    chosen: dict[str, File] = {"opt/rocm/core": Link("core-7.14")}
    assert rocm(tmp_path / "b", {**files, **older, **chosen}) == ((7, 14, 0), "/opt/rocm/core/.info/version")


def test_a_distributions_own_rocm_is_read_from_its_header(tmp_path: Path) -> None:
    text = "#define ROCM_VERSION_MAJOR   6\n#define ROCM_VERSION_MINOR 4\n#define ROCM_VERSION_PATCH 0\n"
    assert rocm(tmp_path, {HEADER: text}) == ((6, 4, 0), f"/{HEADER}")
    assert rocm(tmp_path / "b", {HEADER: text.replace("PATCH", "X")}) == (None, "")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"unknown\n", b"-1"])
def test_a_version_file_that_says_nothing_is_no_rocm(tmp_path: Path, content: bytes) -> None:
    assert rocm(tmp_path, {"opt/rocm/.info/version": content}) == (None, "")
    assert rocm(tmp_path / "none", {"etc/x": ""}) == (None, "")


def test_an_unreadable_version_file_is_passed_over(tmp_path: Path) -> None:
    files: dict[str, File] = {"opt/rocm/.info/version/x": "", "opt/rocm/.info/version-dev": "7.2.0\n"}
    assert rocm(tmp_path, files)[0] == (7, 2, 0)
    loop: dict[str, File] = {"opt/rocm": Link("rocm"), "opt/rocm-7.2.0/.info/version": "7.2.0\n"}
    assert rocm(tmp_path / "loop", loop)[0] == (7, 2, 0)
    assert rocm(tmp_path / "header", {f"{HEADER}/x": ""}) == (None, "")


# -- operating system ------------------------------------------------------------------------------------


@pytest.mark.parametrize("chain", OTHER_HOSTS)
def test_a_system_is_shown_by_its_own_name(tmp_path: Path, chain: str) -> None:
    found = read_os(LocalHost(str(other_host(tmp_path, chain))))
    assert found.id
    assert found.name not in ("", "unknown system")


def test_the_name_comes_from_the_host_and_not_from_this_machine(tmp_path: Path) -> None:
    found = read_os(LocalHost(str(debian_grub_host(tmp_path))))
    assert (found.id, found.name, found.version) == ("debian", "Debian GNU/Linux 13", "13")


@pytest.mark.parametrize(
    "files",
    [
        {"etc/x": ""},
        {"etc/os-release": b"\xff\xfe\x00"},
        {"etc/os-release": ""},
        {"etc/os-release": 'ID="x\n'},
    ],
)
def test_a_system_without_a_readable_name_is_unknown(tmp_path: Path, files: dict[str, File]) -> None:
    found = read_os(LocalHost(str(make_root(tmp_path, files))))
    assert found.name
    assert found.id


def os_of(tmp_path: Path, files: dict[str, File]) -> tuple[str, str, str]:
    found = read_os(LocalHost(str(make_root(tmp_path, files))))
    return found.id, found.name, found.version


def test_a_system_is_read_inside_its_root_and_nowhere_else(tmp_path: Path) -> None:
    """An absolute link of a root means the root's own file."""
    outside = tmp_path / "outside"
    outside.write_text('ID=other\nPRETTY_NAME="Another system"\n')
    linked: dict[str, File] = {
        "etc/os-release": Link("/usr/lib/os-release"),
        "usr/lib/os-release": 'ID=arch\nNAME="Arch Linux"\n',
    }
    assert os_of(tmp_path / "a", linked) == ("arch", "Arch Linux", "")
    assert os_of(tmp_path / "b", {"etc/os-release": Link(str(outside))})[0] == "unknown"


@pytest.mark.parametrize(
    ("release", "name"),
    [
        ("NAME=Fedora\nVERSION_ID=43\n", "Fedora 43"),
        ("ID=fedora\nVERSION_ID=43\n", "fedora 43"),
        ("ID=fedora\n", "fedora"),
        ("VERSION_ID=43\n", "Linux 43"),
        ("BUILD_ID=x\n", "unknown system"),
    ],
)
def test_a_system_without_a_pretty_name_is_called_by_what_it_says(
    tmp_path: Path, release: str, name: str
) -> None:
    assert os_of(tmp_path, {"etc/os-release": release})[1] == name


def test_a_release_file_that_is_far_too_large_is_not_read_and_said_to_be_so(tmp_path: Path) -> None:
    found = os_of(tmp_path, {"etc/os-release": "ID=debian\n" + "A=a\n" * 10_000})
    assert found == ("unknown", "unknown system (/etc/os-release: it is larger than 16 KiB)", "")


# -- the processor ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cpuinfo", "name"),
    [
        (
            "processor\t: 0\nmodel\t\t: 80\nmodel name\t: AMD Ryzen 7  5800X \n\nprocessor\t: 1\n",
            "AMD Ryzen 7 5800X",
        ),
        (
            "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n\n",
            "arm64, implementer 0x41, part 0xd0c",
        ),
        ("processor\t: 0\n", ""),
    ],
)
def test_a_processor_is_named_also_where_cpuinfo_has_numbers_alone(
    tmp_path: Path, cpuinfo: str, name: str
) -> None:
    view = LocalHost(str(make_root(tmp_path, {"proc/cpuinfo": cpuinfo})))
    assert read_hardware(view, ()).processor == name


# -- containers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", CONTAINER_MARKERS)
def test_a_container_is_known_by_its_mark(tmp_path: Path, engine: str) -> None:
    assert read_container(LocalHost(str(debian_grub_host(tmp_path, container=engine))))


def test_a_machine_is_no_container(tmp_path: Path) -> None:
    assert read_container(LocalHost(str(debian_grub_host(tmp_path)))) == ""
    files: dict[str, File] = {"proc/1/environ": b"HOME=/\0not_container=docker\0"}
    assert read_container(LocalHost(str(make_root(tmp_path, files, name="b")))) == ""


def test_init_says_that_it_runs_in_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, File] = {"proc/1/environ": b"HOME=/\0container=lxc\0"}
    view = LocalHost(str(make_root(tmp_path, files)))
    assert read_container(view) == "/proc/1/environ: container=lxc"

    def refuse(self: LocalHost, path: str) -> bytes | None:
        raise Unreadable(path, "Permission denied")

    monkeypatch.setattr(LocalHost, "read", refuse)
    assert read_container(view) == ""
