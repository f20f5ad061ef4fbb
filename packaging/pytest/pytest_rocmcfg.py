"""Mark the tests in whose time the kernel logged a fault of an AMD GPU. See README.md."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from rocmcfg.host.kernel_log import KernelLog, LogFile
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.workflow import running

if TYPE_CHECKING:
    from rocmcfg.workflow.running import Cause

_LOG = pytest.StashKey["KernelLog | LogFile"]()
_VERDICT, _FAULT = "gpu_verdict", "gpu_fault"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rocmcfg")
    group.addoption("--gpu-log", metavar="FILE", help="read the kernel's lines from FILE, from its end on")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--gpu-log")
    try:
        (LogFile(path) if path else KernelLog()).close()
    except RocmcfgError as problem:
        raise pytest.UsageError(f"--gpu-log: {problem}") from problem


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    path = item.config.getoption("--gpu-log")
    log = item.stash[_LOG] = LogFile(path) if path else KernelLog()
    try:
        return (yield)
    finally:
        log.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the kernel logged to the report of the teardown, or of the phase that failed."""
    report = yield
    if report.failed or report.when == "teardown":
        cause = _cause(item)
        if cause is not None and (_FAULT, cause.id) not in item.user_properties:
            item.user_properties += [(_VERDICT, cause.verdict), (_FAULT, cause.id)]
            report.user_properties = list(item.user_properties)
            report.sections.append(("AMD GPU", f"{cause.sentence}\n" + "\n".join(cause.evidence)))
    return report


def _cause(item: pytest.Item) -> Cause | None:
    try:
        return running.cause(LocalHost("/"), os.environ, item.stash[_LOG].read())
    except RocmcfgError as problem:
        item.warn(pytest.PytestWarning(f"rocmcfg cannot judge the kernel's log: {problem}"))
        return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the tests in whose time a GPU had a fault."""
    faulty: dict[str, tuple[str, str]] = {}
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        properties = dict(report.user_properties) if isinstance(report, pytest.TestReport) else {}
        if _FAULT in properties:
            faulty[report.nodeid] = (str(properties[_VERDICT]), str(properties[_FAULT]))
    if faulty:
        terminalreporter.section("AMD GPU")
        for nodeid, (verdict, fault) in faulty.items():
            terminalreporter.line(f"{nodeid}: {verdict} {fault} (rocmcfg explain {fault})")
