"""The real program, and strace(1) that does it harm: no line of Python is between the fault and the call.

`python -m tests.crash.injected [SCENARIO…] [--faults NAME,…] [--jobs N] [--stride N]`, as the harness of
`python -m tests.crash`; a scenario is also "CHAIN ACT", for each boot chain. What is counted are the calls of
rocmcfg's own first thread that touch the tree; strace counts for each process by itself, so that a program of
the tree gets the same at its own n-th call.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

from tests.support.program import SOURCE, Result, environment
from tests.support.tool_host import SETTLES
from tests.support.tools import HANG, require_tool

from .calls import Fault
from .chains import CHAINS, ChainBench
from .faulting import MEMORY, Bench, Ended
from .planted import planted
from .scenarios import FIRST, SCENARIOS, SECOND, TAKE_OVER, Scenario, bare, done, owned
from .table import run

_CALLS = (
    *("openat", "write", "pwrite64", "ftruncate", "fsync", "syncfs", "rename", "renameat", "renameat2"),
    *("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "chmod", "fchmod", "fchown", "utimensat"),
    *("fsetxattr", "setxattr", "symlink", "symlinkat", "linkat"),
)
FAULTS = (
    Fault("kill before"),
    Fault("EIO", error=errno.EIO),
    Fault("ENOSPC", error=errno.ENOSPC),
    Fault("TERM", signals=(signal.SIGTERM,)),
    Fault("HUP", signals=(signal.SIGHUP,)),
    Fault("TERM TERM", signals=(signal.SIGTERM, signal.SIGTERM)),
)


def two(folder: Path) -> Path:
    return done(bare(folder), FIRST, SECOND)


_RECOVER = next(one for one in SCENARIOS if one.name == "recover")
TRACED = (
    Scenario("apply", lambda folder: done(bare(folder), FIRST), SECOND),
    Scenario("rollback-pristine", two, ("rollback", "--pristine", "--yes")),
    Scenario("take-over", owned, TAKE_OVER),
    Scenario("take-over-rollback", lambda folder: done(owned(folder), TAKE_OVER), ("rollback", "--yes")),
    Scenario("recover", _RECOVER.prepare, _RECOVER.act, whole=False),
)


CHAINED = {
    scenario.name: (chain, scenario) for chain in CHAINS for scenario in map(chain.scenario, chain.acts())
}


@cache
def refused() -> str:
    """Why no program can be traced here; empty where one can."""
    strace = require_tool("strace", "strace")
    tried = subprocess.run(
        [strace, "-f", "-o", os.devnull, "-e", "inject=fsync:error=EIO:when=1", "true"],
        capture_output=True,
        text=True,
    )
    return "" if tried.returncode == 0 else f"nothing can be traced here: {tried.stderr.strip()}"


class TracedBench(Bench):
    """`taken` holds a call's name, its number among those of that name, and the line of strace."""

    faults: ClassVar[tuple[Fault, ...]] = FAULTS
    also_json: ClassVar[bool] = False  # what is printed counts among the writes
    bugs: ClassVar[tuple[str, ...]] = ()  # see `planted`

    def counted(self, root: Path) -> Ended:
        self.log = self.folder / "log"
        result = self._traced(root, self.scenario.act, (), self.log)
        calls = Counter[str]()
        taken = []
        lines = self.log.read_text(errors="replace").splitlines()
        program = lines[0].split()[0]
        for line in lines:
            found = re.match(rf"{program}\s+(\w+)\((.*)", line)
            if found is None:
                continue
            name, rest = found.groups()
            calls[name] += 1
            opened = name != "openat" or re.search(r"O_WRONLY|O_RDWR|O_CREAT", rest)
            if str(root) in rest and opened:
                taken.append(f"{name} {calls[name]} {rest}".replace(str(root), "")[:160])
        return Ended(0, result, len(taken), tuple(taken))

    def faulted(self, root: Path, arguments: Sequence[str], fault: Fault, at: int) -> Ended:
        name, number, *_ = self.taken[at - 1].split(" ")
        return self.injected(root, arguments, fault, name, int(number))

    def injected(self, root: Path, arguments: Sequence[str], fault: Fault, name: str, number: int) -> Ended:
        when = f"{number}..{number + 1}" if len(fault.signals) > 1 else str(number)
        if fault.error:
            what = f"error={errno.errorcode[fault.error]}"
        else:
            what = f"signal={fault.signals[0].name if fault.signals else 'SIGKILL'}"
        inject = ("-e", f"inject={name}:{what}:when={when}")
        result = self._traced(root, arguments, inject, Path(f"{root}.log"))
        return Ended(-result.code, None) if result.code < 0 else Ended(0, result)

    def _traced(self, root: Path, arguments: Sequence[str], inject: Sequence[str], log: Path) -> Result:
        argv = [require_tool("strace", "strace"), "-f", "-y", "-o", str(log)]
        argv += ["-e", f"trace={','.join(_CALLS)}", *inject]
        tools = self.scenario.host.tools or self.folder / "no-tools"
        argv += planted(self.bugs, tools, *arguments, "--root", root)
        env = {SETTLES: "1"} if MEMORY else {}  # this machine's own disk is not for us to freeze
        ended = subprocess.run(
            argv, cwd=SOURCE, env=environment(env), capture_output=True, text=True, timeout=HANG
        )
        return Result(ended.returncode, ended.stdout, ended.stderr)


class TracedChain(TracedBench, ChainBench):
    """A boot chain, with its programs."""


def bench_of(scenario: Scenario, folder: Path, bugs: tuple[str, ...] = ()) -> TracedBench:
    if scenario.name not in CHAINED:
        return TracedBench(scenario, folder)
    kind = type("Bench", (TracedChain,), {"loader": CHAINED[scenario.name][0].keeps, "bugs": bugs})
    bench: TracedChain = kind(scenario, folder)
    return bench


if __name__ == "__main__":
    if refused():
        sys.exit(refused())
    every = (*TRACED, *(scenario for _, scenario in CHAINED.values()))
    sys.exit(run("tests.crash.injected", FAULTS, bench_of, every, sys.argv[1:]))
