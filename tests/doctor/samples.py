"""Known issues of the tests' own, small enough to see at once, and what stands for a scan of a log."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from rocmcfg.advice.doctor.judging.match import Match
from rocmcfg.advice.doctor.judging.origin import Options, Origin, origin
from rocmcfg.advice.doctor.judging.ranking import rank
from rocmcfg.advice.doctor.judging.workarounds import HostState
from rocmcfg.advice.doctor.reading import log_facts, probes
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import catalogue, faults, toml
from rocmcfg.knowledge.diagnosis import log_knowledge
from rocmcfg.model.issue import KnownIssue
from rocmcfg.state.values import Running
from rocmcfg.workflow.planning import collect_facts

LOGS = Path(__file__).parent / "logs"
HEALTHY = Path(__file__).resolve().parents[2] / "rocmcfg/knowledge/data/healthy"

ISSUE = """
kind = "fault"
title = "A test's issue"
summary = "It breaks."
gfx = ["gfx1201"]
kernel = ">=6.10,<6.14"
rocm = ">=7.0,<7.2"
fixed_rocm = ">=7.2"
stages = ["one", "two", "three"]
evidence = ["https://example.org/1"]
confidence = "confirmed"
[workaround]
settings = ["amdgpu.cwsr_enable=0"]
[[signature]]
name = "one"
pattern = 'first stage of it'
strength = "generic"
samples = []
[[signature]]
name = "two"
pattern = 'second stage: code [0-9]+'
strength = "typical"
samples = []
[[signature]]
name = "three"
pattern = 'third and last stage'
strength = "specific"
samples = []
"""


def issue(text: str = ISSUE, id: str = "test-issue") -> KnownIssue:
    return catalogue.issue(id, toml.loads(text))


def scanned(log: bytes, known: Sequence[KnownIssue], *, use_grep: bool = True) -> Scanner:
    scanner = Scanner(probes.of_all(log_knowledge(), known, faults.faults().values()), use_grep=use_grep)
    scanner.read("a.log", io.BytesIO(log))
    return scanner


def facts_of(scanner: Scanner) -> log_facts.LogFacts:
    return log_facts.read_facts(scanner, log_knowledge(), catalogue.gpu_models())


def judged(
    log: bytes, root: Path, known: Sequence[KnownIssue], options: Options | None = None
) -> tuple[tuple[Match, ...], Origin]:
    """The ranking of a log on the host in `root`."""
    view = LocalHost(str(root))
    scanner = scanned(log, known)
    said = facts_of(scanner)
    where = origin(options or Options(), said, collect_facts(view))
    state = HostState(Running(view), {}, (), {} if said.mes is None else {"mes": said.mes})
    ranked = rank(known, scanner.hits, where, state, catalogue.load())
    return ranked, where
