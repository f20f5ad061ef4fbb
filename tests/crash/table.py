"""Every fault at every call of every scenario, as a table: what the harnesses' commands have in common."""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .calls import Fault
from .faulting import MEMORY, Bench, Tally
from .scenarios import Scenario

_BENCHES: list[Bench] = []
_SHOWN = 5  # of what was wrong in one cell


def run(
    program: str,
    faults: Sequence[Fault],
    bench_of: Callable[[Scenario, Path], Bench],
    scenarios: Sequence[Scenario],
    arguments: Sequence[str],
) -> int:
    """`program` with these arguments; 1 where something was wrong."""
    names = [s.name for s in scenarios]
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=__doc__)
    parser.add_argument("scenario", nargs="*", metavar="SCENARIO", help=f"some of: {', '.join(names)}")
    parser.add_argument("--faults", default="", help=f"some of: {', '.join(f.name for f in faults)}")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--stride", type=int, default=1, help="take one of so many calls")
    options = parser.parse_args(arguments)
    wanted = [name.strip() for name in options.faults.split(",") if name.strip()]
    unknown = {*options.scenario, *wanted} - {*names, *(f.name for f in faults)}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for one in scenarios:
            if not options.scenario or one.name in options.scenario:
                _BENCHES.append(bench_of(one, Path(folder, one.name)))
        work = [
            (number, fault, at)
            for number, bench in enumerate(_BENCHES)
            for fault in faults
            if not wanted or fault.name in wanted
            for at in bench.points(fault, options.stride)
        ]
        table: dict[tuple[str, str], Tally] = {}
        with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
            for name, fault_name, tally in pool.imap(_strike, work, chunksize=16):
                table.setdefault((name, fault_name), Tally()).add(tally)
    print(*_rows(table), sep="\n")
    wrong = [text for tally in table.values() for text in tally.wrong]
    for tally in table.values():
        print(*tally.wrong[:_SHOWN], sep="\n", end="\n" if tally.wrong else "")
        if len(tally.wrong) > _SHOWN:
            print(f"… and {len(tally.wrong) - _SHOWN} more like it")
    print(f"{len(work)} points, {len(wrong)} wrong, {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


def _strike(work: tuple[int, Fault, int]) -> tuple[str, str, Tally]:
    number, fault, at = work
    bench = _BENCHES[number]
    return bench.scenario.name, fault.name, bench.strike(fault, at, use=at % 5 == 0)


def _rows(table: dict[tuple[str, str], Tally]) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("scenario", "fault", "points", "before", "after", "wrong", "how it ended")
    ]
    for (name, fault), tally in table.items():
        ends = ", ".join(f"{end}: {count}" for end, count in sorted(tally.ends.items()))
        counts = (tally.points, tally.verdicts["before"], tally.verdicts["after"], len(tally.wrong))
        rows.append((name, fault, *map(str, counts), ends))
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[6]]) for row in rows]
