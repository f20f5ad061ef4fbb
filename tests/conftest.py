"""What all tests share: patience on a busy machine, signals as they were before each test, programs that
are started without being measured, and what is told of skipped tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.tools import summary_of_skips

# "too slow" is a matter of the machine and of what else it does. The drawn inputs are the same in each run:
# only a change of the code decides whether a run passes. `make fuzz` draws others.
settings.register_profile(
    "unhurried",
    deadline=None,
    derandomize=not os.environ.get("ROCMCFG_TEST_LONG"),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("unhurried")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Under nohup(1) or in the background of a script some are ignored, and the programs that tests start would
# ignore them as well.
for number in _SIGNALS:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def programs_are_not_measured() -> None:
    """Measuring coverage would double the time of each; tests that call the same in this process cover it."""
    for name in ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def output_is_plain() -> None:
    """Continuous integration asks for colours; what the program prints is compared without them."""
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        os.environ.pop(name, None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--diagnostics-seen", metavar="FILE", help="add every diagnostic that is made to FILE")
    parser.addoption("--turn", metavar="N/OF", help="of the tests each OFth, from the Nth on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What --turn asks for."""
    turn = config.getoption("--turn")
    if turn:
        number, _, of = turn.partition("/")
        left = [item for place, item in enumerate(items) if place % int(of) != int(number) - 1]
        items[:] = [item for place, item in enumerate(items) if place % int(of) == int(number) - 1]
        config.hook.pytest_deselected(items=left)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Says last what was skipped, and the command that has it run."""
    yield
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = [str(one.longrepr[2]).removeprefix("Skipped: ") for one in skipped if one.longrepr]
    try:
        system = Path("/etc/os-release").read_text()
    except OSError:
        system = ""
    for line in summary_of_skips(reasons, system):
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True, scope="session")
def diagnostics_seen(request: pytest.FixtureRequest) -> Iterator[None]:
    """What --diagnostics-seen asks for: see tests/golden/diagnostics.py."""
    file = request.config.getoption("--diagnostics-seen")
    if not file:
        yield
        return
    from tests.golden import diagnostics

    with diagnostics.seen() as found:
        yield
    diagnostics.add(Path(file).absolute(), found, most=12)


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """A command that is run in this process leaves its handlers behind, and Ctrl-C would not stop the run. A
    wait for a program that failed leaves signals blocked, for this process and all that it starts."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for number, handler in before.items():
        signal.signal(number, handler)
