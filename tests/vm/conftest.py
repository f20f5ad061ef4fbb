"""Fixtures of the scenarios in guests. Where no guest can run they are skipped, and that is said loudly."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import image as images
from . import lanes, package, tools, trials, wheelhouse
from .frozen import Frozen
from .guest import Guest

_HERE = Path(__file__).parent
_NO_GUESTS = "no guest can run here: "


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test in this folder, so that no scenario runs where `-m "not vm"` is asked for."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.vm)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> lanes.Lanes:
    return lanes.Lanes(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Repeat at the very end why scenarios were skipped: a line in the middle of a long run is not seen."""
    # Read from the reports, which also come from the workers of xdist.
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", ())]
    reasons = {where_and_why[2] for where_and_why in skipped if isinstance(where_and_why, tuple)}
    for why in sorted({reason.split(_NO_GUESTS)[1] for reason in reasons if _NO_GUESTS in reason}):
        terminalreporter.section("SCENARIOS IN REAL GUESTS WERE SKIPPED", red=True, bold=True)
        terminalreporter.write_line(why, red=True)


@pytest.fixture(scope="session")
def vm_tools(pytestconfig: pytest.Config) -> None:
    """Install what guests need, as root on a Debian-like machine; else skip, or fail in CI."""
    tools.install_missing(
        tools.missing_packages,
        lambda packages: announce(
            pytestconfig, f"installing for the guests: {' '.join(tools.install_command(packages))}"
        ),
    )
    why = tools.why_not()
    if why is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"scenarios in guests must run in CI: {why}")
    pytest.skip(f"{_NO_GUESTS}{why}")


@pytest.fixture(scope="session")
def image(pytestconfig: pytest.Config, vm_tools: None) -> Path:
    """The disk of a normal Debian, amdgpu loaded from the root file system."""
    if not images.is_built():
        announce(pytestconfig, "building the guest image, once: takes some minutes")
    return images.base()


@pytest.fixture(scope="session")
def wheels(vm_tools: None) -> Path:
    """The wheels of the project as it is in the working tree."""
    return wheelhouse.path()


@pytest.fixture(scope="session")
def deb(vm_tools: None) -> Path:
    """The Debian package of the project as it is in the working tree."""
    return package.path()


@pytest.fixture(scope="session")
def installed(deb: Path, image: Path) -> Frozen:
    """A running guest that has just installed the package, for any number of scenarios to go on from."""
    return package.installed(deb)


@pytest.fixture(scope="session")
def installed_forky(pytestconfig: pytest.Config, deb: Path) -> Frozen:
    """The same of Debian's next release, which has GRUB 2.14 and systemd 262."""
    if not images.is_built("forky"):
        announce(pytestconfig, "building the image of forky, once: takes some minutes")
    return package.installed(deb, "forky")


@pytest.fixture
def forky(installed_forky: Frozen) -> Iterator[Guest]:
    with Guest(installed_forky) as fresh:
        yield fresh


@pytest.fixture
def guest(installed: Frozen) -> Iterator[Guest]:
    """A Debian that is up and has just installed rocmcfg; its files are kept if the test fails."""
    with Guest(installed) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def armed(installed: Frozen) -> trials.Armed:
    """A running guest whose next boot is a trial of gfx1201, for any number of scenarios to go on from."""
    return trials.armed(installed)


@pytest.fixture
def armed_guest(armed: trials.Armed) -> Iterator[Guest]:
    with Guest(armed.frozen) as fresh:
        yield fresh


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Keep the files of a guest whose test failed and put the end of its console into the report."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy leaves hook wrappers untyped
    if report.failed:
        for guest in _guests_of(item):
            guest.keep = True
            report.sections.append((f"console of the guest in {guest.work}", guest.console_tail()))


def _guests_of(item: pytest.Item) -> list[Guest]:
    """Return the guests among the fixtures of a test, whatever their scope."""
    values = getattr(item, "funcargs", {}).values()
    return [value for value in values if isinstance(value, Guest)]


def announce(config: pytest.Config, text: str) -> None:
    """Say something at once, through pytest's capture."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    with capture.global_and_fixture_disabled():
        # Not the standard output: a worker of xdist has none.
        print(f"\n{text}", file=sys.stderr, flush=True)
