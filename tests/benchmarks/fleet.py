"""Makes the documents of a fleet: `python tests/benchmarks/fleet.py FOLDER HOSTS [NUMBER OF FILES A HOST]`.

Every host has a document of status, with two files one of verify, and with three one of doctor too. Some are
pending, some drift, some have faults, one in a hundred is odd.
"""

from __future__ import annotations

import copy
import json
import random
import statistics
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "fleet/data"
_TIMED = """(async () => {{
  const search = document.getElementById("search"), began = performance.now();
  {};
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now() - began;
}})()"""
KERNELS = ("6.8.0-90-generic", "6.14.0-37-generic", "6.19.0-5-generic")
SYSTEMS = ("Ubuntu 24.04.3 LTS", "Debian GNU/Linux 13 (trixie)", "Rocky Linux 9.6 (Blue Onyx)")
FAULTS = ("AMD-401", "AMD-1007", "AMD-301", "AMD-205")


def make(folder: Path, hosts: int, files: int = 3, *, seed: int = 1) -> None:
    """Write the documents of so many hosts, one folder a host."""
    dice = random.Random(seed)
    templates = {
        name: json.loads((DATA / f"{name}.json").read_text()) for name in ("status", "verify", "doctor")
    }
    for number in range(hosts):
        host = folder / f"node{number:05}.cluster.example.com"
        host.mkdir(parents=True)
        for name, document in _documents(templates, dice, number).items():
            if name in ("status", "verify", "doctor")[:files]:
                (host / f"{name}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def _documents(templates: dict[str, Any], dice: random.Random, number: int) -> dict[str, Any]:
    documents = copy.deepcopy(templates)
    status, verify, doctor = documents["status"], documents["verify"], documents["doctor"]
    lot = dice.random()
    state = "in_effect" if lot < 0.9 else "pending" if lot < 0.96 else "differences"
    status["status"] = verify["status"] = state
    if state != "in_effect":
        check = verify["checks"][dice.randrange(len(verify["checks"]))]
        check["status"] = "pending_reboot" if state == "pending" else "drift"
        check["running"] = "1" if check["desired"] == "0" else "0"
    # What differs between any two hosts.
    transaction = 1 + number % 7
    status |= {
        "transaction": transaction,
        "applied": f"2026-11-{1 + number % 28:02} {number % 24:02}:{number % 60:02}",
    }
    verify["transaction"] = transaction
    doctor["logs"][0]["size"] = dice.randrange(10_000, 10_000_000)
    facts = status["facts"]
    facts["memory"] = dice.randrange(1 << 36, 1 << 38)
    group = number * 3 // 10 % 3
    card = {**facts["gpus"][0], "gfx": ("gfx942", "gfx1201", "gfx1100")[group]}
    count = (8, 1, 2)[group] - (dice.random() < 0.01)
    facts["gpus"] = [{**card, "address": f"0000:{at:02x}:00.0"} for at in range(count)]
    facts["os"]["name"] = SYSTEMS[group]
    release = KERNELS[1] if dice.random() < 0.97 else KERNELS[0]
    facts["running_kernel"] = release
    newest = {**facts["kernels"][-1], "release": KERNELS[2], "version": "6.19", "running": False}
    facts["kernels"] = [{**k, "running": k["release"] == release} for k in facts["kernels"]]
    facts["kernels"] += [newest] * (dice.random() < 0.1)
    if dice.random() < 0.92:
        doctor["faults"], doctor["matches"] = [], []
    else:
        doctor["faults"][0]["id"] = dice.choice(FAULTS)
    return documents


def in_browser(page: Path) -> dict[str, float]:
    """Return the milliseconds that sorting and searching take until the browser has drawn the result: of each
    the slowest of the medians of three."""
    from tests.support.browser import browser

    sorts = [f"document.querySelectorAll('#head button')[{column}].click()" for column in range(6)]
    words = ("n", "node0999", "6.8 pending", "amd-401", "nothing-like-that", "")
    searches = [f"search.value = {word!r}; search.dispatchEvent(new Event('input'))" for word in words]
    slowest = {}
    with browser() as window:
        window.look(1400)
        window.open(page.as_uri())
        for what, acts in (("sort", sorts), ("search", searches)):
            taken = [statistics.median(window.run(_TIMED.format(act)) for _ in range(3)) for act in acts]
            slowest[what] = max(taken)
    return slowest


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 3)
