"""Command `run`: run a program with the variables of profiles, wait for it, and say why it has failed. Needs
no rights."""

from __future__ import annotations

import os
import shlex
from typing import BinaryIO

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer, flush
from rocmcfg.cli.run_options import seconds, variables
from rocmcfg.host.files import open_for_result, write_result
from rocmcfg.host.foreground import Ended, Foreground, cannot_run, end_like
from rocmcfg.host.kernel_log import KernelLines, KernelLog, LogFile, read_to_end
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import RocmcfgError, unexpected


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
        "--json", metavar="FILE", help="Write to FILE how the program ended, and why.", takes="file"
    ),
    log: str = opt.text(
        "--log", metavar="FILE", help="Read the kernel's lines from FILE, from its end on.", takes="file"
    ),
) -> None:
    """Run a program, and say why it failed.

    If the program fails, or if the kernel logs a GPU fault while it runs, one sentence on stderr names the
    known issue, the fault or the part that is the cause. The exit code is that of the program.
    """
    limit = seconds(timeout, "--timeout")
    host = hosts.open_host(printer, "/")
    environment = {**os.environ, **variables(printer, host, requested)}
    result = (result_file, open_for_result(result_file)) if result_file else None
    lines = LogFile(log) if log else KernelLog()
    program = Foreground()
    try:
        program.start(command, environment)
    except OSError as problem:
        raise cannot_run(command, problem) from problem
    ended = program.wait(limit)
    window = read_to_end(lines, waits=ended.failed and ended.signal is not None)
    lines.close()
    if result is not None or window.grave or ended.failed:
        _report(printer, host, (command, environment), log, ended, window, result)
    raise SystemExit(end_like(ended, flush))


def _report(
    printer: Printer,
    host: LocalHost,
    program: tuple[tuple[str, ...], dict[str, str]],
    log: str,
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
        if report.options:
            log_option = f"--log {shlex.quote(log)} " if log else ""
            proof = f"rocmcfg try {log_option}{report.options} -- {shlex.join(report.command)}"
            why = "If the program fails only now and then, this shows whether the settings cure the fault:"
            printer.aside(f"{why} {proof}")
        if result is not None:
            write_result(*result, printer.as_json((), report))
    except RocmcfgError as problem:
        printer.problems(problem.diagnostics)
    except Exception as defect:
        printer.problems([unexpected(defect)])
