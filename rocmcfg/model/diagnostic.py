"""Problems as data: what, where, why, and what to do next.

A `Diagnostic` is one problem of possibly many; a `RocmcfgError` stops a command and holds its diagnostics
together with the exit code. Both are built from facts; only `cli.printer` prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, IntEnum
from functools import partial
from typing import Any

from rocmcfg.model.shape import NamedTuple, published


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class ExitCode(IntEnum):
    """The documented exit codes; every command uses these and no others."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    DIFFERENCES = 3
    ROLLED_BACK = 4
    RECOVERY_REQUIRED = 5
    PENDING = 6


@published("id", "severity", "summary", "detail", "location", "hint")
class Diagnostic(NamedTuple):
    """One problem or remark. `location` is `file:line[:column]` or a path of the host, else empty."""

    severity: Severity
    id: str
    summary: str
    detail: str = ""
    location: str = ""
    hint: str = ""


error = partial(Diagnostic, Severity.ERROR)
warning = partial(Diagnostic, Severity.WARNING)
info = partial(Diagnostic, Severity.INFO)


def cut(text: str, most: int = 128) -> str:
    """Return a foreign text, shortened for a sentence."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(d.severity is Severity.ERROR for d in diagnostics)


# Mistakes in the words of a command line, independent of the host, profile or kernel.
_USAGE = {"RC0001", "RC0002", "RC2001", "RC2002", "RC2041", "RC3021", "RC6002", "RC7004"}


class RocmcfgError(Exception):
    """The end of a command by an error. `diagnostics` is never empty; its first entry is the cause, which
    comes first."""

    exit_code = ExitCode.ERROR

    def __init__(self, *diagnostics: Diagnostic, exit_code: ExitCode | None = None) -> None:
        super().__init__(diagnostics[0].summary)
        self.diagnostics = diagnostics
        if exit_code is not None:
            self.exit_code = exit_code
        elif self.exit_code is ExitCode.ERROR and any(diagnostic.id in _USAGE for diagnostic in diagnostics):
            self.exit_code = ExitCode.USAGE

    def __reduce__(self) -> tuple[Any, ...]:
        """Pass the error on to another process of the program, whatever class it has."""
        return _passed_on, (self.diagnostics, self.exit_code)


def _passed_on(diagnostics: Sequence[Diagnostic], exit_code: ExitCode) -> RocmcfgError:
    return RocmcfgError(*diagnostics, exit_code=exit_code)


def fail(
    id: str,
    summary: str,
    *,
    detail: str = "",
    location: str = "",
    hint: str = "",
    exit_code: ExitCode | None = None,
) -> RocmcfgError:
    """Return an error with a single diagnostic: `raise fail("RC3001", ...)`."""
    return RocmcfgError(error(id, summary, detail=detail, location=location, hint=hint), exit_code=exit_code)


def unexpected(problem: BaseException) -> Diagnostic:
    """Return the diagnostic for a defect, or for a missing file of the program."""
    return error(
        "RC9000",
        f"unexpected: {type(problem).__name__}: {problem}",
        hint="reinstall rocmcfg, because one of its files may be damaged; if the error remains, it is a "
        "defect: please report it with the output of --debug",
    )
