"""Whether rocmcfg-trial.service will be started: as systemctl(1) prints it, else by the links."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.trial.plan import unit_ready
from tests.support.asked_host import AskedHost, answer
from tests.support.hosts import File, FileMap, Link, make_root

UNIT = "usr/lib/systemd/system/rocmcfg-trial.service"
LINK = "etc/systemd/system/multi-user.target.wants/rocmcfg-trial.service"


@pytest.mark.parametrize(
    ("said", "ready"),
    [
        ("enabled\n", True),
        ("disabled\n", False),
        ("enabled-runtime\n", False),
        ("masked\n", False),
        (1, False),
    ],
)
def test_systemctl_is_asked_first(tmp_path: Path, said: str | int, ready: bool) -> None:
    files: FileMap = {UNIT: "", LINK: Link("/" + UNIT)}
    view = AskedHost(make_root(tmp_path, files), answer("systemctl", "is-enabled", text=said))
    assert unit_ready(view) is ready


def test_an_offline_host_shows_it_by_its_links(tmp_path: Path) -> None:
    link: dict[str, File] = {LINK: Link("/" + UNIT)}
    assert unit_ready(LocalHost(str(make_root(tmp_path, {UNIT: ""} | link, name="enabled"))))
    assert not unit_ready(LocalHost(str(make_root(tmp_path, {UNIT: ""}, name="disabled"))))
    assert not unit_ready(LocalHost(str(make_root(tmp_path, link, name="removed"))))


def test_a_running_host_without_systemd_starts_no_unit(tmp_path: Path) -> None:
    class Running(LocalHost):
        @property
        def offline(self) -> bool:
            return False

        @property
        def runs_tools(self) -> bool:
            return False

    files: dict[str, File] = {UNIT: "", LINK: Link("/" + UNIT)}
    assert not unit_ready(Running(str(make_root(tmp_path, files, name="openrc"))))
    booted: FileMap = files | {"run/systemd/system/x": ""}
    assert unit_ready(Running(str(make_root(tmp_path, booted, name="systemd"))))
