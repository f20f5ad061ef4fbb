"""rocmcfg reads what its peers' own tests read, and makes of it what they expect, but for the differences
that differences.toml explains."""

from __future__ import annotations

import pytest

from tests.peers import debian, figures, judgement
from tests.peers.suites import (
    augeas,
    cloud_init,
    dotenv,
    dracut,
    godotenv,
    grub2,
    kmod,
    pam,
    ruby_dotenv,
    systemd,
)
from tests.peers.suites.suite import Suite

SUITES = (
    augeas.SUITE,
    cloud_init.SUITE,
    dotenv.SUITE,
    dracut.SUITE,
    godotenv.SUITE,
    grub2.SUITE,
    kmod.SUITE,
    pam.SUITE,
    ruby_dotenv.SUITE,
    systemd.SUITE,
)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_the_cases_of_a_peer_come_out_as_it_expects(suite: Suite, request: pytest.FixtureRequest) -> None:
    sources, version = debian.source(suite.name, suite.files)
    cases, rows = suite.cases(sources), judgement.table()
    assert cases
    if request.config.getoption("--write"):
        figures.write("suite", suite.name, version, judgement.figures(suite.name, cases, rows))
    wrong = judgement.unexpected(suite.name, cases, rows)
    assert not wrong, wrong
