"""Command `run`: run a program with the variables of profiles, wait for it, and say why it has failed. Needs
no rights."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from typing import BinaryIO

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer, flush
from rocmcfg.host.apart import apart
from rocmcfg.host.files import open_for_result, write_result
from rocmcfg.host.foreground import Ended, Foreground, end_like
from rocmcfg.host.kernel_log import KernelLines, KernelLog, LogFile
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, fail, unexpected, warning
from rocmcfg.model.request import Request, command_line

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LATE = 0.5  # seconds after the end of a program in which the kernel may still log why it ended
_STEP = 0.05  # seconds


def run(
    printer: Printer,
    *,
    command: tuple[str, ...] = opt.argument(
        "CMD [ARG…]", "The program to run, after --.", "command", "texts"
    ),
    requested: opt.RequestOptions = opt.RequestOptions(),
    timeout: str = opt.text(
        "--timeout",
        metavar="TIME",
        help="End the program after this time: 90, 10m, 2h. The exit code is then 124.",
        takes="free",
    ),
    result_file: str = opt.text(
        "--json", metavar="FILE", help="Write how it ended, and why, to FILE.", takes="file"
    ),
    log: str = opt.text(
        "--log", metavar="FILE", help="Read the kernel's lines from FILE, from its end on.", takes="file"
    ),
) -> None:
    """Run a program, and say why it failed.

    If the program fails, or if the kernel logs a fault of the GPU meanwhile, one sentence on stderr says
    which known issue, fault or part is the cause. The exit code is that of the program.
    """
    limit = _seconds(timeout)
    host = hosts.open_host(printer, "/")
    environment = {**os.environ, **_variables(printer, host, requested)}
    result = (result_file, open_for_result(result_file)) if result_file else None
    lines = LogFile(log) if log else KernelLog()
    program = Foreground()
    try:
        program.start(command, environment)
    except OSError as problem:
        summary = f"cannot run {command[0]}: {problem.strerror}"
        raise fail("RC2031", summary, hint="check the name and that it is executable") from problem
    ended = program.wait(limit)
    window = _read(lines, ended)
    if result is not None or window.grave or ended.failed:
        _report(printer, host, (command, environment), ended, window, result)
    raise SystemExit(end_like(ended, flush))


def _variables(printer: Printer, host: LocalHost, requested: opt.RequestOptions) -> dict[str, str]:
    """Return the variables of the profiles and settings that are named; none if none is named."""
    typed = requested.request()
    if not typed.profiles and not typed.set:
        if typed != Request():
            raise Misuse("these options choose among the settings of a profile: name it with -p")
        return {}
    request, printer.understood, pairs, left = apart(lambda: _resolved(host, typed))
    printer.problems(printer.understood)
    if left:
        from rocmcfg.facts.system import read_container

        summary = f"only variables are set here; these settings need an apply: {', '.join(left)}"
        hint = f"`sudo {command_line(request)} --trial` tries them for one boot"
        if read_container(host):
            hint = "apply them on the host: this is a container, and the kernel is the host's"
        printer.problems([warning("RC2033", summary, hint=hint)])
    return dict(pairs)


def _resolved(
    host: LocalHost, typed: Request
) -> tuple[Request, Sequence[Diagnostic], list[tuple[str, str]], list[str]]:
    """Return the request as it is understood, with diagnostics on that, the variables, and the settings that
    are no variables."""
    from rocmcfg.workflow import profiles as workflow

    request, remarks = hosts.read_request(host, typed)
    return request, remarks, *workflow.variables(host, request)


def _seconds(text: str) -> float | None:
    """Return the seconds of a time as timeout(1) reads it; None for no text. Raises Misuse."""
    if not text:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)", text)
    if match is None or not float(match[1]):
        raise Misuse(f"{text!r} is not a time: write 90, 1.5m, 2h", "--timeout")
    return float(match[1]) * _UNITS[match[2]]


def _read(lines: KernelLog | LogFile, ended: Ended) -> KernelLines:
    """Return what the kernel logged until now. Some lines may come a little after a program was ended."""
    until = time.monotonic() + (_LATE if ended.failed and ended.signal is not None else 0)
    window = lines.read()
    while not window.grave and not window.problem and time.monotonic() < until:
        time.sleep(_STEP)
        window = lines.read()
    lines.close()
    return window


def _report(
    printer: Printer,
    host: LocalHost,
    program: tuple[tuple[str, ...], dict[str, str]],
    ended: Ended,
    window: KernelLines,
    result: tuple[str, BinaryIO] | None,
) -> None:
    """Print why the program failed, and write the report. An error here does not change the exit code, which
    is the program's."""
    from rocmcfg.workflow import running

    try:
        report = running.report(host, *program, ended, window)
        printer.aside(report.sentence)
        if result is not None:
            write_result(*result, printer.as_json((), report))
    except RocmcfgError as problem:
        printer.problems(problem.diagnostics)
    except Exception as defect:
        printer.problems([unexpected(defect)])
