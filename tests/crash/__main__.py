"""`python -m tests.crash [SCENARIO…] [--faults NAME,…] [--jobs N] [--stride N]`: every fault at every call of
every scenario, as a table. The tests take a sample of it. Ends with 1 where something was wrong."""

from __future__ import annotations

import sys

from .faulting import Bench
from .scenarios import SCENARIOS
from .table import run

if __name__ == "__main__":
    sys.exit(run("tests.crash", Bench.faults, Bench, SCENARIOS, sys.argv[1:]))
