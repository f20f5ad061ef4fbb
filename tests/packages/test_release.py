"""What `make release` publishes: whole, the same bytes in another folder, and only from a clean commit."""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import rocmcfg
from tests.vm import tools

from . import roots
from .roots import REPOSITORY
from .test_readme import checkout

VERSION = rocmcfg.__version__
COMMITTED = 1790000000
SCRIPT = runpy.run_path(str(REPOSITORY / "packaging/release"))
FILES = {
    f"rocmcfg-{VERSION}.tar.gz",
    f"rocmcfg-{VERSION}-py3-none-any.whl",
    f"pytest_rocmcfg-{VERSION}.tar.gz",
    f"pytest_rocmcfg-{VERSION}-py3-none-any.whl",
    f"rocmcfg_{VERSION}_amd64.deb",
    f"rocmcfg_{VERSION}-1.dsc",
    f"rocmcfg_{VERSION}-1.debian.tar.xz",
    f"rocmcfg_{VERSION}.orig.tar.gz",
    f"rocmcfg-{VERSION}-1.x86_64.rpm",
    f"rocmcfg-{VERSION}-1.src.rpm",
    f"rocmcfg-{VERSION}-1-x86_64.pkg.tar.zst",
    f"rocmcfg-{VERSION}-aur.tar.gz",
    f"rocmcfg-amdgpu-{VERSION}.tar.gz",
    f"rocmcfg-{VERSION}-completions.tar.gz",
    f"rocmcfg-{VERSION}-man.tar.gz",
    f"rocmcfg-{VERSION}.cdx.json",
    "SHA256SUMS",
}


