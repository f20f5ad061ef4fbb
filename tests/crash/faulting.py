"""One fault at one call of one command, and the verdict: what the host is then, and whether what was said of
it is true.

The verdict rests on files alone: the tree, the lines of the journals, exit codes and texts.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tests.support.program import Result
from tests.support.trees import Tree, tree

from .calls import FAULTS, Calls, CountedHost, Fault
from .crashing import copy, seen
from .scenarios import Scenario

# Where trees lie whose writes need not last.
MEMORY = next((folder for folder in ("/dev/shm",) if os.access(folder, os.W_OK)), None)
_STATE = "var/lib/rocmcfg"
_RECORDS = (f"{_STATE}/receipt.json", f"{_STATE}/trial.json")
_BLOCKS = ("boot/grub/grubenv", "boot/grub2/grubenv")
_OUTCOMES = {1: "nothing_changed", 4: "rolled_back", 5: "recovery_required"}
_DEFECT = re.compile(r"^Traceback|RC9000", re.M)  # a program's own is indented
_UNCHANGED = re.compile(r"nothing\s+(was|is)\s+changed|the host is as it was", re.I)


def whole(root: Path, *, times: bool = True) -> Tree:
    """The host as the next boot and the next command find it: its files, and our records but the journals.
    A time of day in a record, and what a block of GRUB holds that is empty, are nothing to tell apart."""
    found = seen(root, times=times)
    for name in _RECORDS:
        if (root / name).exists():
            record = _parsed((root / name).read_bytes())
            record.pop("time", None)
            found[name] = (json.dumps(record, sort_keys=True),)
    for block in _BLOCKS:
        if block in found:
            lines = (root / block).read_text().splitlines()
            found[block] = tuple(line for line in lines if line[:1] != "#" and line[-1:] != "=")
            if not found[block]:
                found.pop(block)
    return found


def _parsed(content: bytes) -> dict[str, Any]:
    """A record, or a line of a journal; of one that a power cut tore, its bytes."""
    try:
        record: dict[str, Any] = json.loads(content)
    except ValueError:
        return {"torn": content.hex()}
    return record


def open_transactions(root: Path) -> list[int]:
    """Those whose journal has no end, by the lines alone."""
    found = []
    for journal in sorted(root.glob(f"{_STATE}/transactions/*/journal.jsonl")):
        lines = journal.read_bytes().split(b"\n")[:-1]  # what follows the last line break was cut off
        kinds = [_parsed(line).get("kind", "torn") for line in lines]
        ends = [kind for kind in kinds if kind in ("commit", "undo", "undone")]
        if kinds and (not ends or ends[-1] == "undo"):
            found.append(int(journal.parent.name))
    return found


def differences(wanted: Tree, found: Tree) -> str:
    paths = sorted(p for p in {*wanted, *found} if wanted.get(p) != found.get(p))
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


# -- the child ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ended:
    """How the faulted command came to its end: killed by `signal`, or by itself with a result."""

    signal: int
    result: Result | None
    count: int = 0
    taken: tuple[str, ...] = ()


def command(scenario: Scenario, root: Path, arguments: Sequence[str], calls: Calls) -> Ended:
    """In a child of this process, which is warm."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code, say = 70, os.write
        try:
            os.close(read)
            gc.disable()  # it would touch, and so copy, every page of the parent
            calls.install()
            result = scenario.run(root, arguments)
            said = json.dumps({"result": asdict(result), "count": calls.count, "taken": calls.taken}).encode()
            while said:
                said = said[say(write, said) :]
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        text = stream.read()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return Ended(os.WTERMSIG(status), None)
    if os.WEXITSTATUS(status) or not text:
        return Ended(0, Result(70, "", "the child failed: see its traceback"))
    document = json.loads(text)
    return Ended(0, Result(**document["result"]), document["count"], tuple(document["taken"]))


