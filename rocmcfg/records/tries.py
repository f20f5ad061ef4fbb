"""Read and write the record of a try: one JSON object per line, appended durably and never rewritten. Each
line is written before what comes next begins, so that a kill loses and doubles no run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rocmcfg.experiments.kinds import course
from rocmcfg.experiments.which import MOST_SETTINGS
from rocmcfg.host.foreign import json_value
from rocmcfg.host.user_state import UserState
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import RocmcfgError, fail
from rocmcfg.model.experiment import (
    FROM_OUTSIDE,
    MOST_BOOTS,
    MOST_RUNS,
    Design,
    Finding,
    LostBoot,
    Outcome,
    boots_name,
)
from rocmcfg.model.regex import compiled_for_bytes
from rocmcfg.model.request import Request
from rocmcfg.model.shape import Malformed, NamedTuple
from rocmcfg.records.dialect import read as read_noun
from rocmcfg.records.dialect import write as write_noun
from rocmcfg.records.journal import NewerRecord, newer

RECORD = "try.jsonl"
REFERENCE = "reference.output"  # beside it: the output that others are compared with
VERSION = 1
_MOST_WEIGHT = 1000
_LONGEST = 10**15  # microseconds: 31 years


class Terms(NamedTuple):
    """What counts as a failure beside exit code, signal and faults of the GPU. `milliseconds` is the time
    limit, 0 for none. `bad_output` is a regular expression, `check` a shell command, `log` the file with the
    kernel's lines."""

    milliseconds: int = 0
    bad_output: str = ""
    check: str = ""
    same_output: bool = False
    log: str = ""


class Boots(NamedTuple):
    """What a try with reboots needs in every boot. The program is run as `user` with these `limits`, by their
    names in systemd.exec(5). `kernel` and `values` are the release and the parameters under test of the
    control. `request` and `approved` are what root agreed to for the treatment, with the names of its
    profiles. `going_down_fails`: a boot that goes down during the run has failed, whatever took it down."""

    user: str
    limits: Mapping[str, str]
    loader: str
    kernel: str
    values: Mapping[str, str]
    request: Request
    profiles: tuple[str, ...]
    approved: tuple[DesiredSetting, ...]
    going_down_fails: bool = False


class Begun(NamedTuple):
    """The first line. `program` is the command, `folder` where it runs. `without` are the variables that the
    control must not have. `surroundings` are digests of the other variables, made with `salt`."""

    time: str
    program: tuple[str, ...]
    folder: str
    design: Design
    terms: Terms
    salt: str
    surroundings: Mapping[str, str]
    without: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    boots: Boots | None = None


class Armed(NamedTuple):
    """The boot after the one with the id `boot` is for an arm. What that takes is begun after this line."""

    time: str
    arm: int
    boot: str


class Lost(NamedTuple):
    """A boot for an arm does not count, and is repeated: it says nothing about the arm."""

    time: str
    arm: int
    why: LostBoot


class Restored(NamedTuple):
    """At the end the boot files were compared with those at the beginning: these differ."""

    time: str
    differing: tuple[str, ...] = ()


class Started(NamedTuple):
    """A run is about to start. `mark` is in the environment of its processes."""

    time: str
    arm: int
    boot: str
    mark: str


class Ran(NamedTuple):
    """A run ended. `kept` are the files with its output and the kernel's lines. `printed` is the digest of
    the output of a run that others may be compared with, and `reference` that of the output that they are
    compared with from here on."""

    time: str
    outcome: Outcome
    fault: str = ""
    kept: tuple[str, ...] = ()
    reference: str = ""
    printed: str = ""


class Resumed(NamedTuple):
    """The try goes on after an interruption."""

    time: str


class Extended(NamedTuple):
    """The try goes on with more runs or time, which replace those of the design."""

    time: str
    most_runs: int
    most_seconds: int


class Concluded(NamedTuple):
    """The try ended with a finding."""

    time: str
    finding: Finding


class Try(NamedTuple):
    """A try as its record has it. `folder` holds the record and what was kept of the runs."""

    number: int
    begun: Begun
    lines: tuple[NamedTuple, ...]
    folder: str

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(line.outcome for line in self.lines if isinstance(line, Ran))

    @property
    def design(self) -> Design:
        """Return the design with the runs and the time that are allowed now."""
        extended = next((line for line in reversed(self.lines) if isinstance(line, Extended)), None)
        if extended is None:
            return self.begun.design
        return self.begun.design._replace(most_runs=extended.most_runs, most_seconds=extended.most_seconds)

    @property
    def finding(self) -> Finding | None:
        ends = (line for line in reversed(self.lines) if isinstance(line, (Concluded, Extended)))
        last = next(ends, None)
        return last.finding if isinstance(last, Concluded) else None

    @property
    def lost(self) -> tuple[Lost, ...]:
        """Return the boots that did not count."""
        return tuple(line for line in self.lines if isinstance(line, Lost))

    @property
    def name(self) -> str:
        """Return the number as commands take it."""
        return boots_name(self.number) if self.begun.boots is not None else str(self.number)

    @property
    def open_run(self) -> Started | None:
        """Return the run that was interrupted; None where the last run ended."""
        last = self.last_step
        return last if isinstance(last, Started) else None

    @property
    def last_step(self) -> Armed | Started | Ran | Lost | None:
        """Return the newest line about a run; None before the first one."""
        return next((x for x in reversed(self.lines) if isinstance(x, (Armed, Started, Ran, Lost))), None)

    @property
    def reference(self) -> str:
        return next((line.reference for line in self.lines if isinstance(line, Ran) and line.reference), "")

    @property
    def last_time(self) -> str:
        times = [getattr(line, "time", "") for line in self.lines]
        return times[-1] if times else self.begun.time


