"""The collection from its tarball, once for all tests: what is tested is what a user installs. And a fleet of
hosts that take it, see fleet/__init__.py."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vm import package as packages
from tests.vm import tools, wheelhouse

from . import support
from .fleet import debian
from .fleet.controller import Controller
from .fleet.host import Host
from .fleet.network import Network
from .fleet.rollout import INSTALL, Installation, NewHost, boot


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return support.build(support.NEWEST, tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="session")
def collections(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh collections path with nothing in it but this collection."""
    return support.install(support.NEWEST, tarball, tmp_path_factory.mktemp("installed") / "collections")


# Program and Debian package of what makes hosts, and the package that they install.
_NEEDED = {
    "ip": "iproute2",
    "unshare": "util-linux",
    "ssh": "openssh-client",
    "mmdebstrap": "mmdebstrap",
    "dpkg-buildpackage": "dpkg-dev",
    "dh": "debhelper",
    "dh_python3": "dh-python",
}


@pytest.fixture(scope="session")
def possible() -> None:
    """Installs what is missing, where that is possible; skips, or fails with CI=true, where it is not."""
    if os.geteuid() != 0:
        tools.refuse("the fleet takes root, for its namespaces")
    tools.require(_NEEDED)


@pytest.fixture(scope="session")
def installation(
    possible: None, package: Path, collections: Path, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    work = tmp_path_factory.mktemp("installation")
    with Network() as network:
        controller = Controller(work / "c", support.core(support.NEWEST), collections, network.controller)
        host = Host("first", work / "host", [debian.base()], *network.join(1))
        controller.admit(host)
        try:
            boot(host)
            before = host.changes()
            variables = {"rocmcfg_install_package": str(package)}
            rehearsed = controller.run([host], INSTALL, "--check", variables=variables)
            after = host.changes()
            touched = {path for path in {*before, *after} if before.get(path) != after.get(path)}
            done, again = (controller.run([host], INSTALL, variables=variables) for _ in range(2))
        finally:
            host.stop()
    return Installation(host.upper, (rehearsed, done, again), touched)


@pytest.fixture(scope="session")
def installed(installation: Installation) -> Path:
    """What the package adds to a host: a layer."""
    return installation.layer


@pytest.fixture(scope="session")
def package(possible: None) -> Path:
    return packages.path()


@pytest.fixture(scope="session")
def wheels(possible: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory as the collection's README makes it."""
    place = tmp_path_factory.mktemp("wheels")
    for wheel in wheelhouse.path().glob("*.whl"):
        shutil.copy(wheel, place)
    shutil.copy(debian.REPOSITORY / "requirements.lock", place)
    return place


@pytest.fixture
def network(possible: None) -> Iterator[Network]:
    with Network() as made:
        yield made


@pytest.fixture
def controller(network: Network, collections: Path, tmp_path: Path) -> Controller:
    return Controller(tmp_path / "controller", support.core(support.NEWEST), collections, network.controller)


@pytest.fixture
def new_host(network: Network, controller: Controller, installed: Path, tmp_path: Path) -> Iterator[NewHost]:
    """Makes a host with rocmcfg, to be started by `boot`; all of them are ended with the test."""
    made: list[Host] = []

    def make(name: str, layers: tuple[Path, ...] = (), **machine: bool) -> Host:
        namespace, address = network.join(len(made) + 1)
        below = layers or (installed, debian.base())
        host = Host(name, tmp_path / name, below, namespace, address, **machine)
        controller.admit(host)
        made.append(host)
        return host

    yield make
    for host in made:
        host.stop()
