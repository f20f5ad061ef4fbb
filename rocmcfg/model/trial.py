"""A trial: settings that only one boot gets, and that are kept only if they are confirmed."""

from __future__ import annotations

from enum import Enum

from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple, published

# On the kernel command line of a trial's boot. The kernel treats `name.name=` as a parameter of a missing
# module and ignores it (init/main.c, unknown_bootoption).
MARKER = "rocmcfg.trial"


class Stage(str, Enum):
    """ARMED: the next boot is the trial. RUNNING: this boot is. OVER: another boot came after it."""

    ARMED = "armed"
    RUNNING = "running"
    OVER = "over"


class Outcome(str, Enum):
    """The progress of a trial, or its end."""

    ARMED = "armed"
    RUNNING = "running"
    OVER = "over"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"
    NOT_TRIED = "not_tried"
    REJECTED = "rejected"


@published("confirm_after health_check of_try?")
class Terms(NamedTuple):
    """The user's terms of a trial. `confirm_after` is the time, in seconds after the start of the boot, at
    which a healthy trial confirms itself; None: never. `health_check` is a shell command that must succeed
    then, in place of a login; empty: none. `of_try` is the number of the try that compares this boot with
    others, and nobody may confirm such a trial; left out for any other trial."""

    confirm_after: int | None = None
    health_check: str = ""
    of_try: int | None = None


class Trial(NamedTuple):
    """A recorded trial. `boot_id` and `time` (ISO 8601, UTC) are those of its apply; `arguments` are all
    arguments that the boot loader adds for one boot, `token` is the marker's value among them; `gpus` are the
    PCI addresses that amdgpu drove then. `kept` are permanently applied parameters that the trial leaves out:
    for its boot they have the value that they would have without rocmcfg. `approved` are the settings that
    the user saw and accepted, including variables: a confirmation applies them, whatever the request means by
    then.
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
    """The trial in a plan; its parts are those of the `Trial` that its apply will record."""

    arguments: tuple[str, ...]
    token: str
    terms: Terms
    gpus: tuple[str, ...] = ()
    kept: tuple[DesiredSetting, ...] = ()
    approved: tuple[DesiredSetting, ...] = ()
