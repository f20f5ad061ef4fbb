"""`ansible-test sanity`, all of its tests, without an ignore file, on every supported ansible-core."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from . import support

# How many each release runs in a collection without PowerShell: one skipped for want of a program is missing.
_TESTS = {"2.16": 29, "2.17": 24, "2.18": 24, "2.19": 24, "2.20": 23, "2.21": 23}
RELEASES = (*support.CORES, *support.LATER)


@pytest.fixture(scope="session")
def sanity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[support.Ran]]]:
    """All releases side by side, as many as there are processors: each is one process most of the time."""

    def one(release: str) -> support.Ran:
        collection = support.lay_out(tmp_path_factory.mktemp(f"sanity-{release}"))
        return support.ansible_test(release, collection, "sanity", timeout=1200)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield {release: pool.submit(one, release) for release in RELEASES}


@pytest.mark.parametrize("release", RELEASES)
def test_every_sanity_test_passes(release: str, sanity: dict[str, Future[support.Ran]]) -> None:
    output = sanity[release].result().succeeded()
    started = set(re.findall(r'^Running sanity test "([\w-]+)"', output, re.M))
    assert len(started) >= _TESTS[release], f"only {sorted(started)}"
    skipped = re.findall(r"^WARNING: (?:Skipping|Required program).*", output, re.M)
    # the Pythons of the newest releases may be newer than those of this machine
    newest = r"Skipping .* on Python 3\.1[4-9] because it could not be found"
    assert not [line for line in skipped if release in support.CORES or not re.search(newest, line)]


def test_there_is_no_ignore_file() -> None:
    assert not list((support.SOURCE / "tests").rglob("ignore*"))
