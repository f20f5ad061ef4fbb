"""Whether rocmcfg-trial.service will be started: by the links that enable it."""

from __future__ import annotations

from pathlib import Path

from rocmcfg.change.trial.plan import unit_ready
from rocmcfg.host.local import LocalHost
from tests.support.hosts import File, FileMap, Link, make_root

UNIT = "usr/lib/systemd/system/rocmcfg-trial.service"
LINK = "etc/systemd/system/multi-user.target.wants/rocmcfg-trial.service"


def test_a_host_shows_it_by_its_links(tmp_path: Path) -> None:
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