def at_call(
    root: Path,
    arguments: tuple[str, ...],
    name: str,
    folder: Path,
    host: type[CountedHost] = CountedHost,
    fault: Fault = FAULTS[0],
) -> None:
    """Kill a command before its first call of that name, or as the `fault` says."""
    scenario = Scenario("", lambda folder: folder, arguments, host=host)
    counted = copy(root, folder / "counted")
    taken = command(scenario, counted, arguments, Calls(names=True)).taken
    shutil.rmtree(counted)
    ended = command(scenario, root, arguments, Calls(fault, taken.index(name) + 1))
    assert ended.signal, ended.result


# -- the verdict --------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What came of some points."""

    points: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.points += other.points
        self.ends += other.ends
        self.verdicts += other.verdicts
        self.wrong += other.wrong


class Bench:
    """A scenario, prepared and counted: what the host is before, and what it is after."""

    faults: ClassVar[tuple[Fault, ...]] = FAULTS
    also_json: ClassVar[bool] = True  # every other act is asked for JSON, which prints at other moments

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self.folder = scenario, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.start = scenario.prepare(folder)
        # once here: what is imported is not imported again in each child
        for arguments in (scenario.act, (*scenario.act, "--json"), ("recover",)):
            warm = copy(self.start, folder / "warm")
            scenario.run(warm, arguments)
            shutil.rmtree(warm)
        done = copy(self.start, folder / "done")
        ended = self.counted(done)
        assert ended.result is not None, f"{scenario.name}: killed by {ended.signal}"
        assert ended.result.code == 0, f"{scenario.name}: {ended.result}"
        self.taken = ended.taken
        self.before, self.after = whole(self.start), whole(done, times=False)
        self.before_open = bool(open_transactions(self.start))
        assert whole(self.start, times=False) != self.after, f"{scenario.name} changes nothing"
        assert not open_transactions(done)
        recovered = copy(self.start, folder / "recovered")
        scenario.run(recovered, ("recover",))
        self.recovers_to = self.state(recovered)

    def counted(self, root: Path) -> Ended:
        """The act, without harm."""
        return command(self.scenario, root, self.scenario.act, Calls(names=True))

    def faulted(self, root: Path, arguments: Sequence[str], fault: Fault, at: int) -> Ended:
        return command(self.scenario, root, arguments, Calls(fault, at))

    def points(self, fault: Fault, stride: int = 1) -> list[int]:
        """The calls at which it can strike: all, or the first, the last and one of so many between. Each
        fault begins elsewhere, so that together they strike at more."""
        every = range(1, len(self.taken) + 1)
        if fault.moment == "half":
            found = [n for n in every if self.taken[n - 1].split(" ")[0] in ("write", "pwrite")]
        else:
            found = list(every)
        shift = int(self.faults.index(fault) * 0.618 * stride)
        return [n for at, n in enumerate(found) if n in (found[0], found[-1]) or (at + shift) % stride == 0]

    def state(self, root: Path) -> str:
        """`before`, `after`, or where it is neither."""
        now = whole(root)
        if now == self.before:
            return "before"
        timeless = _timeless(now)
        if timeless == self.after:
            return "after"
        return (
            f"neither; unlike before: {differences(self.before, now)}; "
            f"unlike after: {differences(self.after, timeless)}"
        )

    def strike(self, fault: Fault, at: int, *, use: bool = True) -> Tally:
        place = self.folder / f"{fault.name.replace(' ', '-')}-{at}-{os.getpid()}"
        root = copy(self.start, place)
        found = Tally(1)
        try:
            for wrong in self._strike(root, fault, at, found, use):
                where = self.taken[at - 1].replace(str(self.start), "")
                found.wrong.append(f"{self.scenario.name}, {fault.name} at {at} ({where}): {wrong}")
        finally:
            shutil.rmtree(place)
        return found

    def _strike(self, root: Path, fault: Fault, at: int, found: Tally, use: bool) -> Iterator[str]:
        json_too = ("--json",) if self.also_json and at % 2 else ()
        ended = self.faulted(root, (*self.scenario.act, *json_too), fault, at)
        said = "killed" if ended.result is None else f"exit {ended.result.code}"
        found.ends[said] += 1
        state, still_open = self.state(root), open_transactions(root)
        if fault.kills and ended.result is not None:
            yield f"the call was never reached: {said}"
        if ended.result is not None:
            for problem in self._lies(ended.result, state, bool(still_open), fault):
                yield f"{said}: {problem}; {_short(ended.result)}"
        first = self.scenario.run(root, ("recover",))
        verdict = self.state(root)
        found.verdicts[verdict if verdict in ("before", "after") else "neither"] += 1
        if first.code != 0 or _DEFECT.search(first.err):
            yield f"{said}; recover: exit {first.code}: {_short(first)}"
            return
        if verdict not in ("before", "after") or (not self.scenario.whole and verdict != self.recovers_to):
            yield f"{said}; after recover {verdict}"
        if state == "after" and verdict != "after" and not still_open:
            yield f"{said}; recover took back what was done"
        if open_transactions(root):
            yield f"{said}; recover left {open_transactions(root)} open"
        again = tree(root)
        second = self.scenario.run(root, ("recover",))
        if second.code != 0 or tree(root) != again:
            yield f"{said}; a second recover: exit {second.code}, changed {differences(again, tree(root))}"
        if use and verdict in ("before", "after"):
            yield from self._usable(root, verdict)

    def _lies(self, result: Result, state: str, still_open: bool, fault: Fault) -> Iterator[str]:
        """What it said of itself, held against the tree; README.md, "Exit codes"."""
        code, text = result.code, result.out + result.err
        if code not in (0, 1, 4, 5):
            yield "no such exit code"
        if _DEFECT.search(text):
            yield "a defect, by its own words"
        if code == 0 and (state != "after" or still_open):
            yield f"it is {state}, open: {still_open}"
        if code in (1, 4) and (state != "before" or still_open != (self.before_open and code == 1)):
            yield f"it is {state}, open: {still_open}"
        if code == 1 and not self.scenario.whole:
            yield "a recover is still due, and the code does not say so"
        # with a disk that takes nothing any more nobody can tell what of the last line it has
        can_tell = self.scenario.whole and not fault.for_ever
        if code == 5 and can_tell and not still_open and state in ("before", "after"):
            yield f"nothing is to be recovered: it is {state}"
        if code == 5 and not re.search(r'help: |"hint": "[^"]', text):
            yield "it does not say what to do"
        if state != "before" and _UNCHANGED.search(text):
            yield f"it says that nothing was changed, and it is {state}"
        if code in _OUTCOMES and result.out.startswith("{"):
            outcome = json.loads(result.out).get("outcome")
            if outcome != _OUTCOMES[code] and not (outcome == "changed" and state == "after"):
                yield f"the document says {outcome}"

    def _usable(self, root: Path, verdict: str) -> Iterator[str]:
        act = self.scenario.act if verdict == "before" else self.scenario.then
        result = self.scenario.run(root, act)
        if result.code != 0:
            yield f"afterwards {' '.join(act)}: exit {result.code}: {_short(result)}"
        if verdict == "before" and differences(
            _without_numbers(whole(root, times=False)), _without_numbers(self.after)
        ):
            yield f"done again it is not after: {differences(whole(root, times=False), self.after)}"


def _timeless(found: Tree) -> Tree:
    """Without the times of files: kind, owner, group, digest, and last of all the time."""
    return {
        path: entry[:-1] if isinstance(entry[-1], int) and len(entry) == 5 else entry
        for path, entry in found.items()
    }


def _without_numbers(found: Tree) -> Tree:
    """Done once more, it is another transaction."""
    return {path: _unnumbered(entry) if path in _RECORDS else entry for path, entry in found.items()}


def _unnumbered(entry: tuple[object, ...]) -> tuple[object, ...]:
    return (re.sub(r'"transaction": \d+', "", str(entry[0])),)


def _short(result: Result) -> str:
    text = " ".join((result.err + result.out).split())
    return f"“{text[:200]}”"
