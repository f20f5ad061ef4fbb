"""The Arch package: built by the real makepkg as it asks to be (not as root, sums checked),
read, then installed, run, upgraded and removed by the real pacman. Debian has no namcap to
ask; packaging/README.md has what it said elsewhere."""

from __future__ import annotations

import re
import shutil
import stat
import tarfile
from pathlib import Path

import pytest

from .roots import REPOSITORY
from .rpm_arch_root import (
    SOURCE,
    STATE,
    VERSION,
    Root,
    laid_out,
    new_root,
    now,
    state_of,
    with_chain,
    with_state,
)

HERE = REPOSITORY / "packaging/arch"
PACKAGE = f"/build/rocmcfg-{VERSION}-1-x86_64.pkg.tar.gz"
NEXT = f"/build/rocmcfg-{VERSION}-2-x86_64.pkg.tar.gz"
OWN_USER = "nobody"
ADDED = {
    "/usr/share/doc/rocmcfg/CHANGELOG.md",
    "/usr/share/doc/rocmcfg/README.md",
    "/usr/share/libalpm/hooks/zz-rocmcfg.hook",
    "/usr/share/licenses/rocmcfg/LICENSE",
}
# Arch's own says so, too; Debian's pacman.conf leaves it out and would want a signature.
PACMAN_CONF = "[options]\nArchitecture = auto\nLocalFileSigLevel = Optional\n"


