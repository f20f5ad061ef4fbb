"""Everybody may read the receipt by its name, so that `rocmcfg verify` needs no root; only root lists what is
beside it (decision 1). It does not matter what makes the directory first."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.model.request import Request
from rocmcfg.records import journal
from rocmcfg.records.steps import Begin, Expectations
from tests.support.hosts import make_root

FOLDER = "var/lib/rocmcfg"
BEGIN = Begin(
    "2026-11-27T00:00:00+00:00", "root", "", (), Request(), (), Expectations("grub", (), (), ()), {}
)


class LiveHost(LocalHost):
    """A host whose lock lies in /run, as that of the running host does."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        yield

    def require_lock(self) -> None:
        pass


@pytest.mark.parametrize("kind", [LocalHost, LiveHost])
def test_the_directory_of_the_state_can_be_passed_by_everybody(tmp_path: Path, kind: type[LocalHost]) -> None:
    host = kind(str(make_root(tmp_path, {})))
    with host.lock():
        journal.begin(host, 1, BEGIN)
    modes = {
        path: stat.S_IMODE((Path(host.root) / path).stat().st_mode)
        for path in (FOLDER, f"{FOLDER}/transactions")
    }
    assert modes == {FOLDER: 0o711, f"{FOLDER}/transactions": 0o700}
