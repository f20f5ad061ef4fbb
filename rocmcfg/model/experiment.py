"""The nouns of an experiment: its design, its runs, and what it finds.

An arm is a set of the settings under test, as the bits of a number: bit 0 is the first setting. The control
is arm 0, without any of them.
"""

from __future__ import annotations

from typing import Literal

from rocmcfg.model.shape import NamedTuple, published

CONTROL = 0
MOST_RUNS = 100_000  # that an experiment may be allowed
MOST_BOOTS = 100  # of each arm
Kind = Literal["cure", "drop", "which", "cost", "reboots"]
# Why a run counts as failed; empty for a run that ended well.
Failure = Literal[
    "",
    "exit",
    "signal",
    "timeout",
    "gpu-fault",
    "bad-output",
    "check",
    "different-output",
    "machine-went-down",
    "did-not-come-up",
]
Verdict = Literal[
    "cures",
    "no-effect",
    "worse",
    "undecided",
    "not-reproduced",
    "needed",
    "not-needed",
    "slower",
    "faster",
]
# Why an experiment ended without an answer; empty for an answer.
Obstacle = Literal[
    "",
    "drift",
    "runs",
    "time",
    "not-confirmed",
    "fails-with-all",
    "too-few",
    "rarer",
    "boots",
    "lost-boots",
    "control-down",
    "host-changed",
    "ended",
]
# Those that the runs do not show: what happened around them ended the experiment.
FROM_OUTSIDE: tuple[Obstacle, ...] = ("lost-boots", "control-down", "host-changed", "ended")
# Why a boot does not count: the machine went down during the run; it was shut down before the end of the run;
# rocmcfg was ended meanwhile; no boot of the arm began; another kernel was booted; the values under test were
# not those of the arm; a boot got nowhere.
LostBoot = Literal[
    "went-down", "shut-down", "cut-off", "not-begun", "other-kernel", "other-values", "did-not-come-up"
]
Purpose = Literal["warm-up", "control", "treatment", "sentinel", "search", "confirmation", "timing", "boot"]


def boots_name(number: int) -> str:
    """Return the name of a try with reboots, which differs from the numbers of a user's own tries."""
    return f"R{number}"


class Variable(NamedTuple):
    """A setting under test: a variable, or for `reboots` a kernel setting, and its value in the arms that
    have it. `bare`: an argument of the kernel without a value."""

    name: str
    value: str
    bare: bool = False

    @property
    def spelled(self) -> str:
        """Return the setting as --set takes it, without the prefix of variables."""
        return self.name if self.bare else f"{self.name}={self.value}"


class Design(NamedTuple):
    """The design of an experiment, fixed before its first run. `confidence` is in percent. `most_runs` bounds
    the runs, `most_seconds` their time, and 0 is no bound. `give_up` is the number of clean runs of the
    control after which the fault counts as not reproduced. `pairs` is the number of pairs for `cost`,
    `boots` that of the boots of each arm for `reboots`. `weights` are the prior weights of the settings for
    `which`."""

    kind: Kind
    settings: tuple[Variable, ...]
    confidence: int = 95
    most_runs: int = 500
    most_seconds: int = 0
    give_up: int = 59
    pairs: int = 10
    warm_up: bool = True
    weights: tuple[int, ...] = ()
    boots: int = 0

    @property
    def all(self) -> int:
        """Return the arm with all settings."""
        return (1 << len(self.settings)) - 1

    @property
    def error(self) -> float:
        """Return the chance of a false answer that is accepted."""
        return 1 - self.confidence / 100

    def of(self, arm: int) -> tuple[Variable, ...]:
        """Return the settings of an arm."""
        return tuple(setting for at, setting in enumerate(self.settings) if arm >> at & 1)


class Outcome(NamedTuple):
    """A run that ended. `detail` says more about the failure: the exit code, the signal, the fault.
    `left_behind` is the number of processes that outlived the program."""

    arm: int
    failure: Failure
    detail: str
    microseconds: int
    left_behind: int = 0


class Step(NamedTuple):
    """The next run of an experiment. `most` is the number of runs that remain at most, this one included."""

    arm: int
    purpose: Purpose
    most: int


class Finding(NamedTuple):
    """The end of an experiment. `arm` holds the settings that the verdict is on."""

    verdict: Verdict
    arm: int
    obstacle: Obstacle = ""


class Tally(NamedTuple):
    """The counted runs of an arm, without warm-ups."""

    runs: int = 0
    failures: int = 0
    microseconds: tuple[int, ...] = ()  # of the runs that ended well


@published("try=number program kind verdict sentence settings began ended")
class TryRow(NamedTuple):
    """A try in a list. `verdict` is null while it is not over."""

    number: int
    program: tuple[str, ...]
    kind: Kind
    verdict: Verdict | None
    sentence: str
    settings: tuple[str, ...]
    began: str
    ended: str
    name: str = ""
