"""Installed without root and without a package, by pip, pipx and uv, from a checkout and from the sdist: on
the oldest and the newest Python of this machine, and offline on the newest that Debian has."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import rocmcfg
from tests.support.shared import fetched

from . import roots
from .roots import REPOSITORY
from .test_readme import build_tools, checkout

REQUIREMENTS = Path(__file__).parent / "installers/requirements.txt"
SDIST = f"rocmcfg-{rocmcfg.__version__}.tar.gz"
PIP = "{home}/rocmcfg-venv/bin/pip install {source}"
WAYS = {
    "pip": f"{{python}} -m venv {{home}}/rocmcfg-venv; {PIP}; ln -s rocmcfg-venv/bin {{home}}/bin",
    "pipx": "PIPX_BIN_DIR={home}/bin pipx install --python {python} {source}",
    "uv": "UV_TOOL_BIN_DIR={home}/bin uv tool install --no-python-downloads --python {python} {source}",
}
SOMEBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
SUITE = "forky"
PACKAGES = ("python3", "python3-venv", "python3.15", "python3.15-venv")
NEWEST = "/usr/bin/python3.15"


def works(run: Callable[[str], str], home: str, version: str) -> None:
    """The program runs from a folder that has nothing of it, by that Python."""
    assert run(f"{home}/bin/rocmcfg --version") == f"rocmcfg {rocmcfg.__version__}\n"
    assert "amdgpu.ppfeaturemask" in run(f"cd /; {home}/bin/rocmcfg explain ppfeaturemask=0xffffffff")
    assert "cwsr_enable" in run(f"cd /; {home}/bin/rocmcfg profile show gfx1201")
    program = run(f"readlink -f {home}/bin/rocmcfg").strip()
    assert f"Python {version}." in run(f"$(dirname {program})/python -V")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout, and the sdist of it."""
    folder = tmp_path_factory.mktemp("sources")
    checkout(folder / "checkout")
    make = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(folder)]
    roots.must([*make, str(folder / "checkout")])
    return folder


@pytest.fixture(scope="module")
def installers() -> Path:
    """pipx and uv, by the versions and hashes of the requirements."""

    def make(folder: Path) -> None:
        pip = "-m pip --quiet --disable-pip-version-check install --no-deps --require-hashes --target"
        fetched([sys.executable, *pip.split(), folder, "-r", REQUIREMENTS], "pipx and uv")

    return roots.cached("installers", REQUIREMENTS.read_text() + sys.executable, make)


def pythons() -> dict[str, str]:
    """The Pythons of this machine from 3.10 on that run, by their version."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    places = [place for place in places if not place.endswith("/.pyenv/shims")]  # stand-ins, which may refuse
    places += sorted(str(path) for path in Path.home().glob(".pyenv/versions/*/bin"))
    named = {}
    for minor in range(10, 30):
        program = shutil.which(f"python3.{minor}", path=os.pathsep.join(places))
        if program and runs([program, "-c", "import venv, ensurepip"]):
            named[f"3.{minor}"] = program
    return named


def runs(command: Sequence[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def runs_for_somebody(program: str) -> bool:
    """By a shell: what setpriv itself starts is still found with root's rights."""
    return runs([*SOMEBODY, "sh", "-ec", f"{shlex.quote(program)} -V"])


@pytest.mark.parametrize(("way", "source"), [("pip", SDIST), ("pipx", "checkout"), ("uv", SDIST)])
@pytest.mark.parametrize("end", ["oldest", "newest"])
def test_on_the_ends_of_this_machines_pythons(
    sources: Path, installers: Path, open_folder: Path, way: str, source: str, end: str
) -> None:
    versions = pythons()
    version = [*versions][0 if end == "oldest" else -1]
    if end == "newest" and len(versions) == 1:
        pytest.skip(f"Python {version} is the only one here")
    install(sources / source, installers, open_folder, way, versions[version], version)


def test_on_the_pythons_between(sources: Path, installers: Path, open_folder: Path) -> None:
    for version, program in [*pythons().items()][1:-1]:
        (open_folder / version).mkdir()
        install(sources / "checkout", installers, open_folder / version, "pip", program, version)


