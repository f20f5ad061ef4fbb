"""A trial: settings that one boot carries, and that are kept only where somebody confirms them."""

from __future__ import annotations

from enum import Enum

from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple, published

# On the kernel command line of a trial's boot. The kernel takes `name.name=` for a parameter of a module that
# is not there and ignores it (init/main.c, unknown_bootoption).
MARKER = "rocmcfg.trial"


class Stage(str, Enum):
    """ARMED: the next boot is the trial. RUNNING: this boot is. OVER: another boot came after it."""

    ARMED = "armed"
    RUNNING = "running"
    OVER = "over"


class Outcome(str, Enum):
    """What became of a trial: how far it has come, or which of its ends it met."""

    ARMED = "armed"
    RUNNING = "running"
    OVER = "over"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"
    NOT_TRIED = "not_tried"
    REJECTED = "rejected"


class Terms(NamedTuple):
    """What the user asked of a trial. `confirm_after` in seconds after the boot's begin: when the trial
    confirms itself where all is well; None: never. `health_check` is a shell command that has to succeed then
    in place of a login; empty: none."""

    confirm_after: int | None = None
    health_check: str = ""


class Trial(NamedTuple):
    """A trial on record. `boot_id` and `time` (ISO 8601, UTC) are of its apply; `arguments` is all that the
    boot loader adds for one boot, `token` the marker's value among them; `gpus` are the PCI addresses that
    amdgpu drove then. `kept` are parameters that are applied for good and that the trial leaves out: for its
    boot they have the value that they would have without us. `approved` is what the user saw and agreed to,
    variables among it: a confirmation applies that, whatever the request means then.
    """

    transaction: int
    profiles: tuple[str, ...]
    request: Request
    boot_backend: str
    boot_id: str
    time: str
    settings: tuple[DesiredSetting, ...]
    arguments: tuple[str, ...]
    token: str
    terms: Terms
    gpus: tuple[str, ...]
    kept: tuple[DesiredSetting, ...] = ()
    approved: tuple[DesiredSetting, ...] = ()


@published("arguments", "*terms")
class TrialPlan(NamedTuple):
    """What makes a plan one of a trial; its parts are those of the `Trial` that its apply will record.
    `confirm_after` counts seconds from its begin."""

    arguments: tuple[str, ...]
    token: str
    terms: Terms
    gpus: tuple[str, ...] = ()
    kept: tuple[DesiredSetting, ...] = ()
    approved: tuple[DesiredSetting, ...] = ()
