"""The Debian package as a file: what is in it, what it asks for, and whether it can be built twice."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import DEB, build_deb
from .roots import REPOSITORY, must

SCRIPTS = ("postinst", "prerm", "postrm")


def field(package: Path, name: str) -> str:
    return must(["dpkg-deb", "-f", str(package), name]).strip()


@pytest.fixture(scope="module")
def scripts(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("control")
    must(["dpkg-deb", "-e", str(deb), str(target)])
    return target


def test_two_builds_are_byte_identical(deb: Path, wheels: Path, tmp_path: Path) -> None:
    """The second has another place, time zone, locale and umask, and only what an sdist holds."""
    copy = tmp_path / "rocmcfg-0.1.0"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "tests", "docs", "dist", "ansible")
    shutil.copytree(REPOSITORY, copy, ignore=left_out)
    for path in copy.rglob("*"):
        if path.is_file():
            os.utime(path, (1, 1))
    script = 'umask 077; exec "$@"'
    environment = os.environ | {"TZ": "Asia/Tokyo", "LC_ALL": "C", "TMPDIR": str(tmp_path)}
    command = [
        str(copy / "packaging/debian/build"),
        "--wheels",
        str(wheels),
        "--output",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(
        ["sh", "-c", script, "sh", *command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert deb.name == DEB
    assert (tmp_path / "out" / DEB).read_bytes() == deb.read_bytes()


def test_lintian_has_nothing_to_say(deb: Path) -> None:
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", str(deb)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # One line of lintian's own counts the overrides, each of which names its reason.
    said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("N:")]
    assert said == []


def test_the_maintainer_scripts_are_plain_posix_shell(scripts: Path) -> None:
    undo = REPOSITORY / "packaging/undo.sh"
    must(["shellcheck", "--shell=sh", str(undo), *(str(scripts / name) for name in SCRIPTS)])


def test_it_asks_for_the_pythons_that_it_has_libraries_for(deb: Path) -> None:
    depends = field(deb, "Depends").split(", ")
    assert {"python3 (>= 3.10~)", "python3 (<< 3.16~)"} <= set(depends)
    listed = must(["dpkg-deb", "-c", str(deb)])
    built = set(re.findall(r"_pydantic_core\.cpython-3(\d+)-", listed))
    assert built == {"10", "11", "12", "13", "14", "15"}
    libc = next(line for line in depends if line.startswith("libc6 "))
    assert libc <= "libc6 (>= 2.35)", "Ubuntu 22.04 has 2.35"


def test_it_pulls_in_no_boot_loader_and_no_compiler(deb: Path) -> None:
    wanted = field(deb, "Depends") + field(deb, "Recommends")
    assert not re.search(r"grub|dracut|initramfs|\bgcc|build-essential|python3-dev|pip", wanted)


def test_copyright_has_the_terms_of_every_library(deb: Path, wheels: Path, tmp_path: Path) -> None:
    must(["dpkg-deb", "-x", str(deb), str(tmp_path)])
    said = words((tmp_path / "usr/share/doc/rocmcfg/copyright").read_text())
    for wheel in sorted(wheels.glob("cp3*/*.whl")):
        name = wheel.name.split("-")[0]
        assert f"debian/wheels/*/{name}-*" in (tmp_path / "usr/share/doc/rocmcfg/copyright").read_text()
        for text in licences(wheel):
            if "Apache License" in text:  # whose text is one of Debian's common licences
                continue
            terms = words(re.split(r"(?=Permission |Redistribution |A\. HISTORY)", text, maxsplit=1)[-1])
            assert terms in said, f"{wheel.name} brings terms that debian/copyright lacks"


def licences(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if re.search(r"/LICEN[CS]E[^/]*$", name)]
        assert names, wheel.name
        return [archive.read(name).decode() for name in names]


def words(text: str) -> str:
    return " ".join(word for word in text.split() if word != ".")


def test_the_tree_can_be_laid_out_for_another_machine(fetch: Callable[[str], Path], tmp_path: Path) -> None:
    """Laid out, not run: there is no such machine here."""
    tree = REPOSITORY / "packaging/tree.py"
    wheels = fetch("aarch64")
    must([sys.executable, str(tree), "install", "--destdir", str(tmp_path), "--wheels", str(wheels)])
    modules = list((tmp_path / "usr/lib/rocmcfg").rglob("*.so"))
    assert len(modules) == 12
    for module in modules:
        assert module.read_bytes()[18:20] == b"\xb7\x00", f"{module} is not for aarch64 (ELF e_machine)"


def test_a_build_without_a_wheel_says_which_and_leaves_no_package(wheels: Path, tmp_path: Path) -> None:
    short = tmp_path / "wheels"
    shutil.copytree(wheels, short)
    next(short.glob("cp312/pydantic_core*")).unlink()
    with pytest.raises(RuntimeError, match=r"cp312 lacks pydantic-core==.*`tree.py fetch` again"):
        build_deb(short, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("options", [("--wheels", "none"), ("--source", "--sdist", "none.tar.gz")])
def test_a_build_says_which_of_its_files_does_not_exist(
    debian_tools: None, tmp_path: Path, options: tuple[str, ...]
) -> None:
    command = [str(REPOSITORY / "packaging/debian/build"), "--output", "out", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"build: {options[-1]} does not exist\n")
    assert list(tmp_path.iterdir()) == []


def test_a_source_package_is_made_of_an_sdist_beside(debian_tools: None, tmp_path: Path) -> None:
    sdist = tmp_path / "rocmcfg-0.1.0.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        for name in ("packaging", "rocmcfg", "pyproject.toml", "CHANGELOG.md"):
            archive.add(REPOSITORY / name, f"rocmcfg-0.1.0/{name}")
    options = ["--output", "out", "--source", "--sdist", sdist.name]
    command = [str(REPOSITORY / "packaging/debian/build"), *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/rocmcfg_0.1.0.orig.tar.gz").read_bytes() == sdist.read_bytes()


def test_a_build_without_pip_says_so_before_it_starts(debian_tools: None, tmp_path: Path) -> None:
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\ntest $2 != pip || exit 1\n")
    python.chmod(0o755)
    command = [str(REPOSITORY / "packaging/debian/build"), "--output", str(tmp_path / "out")]
    environment = os.environ | {"PYTHON": str(python)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    needs = "sudo apt install build-essential debhelper dh-python python3-pip"
    assert done.stderr == f"build: pip for {python} is missing: {needs}\n"
    assert not (tmp_path / "out").exists()
