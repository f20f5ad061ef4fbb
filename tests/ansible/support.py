"""The ansible-core releases that the collection is held against, and the collection as they want it laid out.

Each release lives in a virtual environment of its own, cached under ~/.cache/rocmcfg/ansible and made from
the versions in `requirements/`; nothing of the machine's own Ansible is used.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.shared import cache, fetched, locked, made_once

CORES = ("2.16", "2.17", "2.18", "2.19")
# Releases of which a controller needs this Python.
LATER = {"2.20": (3, 12), "2.21": (3, 12)}
NEWEST, OLDEST = CORES[-1], CORES[0]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
HERE = Path(__file__).parent
PROJECT = HERE.parent.parent
SOURCE = PROJECT / "packaging/ansible"
# Everything in it can be deleted while no test runs.
_CACHE = cache("ansible")
# Where the sample of a host lies that has a GPU and needs its profile.
SAMPLE_HOST = PROJECT / "docs/demo/sample-host"
ROCMCFG = Path(sys.executable).parent / "rocmcfg"

# ansible-test fetches a script from its own site to get pip into the virtual environments of its tests.
# Python brings pip along, and a script that lies at the path of its download is taken instead, so that no
# test depends on that site. It is called with pip's arguments, which ensurepip has no need of.
_GET_PIP = "import ensurepip\nensurepip.bootstrap(upgrade=True, default_pip=True)\n"


@dataclass(frozen=True, slots=True)
class Ran:
    argv: tuple[str, ...]
    status: int
    output: str

    def succeeded(self) -> str:
        """The output; fails the test with all of it unless the program ended with 0."""
        if self.status:
            import pytest

            pytest.fail(f"{' '.join(self.argv)}\nexit code {self.status}\n{self.output}", pytrace=False)
        return self.output


def environment(name: str) -> Path:
    """The virtual environment of requirements/NAME.txt."""
    wanted = HERE / "requirements" / f"{name}.txt"
    python = _python(LATER.get(name.removeprefix("core-"), sys.version_info[:2]))
    key = hashlib.sha256(wanted.read_bytes() + python.encode()).hexdigest()[:12]
    target = _CACHE / f"{name}-{PYTHON}-{key}"

    def make(work: Path) -> None:
        subprocess.run([python, "-m", "venv", str(work)], check=True)
        pip = "-m pip install --quiet --disable-pip-version-check --no-deps"
        fetched([work / "bin/python", *pip.split(), "--requirement", wanted], f"ansible's {name}")
        _tell_its_place(work, target)

    return made_once(target, make)


def _python(oldest: tuple[int, ...]) -> str:
    """A Python that is not older than this; skips the test without one."""
    if sys.version_info[:2] >= oldest:
        return sys.executable
    path = os.pathsep.join(pythons(os.environ.get("PATH", os.defpath).split(os.pathsep)))
    newer = (shutil.which(f"python3.{minor}", path=path) for minor in range(oldest[1], oldest[1] + 4))
    python = next(filter(None, newer), None)
    if python is None:
        import pytest

        pytest.skip(f"there is no Python {'.'.join(map(str, oldest))} or newer")
    return python


def _tell_its_place(work: Path, target: Path) -> None:
    """The programs of a virtual environment name its path, which this one is about to get."""
    for file in (work / "pyvenv.cfg", *(work / "bin").iterdir()):
        if file.is_file() and not file.is_symlink():
            file.write_bytes(file.read_bytes().replace(bytes(work), bytes(target)))


def core(release: str) -> Path:
    """The directory of the programs of an ansible-core: 2.16, 2.17 …"""
    return environment(f"core-{release}") / "bin"


def linters() -> Path:
    return environment("lint") / "bin"


def pythons(path: Sequence[str]) -> list[str]:
    """PATH for ansible-test, which tries each Python that it finds there.

    pyenv's stand-ins look like Pythons and refuse to start unless they are chosen; the real ones serve.
    """
    real = sorted(str(found) for found in Path.home().glob(".pyenv/versions/*/bin"))
    return [part for part in path if not part.endswith("/.pyenv/shims")] + real


def run(
    argv: Sequence[str | Path], *, cwd: Path, home: Path, programs: Path, timeout: float = 600, **more: str
) -> Ran:
    """Run a program of Ansible with nothing of this user's Ansible around it."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("ANSIBLE_", "PYTHON", "VIRTUAL_ENV"))}
    path = os.pathsep.join((str(programs), *pythons(own.get("PATH", os.defpath).split(os.pathsep))))
    home.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [str(word) for word in argv],
        cwd=cwd,
        env=own | {"HOME": str(home), "PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"} | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ran(tuple(str(word) for word in argv), done.returncode, done.stdout)


def lay_out(into: Path) -> Path:
    """The collection's sources below INTO/ansible_collections, where ansible-test and ansible-lint look."""
    target = into / "ansible_collections/rocmcfg/amdgpu"
    shutil.copytree(
        SOURCE, target, ignore=shutil.ignore_patterns("__pycache__", ".ansible", "ruff.toml", "*.tar.gz")
    )
    return target


def home_of(release: str) -> Path:
    """A home directory in which ansible-test of this release keeps its environments, and finds a pip."""
    programs = core(release)

    def make(work: Path) -> None:
        scripts = work / ".ansible/test/cache"
        scripts.mkdir(parents=True)
        library = next(programs.parent.glob("lib/python*/site-packages/ansible_test"))
        names = (library / "_internal/python_requirements.py").read_text()
        for version in set(re.findall(r"\bpip='([\d.]+)'", names)):
            (scripts / f"get_pip_{version.replace('.', '_')}.py").write_text(_GET_PIP)

    return made_once(_CACHE / f"home-{programs.parent.name}", make)


def ansible_test(release: str, collection: Path, *words: str, timeout: float = 600) -> Ran:
    """`ansible-test WORDS` of this release, in a collection that `lay_out` made.

    One at a time: two of them fill the same environment of one home. What one that was killed had begun to
    fill, the next would take for whole: it goes."""
    programs, home = core(release), home_of(release)
    argv = [str(programs / "ansible-test"), *words, "--color", "no"]
    at_work = home / "at-work"
    with locked(at_work):
        if at_work.exists():
            shutil.rmtree(home / ".ansible/test/venv", ignore_errors=True)
        at_work.touch()
        ran = run(argv, cwd=collection, home=home, programs=programs, timeout=timeout)
        at_work.unlink()
    return ran


def build(release: str, work: Path) -> Path:
    """The tarball of the collection, made as for a release."""
    programs = core(release)
    source = lay_out(work / "source")
    run(
        [programs / "ansible-galaxy", "collection", "build", "--output-path", work],
        cwd=source,
        home=work / "home",
        programs=programs,
    ).succeeded()
    return next(work.glob("rocmcfg-amdgpu-*.tar.gz"))


def install(release: str, tarball: Path, into: Path) -> Path:
    """Install a tarball as a user does, without a network; the collections path to run from."""
    programs = core(release)
    run(
        [programs / "ansible-galaxy", "collection", "install", "--offline", tarball, "-p", into],
        cwd=into.parent,
        home=into.parent / "home",
        programs=programs,
    ).succeeded()
    return into
