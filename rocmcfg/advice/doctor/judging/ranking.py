"""Score each known issue by a log, from 0 to 1, with reasons.

doctor names an issue with a score of 0.5 or more. A specific line is enough for that, even on a GPU that no
report names, because the list of reports is not complete. A typical line also needs a condition of the issue
that is met, or a log from the GPU's generation; a generic line only adds to the score. An issue that this
kernel or ROCm cannot have, or that is fixed there, stays below. The numbers rank issues; they are not
probabilities.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise

from rocmcfg.advice.doctor.judging.match import AppliedSetting, InForce, Match, Stages, damped
from rocmcfg.advice.doctor.judging.origin import Origin, Reason, conditions, fixes
from rocmcfg.advice.doctor.judging.workarounds import HostState, done, where_in_force
from rocmcfg.advice.doctor.reading.hits import Hits
from rocmcfg.knowledge.diagnosis import host_knowledge
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.issue import KnownIssue, Signature

_SHOWN = 0.2
_BASE = {"specific": 0.7, "typical": 0.55, "generic": 0.37}
_MET = {"gfx": 0.05, "kernel": 0.03, "rocm": 0.03, "gpus": 0.03, "firmware": 0.1}
_UNKNOWN = {
    "specific": {"gfx": -0.03, "gfx-generation": 0.0, "kernel": -0.01, "rocm": -0.01, "firmware": 0.0},
    "typical": {"gfx": -0.16, "gfx-generation": -0.02, "kernel": -0.02, "rocm": -0.03, "firmware": -0.13},
}
_LOW = 0.45  # at most, for an issue that doctor does not name
_ELSEWHERE = (0.5, 0.6)  # for a specific line of an issue that is reported on other GPUs
_SURE = {"confirmed": 1.0, "reported": 0.97, "unverified": 0.9}
_KINDS = {"fault": 0, "advice": 1, "spelling": 2}
_RANK = {"specific": 0, "typical": 1, "generic": 2}


def rank(
    issues: Iterable[KnownIssue], hits: Iterable[Hits], where: Origin, host: HostState, catalogue: Catalogue
) -> tuple[Match, ...]:
    """Return the matches, the best first."""
    by_issue: dict[str, list[Hits]] = {}
    for hit in hits:
        if hit.probe.role == "signature" and hit.positions:
            by_issue.setdefault(hit.probe.issue, []).append(hit)
    strong = (hit for own in by_issue.values() for hit in own if _is_telling(hit, own))
    telling = {at for hit in strong for at in hit.positions}
    judged = (
        _judge(issue, by_issue[issue.id], where, host, catalogue) for issue in issues if issue.id in by_issue
    )
    matched = [match for match in judged if match is not None and match.score >= _SHOWN]
    certain = any(match.told for match in matched)
    matched = [
        match
        for match in matched
        if any(_is_telling(hit, match.hits) for hit in match.hits)
        # a match by generic lines alone is shown if it explains a line that nothing else explains
        or (not certain and any(telling.intersection(hit.positions) for hit in match.hits))
    ]
    return tuple(sorted(matched, key=lambda m: (not m.told, _KINDS[m.issue.kind], -m.score, m.issue.id)))


def _judge(
    issue: KnownIssue, hits: Sequence[Hits], where: Origin, host: HostState, catalogue: Catalogue
) -> Match | None:
    weighed = sorted(
        ((_strength(hit, hits), hit) for hit in hits), key=lambda pair: (_RANK[pair[0]], pair[1].positions[0])
    )
    strengths = _kinds(weighed)
    best = strengths[0]
    position = weighed[0][1].positions[-1]
    stated = conditions(issue, where, position, catalogue) + _firmware(issue, host.firmware)
    against = fixes(issue, where, position, catalogue)
    if best == "generic" and not _may_be(stated, against):
        return None
    reasons = [Reason("signature", True, _kinds_of_lines(strengths))]
    # each further kind of matching line makes the issue likelier, up to a limit
    score = _BASE[best] + min(sum(0.02 if strength == "generic" else 0.05 for strength in strengths[1:]), 0.1)
    stages = _stages(issue, hits, where)
    if stages is not None and len(stages.in_order) > 1:
        score += 0.08 * stages.share
        summary = f"{len(stages.in_order)} of {len(stages.wanted)} stages of the failure, in order"
        reasons.append(Reason("stages", True, summary))
    for reason in stated if best != "generic" else ():
        score += _MET[reason.what] if reason.met else _UNKNOWN[best].get(reason.what, 0.0)
    score = _limited(score * _SURE[issue.confidence], best, stated, against)
    then = host if where.same_boots else None
    kargs = where.log.kargs_at(position)
    settings = issue.workaround.settings
    tried = tuple(
        InForce(setting, place)
        for setting in settings
        if kargs is not None and (place := where_in_force(setting, kargs, then, catalogue))
    )
    score *= damped(issue, len(tried))
    waiting = tuple(
        AppliedSetting(setting, state)
        for setting in settings
        if where.host is not None and setting not in dict(tried)
        if (state := done(setting, kargs, host, catalogue))
    )
    helpless = [Reason("in_force", False, f"{s} was in force ({p}) and did not help") for s, p in tried]
    return Match(
        issue,
        round(min(max(score, 0.0), 0.99), 2),
        tuple(hit for _, hit in weighed),
        (*reasons, *stated, *against, *helpless),
        stages,
        tried,
        waiting,
    )


def _limited(score: float, best: str, stated: Sequence[Reason], against: Sequence[Reason]) -> float:
    """Limit a score by what speaks against an issue: a version always does, the GPU only if no specific line
    was found."""
    unmet = {reason.what for reason in (*stated, *against) if reason.met is False}
    if best == "specific" and unmet and unmet <= {"gfx", "gpus"}:
        low, high = _ELSEWHERE
        return min(max(0.8 * score, low), high)
    if unmet:
        return min(0.6 * score, _LOW)
    supported = any(reason.met or reason.what == "gfx-generation" for reason in stated)
    return min(score, _LOW) if best == "typical" and stated and not supported else score


def _signature(hit: Hits) -> Signature:
    assert hit.probe.signature is not None
    return hit.probe.signature


def _strength(hit: Hits, hits: Sequence[Hits]) -> str:
    """Return the strength of a signature. A signature that counts only `beside` another one is generic if the
    other was not found."""
    signature = _signature(hit)
    if signature.beside and all(_signature(other).name != signature.beside for other in hits):
        return "generic"
    return signature.strength


def _is_telling(hit: Hits, hits: Sequence[Hits]) -> bool:
    return _strength(hit, hits) != "generic"


def _may_be(stated: Sequence[Reason], against: Sequence[Reason]) -> bool:
    """Return whether an issue may be the cause of lines that other faults print, too: it is known on this
    GPU, and nothing speaks against it."""
    of_this_gpu = any(reason.what == "gfx" and reason.met for reason in stated)
    return of_this_gpu and all(reason.met is not False for reason in (*stated, *against))


def _kinds(weighed: Sequence[tuple[str, Hits]]) -> list[str]:
    """Return the strengths, without those of signatures that only match lines of a stronger one."""
    strengths, read = [], set[int]()
    for strength, hit in weighed:
        if not read.issuperset(hit.positions):
            strengths.append(strength)
        read.update(hit.positions)
    return strengths


def _kinds_of_lines(strengths: Sequence[str]) -> str:
    adjectives = {"specific": "unique", "typical": "typical", "generic": "fitting"}
    counted = [f"{n} {adjectives[strength]}" for strength in _RANK if (n := strengths.count(strength))]
    return f"evidence: {', '.join(counted)} line{'' if len(strengths) == 1 else 's'}"


def _stages(issue: KnownIssue, hits: Sequence[Hits], where: Origin) -> Stages | None:
    if not issue.stages:
        return None
    positions: dict[str, list[int]] = {}
    for hit in hits:
        name = _signature(hit).name
        if name in issue.stages:
            positions[name] = sorted([*positions.get(name, ()), *hit.positions])
    return follow(issue.stages, positions, [kernel.position for kernel in where.log.kernels])


def follow(wanted: Sequence[str], positions: Mapping[str, Sequence[int]], boots: Sequence[int]) -> Stages:
    """Return the stages that a log shows in order. `positions` are sorted, by name of the stage; `boots` are
    the positions at which a boot begins.

    Drivers retry: a stage may occur many times, and other stages may come between two stages.
    """
    seen = tuple(name for name in wanted if positions.get(name))
    spans = list(pairwise((-1, *boots, 1 << 63)))
    for length in range(len(seen), 1, -1):
        for chosen in combinations(seen, length):
            if any(_one_after_the_other(chosen, positions, start, end) for start, end in spans):
                return Stages(tuple(wanted), seen, chosen)
    return Stages(tuple(wanted), seen, seen[:1])


def _one_after_the_other(
    names: Sequence[str], positions: Mapping[str, Sequence[int]], start: int, end: int
) -> bool:
    at = start - 1
    for name in names:
        places = positions[name]
        index = bisect_right(places, at)
        if index == len(places) or places[index] >= end:
            return False
        at = places[index]
    return True


def _firmware(issue: KnownIssue, loaded: Mapping[str, int]) -> list[Reason]:
    """Judge whether the firmware that the issue is about is loaded; empty for an issue without one."""
    row = next((row for row in host_knowledge().firmware if row.issue == issue.id), None)
    if row is None:
        return []
    version, name = loaded.get(row.block), row.block.upper()
    if version is None:
        return [Reason("firmware", None, f"the loaded {name} firmware is unknown")]
    bad, counted = row.is_bad(version), version & row.counted
    relation = "is the version" if bad else "is not the version"
    return [Reason("firmware", bad, f"{name} firmware {counted:#x} {relation} that is known to fail")]


def alike(
    match: Match, issues: Iterable[KnownIssue], hits: Iterable[Hits], where: Origin, catalogue: Catalogue
) -> tuple[KnownIssue, ...]:
    """Return other faults of this machine that print the lines of a match, if none of the lines is
    specific."""
    if any(_strength(hit, match.hits) == "specific" for hit in match.hits):
        return ()
    lines = {position for hit in match.hits for position in hit.positions}
    others = (hit for hit in hits if hit.probe.issue not in ("", match.issue.id))
    printing = {hit.probe.issue for hit in others if not lines.isdisjoint(hit.positions)}
    first = min(lines)
    return tuple(
        issue
        for issue in issues
        if issue.id in printing
        and issue.kind == "fault"
        and issue.confidence != "unverified"
        and _may_be(conditions(issue, where, first, catalogue), fixes(issue, where, first, catalogue))
    )


def covered(matches: Sequence[Match]) -> set[int]:
    """Return the positions of lines that an issue named by doctor explains."""
    return {position for match in matches if match.told for hit in match.hits for position in hit.positions}
