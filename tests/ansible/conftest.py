"""The collection from its tarball, once for all tests: what is tested is what a user installs."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import support


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return support.build(support.NEWEST, tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="session")
def collections(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh collections path with nothing in it but this collection."""
    return support.install(support.NEWEST, tarball, tmp_path_factory.mktemp("installed") / "collections")
