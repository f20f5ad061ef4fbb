"""The Debian packages under test, built from this checkout, and clean systems to install them in."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import rocmcfg
from tests.support.shared import fetched
from tests.vm import tools

from . import roots
from .roots import REPOSITORY, Root

DEB = f"rocmcfg_{rocmcfg.__version__}_amd64.deb"
# Program and Debian package of what builds and checks.
_NEEDED = {
    "dpkg-buildpackage": "dpkg-dev",
    "dh": "debhelper",
    "dh_python3": "dh-python",
    "lintian": "lintian",
    "shellcheck": "shellcheck",
    "mmdebstrap": "mmdebstrap",
}
NewRoot = Callable[..., Root]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A new folder that every user can reach; those of pytest are for their owner alone."""
    with tempfile.TemporaryDirectory(prefix="rocmcfg-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="session")
def debian_tools() -> None:
    """Installs what is missing, where that is possible; skips, or fails with CI=true, where it is not."""
    if os.geteuid() != 0:
        tools.refuse("building a clean Debian system takes root")
    tools.require(_NEEDED)


@pytest.fixture(scope="session")
def fetch() -> Callable[[str], Path]:
    """The locked wheels for a machine, from the cache or the package index."""
    lock, tree = REPOSITORY / "requirements.lock", REPOSITORY / "packaging/tree.py"

    def wheels(machine: str) -> Path:
        def build(work: Path) -> None:
            command = [sys.executable, str(tree), "fetch", "--into", str(work), "--machine", machine]
            fetched(command, "the package's libraries")

        return roots.cached(f"wheels-{machine}", lock.read_text() + tree.read_text(), build)

    return wheels


@pytest.fixture(scope="session")
def wheels(fetch: Callable[[str], Path]) -> Path:
    return fetch("x86_64")


@pytest.fixture(scope="session")
def deb(debian_tools: None, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built as the README says, from wheels that are at hand."""
    return build_deb(wheels, tmp_path_factory.mktemp("deb"))


@pytest.fixture(scope="session")
def older(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The previous version: the same tree and scripts, with two files that this one no longer has."""
    work = tmp_path_factory.mktemp("older")
    tree = work / "tree"
    roots.must(["dpkg-deb", "-R", str(deb), str(tree)])
    control = tree / "DEBIAN/control"
    control.write_text(
        control.read_text().replace(f"\nVersion: {rocmcfg.__version__}\n", "\nVersion: 0.0.9\n")
    )
    init = tree / "usr/lib/rocmcfg/rocmcfg/__init__.py"
    init.write_text(init.read_text().replace(f'"{rocmcfg.__version__}"', '"0.0.9"'))
    (tree / "usr/lib/rocmcfg/rocmcfg/stale.py").write_text("STALE = True\n")
    (tree / "usr/share/rocmcfg/profiles/stale.toml").write_text("schema = 1\n")
    package = work / "rocmcfg_0.0.9_amd64.deb"
    roots.must(["dpkg-deb", "-Znone", "--root-owner-group", "-b", str(tree), str(package)])
    return package


def build_deb(wheels: Path | None, output: Path, *options: str, repository: Path = REPOSITORY) -> Path:
    """Runs packaging/debian/build; the path that it prints."""
    build = repository / "packaging/debian/build"
    bundled = [] if wheels is None else ["--wheels", str(wheels)]
    printed = roots.must([str(build), *bundled, "--output", str(output), *options])
    return Path(printed.strip())


@pytest.fixture(scope="session")
def with_package(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """What installing the package adds to a release: done once for each, and shared by the tests that start
    from there."""
    made: dict[str, Path] = {}
    with ExitStack() as stack:

        def layer(suite: str) -> Path:
            if suite not in made:
                root = stack.enter_context(roots.fresh(suite, tmp_path_factory.mktemp(f"{suite}-with")))
                root.bring(deb, f"/root/{deb.name}")
                root.ok(f"cd /root && sudo apt install -y ./{deb.name}")
                made[suite] = root.work / "upper"
            return made[suite]

        yield layer


@pytest.fixture
def new_root(
    debian_tools: None,
    tmp_path_factory: pytest.TempPathFactory,
    with_package: Callable[[str], Path],
) -> Iterator[NewRoot]:
    """Makes clean systems: `new_root("trixie")`, with the package if `installed`; gone after the test."""
    with ExitStack() as stack:

        def make(suite: str, *, live: bool = False, installed: bool = False, libraries: bool = False) -> Root:
            on = with_package(suite) if installed else None
            work = tmp_path_factory.mktemp(suite)
            return stack.enter_context(roots.fresh(suite, work, live=live, on=on, libraries=libraries))

        yield make