def git(folder: Path, *words: str) -> None:
    own = {"GIT_AUTHOR_DATE": f"{COMMITTED} +0000", "GIT_COMMITTER_DATE": f"{COMMITTED} +0000"}
    person = ["-c", "user.name=somebody", "-c", "user.email=somebody@localhost"]
    command = ["git", *person, "-C", str(folder), *words]
    subprocess.run(command, env={**os.environ, **own}, capture_output=True, check=True)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose commit is what git tracks here, as it is in the working tree."""
    folder = tmp_path_factory.mktemp("release") / "rocmcfg"
    checkout(folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "release")
    return folder


def release(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "packaging/release"), *options]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, cwd="/", check=False
    )


@pytest.fixture(scope="module")
def released(wheels: Path, first: Path) -> Path:
    tools.require(SCRIPT["NEEDED"])
    (first / "dist").mkdir()
    (first / "dist/rocmcfg-0.0.1.tar.gz").write_text("of another release")
    done = release(first, "--wheels", str(wheels))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (first / "dist/SHA256SUMS").read_text()
    assert f"{first}/dist also has files that are not of this release: rocmcfg-0.0.1.tar.gz" in done.stderr
    (first / "dist/rocmcfg-0.0.1.tar.gz").unlink()
    return first / "dist"


@pytest.mark.slow
def test_another_folder_time_zone_locale_and_umask_make_the_same_bytes(
    wheels: Path, first: Path, released: Path, tmp_path: Path
) -> None:
    second = tmp_path / "an other folder"
    git(tmp_path, "clone", "--quiet", str(first), str(second))
    for path in second.rglob("*"):
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts:
            os.utime(path, (1, 1))
    (second / "build").mkdir()  # is ignored
    (second / "build/left-over").write_text("of another build")
    before = os.umask(0o077)
    try:
        done = release(second, "--wheels", str(wheels), TZ="Asia/Tokyo", LC_ALL="C", LANG="de_DE.UTF-8")
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in released.iterdir()} == {path.name for path in (second / "dist").iterdir()}
    for path in sorted(released.iterdir()):
        roots.must(["cmp", str(path), str(second / "dist" / path.name)])


def test_it_publishes_every_file_with_its_sum(released: Path) -> None:
    assert {path.name for path in released.iterdir()} == FILES
    lines = (line.split("  ") for line in (released / "SHA256SUMS").read_text().splitlines())
    sums = {name: digest for digest, name in lines}
    assert sums.keys() == FILES - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((released / name).read_bytes()).hexdigest() == digest


def test_nothing_is_newer_than_the_commit_and_nothing_names_the_builder(released: Path) -> None:
    for name in sorted(FILES):
        if name.endswith(".tar.gz"):
            with tarfile.open(released / name) as archive:
                assert {member.mtime for member in archive} == {COMMITTED}, name
                assert {(member.uid, member.uname) for member in archive} <= {(0, ""), (0, "root")}, name
    info = roots.must(["tar", "-xOf", str(released / f"rocmcfg-{VERSION}-1-x86_64.pkg.tar.zst"), ".PKGINFO"])
    assert f"builddate = {COMMITTED}" in info
    times = roots.must(
        ["rpm", "-qp", "--qf", "%{BUILDTIME} %{BUILDHOST}", str(released / f"rocmcfg-{VERSION}-1.src.rpm")]
    )
    assert times == f"{COMMITTED} rocmcfg"


def test_the_files_of_the_aur_have_the_sum_of_the_sdist(released: Path) -> None:
    with tarfile.open(released / f"rocmcfg-{VERSION}-aur.tar.gz") as archive:
        names = archive.getnames()
        read = archive.extractfile("rocmcfg/PKGBUILD")
        assert read is not None
        text = read.read().decode()
    assert sorted(names) == ["rocmcfg/.SRCINFO", "rocmcfg/PKGBUILD", "rocmcfg/rocmcfg.install"]
    digest = hashlib.sha256((released / f"rocmcfg-{VERSION}.tar.gz").read_bytes()).hexdigest()
    assert f"sha256sums=('{digest}' " in text
    assert "SKIP" not in text
    assert f"/releases/download/v{VERSION}/rocmcfg-{VERSION}.tar.gz" in text


def test_the_bill_of_materials_has_every_library_with_its_wheels(released: Path, wheels: Path) -> None:
    bill = json.loads((released / f"rocmcfg-{VERSION}.cdx.json").read_text())
    assert bill["metadata"]["component"]["version"] == VERSION
    libraries = {c["purl"]: c for c in bill["components"] if c.get("purl", "").startswith("pkg:pypi/")}
    tree = runpy.run_path(str(REPOSITORY / "packaging/tree.py"))
    lock = tree["read_lock"](tree["LOCK"].read_text())
    carried = {
        f"pkg:pypi/{library.name}@{library.version}"
        for library in lock
        if any(map(library.wanted, tree["PYTHONS"]))
    }
    assert set(libraries) == carried
    listed = {
        file["name"]: file["hashes"][0]["content"] for c in libraries.values() for file in c["components"]
    }
    for wheel in wheels.glob("cp3*/*.whl"):
        assert listed[wheel.name] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert all(component["licenses"] for component in libraries.values())
    crates = [c["name"] for c in bill["components"] if c.get("purl", "").startswith("pkg:cargo/")]
    assert "pyo3" in crates


def test_the_source_package_builds_the_package_for_the_distributions_libraries(
    released: Path, tmp_path: Path
) -> None:
    roots.must(
        ["dpkg-source", "--extract", str(released / f"rocmcfg_{VERSION}-1.dsc"), str(tmp_path / "source")]
    )
    control = (tmp_path / "source/debian/control").read_text()
    assert "Architecture: all\n" in control
    assert "includes the Python libraries" not in control
    assert not (tmp_path / "source/debian/wheels").exists()
    command = [
        "lintian",
        "--allow-root",
        "--fail-on",
        "error,warning",
        str(released / f"rocmcfg_{VERSION}-1.dsc"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("N:")] == []


def test_a_checkout_that_differs_from_its_commit_is_refused(first: Path, tmp_path: Path) -> None:
    copy = tmp_path / "rocmcfg"
    git(tmp_path, "clone", "--quiet", str(first), str(copy))
    tools.require(SCRIPT["NEEDED"])
    (copy / "README.md").write_text("another")
    (copy / "new.py").write_text("")
    refused = release(copy)
    assert refused.returncode == 1
    assert (
        "the checkout differs from its commit; commit or remove:\n M README.md\n?? new.py" in refused.stderr
    )
    assert not (copy / "dist").exists()


def test_a_commit_with_two_versions_or_with_the_tag_of_another_is_refused(
    first: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "rocmcfg"
    git(tmp_path, "clone", "--quiet", str(first), str(copy))
    tools.require(SCRIPT["NEEDED"])
    git(copy, "tag", "v9.9")
    refused = release(copy)
    assert refused.returncode == 1
    assert f"the tag v9.9 is not v{VERSION}" in refused.stderr
    git(copy, "tag", "--delete", "v9.9")
    project = copy / "pyproject.toml"
    project.write_text(project.read_text().replace(f'version = "{VERSION}"', 'version = "9.9"'))
    git(copy, "commit", "--quiet", "--all", "--message", "version")
    refused = release(copy)
    assert refused.returncode == 1
    assert "\nrocmcfg/__init__.py\n" in refused.stderr
    assert "packaging/man: run docs/generate.py" in refused.stderr
    assert not (copy / "dist").exists()


def test_wheels_that_are_not_there_are_missed_before_anything_is_built(first: Path) -> None:
    tools.require(SCRIPT["NEEDED"])
    refused = release(first, "--wheels", "/no/such/wheels")
    assert refused.returncode == 1
    reason = "/no/such/wheels does not exist; without --wheels they are fetched"
    assert refused.stderr == f"packaging/release: {reason}\n"


def test_it_says_in_one_line_what_to_install(first: Path, tmp_path: Path) -> None:
    refused = release(first, PATH=str(tmp_path))
    assert refused.returncode == 1
    packages = sorted(set(SCRIPT["NEEDED"].values()))
    assert refused.stderr.splitlines()[0].endswith(f"sudo apt install {' '.join(packages)}")


def test_a_second_build_at_the_same_time_is_refused(first: Path) -> None:
    tools.require(SCRIPT["NEEDED"])
    SCRIPT["WORK"].mkdir()
    try:
        refused = release(first)
    finally:
        SCRIPT["WORK"].rmdir()
    assert refused.returncode == 1
    assert f"{SCRIPT['WORK']} exists: another release is being built" in refused.stderr


def test_the_install_line_of_the_workflow_has_what_the_script_needs() -> None:
    text = (REPOSITORY / ".github/workflows/release.yml").read_text()
    line = re.search(r"apt-get install --yes --no-install-recommends ((?:.*\\\n)?.*)\n", text)
    assert line is not None
    installed = set(line[1].replace("\\\n", " ").split())
    assert set(SCRIPT["NEEDED"].values()) - {"git", "util-linux"} <= installed
