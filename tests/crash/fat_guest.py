"""What runs inside the kernel that `fat.py` boots: each job is an act on a host whose EFI partition is FAT,
with every write to that partition on record (dm-log-writes), and a mark in it before each step there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.tool_host import SETTLES

from .crashing import CrashingHost, child
from .planted import BUGS

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def run(*argv: str) -> None:
    subprocess.run(argv, env={"PATH": _PATH, "DM_DISABLE_UDEV": "1"}, check=True)


class Marking(CrashingHost):
    """`device` is the one whose writes are on record, mounted at `place`; marked are the steps there."""

    device = place = ""
    was_there = False

    def _step(self, name: str, half: Callable[[], object]) -> None:
        super()._step(name, half)
        there = name.startswith("run ") or f" {self.place}/" in name
        if there or self.was_there:
            self.mark(str(self.steps))
        self.was_there = there

    def mark(self, text: str) -> None:
        run("dmsetup", "message", self.device, "0", "mark", text)


def do(work: Path, number: int, job: dict[str, Any]) -> None:
    from . import fat

    for bug in job["bugs"]:
        BUGS[bug]()
    data, log = (f"/dev/ubd{chr(ord('a') + 2 * number + more)}" for more in (0, 1))
    sectors = Path(f"/sys/block/{Path(data).name}/size").read_text().strip()
    device = f"esp{number}"
    run("dmsetup", "create", device, "--table", f"0 {sectors} log-writes {data} {log}")
    root = work / job["root"]
    place = root / job["esp"]
    run("mount", "-t", "vfat", "-o", fat.OPTIONS, f"/dev/mapper/{device}", str(place))
    host = fat.CHAINS[job["chain"]].of(Marking)(str(root))
    assert isinstance(host, Marking)
    host.device, host.place = device, f"/{job['esp']}"
    fat.ACTS[job["act"]][1].run(host)
    host.mark("said")
    run("umount", str(place))
    run("dmsetup", "remove", device)


def main(work: Path) -> None:
    os.environ[SETTLES] = "1"
    for number, job in enumerate(json.loads((work / "jobs.json").read_text())):
        began = time.monotonic()
        assert child(lambda: do(work, number, job)) == 0, job  # noqa: B023
        print(job["name"], f"{time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
