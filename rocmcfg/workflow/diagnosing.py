"""Diagnose logs and a host: which known issue it is, how sure that is, what helps, and what does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from rocmcfg.advice.doctor import access_facts, log_lines
from rocmcfg.advice.doctor.access import Access, walk
from rocmcfg.advice.doctor.apu_memory import ApuMemory, apu_memory, is_apu
from rocmcfg.advice.doctor.judging import origin, workarounds
from rocmcfg.advice.doctor.judging.bad_pairs import BadPair, bad_pairs
from rocmcfg.advice.doctor.judging.faults import FaultMatch, fault_matches
from rocmcfg.advice.doctor.judging.harmful import Harmful, harmful
from rocmcfg.advice.doctor.judging.match import Match
from rocmcfg.advice.doctor.judging.origin import Options, Origin
from rocmcfg.advice.doctor.judging.overriders import Overriders
from rocmcfg.advice.doctor.judging.ranking import alike, covered, rank
from rocmcfg.advice.doctor.judging.workarounds import Cure, IssueHere, issues_about, issues_of
from rocmcfg.advice.doctor.log_lines import LogLines
from rocmcfg.advice.doctor.reading import log_facts, probes
from rocmcfg.advice.doctor.reading.logs import read_host, read_named, read_window
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.advice.doctor.reading.segments import LogRead
from rocmcfg.facts.gpus import named_gpu
from rocmcfg.facts.system import read_hardware
from rocmcfg.files.environment import set_variables
from rocmcfg.host.kernel_log import KernelLines
from rocmcfg.host.snapshot import Snapshot
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.knowledge import catalogue, diagnosis
from rocmcfg.knowledge import faults as fault_table
from rocmcfg.knowledge.diagnosis import LogKind, LogKnowledge
from rocmcfg.knowledge.kernel_names import KernelName
from rocmcfg.knowledge.no_gpu import access_layers
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity
from rocmcfg.model.facts import Driver, Facts, Kernel, Machine
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.request import Request, root_option
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.version import Version, format_version, parse_kernel
from rocmcfg.records.receipt import boot_id
from rocmcfg.records.receipt import load as load_receipt
from rocmcfg.state.values import Running
from rocmcfg.workflow.planning import collect_facts

_END = 1 << 62  # a position after every line


class LogMachine(NamedTuple):
    """The machine on which the log was written. Each `…_source` says where the fact comes from."""

    gfx: tuple[str, ...]
    gfx_source: str
    possible_gfx: tuple[str, ...]
    kernel: str
    kernel_source: str
    rocm: str | None
    rocm_source: str
    dkms: str


@published(
    "match.issue: issue=id title kind summary",
    "score=match.score confidence=match.issue.confidence reasons=match.reasons stages=match.stages",
    "evidence kernel_names alike=alike.id workaround in_force=match.in_force applied=match.applied",
    "match.issue: cost fixed_in does_not_help notes sources=evidence",
)
class Candidate(NamedTuple):
    """An issue with the lines that point to it, the GEMM kernels in these lines, and the issues that print
    the same lines. `score` is 0 to 1; from 0.5 on the issue is reported. `workaround` is None if nothing
    helps, or if the workaround is already in force."""

    match: Match
    evidence: tuple[LogLines, ...]
    kernel_names: tuple[KernelName, ...]
    cure: Cure
    alike: tuple[KnownIssue, ...] = ()

    @property
    def workaround(self) -> Cure | None:
        return self.cure if self.cure.settings or self.cure.unset or self.cure.steps else None


@published(
    "match.fault: id layer title severity blame continues action meaning step issues",
    "consequence_of=match.causes evidence",
)
class FaultSeen(NamedTuple):
    """A fault class that the logs show, with its lines. `explained`: a known issue explains all of them."""

    match: FaultMatch
    evidence: tuple[LogLines, ...]
    explained: bool


@published(
    "logs kinds=kinds.name facts=machine doubts=where.doubts harmful memory bad_pairs access",
    "matches=candidates faults unknown troubles collect knowledge_version",
)
class Diagnosis(NamedTuple):
    """The result of a diagnosis. `candidates` and `faults` are sorted, best first; `unknown` are the lines of
    faults, without mere notes, that no issue explains, and `collect` lists what a maintainer needs for the
    first of those. `kinds` are the kinds of logs that were read. `troubles` are lines that look like
    a failure, if neither an issue nor a fault class has any. `resets` are looked for only in the log of a
    single boot; `details` are lines that say more about errors, and are none themselves.

    The rest comes from facts, whatever the logs show. `access` is how far a program gets on its way to the
    GPU; None if the named logs are about something else. `harmful` are kernel arguments, `bad_pairs` faults
    that kernel, ROCm and GPU have for certain. `memory` is set if the memory of an APU is full."""

    logs: tuple[LogRead, ...]
    where: Origin
    candidates: tuple[Candidate, ...]
    faults: tuple[FaultSeen, ...]
    unknown: tuple[LogLines, ...]
    collect: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    kinds: tuple[LogKind, ...] = ()
    troubles: tuple[LogLines, ...] = ()
    resets: tuple[LogLines, ...] = ()
    details: tuple[LogLines, ...] = ()
    access: Access | None = None
    harmful: tuple[Harmful, ...] = ()
    bad_pairs: tuple[BadPair, ...] = ()
    memory: ApuMemory | None = None

    @property
    def knowledge_version(self) -> str:
        return catalogue.version()

    @property
    def unexplained(self) -> tuple[FaultSeen, ...]:
        """Return the fault classes with a line that no named issue explains, best first."""
        return tuple(seen for seen in self.faults if not seen.explained)

    @property
    def shows_fault(self) -> bool:
        """Return whether an issue is named, a fault class that is more than a note, a harmful argument, or a
        layer of this host that keeps programs from the GPU."""
        named = any(candidate.match.told for candidate in self.candidates)
        graver = any(seen.match.fault.severity != "note" for seen in self.faults)
        answer = self.access.answer if self.access is not None else None
        return named or graver or bool(self.harmful) or (answer is not None and answer.source == "the host")

    @property
    def machine(self) -> LogMachine:
        where = self.where
        last = max(
            (hit.positions[-1] for candidate in self.candidates for hit in candidate.match.hits), default=0
        )
        return LogMachine(
            where.gfx,
            where.gfx_source if where.gfx or where.possible else "",
            where.possible,
            *where.kernel_at(last),
            format_version(where.rocm) if where.rocm else None,
            where.rocm_source,
            where.log.dkms,
        )


@published("issues")
class IssuesHere(NamedTuple):
    facts: Facts
    issues: tuple[IssueHere, ...]


def known_issues(
    view: HostView,
    words: Sequence[str],
    gfx: Sequence[str],
    *,
    every: bool,
    rocm: Version | None = None,
) -> IssuesHere:
    """Return the known issues of this host's GPUs with its running kernel and its ROCm, or `rocm`. With
    `words`, `gfx` or `every`, return those of any host that contain the words and affect one of the GPUs."""
    from rocmcfg.advice.doctor.host_checks import in_effect

    named = format_version(rocm) if rocm else None
    facts, receipt = collect_facts(view, rocm=named, name_system=False), load_receipt(view)
    if words or gfx or every:
        return IssuesHere(facts, issues_about(words, gfx, rocm))
    return IssuesHere(facts, issues_of(view, facts, in_effect(view, receipt)[0]))


def diagnose(
    view: HostView,
    paths: Sequence[str],
    options: Options,
    environment: Mapping[str, str],
    progress: Callable[[str], None] = lambda _: None,
    *,
    this_boot: bool = False,
    window: KernelLines | None = None,
) -> Diagnosis:
    """Diagnose the logs at `paths`, or this host's own logs if there are none; with `this_boot`, only the
    kernel log of the running boot, and with `window` only these lines of it. `environment` is the caller's;
    it is empty for another root. Raise RocmcfgError if none of the given logs can be read."""
    from rocmcfg.advice.doctor import host_checks

    known, every, of_logs = catalogue.load(), catalogue.known_issues(), diagnosis.log_knowledge()
    classes = fault_table.faults()
    scanner = Scanner(probes.of_all(of_logs, every, classes.values(), resets=this_boot))
    problems = _read(scanner, view, paths, progress, this_boot=this_boot, window=window)
    view = Snapshot(view)
    facts = collect_facts(view, name_system=False)
    hardware = read_hardware(view, tuple(gpu.address for gpu in facts.gpus if gpu.address))
    log = log_facts.read_facts(scanner, of_logs, known.gpus)
    host_name = text_or_empty(view, "/etc/hostname").strip()
    running_boot = boot_id(view).replace("-", "")
    where = origin.origin(
        options, log, facts, named=bool(paths), host_name=host_name, running_boot=running_boot
    )
    firmware = host_checks.loaded_firmware(hardware) if where.host else {}
    if log.mes is not None:
        firmware["mes"] = log.mes
    receipt = None
    try:
        receipt = load_receipt(view) if where.host is not None else None
    except RocmcfgError as problem:  # the logs are worth reading anyway
        problems += [each._replace(severity=Severity.WARNING) for each in problem.diagnostics]
    variables = set_variables(view, environment)
    applied, not_applied = host_checks.in_effect(view, receipt) if where.host is not None else ((), [])
    state = workarounds.HostState(Running(view), variables, applied, firmware)
    ranked = rank(every, scanner.hits, where, state, known)
    request = receipt.request if receipt else Request()
    suggested = workarounds.suggested(view, facts) if where.host is not None else {}
    beats = Overriders(view, facts, receipt, known) if where.host is not None else None
    candidates = []
    for match in ranked:
        lines = log_lines.of_match(match, scanner)
        by_profile = workarounds.by_profile(view, match, facts, known) if where.host is not None else {}
        boot = where.host.boot if where.host is not None else None
        cure = workarounds.cure(match, request, by_profile, suggested, view.root, boot, beats)
        others = alike(match, every, scanner.hits, where, known) if match.told else ()
        candidates.append(Candidate(match, lines, log_lines.kernel_names(lines), cure, others))
    problems += log_lines.refused_parameters(log, scanner, known)
    problems += host_checks.driver_and_rocm(log.dkms, log.rocm, "the log")
    if where.host is not None:
        problems += not_applied
        problems += host_checks.check(view, facts, hardware, receipt, known, variables)
    faults = _faults_seen(scanner, covered(ranked), ours=not log.is_another_vendors)
    kinds = _kinds(scanner, of_logs, of_host=not paths)
    is_quiet = any(not kind.troubles for kind in kinds[:1])
    unexplained = (seen for seen in faults if not seen.explained and seen.match.fault.severity != "note")
    unknown = tuple(lines for seen in unexplained for lines in seen.evidence)
    in_logs = _named_by(candidates, faults)
    return Diagnosis(
        tuple(scanner.logs),
        where,
        tuple(candidates),
        faults,
        unknown,
        _to_collect(faults),
        tuple(problems),
        kinds,
        () if candidates or faults or is_quiet else log_lines.of_role("trouble", scanner.hits, scanner),
        log_lines.of_role("reset", scanner.hits, scanner),
        log_lines.of_role("detail", scanner.hits, scanner),
        _access(view, where, variables, environment, in_logs, own_logs=not paths),
        _harmful(where, Running(view), known),
        _bad_pairs(where, candidates, state, known),
        _memory(view, where, in_logs, known),
    )


def _read(
    scanner: Scanner,
    view: HostView,
    paths: Sequence[str],
    progress: Callable[[str], None],
    *,
    this_boot: bool,
    window: KernelLines | None,
) -> list[Diagnostic]:
    if window is not None:
        return read_window(scanner, window)
    if paths:
        return read_named(scanner, paths, progress)
    return read_host(scanner, view, progress, this_boot=this_boot)


def _named_by(candidates: Sequence[Candidate], faults: Sequence[FaultSeen]) -> frozenset[str]:
    """Return the ids of the known issues and fault classes that the logs show."""
    issues = (candidate.match.issue.id for candidate in candidates if candidate.match.told)
    return frozenset((*issues, *(seen.match.fault.id for seen in faults)))


def _access(
    view: HostView,
    where: Origin,
    variables: Mapping[str, tuple[str | None, str]],
    environment: Mapping[str, str],
    in_log: frozenset[str],
    *,
    own_logs: bool,
) -> Access | None:
    """Return how far a program gets on its way to the GPU. A log that names no layer of it is about something
    else."""
    shown = {}
    if where.host is not None and not where.doubts:
        shown = access_facts.read(view, where.host, variables, environment)
    access = walk(access_layers(), shown, in_log, own_log=own_logs)
    return access if own_logs or walk(access_layers(), {}, in_log).answer is not None else None


def _harmful(where: Origin, running: Running, known: Catalogue) -> tuple[Harmful, ...]:
    """Return the harmful arguments of the boot that wrote the last lines of the logs, and those with which
    this host runs, if the logs may be its own."""
    gpus = tuple(named_gpu(gfx, known.gpus) for gfx in where.gfx)
    release = where.kernel_at(_END)[0]
    version = parse_kernel(release)
    kernels = (Kernel(release, version, Driver.MODULE),) if version else ()
    of_log = harmful(where.log.kargs_at(_END) or (), Machine(kernels, gpus), known)
    own = where.host is not None and not where.doubts
    of_host = harmful(running.kargs, where.host.machine, known) if own and where.host else ()
    return tuple({each.argument: each for each in (*of_host, *of_log)}.values())


def _bad_pairs(
    where: Origin, candidates: Sequence[Candidate], state: workarounds.HostState, known: Catalogue
) -> tuple[BadPair, ...]:
    """Return the faults that are certain by the facts, without those that the logs show anyway, and without
    those that are worked around on this host."""
    explained = {candidate.match.issue for candidate in candidates if candidate.match.told}
    pairs = bad_pairs(catalogue.known_issues(), where, _END, known)
    return tuple(
        pair
        for pair in pairs
        if pair.issue not in explained and not (where.host and _worked_around(pair.issue, state, known))
    )


def _worked_around(issue: KnownIssue, state: workarounds.HostState, known: Catalogue) -> bool:
    cure = issue.workaround.settings
    return bool(cure) and all(workarounds.done(setting, None, state, known) for setting in cure)


def _memory(view: HostView, where: Origin, in_logs: frozenset[str], known: Catalogue) -> ApuMemory | None:
    """Return how much an APU may map, if the logs show that its memory is full."""
    knowledge = diagnosis.host_knowledge().memory
    if not in_logs & {*knowledge.faults, *knowledge.issues} or not is_apu(where, known.gpus):
        return None
    return apu_memory(view, where, where.log.gtt, knowledge, root_option(view.root))


def _kinds(scanner: Scanner, knowledge: LogKnowledge, *, of_host: bool) -> tuple[LogKind, ...]:
    """Return the kinds of logs that were read, the one with the most lines first. The logs of this host are
    its kernel's, whatever lines they have."""
    lines = Counter({"kernel": 1} if of_host and scanner.logs else {})
    for hit in scanner.hits:
        if hit.probe.role == "kind":
            lines[hit.probe.kind] += len(hit.positions)
    by_name = {kind.name: kind for kind in knowledge.kinds}
    return tuple(by_name[name] for name, count in lines.most_common() if count)


def _faults_seen(scanner: Scanner, explained: Collection[int], *, ours: bool) -> tuple[FaultSeen, ...]:
    """Return the fault classes of the logs. Lines that a named issue explains are left out of a class that
    has others too."""
    classes = fault_table.faults()
    every = fault_matches(classes, scanner.hits, ours=ours)
    rest = {match.fault.id: match for match in fault_matches(classes, scanner.hits, explained, ours=ours)}
    seen = (
        FaultSeen(chosen, log_lines.of_fault(chosen, scanner), match.fault.id not in rest)
        for match in every
        for chosen in (rest.get(match.fault.id, match),)
    )
    return tuple(seen)


def _to_collect(faults: Sequence[FaultSeen]) -> tuple[str, ...]:
    """Return what a report of the first fault needs that no issue explains, with the commands."""
    first = next((seen.match.fault for seen in faults if not seen.explained), None)
    every = fault_table.collectibles()
    return tuple(f"{every[key].what}: {every[key].command}" for key in first.collect) if first else ()
