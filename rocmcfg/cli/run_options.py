"""Read the options of `run` and `try` alike: the time limit, and the variables of profiles and settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.host.apart import apart
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, cut, fail, warning
from rocmcfg.model.experiment import MOST_RUNS
from rocmcfg.model.request import Request, command_line

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SHORTEST, _LONGEST = 0.001, 365 * 86400  # seconds


def seconds(text: str, option: str) -> float | None:
    """Return the seconds of a time as timeout(1) reads it; None for no text. Raises Misuse."""
    if not text:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)", text)
    if match is None or not float(match[1]):
        raise Misuse(f"{cut(text)!r} is not a time: write 90, 1.5m, 2h", option)
    exact = float(match[1]) * _UNITS[match[2]]  # infinite for more than 308 digits
    if not _SHORTEST <= exact <= _LONGEST:
        raise Misuse(f"{cut(text)} is not from 0.001 to 365d", option)
    return exact


def whole_seconds(text: str, option: str) -> int | None:
    """Return the seconds of a time, rounded up; None for no text. Raises Misuse."""
    exact = seconds(text, option)
    return None if exact is None else ceil(exact)


def allowed_runs(number: int | None) -> int | None:
    """Return the number of runs that --runs allows; None if it is absent. Raises Misuse."""
    if number is not None and not 1 <= number <= MOST_RUNS:
        raise Misuse(f"{number} is not from 1 to {MOST_RUNS}", "--runs")
    return number


def variables(
    printer: Printer, host: LocalHost, requested: opt.RequestOptions, *, only_variables: bool = False
) -> dict[str, str]:
    """Return the variables of the profiles and settings that are named; none if none is named. With
    `only_variables`, raises RocmcfgError for other settings that no profile brings."""
    typed = requested.request()
    if not typed.profiles and not typed.set:
        if typed != Request():
            raise Misuse("these options choose among the settings of a profile: name it with -p")
        return {}
    request, printer.understood, pairs, left = apart(lambda: _resolved(host, typed))
    printer.problems(printer.understood)
    if left and only_variables and not typed.profiles:
        raise _needs_boots(host, request, left)
    if left:
        printer.problems([for_an_apply(host, request, left)])
    return dict(pairs)


def _needs_boots(host: LocalHost, request: Request, settings: Sequence[str]) -> RocmcfgError:
    """Return the error that a try of these settings has to compare boots."""
    from rocmcfg.facts.system import read_container

    words = command_line(request).removeprefix("rocmcfg apply ")
    hint = f"`sudo rocmcfg try --reboots 5 {words} -- PROGRAM` does that: it reboots this host"
    if read_container(host):
        hint = "compare them on the host, with --reboots: this is a container, and the kernel is the host's"
    summary = f"these settings take effect at a boot, so only boots can be compared: {', '.join(settings)}"
    return fail("RC4618", summary, hint=hint)


def for_an_apply(host: LocalHost, request: Request, settings: Sequence[str]) -> Diagnostic:
    """Return the warning that these settings are no variables, with the command that tries them."""
    from rocmcfg.facts.system import read_container

    summary = f"only variables are set here; these settings need an apply: {', '.join(settings)}"
    hint = f"`sudo {command_line(request)} --trial` tries them for one boot"
    if read_container(host):
        hint = "apply them on the host: this is a container, and the kernel is the host's"
    return warning("RC2033", summary, hint=hint)


def _resolved(
    host: LocalHost, typed: Request
) -> tuple[Request, Sequence[Diagnostic], list[tuple[str, str]], list[str]]:
    """Return the request as it is understood, with diagnostics on that, the variables, and the settings that
    are no variables."""
    from rocmcfg.workflow import profiles as workflow

    request, remarks = hosts.read_request(host, typed)
    return request, remarks, *workflow.variables(host, request)
