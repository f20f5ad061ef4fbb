"""The state of a setting on a host: desired, configured and running."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from rocmcfg.model.diagnostic import Diagnostic, ExitCode
from rocmcfg.model.difference import Difference
from rocmcfg.model.shape import NamedTuple, published


class CheckStatus(str, Enum):
    """The status of a setting. DRIFT: the host had the value, and no longer has it. NOT_SET: nothing was
    applied, and nothing on the host sets it."""

    IN_EFFECT = "in_effect"
    REWRITTEN_BY_DRIVER = "rewritten_by_driver"
    PENDING_REBOOT = "pending_reboot"
    PENDING_ACTIVATION = "pending_activation"
    DRIFT = "drift"
    NOT_SET = "not_set"
    OVERRIDDEN = "overridden"
    UNKNOWN_PARAMETER = "unknown_parameter"
    NOT_LOADED = "not_loaded"
    NOT_READABLE = "not_readable"
    CANNOT_BE_TOLD = "cannot_be_told"
    LEFT_TO_YOU = "left_to_you"

    @property
    def words(self) -> str:
        """Return the status in the words of tables."""
        return "unknown" if self is CheckStatus.CANNOT_BE_TOLD else self.value.replace("_", " ")


# The detail of a check that is based on files only.
OFFLINE = "configured; an offline host has no running state"

PASSES = frozenset({CheckStatus.IN_EFFECT, CheckStatus.REWRITTEN_BY_DRIVER})

PENDING = frozenset({CheckStatus.PENDING_REBOOT, CheckStatus.PENDING_ACTIVATION})


class Check(NamedTuple):
    """A check. `source` is the origin of the configured value: a file and line, or a boot entry. `undoes` is
    the known issue of this host whose cure is undone by the value that wins."""

    name: str
    target: str
    desired: str | None
    configured: str | None
    running: str | None
    status: CheckStatus
    source: str
    detail: str = ""
    undoes: str = ""


# An undo left a program to the user, or a reboot.
_UNDO_NOT_OVER = frozenset({"RC4016", "RC5006"})

# The status of a whole host.
Overall = Literal["in_effect", "pending", "differences", "nothing_applied"]


@published("status profiles transaction trial checks golden? compared? differences?")
class VerificationReport(NamedTuple):
    """The result of a verification. `record_lost`: our files are on the host, but no receipt describes them.
    `trial` is the transaction of a trial, where a trial was checked instead of the applied settings.
    `program_due` are the programs that must run before a reboot has an effect, and `again` is the command
    that runs them. `golden` is the document of the golden host with which this host was compared, and
    `compared` is how many facts it has; left out without one. `differences` are the facts that differ."""

    profiles: tuple[str, ...]
    transaction: int | None
    checks: tuple[Check, ...]
    diagnostics: tuple[Diagnostic, ...]
    record_lost: bool = False
    trial: int | None = None
    program_due: tuple[str, ...] = ()
    again: str = ""
    golden: str | None = None
    compared: int | None = None
    differences: tuple[Difference, ...] | None = None

    @property
    def mattering(self) -> tuple[Difference, ...]:
        """Return the differences that matter: those that are known, and that change how programs run."""
        return tuple(d for d in self.differences or () if not d.reason and d.severity != "info")

    @property
    def exit_code(self) -> ExitCode:
        if self.record_lost or self.mattering:
            return ExitCode.DIFFERENCES
        statuses = {check.status for check in self.checks}
        undone = not any(diagnostic.id in _UNDO_NOT_OVER for diagnostic in self.diagnostics)
        if statuses <= PASSES and undone:
            return ExitCode.DONE
        return ExitCode.PENDING if statuses <= PASSES | PENDING else ExitCode.DIFFERENCES

    @property
    def status(self) -> Overall:
        """Return one word for the whole: the worst result."""
        if self.exit_code is ExitCode.DONE:
            return "in_effect" if self.checks else "nothing_applied"
        return "pending" if self.exit_code is ExitCode.PENDING else "differences"