def install(source: Path, installers: Path, folder: Path, way: str, python: str, version: str) -> None:
    home, programs, place = folder / "home", folder / "programs", folder / "source" / source.name
    for part in (home, programs, place.parent):
        part.mkdir()
    if source.is_dir():
        shutil.copytree(source, place, symlinks=True)
    else:
        shutil.copy(source, place)
    pipx = programs / "pipx"
    pipx.write_text(f'#!/bin/sh\nPYTHONPATH={installers} exec {sys.executable} -m pipx "$@"\n')
    pipx.chmod(0o755)
    (programs / "uv").symlink_to(installers / "bin/uv")
    environment = {"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": ""}
    as_somebody: tuple[str, ...] = ()
    # a Python or a cache below /root is for root alone
    if os.geteuid() == 0 and all(map(runs_for_somebody, (python, sys.executable))):
        as_somebody = SOMEBODY
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)

    def run(line: str) -> str:
        return fetched([*as_somebody, "sh", "-ec", line], "what rocmcfg needs", env=environment)

    run(WAYS[way].format(python=python, source=place, home=home))
    works(run, str(home), version)


@pytest.fixture(scope="module")
def forky(
    debian_tools: None,
    wheels: Path,
    sources: Path,
    installers: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> roots.Root:
    """A system with the newest Pythons, offline, with what the index would give in a folder."""

    def build(work: Path) -> None:
        roots.debootstrap(SUITE, PACKAGES, work)

    work = tmp_path_factory.mktemp("forky")
    root = roots.Root(roots.cached("root-newest-python", f"{SUITE}{PACKAGES}", build), work)
    fetched_here = tmp_path_factory.mktemp("fetched")
    for wheel in (*wheels.glob("cp315/*.whl"), *build_tools(fetched_here), *unused(fetched_here)):
        root.bring(wheel, f"/index/{wheel.name}")
    shutil.copytree(sources / "checkout", work / "upper/src/checkout", symlinks=True)
    root.bring(sources / SDIST, f"/src/{SDIST}")
    shutil.copytree(installers, work / "upper/opt/installers", symlinks=True)
    root.write("/etc/pip.conf", "[global]\nno-index = true\nfind-links = /index\n")
    root.write("/etc/uv/uv.toml", 'no-index = true\nfind-links = ["/index"]\noffline = true\n')
    start = '#!/bin/sh\nPYTHONPATH=/opt/installers exec python3 -m pipx "$@"\n'
    root.write("/usr/bin/pipx", start, mode="755")
    root.ok("ln -s /opt/installers/bin/uv /usr/bin/uv; chmod -R a+rX /index /src /opt/installers")
    return root


def unused(into: Path) -> list[Path]:
    """Libraries of the lock that the packages leave out, and pip does not."""
    lock = (REPOSITORY / "requirements.lock").read_text()
    pins = re.findall(r"^((?:rich|pygments|markdown-it-py|mdurl)==[\w.]+)", lock, re.MULTILINE)
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
    fetched([*command, "--dest", into, *pins], "what typer asks for")
    return sorted(into.glob("*.whl"))


@pytest.mark.parametrize(("way", "source"), [("pip", "checkout"), ("pipx", SDIST), ("uv", SDIST)])
def test_on_the_newest_python(forky: roots.Root, way: str, source: str) -> None:
    home, copy = f"/home/{way}", f"/home/{way}-source"
    forky.ok(f"mkdir -p {home} {copy} && cp -a /src/{source} {copy}/ && chown -R 65534:65534 {home} {copy}")

    def run(line: str) -> str:
        return forky.ok(shlex.join([*SOMEBODY, "env", f"HOME={home}", "sh", "-ec", line]))

    run(WAYS[way].format(python=NEWEST, source=f"{copy}/{source}", home=home))
    works(run, home, "3.15")


def test_the_readme_names_the_three() -> None:
    text = (REPOSITORY / "README.md").read_text()
    assert "bin/pip install ." in text
    assert "pipx install ." in text
    assert "uv tool install ." in text
