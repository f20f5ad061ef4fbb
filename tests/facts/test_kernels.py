"""Installed kernels, and how each has amdgpu."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.facts.kernels import parameter_types, read_kernels, running_release
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult, Unreadable
from rocmcfg.model.facts import Driver, Kernel
from tests.support.hosts import OTHER_HOSTS, debian_grub_host, kernel_modules, make_root, other_host
from tests.support.hosts import Driver as DriverName

OLD, NEW = "6.12.63+deb13-amd64", "6.12.107+deb13-amd64"
BASE = f"usr/lib/modules/{NEW}"


def kernels(root: Path) -> tuple[Kernel, ...]:
    return read_kernels(LocalHost(str(root)))


def test_every_installed_kernel_is_found_oldest_first_and_the_running_one_marked(tmp_path: Path) -> None:
    found = kernels(debian_grub_host(tmp_path, kernels=[NEW, "6.9.1-amd64", OLD], running=OLD))
    assert [(k.release, k.running) for k in found] == [("6.9.1-amd64", False), (OLD, True), (NEW, False)]
    assert {(k.driver, k.dkms) for k in found} == {(Driver.MODULE, False)}
    assert {tuple(k.parameters) for k in found} == {()}  # an offline root asks no modinfo


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("module", (Driver.MODULE, False)),
        ("dkms", (Driver.MODULE, True)),
        ("builtin", (Driver.BUILTIN, False)),
        ("missing", (Driver.ABSENT, False)),
    ],
)
def test_how_a_kernel_has_the_driver_is_told_apart(
    tmp_path: Path, driver: DriverName, expected: tuple[Driver, bool]
) -> None:
    (found,) = kernels(debian_grub_host(tmp_path, driver=driver))
    assert (found.driver, found.dkms) == expected


@pytest.mark.parametrize("suffix", [".ko", ".ko.xz", ".ko.zst", ".ko.gz"])
def test_a_module_may_be_compressed(tmp_path: Path, suffix: str) -> None:
    (found,) = kernels(make_root(tmp_path, kernel_modules(NEW, suffix=suffix)))
    assert found.driver is Driver.MODULE


@pytest.mark.parametrize("folder", ["updates/dkms", "updates", "extra", "weak-updates"])
def test_a_foreign_driver_alone_counts_as_the_driver(tmp_path: Path, folder: str) -> None:
    files = kernel_modules(NEW, "missing") | {f"{BASE}/{folder}/amdgpu.ko": ""}
    (found,) = kernels(make_root(tmp_path, files))
    assert (found.driver, found.dkms) == (Driver.MODULE, True)


def test_a_name_that_only_ends_like_the_driver_is_not_it(tmp_path: Path) -> None:
    files = kernel_modules(NEW, "missing")
    files[f"{BASE}/modules.builtin"] = "kernel/drivers/gpu/drm/notamdgpu.ko\nkernel/x/amdgpu.ko.bak\n"
    (found,) = kernels(make_root(tmp_path, files))
    assert found.driver is Driver.ABSENT


def test_the_directory_that_an_uninstalled_kernel_left_is_no_kernel(tmp_path: Path) -> None:
    left = {f"usr/lib/modules/{OLD}/updates/dkms/amdgpu.ko": "", "usr/lib/modules/README/x": ""}
    found = kernels(debian_grub_host(tmp_path, kernels=[NEW], extra=left))
    assert [k.release for k in found] == [NEW]


def test_a_kernel_without_index_counts_where_its_image_is_in_boot(tmp_path: Path) -> None:
    root = make_root(tmp_path, {f"{BASE}/updates/dkms/amdgpu.ko": "", f"boot/vmlinuz-{NEW}": ""})
    assert [k.release for k in kernels(root)] == [NEW]


def test_a_host_without_modules_has_no_kernels(tmp_path: Path) -> None:
    assert kernels(make_root(tmp_path, {"etc/x": ""})) == ()


def test_the_running_release_is_that_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = debian_grub_host(tmp_path)
    assert running_release(LocalHost(str(root))) == NEW
    assert running_release(LocalHost(str(debian_grub_host(tmp_path, live=False, name="off")))) == ""

    def refuse(self: LocalHost, path: str) -> bytes | None:
        raise Unreadable(path, "no")

    monkeypatch.setattr(LocalHost, "read", refuse)
    assert running_release(LocalHost(str(root))) == ""


@pytest.mark.parametrize("chain", [c for c in OTHER_HOSTS if c not in ("guix", "nixos", "ubuntu-core")])
def test_the_running_kernel_of_other_distributions_is_found(tmp_path: Path, chain: str) -> None:
    found = kernels(other_host(tmp_path, chain))
    assert [k.release for k in found if k.running] == [running_release(LocalHost(str(tmp_path / "root")))]
    assert all(k.driver is not Driver.ABSENT for k in found)
    assert (chain == "gentoo-builtin") == any(k.driver is Driver.BUILTIN for k in found)


# What `modinfo -F parmtype` prints; descriptions are not in it.
PARMTYPES = "vramlimit:int\nppfeaturemask:hexint\nlockup_timeout:string\ncwsr_enable:int\nnonsense\n"


class Asked(LocalHost):
    """A host whose modinfo is played back."""

    def __init__(self, root: str, result: CommandResult | None) -> None:
        super().__init__(root)
        self.result = result
        self.asked: list[tuple[str, ...]] = []

    def query(self, argv: object) -> CommandResult | None:
        assert isinstance(argv, tuple)
        self.asked.append(argv)
        return self.result


def test_the_modules_own_file_declares_its_parameters(tmp_path: Path) -> None:
    view = Asked(str(debian_grub_host(tmp_path, kernels=[OLD, NEW])), CommandResult((), 0, PARMTYPES, ""))
    types = {"vramlimit": "int", "ppfeaturemask": "hexint", "lockup_timeout": "string", "cwsr_enable": "int"}
    found = read_kernels(view, ("amdgpu", "ttm"))
    assert [k.parameters for k in found] == [{"amdgpu": types, "ttm": types}] * 2
    assert ("modinfo", "-k", OLD, "-F", "parmtype", "amdgpu") in view.asked
    assert len(set(view.asked)) == len(view.asked) == 4


@pytest.mark.parametrize(
    "result", [None, CommandResult((), 1, "", "not found"), CommandResult((), None, "x:int", "")]
)
def test_a_module_that_cannot_be_asked_leaves_it_to_the_catalogue(
    tmp_path: Path, result: CommandResult | None
) -> None:
    view = Asked(str(debian_grub_host(tmp_path)), result)
    assert parameter_types(view, NEW, "amdgpu") is None
    assert [k.parameters for k in read_kernels(view)] == [{}]


def test_a_kernel_without_the_driver_is_not_asked(tmp_path: Path) -> None:
    view = Asked(str(debian_grub_host(tmp_path, driver="missing")), None)
    (found,) = read_kernels(view)
    assert view.asked == []
    assert found._replace(running=False).driver is Driver.ABSENT