_LINES: Mapping[str, type[NamedTuple]] = {
    "begun": Begun,
    "armed": Armed,
    "started": Started,
    "ran": Ran,
    "lost": Lost,
    "restored": Restored,
    "resumed": Resumed,
    "extended": Extended,
    "concluded": Concluded,
}
_KINDS = {noun: kind for kind, noun in _LINES.items()}


def append(state: UserState, number: int, line: NamedTuple) -> None:
    """Append a line durably. Raises Unwritable."""
    document = {"v": VERSION, "kind": _KINDS[type(line)], **write_noun(line)}
    text = json.dumps(document, separators=(",", ":"))
    state.append(number, RECORD, text.encode("utf-8", "surrogateescape") + b"\n")


def load(state: UserState, number: int) -> Try:
    """Return a try. Raises RocmcfgError for one that does not exist, that is damaged, that a newer rocmcfg
    wrote, or that another user may have written. Its runs are those that the experiment asks for."""
    name = boots_name(number) if state.of_root else str(number)
    content = state.read(number, RECORD)
    if content is None:
        numbers = ", ".join(map(boots_name if state.of_root else str, state.numbers())) or "none"
        hint = f"`rocmcfg tries list` shows them; there are: {numbers}"
        raise fail("RC4503", f"there is no try {name}", hint=hint)
    place = state.of(number, RECORD)
    lines = []
    for at, text in enumerate(content.split(b"\n")[:-1], 1):  # a crash cut off the text after the last break
        lines.append(_line(text, f"{place}:{at}", name, first=at == 1))
    if not lines:
        raise bad(place, name, "its first line is missing")
    begun = lines[0]
    assert isinstance(begun, Begun)
    attempt = Try(number, begun, tuple(lines[1:]), state.folder(number))
    try:
        if (begun.boots is not None) is not state.of_root:
            raise Malformed(
                "its runs are boots, and only root keeps these" if begun.boots else "it has no boots"
            )
        under_way = course(attempt.design, attempt.outcomes)
        ended = attempt.finding
        outside = state.of_root and ended is not None and ended.obstacle in FROM_OUTSIDE
        if ended not in (None, under_way.next) and not outside:
            raise Malformed("the finding is not the one that the runs show")
    except ValueError as problem:
        raise bad(place, name, str(problem)) from problem
    return attempt


def _line(text: bytes, place: str, name: str, *, first: bool) -> NamedTuple:
    try:
        table = json_value(text.decode("utf-8", "surrogateescape"))
        version, kind = (table.get("v"), table.get("kind")) if isinstance(table, dict) else (None, None)
        if type(version) is int and version > VERSION:
            raise NewerRecord(newer(place, f"format {version}"))
        if version != VERSION or not isinstance(kind, str) or kind not in _LINES:
            raise Malformed("a line is of a kind that this rocmcfg does not know")
        if (kind == "begun") is not first:
            raise Malformed("its beginning is missing" if first else "it begins twice")
        line = read_noun(_LINES[kind], {k: v for k, v in table.items() if k not in ("v", "kind")})
    except ValueError as problem:
        raise bad(place, name, str(problem)) from problem
    _require_sound(line, place, name)
    return line


def _require_sound(line: Any, place: str, name: str) -> None:
    """Raise RocmcfgError for values that no try has."""
    if isinstance(line, Ran) and line.outcome.microseconds > _LONGEST:
        raise bad(place, name, "a run took longer than there is time")
    if isinstance(line, Extended) and not 0 < line.most_runs <= MOST_RUNS:
        raise bad(place, name, "it allows more runs than rocmcfg makes")
    if not isinstance(line, Begun):
        return
    design = line.design
    most_settings = MOST_SETTINGS if design.kind == "which" else 64
    sound = (
        _is_pattern(line.terms.bad_output)
        and line.terms.milliseconds <= _LONGEST
        and line.program
        and line.folder.startswith("/")
        and 0 < len(design.settings) <= most_settings
        and 50 <= design.confidence < 100
        and 0 < design.most_runs <= MOST_RUNS
        and 0 < design.pairs <= 1000
        and 0 < design.give_up <= MOST_RUNS
        and (design.kind == "reboots") is (line.boots is not None)
        and (line.boots is None or 0 < design.boots <= MOST_BOOTS)
        and len(design.weights) in (0, len(design.settings))
        and all(0 < weight <= _MOST_WEIGHT for weight in design.weights)
        and all("=" not in setting.name and setting.name for setting in design.settings)
    )
    if not sound:
        raise bad(place, name, "its design is not one that rocmcfg makes")


def _is_pattern(text: str) -> bool:
    try:
        compiled_for_bytes(text)
    except ValueError:
        return False
    return True


def bad(place: str, name: str, reason: str) -> RocmcfgError:
    hint = f"begin again, and remove this one with `rocmcfg tries forget {name}`"
    return fail("RC4504", f"the record of try {name} cannot be used: {reason}", location=place, hint=hint)
