"""What the user asked for, the desired settings that come of it, and the states of files and activations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

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


@published("setting", "reason")
class Skipped(NamedTuple):
    setting: str
    reason: str
    profile: str = ""


@dataclass(frozen=True, slots=True)
class FileState:
    """Everything of a file that an undo must bring back."""

    content: bytes
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...] = field(default=())


def unique_kargs(settings: Sequence[DesiredSetting]) -> tuple[DesiredSetting, ...]:
    """One setting per argument: several features share one mask, and each of them carries the whole of it."""
    return tuple({setting.karg: setting for setting in settings}.values())


def root_option(root: str) -> str:
    """What a command for the same host needs besides, with the blank before it; empty for the running one."""
    import shlex

    return "" if root == "/" else f" --root {shlex.quote(root)}"


def command_line(request: Request, root: str = "/") -> str:
    """The command that asks for the same again, for a reader to copy."""
    import shlex

    words = ["rocmcfg", "apply"]
    for option, values in (
        ("--profile", request.profiles),
        ("--set", request.set),
        ("--with", request.with_),
        ("--without", request.without),
    ):
        words += [word for value in values for word in (option, value)]
    words += ["--unconditional"] * request.unconditional + ["--any-gpu"] * request.any_gpu
    words += ["--via", request.via] if request.via else []
    words += ["--boot-backend", request.boot_backend] if request.boot_backend else []
    return shlex.join(words) + root_option(root)
