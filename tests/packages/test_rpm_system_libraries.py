"""The rpm that bundles nothing, as Fedora wants it: built by the real rpmbuild, and run with the versions
that releases of Fedora have of its libraries, at Fedora's places. The system is Debian's, not Fedora."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.support.shared import fetched

from . import roots
from .rpm_arch_root import SOURCE, VERSION, Root, new_root

PACKAGE = f"/src/out/rocmcfg-{VERSION}-1.noarch.rpm"
FEDORA = Path(__file__).parent / "fedora"
PYTHON = "3.14"  # of the root, of Fedora 43 and of Fedora 44
PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
SITE = f"/usr/lib/python{PYTHON}/site-packages"
SITE_WITH_MODULES = f"/usr/lib64/python{PYTHON}/site-packages"


def libraries(release: str) -> Path:
    """Return the folder of what that release has."""
    requirements = FEDORA / f"{release}.txt"
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--require-hashes"]
    options += ["--only-binary=:all:", f"--python-version={PYTHON}"]
    options += [f"--platform={platform}" for platform in PLATFORMS]
    command = [sys.executable, "-m", "pip", "install", *options, "--requirement", str(requirements)]

    def build(work: Path) -> None:
        fetched([*command, "--target", str(work)], f"the libraries of Fedora {release}")

    return roots.cached(f"fedora-{release}", f"{command}{requirements.read_text()}", build)


def lend(root: Root, release: str) -> None:
    """Put the libraries of a release where Fedora has them: those with extension modules in lib64."""
    for place in (SITE, SITE_WITH_MODULES):
        shutil.rmtree(root.inside(place), ignore_errors=True)
    for path in libraries(release).iterdir():
        place = SITE_WITH_MODULES if any(path.rglob("*.so")) else SITE
        root.inside(place).mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, root.inside(f"{place}/{path.name}"))
        else:
            shutil.copy(path, root.inside(place))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    made = new_root(None, tmp_path_factory.mktemp("rpm"))
    lend(made, "43")
    build = (f"{SOURCE}/packaging/rpm/build", "--system-libraries", "--output", "/src/out")
    made.run(*build, "--sdist", f"{SOURCE}.tar.gz")
    return made


def query(root: Root, *argv: str) -> list[str]:
    return root.run("rpm", "-qp", *argv, PACKAGE).stdout.splitlines()


def test_it_bundles_nothing_and_fits_every_machine(root: Root) -> None:
    assert query(root, "--qf", "%{ARCH} %{LICENSE}\n") == ["noarch MIT"]
    assert [line for line in query(root, "--provides") if "bundled" in line] == []
    files = query(root, "--list")
    assert [path for path in files if path.endswith(".so")] == []
    private = {path.split("/")[4] for path in files if path.startswith("/usr/lib/rocmcfg/")}
    assert private == {"rocmcfg"}
    source = root.run("rpm", "-qpl", PACKAGE.replace("noarch", "src")).stdout.splitlines()
    assert sorted(source) == [f"rocmcfg-{VERSION}.tar.gz", "rocmcfg.spec"]


def test_it_asks_for_the_distributions_libraries_and_for_no_version_of_python_but_the_oldest(
    root: Root,
) -> None:
    assert [line for line in query(root, "--requires") if "python" in line] == [
        "(python3dist(pydantic) >= 2.10 with python3dist(pydantic) < 3~~)",
        "(python3dist(sh) >= 2.1 with python3dist(sh) < 3~~)",
        "(python3dist(typer) >= 0.15 with python3dist(typer) < 1~~)",
        "/usr/bin/python3",
        "python3 >= 3.10",
        "python3dist(distro) >= 1.9",
        "python3dist(jinja2) >= 3.1",
    ]


def test_rpmlint_finds_nothing_that_is_not_explained(root: Root) -> None:
    command = ("rpmlint", "--rpmlintrc", f"{SOURCE}/packaging/rpm/rocmcfg.rpmlintrc")
    said = root.run(*command, PACKAGE, PACKAGE.replace("noarch", "src"), check=False).stdout
    reports = [line for line in said.splitlines() if ": E: " in line or ": W: " in line]
    # What the file explains of the bundled libraries is not there to be explained.
    assert [line for line in reports if "unused-rpmlintrc-filter" not in line] == []
    assert "2 packages and 0 specfiles checked" in said


@pytest.mark.parametrize("release", ["43", "44"])
def test_it_works_with_what_fedora_has(root: Root, release: str) -> None:
    lend(root, release)
    root.run("rpm", "-U", "--nodeps", "--replacepkgs", PACKAGE)
    sample = f"/src/sample-{release}"
    root.run("cp", "-a", f"{SOURCE}/docs/demo/sample-host", sample)
    applied = root.run("rocmcfg", "apply", "--profile", "gfx1201", "--yes", "--root", sample).stdout
    assert "rocmcfg rollback" in applied
    assert "amdgpu.cwsr_enable" in root.run("rocmcfg", "status", "--root", sample, check=False).stdout
    found = root.run("rocmcfg", "doctor", f"{SOURCE}/docs/demo/fault.log", "--root", sample, check=False)
    assert "rdna4-" in found.stdout
    root.run("rocmcfg", "rollback", "--pristine", "--yes", "--root", sample)
    assert root.run("rpm", "-V", "--nodeps", "rocmcfg").stdout == ""


def test_its_source_rpm_needs_no_option(root: Root) -> None:
    source = PACKAGE.replace("noarch", "src")
    root.run("rpmbuild", "--rebuild", "--nodeps", "--define", "_topdir /src/again", source)
    assert root.inside(f"/src/again/RPMS/noarch/rocmcfg-{VERSION}-1.noarch.rpm").exists()
