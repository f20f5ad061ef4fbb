"""How a setting stands on a host: desired, configured and running."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from rocmcfg.model.diagnostic import Diagnostic, ExitCode
from rocmcfg.model.shape import NamedTuple, published


class CheckStatus(str, Enum):
    IN_EFFECT = "in_effect"
    REWRITTEN_BY_DRIVER = "rewritten_by_driver"
    PENDING_REBOOT = "pending_reboot"
    PENDING_ACTIVATION = "pending_activation"
    DRIFT = "drift"
    OVERRIDDEN = "overridden"
    UNKNOWN_PARAMETER = "unknown_parameter"
    NOT_LOADED = "not_loaded"
    NOT_READABLE = "not_readable"
    CANNOT_BE_TOLD = "cannot_be_told"


# Said of a check that only files could answer.
OFFLINE = "configured; an offline host has no running state"

PASSES = frozenset({CheckStatus.IN_EFFECT, CheckStatus.REWRITTEN_BY_DRIVER})

PENDING = frozenset({CheckStatus.PENDING_REBOOT, CheckStatus.PENDING_ACTIVATION})


class Check(NamedTuple):
    """`source` says who wins: the file and line, or the boot entry, that the configured value comes from."""

    name: str
    target: str
    desired: str | None
    configured: str | None
    running: str | None
    status: CheckStatus
    source: str
    detail: str = ""


# The status of a whole host.
Overall = Literal["in_effect", "pending", "differences", "nothing_applied"]


@published("status", "profiles", "transaction", "trial", "checks")
class VerificationReport(NamedTuple):
    """`record_lost`: files of ours are on the host, and no receipt says what they shall be. `trial` is the
    transaction of the trial, where a trial was checked and not what is applied. `program_due` is what has to
    run before a reboot can do any good, and `again` the command that runs it."""

    profiles: tuple[str, ...]
    transaction: int | None
    checks: tuple[Check, ...]
    diagnostics: tuple[Diagnostic, ...]
    record_lost: bool = False
    trial: int | None = None
    program_due: tuple[str, ...] = ()
    again: str = ""

    @property
    def exit_code(self) -> ExitCode:
        if self.record_lost:
            return ExitCode.DIFFERENCES
        statuses = {check.status for check in self.checks}
        undone = all(
            diagnostic.id != "RC4016" for diagnostic in self.diagnostics
        )  # else an undo left a program to the user
        if statuses <= PASSES and undone:
            return ExitCode.DONE
        return ExitCode.PENDING if statuses <= PASSES | PENDING else ExitCode.DIFFERENCES

    @property
    def status(self) -> Overall:
        """One word for the whole: the worst that was found."""
        if self.exit_code is ExitCode.DONE:
            return "in_effect" if self.checks else "nothing_applied"
        return "pending" if self.exit_code is ExitCode.PENDING else "differences"