@pytest.fixture(scope="module")
def root(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Root:
    """With the package built from the sdist and the wheels that makepkg would download."""
    made = new_root(wheels, tmp_path_factory.mktemp("arch"))
    made.run("mkdir", "-p", "/var/lib/pacman", "/build")
    made.system.write("/etc/pacman.conf", PACMAN_CONF)
    for source in (*HERE.glob("PKGBUILD"), *HERE.glob("*.install"), made.inside(f"{SOURCE}.tar.gz")):
        shutil.copy(source, made.inside("/build"))
    for wheel in (*wheels.glob("cp314/*.whl"), *wheels.glob("cp315/*-cp315-*.whl")):
        shutil.copy(wheel, made.inside("/build"))
    made.run("chown", "-R", f"{OWN_USER}:nogroup", "/build")
    makepkg(made, "--nodeps")
    return made


def makepkg(root: Root, *argv: str) -> str:
    return root.run("makepkg", *argv, "--noprogressbar", user=OWN_USER, cwd="/build").stdout


def members(root: Root) -> list[tarfile.TarInfo]:
    with tarfile.open(root.inside(PACKAGE)) as archive:
        return archive.getmembers()


def content(root: Root, name: str) -> str:
    with tarfile.open(root.inside(PACKAGE)) as archive:
        file = archive.extractfile(name)
        assert file is not None
        return file.read().decode()


def test_the_package_holds_what_tree_py_lays_out_with_its_modes(root: Root) -> None:
    held = {f"/{one.name}": one.mode for one in members(root) if not one.isdir() and "/" in one.name}
    bytecode = {path for path in held if "/__pycache__/" in path}
    expected = laid_out(root, "/build/src/wheels")
    assert set(held) - bytecode == set(expected) | ADDED
    assert {path: held[path] for path in expected} == {path: stat.S_IMODE(m) for path, m in expected.items()}
    assert {(one.uname, one.gname) for one in members(root)} == {("root", "root")}


def test_every_module_is_compiled_for_where_it_will_be_installed(root: Root) -> None:
    names = {one.name for one in members(root)}
    modules = {name for name in names if name.startswith("usr/lib/rocmcfg/") and name.endswith(".py")}
    compiled = {name for name in names if name.endswith(".cpython-314.pyc")}
    assert {
        name.replace("__pycache__/", "").replace(".cpython-314.pyc", ".py") for name in compiled
    } == modules
    with tarfile.open(root.inside(PACKAGE)) as archive:
        read = archive.extractfile("usr/lib/rocmcfg/rocmcfg/__pycache__/__init__.cpython-314.pyc")
        assert read is not None
        code = read.read()
    assert b"/usr/lib/rocmcfg/rocmcfg/__init__.py" in code
    assert b"/build" not in code
    assert [name for name in names if name.startswith("build")] == []


def test_its_metadata_name_the_pythons_that_it_carries_and_what_pacman_runs(root: Root) -> None:
    info = content(root, ".PKGINFO").splitlines()
    assert {line for line in info if line.startswith("depend = python")} == {
        "depend = python>=3.14",
        "depend = python<3.16",
    }
    assert "arch = x86_64" in info
    assert content(root, ".INSTALL") == (HERE / "rocmcfg.install").read_text()


# The package of Arch that has the program of a script's first line.
INTERPRETERS = {"python": "python", "python3": "python", "sh": "bash"}


def test_it_depends_on_what_runs_its_scripts(root: Root) -> None:
    """As namcap demands it; templates count, since rocmcfg writes scripts from them."""
    depends = set(re.findall(r"(?m)^depend = ([a-z-]+)", content(root, ".PKGINFO")))
    programs = set()
    with tarfile.open(root.inside(PACKAGE)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            line = file.readline() if file else b""
            if match := re.match(rb"#! ?/usr/bin/env (\w+)|#! ?/(?:\w+/)*(\w+)", line):
                programs.add((match[1] or match[2]).decode())
    assert "sh" in programs
    assert {INTERPRETERS[program] for program in programs} <= depends


def test_the_srcinfo_is_what_makepkg_makes_of_the_pkgbuild(root: Root) -> None:
    assert makepkg(root, "--printsrcinfo") == (HERE / ".SRCINFO").read_text(), "run packaging/arch/update"


def test_makepkg_refuses_a_wheel_that_is_not_the_one_that_was_locked(root: Root) -> None:
    wheel = next(root.inside("/build").glob("typer-*.whl"))
    good = wheel.read_bytes()
    wheel.write_bytes(good + b"\0")
    try:
        done = root.run("makepkg", "--verifysource", "--force", user=OWN_USER, cwd="/build", check=False)
    finally:
        wheel.write_bytes(good)
    assert done.returncode != 0
    assert f"{wheel.name} ... FAILED" in done.stdout


def test_the_scripts_are_sound_shell(root: Root) -> None:
    # makepkg reads the variables and defines srcdir and pkgdir; it runs each function with `set -e`.
    unknown = "--exclude=SC2034,SC2154,SC2164"
    root.run("shellcheck", "--shell=bash", unknown, "/build/PKGBUILD", "/build/rocmcfg.install")


def test_a_life_of_the_package(root: Root) -> None:
    """Installed, used, upgraded, removed."""
    installed = root.run("pacman", "-U", "-dd", "--noconfirm", "--noprogressbar", PACKAGE)
    assert "enable rocmcfg-recover.service rocmcfg-trial.service rocmcfg-try.service" in installed.stdout
    assert "applied stay in force" not in installed.stdout
    assert root.run("rocmcfg", "--version").stdout == f"rocmcfg {VERSION}\n"
    state = with_state(root)
    assert " 0 altered files" in root.run("pacman", "-Qkk", "rocmcfg").stdout

    root.run("sed", "-i", "s/^pkgrel=1$/pkgrel=2/", "/build/PKGBUILD")
    makepkg(root, "--nodeps", "--repackage")
    root.run("ln", "-s", "/usr/bin/rocmcfg", "/usr/local/bin/rocmcfg")
    upgraded = root.run("pacman", "-U", "-dd", "--noconfirm", "--noprogressbar", NEXT)
    root.run("rm", "/usr/local/bin/rocmcfg")
    assert "another rocmcfg comes before this package's on PATH: /usr/local/bin/rocmcfg" in upgraded.stdout
    assert "applied stay in force" not in upgraded.stdout
    assert root.run("pacman", "-Q", "rocmcfg").stdout == f"rocmcfg {VERSION}-2\n"
    root.run("systemctl", "enable", "rocmcfg-recover.service", "rocmcfg-trial.service", "rocmcfg-try.service")

    files = root.run("pacman", "-Qlq", "rocmcfg").stdout.splitlines()
    removed = root.run("pacman", "-R", "--noconfirm", "--noprogressbar", "rocmcfg")
    assert "the settings that it applied stay in force after the package is removed" in removed.stdout
    assert "sudo rocmcfg rollback --pristine" in removed.stdout
    assert "interrupted" not in removed.stdout
    left = [path for path in files if not path.endswith("/") and root.inside(path).exists()]
    assert left == []
    assert not root.inside("/usr/lib/rocmcfg").exists()
    assert [path for path in root.files_below("/etc/systemd/system") if "rocmcfg" in path] == []
    root.run("rm", "-r", "/etc/rocmcfg")
    assert state_of(root) == state


REMOVE = ("pacman", "-R", "--noconfirm", "--noprogressbar", "rocmcfg")


def install(root: Root, package: str = PACKAGE) -> str:
    return root.run("pacman", "-U", "-dd", "--noconfirm", "--noprogressbar", package).stdout


def test_what_is_applied_to_entries_by_hand_is_named_and_taken_back_without_the_program(root: Root) -> None:
    root.run("rm", "-rf", STATE)
    install(root)
    before = with_chain(root, "arch-systemd-boot")
    applied = now(root, before)
    removed = root.run(*REMOVE).stdout
    assert now(root, before) == applied
    for path, content in applied.items():
        assert (f"  {path}\n" in removed) == (content != before[path]), path
    assert f"sudo sh {STATE}/undo.sh" in removed
    assert "Undone; reboot" in root.run("sh", f"{STATE}/undo.sh").stdout
    assert now(root, before) == before
    assert not root.inside(STATE).exists()


def test_a_removal_takes_back_an_addon_where_it_is_asked_to(root: Root) -> None:
    install(root)
    before = with_chain(root, "uki-mkinitcpio")
    applied = {path for path, content in now(root, before).items() if content != before[path]}
    assert any(path.endswith(".extra.d/rocmcfg.addon.efi") for path in applied)
    removed = root.run("env", "ROCMCFG_UNDO=1", *REMOVE).stdout
    assert "Undone; reboot" in removed
    assert "applied stay in force" not in removed
    assert now(root, before) == before
    assert not root.inside(STATE).exists()


def test_a_kernel_that_pacman_installs_is_checked_though_its_initramfs_runs_no_hook(root: Root) -> None:
    """pacman hands every kernel's path to the hook of the package; the program is asked for its release."""
    install(root)
    root.run("mv", "/usr/bin/rocmcfg", "/usr/bin/rocmcfg.real")
    root.system.write("/usr/bin/rocmcfg", '#!/bin/sh\necho "$@" >>/src/asked\nexit 3\n', mode="755")
    for name in ("linux", "linux-lts"):
        work = f"/src/{name}"
        root.system.write(f"{work}/usr/lib/modules/6.19.1-{name}/vmlinuz", "a kernel")
        root.system.write(f"{work}/.PKGINFO", f"pkgname = {name}\npkgver = 6.19.1-1\narch = any\n")
        archive = f"{work}-6.19.1-1-any.pkg.tar.gz"
        root.run("bsdtar", "-czf", archive, ".PKGINFO", "usr", cwd=work)
    try:
        said = install(root, "/src/linux-6.19.1-1-any.pkg.tar.gz")
        assert "Checking the applied amdgpu parameters" in said
        install(root, "/src/linux-lts-6.19.1-1-any.pkg.tar.gz")
    finally:
        root.run("mv", "/usr/bin/rocmcfg.real", "/usr/bin/rocmcfg")
    asked = root.inside("/src/asked").read_text().splitlines()
    assert asked == ["check-kernel 6.19.1-linux", "check-kernel 6.19.1-linux-lts"]
    assert "error" not in said
    root.run(*REMOVE)
