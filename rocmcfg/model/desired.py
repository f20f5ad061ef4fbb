"""The settings that a host should have, and what each of them sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from rocmcfg.model.shape import NamedTuple, published


class Kind(str, Enum):
    """The kind of thing that a setting sets. The value is the prefix of its id, except for module
    parameters."""

    PARAMETER = "parameter"
    FEATURE = "feature"
    KARG = "karg"
    ENV = "env"


class Channel(str, Enum):
    """The place where a setting is written. Only parameters and features have a choice."""

    CMDLINE = "cmdline"
    MODPROBE = "modprobe"
    ENVIRONMENT = "environment"


class DesiredSetting(NamedTuple):
    """A setting that this host should have.

    `text` is exactly the text written after `=`; None is a bare kernel argument. `parameter` is the module
    parameter that holds it (`amdgpu.ppfeaturemask` for a feature), empty for arguments and variables.
    `decision` is the reason why it applies here.
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
        """Return the setting in the syntax of --set."""
        return self.id if self.text is None else f"{self.id}={self.text}"

    @property
    def karg(self) -> str:
        """Return the argument in the form of the kernel command line."""
        name = self.parameter or self.name
        return name if self.text is None else f"{name}={self.text}"


@published("setting", "reason")
class Skipped(NamedTuple):
    setting: str
    reason: str
    profile: str = ""


def unique_kargs(settings: Iterable[DesiredSetting]) -> tuple[DesiredSetting, ...]:
    """Return one setting per argument: several features share one mask, and each of them holds all of it."""
    return tuple({setting.karg: setting for setting in settings}.values())


def karg_line(settings: Sequence[DesiredSetting]) -> str:
    return " ".join(setting.karg for setting in unique_kargs(settings))
