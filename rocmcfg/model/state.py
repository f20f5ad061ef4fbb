"""What the user asked for, the desired settings that come of it, and how files, steps and checks stand."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Literal

from rocmcfg.model.diagnostic import Diagnostic, ExitCode
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.published import published


class Kind(str, Enum):
    """What a setting sets. The value is the prefix of its id, except for module parameters."""

    PARAMETER = "parameter"
    FEATURE = "feature"
    KARG = "karg"
    ENV = "env"


class Channel(str, Enum):
    """Where a setting goes. Parameters and features have a choice, the others have not."""

    CMDLINE = "cmdline"
    MODPROBE = "modprobe"
    ENVIRONMENT = "environment"


class ActivationState(str, Enum):
    PLANNED = "planned"
    DONE = "done"
    LEFT_TO_USER = "left_to_user"
    SKIPPED = "skipped"


class DesiredSetting(NamedTuple):
    """A setting that this host shall have.

    `text` is exactly what is written after `=`; None is a bare kernel argument. `parameter` is the module
    parameter that carries it (`amdgpu.ppfeaturemask` for a feature), empty for arguments and variables.
    `decision` says why it applies here.
    """

    id: str
    kind: Kind
    name: str
    text: str | None
    channel: Channel
    module: str = ""
    parameter: str = ""
    because: str = ""
    evidence: tuple[str, ...] = ()
    cost: str = ""
    confidence: str = ""
    decision: str = ""
    location: str = ""
    profile: str = ""
    rewritten: bool = False
    adopted_from: str = ""

    @property
    def spelled(self) -> str:
        """As --set takes it."""
        return self.id if self.text is None else f"{self.id}={self.text}"

    @property
    def karg(self) -> str:
        """The argument as it stands on a kernel command line."""
        name = self.parameter or self.name
        return name if self.text is None else f"{name}={self.text}"


class Request(NamedTuple):
    """What the user asked for; kept in the receipt so that it can be asked again."""

    profiles: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    with_: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    unconditional: bool = False
    any_gpu: bool = False
    via: str = ""
    boot_backend: str = ""
    env_target: tuple[str, ...] = ()


@published("setting", "reason")
class Skipped(NamedTuple):
    setting: str
    reason: str
    profile: str = ""


class FileState(NamedTuple):
    """Everything of a file that an undo must bring back."""

    content: bytes
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...] = ()


class Stamp(NamedTuple):
    """What tells a regular file of any size from another: the SHA-256 of its content in hexadecimal, its size
    in bytes, and what else an undo must bring back."""

    sha256: str
    size: int
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...] = ()


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
            one.id != "RC4016" for one in self.diagnostics
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


def unique_kargs(settings: Iterable[DesiredSetting]) -> tuple[DesiredSetting, ...]:
    """One setting per argument: several features share one mask, and each of them carries the whole of it."""
    return tuple({setting.karg: setting for setting in settings}.values())


def karg_line(settings: Sequence[DesiredSetting]) -> str:
    return " ".join(setting.karg for setting in unique_kargs(settings))


def root_option(root: str) -> str:
    """What a command for the same host needs besides, with the blank before it; empty for the running one."""
    return "" if root == "/" else f" --root {shlex.quote(root)}"


def command_line(request: Request, root: str = "/") -> str:
    """The command that asks for the same again, for a reader to copy."""
    words = ["rocmcfg", "apply", *_asked(request)]
    words += ["--boot-backend", request.boot_backend] if request.boot_backend else []
    words += [word for name in request.env_target for word in ("--env-target", name)]
    return shlex.join(words) + root_option(root)


def render_line(request: Request, format: str) -> str:
    """The command that prints the same as the configuration of a system that is built."""
    return shlex.join(["rocmcfg", "render", "--format", format, *_asked(request)])


def _asked(request: Request) -> list[str]:
    words: list[str] = []
    for option, values in (
        ("--profile", request.profiles),
        ("--set", request.set),
        ("--with", request.with_),
        ("--without", request.without),
    ):
        words += [word for value in values for word in (option, value)]
    words += ["--unconditional"] * request.unconditional + ["--any-gpu"] * request.any_gpu
    return words + (["--via", request.via] if request.via else [])
