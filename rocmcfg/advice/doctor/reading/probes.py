"""The patterns to search for in a log: signatures of known issues, facts about the machine, fault classes.

Every pattern has the same meaning in Python's `re` and in `grep -E` in the C locale: no look-around, no lazy
repeats, no `\\d`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from rocmcfg.advice.doctor.reading import outlines
from rocmcfg.knowledge import compiled
from rocmcfg.knowledge.diagnosis import LogKnowledge
from rocmcfg.model import regex_tree
from rocmcfg.model.fault import Fault
from rocmcfg.model.issue import KnownIssue, Signature
from rocmcfg.model.regex import UnshippedPattern, regex
from rocmcfg.model.regex import bounded as bounded_time
from rocmcfg.model.shape import NamedTuple

Role = Literal["signature", "fact", "fault", "detail", "reset", "kind", "trouble"]
# A pattern that matched this often, or this many bytes of lines, is no longer searched for: a storm of faults
# shows nothing new, and this limits the time for it. Its count is then shown as "or more".
ENOUGH: Mapping[Role, int] = {
    "signature": 20_000,
    "fault": 20_000,
    "fact": 500,
    "detail": 500,
    "reset": 500,
    "kind": 20,
    "trouble": 500,
}
ENOUGH_BYTES = 1 << 20
TEXTS, PARTS = "advice/doctor/required", "advice/doctor/parts"  # in compiled.tsv


class Part(NamedTuple):
    """An alternative of a probe's pattern. Every match contains one text of each of `required`, which is all
    that counts if the pattern is empty. `blind` is the last kind of outline (see `outlines`) of which all
    lines match or none."""

    pattern: str
    required: tuple[tuple[bytes, ...], ...]
    blind: int

    def match(self, line: bytes) -> bool:
        for texts in self.required:
            for text in texts:
                if text in line:
                    break
            else:
                return False
        if isinstance(self.pattern, UnshippedPattern):
            return bool(bounded_time(self.pattern, lambda: _compiled(self.pattern).search(line), len(line)))
        return not self.pattern or _compiled(self.pattern).search(line) is not None


class Probe(NamedTuple):
    """One pattern. Every match contains one of `literals`, which is the empty text if none can be derived.
    The line must also contain one text of each of the `others`, of which the last are the `needs`. `issue`
    and `signature` are set for signatures, `fault` for fault classes (the id), `kind` for kinds of logs (the
    name). `shared`: another vendor's software prints such a line, too. `every_line`: as in FactPattern."""

    role: Role
    pattern: str
    literals: tuple[bytes, ...]
    others: tuple[tuple[bytes, ...], ...]
    needs: tuple[str, ...] = ()
    issue: str = ""
    signature: Signature | None = None
    shared: bool = False
    fault: str = ""
    kind: str = ""
    every_line: bool = False

    @property
    def required_length(self) -> int:
        """Return how many characters a match has at least, as far as its texts show."""
        return sum(min(map(len, texts)) for texts in (self.literals, *self.others))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the alternatives of the pattern: a line matches if it matches one of them."""
        return _parts(self.pattern, self.needs)

    def match(self, line: bytes) -> bool:
        return any(part.match(line) for part in self.parts)


def probe(role: Role, pattern: str, needs: Sequence[str] = (), **more: Any) -> Probe:
    """Return the probe of a pattern. A line must also contain one of the texts `needs`. Raises re.error for
    an invalid pattern."""
    ready = _ready(TEXTS).get(pattern)
    if ready is not None:
        texts, *others = (tuple(map(str.encode, group)) for group in ready)
    else:
        texts, *others = bounded_time(pattern, lambda: required(pattern), len(pattern)) or [(b"",)]
    others += [tuple(map(str.encode, needs))] if needs else []
    return Probe(role, pattern, texts, tuple(others), tuple(needs), **more)


@functools.cache
def _ready(what: str) -> dict[str, list[Any]]:
    """Return what is on record for the shipped patterns; deriving it from them would take longer than the
    rest of doctor's start."""
    return compiled.known(what, b"") or {}


@functools.cache
def _parts(pattern: str, needs: tuple[str, ...]) -> tuple[Part, ...]:
    ready = _ready(PARTS).get(pattern)
    if ready is None:
        whole = [0, len(pattern), outlines.NONE, [""]]
        ready = bounded_time(pattern, lambda: parts(pattern), len(pattern)) or [whole]
    more = (tuple(map(str.encode, needs)),) if needs else ()
    blind_needs = _blindness("", needs)
    return tuple(
        Part(
            pattern if end - start == len(pattern) else pattern[start:end],
            (*(tuple(map(str.encode, texts)) for texts in sets), *more),
            min(blind, blind_needs),
        )
        for start, end, blind, *sets in ready
    )


_blindness = functools.cache(outlines.blindness)


def parts(pattern: str) -> list[list[Any]]:
    """Return the alternatives of a pattern: where each begins and ends, if it is more than a text, the kind
    of outline to which it is blind, and the sets of texts that it requires. A pattern that a host added
    stays whole, as its time is limited."""
    whole = isinstance(pattern, UnshippedPattern)
    spans = [(0, len(pattern))] if whole else regex_tree.alternatives(pattern)
    made: list[list[Any]] = []
    for start, end in spans:
        part = pattern[start:end]
        sets = [[text.decode() for text in texts] for texts in required(part)]
        is_text = not whole and all(isinstance(n, regex_tree.Literal) for n in regex_tree.parsed(part))
        made.append([start, start if is_text and part.isascii() else end, _blindness(part, ()), *sets])
    return made


@functools.cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    """Return a pattern compiled, once and only when needed: most logs match few of the patterns."""
    return re.compile(bounded(pattern).encode())


# One piece of a pattern (an escape, a set, any other character) and the repeat after it.
_PIECE = regex(r"(\\.|\[\^?\]?[^]]*\]|[^\\\[])([*+](?![?+]))?", re.DOTALL)
_GAP = 256  # characters; those in names of GEMM kernels take up to 90


def bounded(pattern: str) -> str:
    """Return a pattern with its gaps limited to `_GAP` characters if it has several gaps.

    Python's `re` tries every combination of ends: three gaps in a line of 4 KiB would take minutes.
    """
    pieces = _PIECE.findall(pattern)
    gaps = [piece for piece, repeat in pieces if repeat and _is_wide(piece)]
    if len(gaps) < 2 or "".join(piece + repeat for piece, repeat in pieces) != pattern:
        return pattern
    return "".join(
        f"{piece}{{{int(repeat == '+')},{_GAP}}}" if repeat and _is_wide(piece) else piece + repeat
        for piece, repeat in pieces
    )


def _is_wide(piece: str) -> bool:
    return piece in (".", r"\w", r"\S") or (piece.startswith("[") and piece not in ("[0-9]", "[0-9.]"))


def of_logs(knowledge: LogKnowledge, *, resets: bool = False) -> list[Probe]:
    """Return the probes for every log; with `resets` also those for GPU resets."""
    facts = [probe("fact", fact.pattern, every_line=fact.every_line) for fact in knowledge.facts]
    details = [probe("detail", pattern, ("amdgpu",)) for pattern in knowledge.details]
    more = [probe("reset", pattern, ("amdgpu",)) for pattern in knowledge.resets if resets]
    kinds = [probe("kind", pattern, kind=kind.name) for kind in knowledge.kinds for pattern in kind.patterns]
    troubles = [probe("trouble", pattern) for pattern in knowledge.troubles]
    return [*facts, *details, *more, *kinds, *troubles]


def of_all(
    knowledge: LogKnowledge, issues: Iterable[KnownIssue], faults: Iterable[Fault], *, resets: bool = False
) -> list[Probe]:
    """Return the probes of a diagnosis."""
    return of_logs(knowledge, resets=resets) + of_issues(issues) + of_faults(faults)


def of_issues(issues: Iterable[KnownIssue]) -> list[Probe]:
    return [
        probe("signature", signature.pattern, issue=issue.id, signature=signature)
        for issue in issues
        for signature in issue.signatures
    ]


def of_faults(faults: Iterable[Fault]) -> list[Probe]:
    return [
        probe("fault", pattern.pattern, pattern.needs, shared=pattern.shared, fault=fault.id)
        for fault in faults
        for pattern in fault.patterns
    ]


_EMPTY = frozenset(("",))
_MOST, _FEW = 16, 4  # texts that a part of a pattern requires; characters of a set that count as texts


def required(pattern: str) -> list[tuple[bytes, ...]]:
    """Return sets of texts such that every match of the pattern contains one text of each set. The most
    selective set comes first, the one whose shortest text is longest. If none can be derived, the only set
    contains the empty text."""
    sets = sorted(_sets(regex_tree.parsed(pattern)), key=_telling, reverse=True) or [frozenset(("",))]
    return [tuple(sorted(text.encode() for text in texts)) for texts in sets]


def _telling(texts: frozenset[str]) -> tuple[int, int]:
    return min(map(len, texts)), -len(texts)


def _required(tree: regex_tree.Tree) -> frozenset[str] | None:
    return max(_sets(tree), key=_telling, default=None)


def _sets(tree: regex_tree.Tree) -> list[frozenset[str]]:
    """Return the texts that a sequence requires, part by part. Neighbours that match a few texts alone make
    one part, so that `(gfx|mes)_v` requires `gfx_v` or `mes_v`."""
    sets: list[frozenset[str]] = []
    run = _EMPTY
    for node in tree:
        exact = _exact(node)
        if exact and len(run) * len(exact) <= _MOST:
            run = frozenset(start + end for start in run for end in exact)
            continue
        sets.append(run)
        run = exact or _EMPTY
        if not exact and (inner := _of_part(node)):
            sets.append(inner)
    return [texts for texts in (*sets, run) if all(texts)]


def _exact(node: regex_tree.Node) -> frozenset[str]:
    """Return the texts that a part matches, if these are few; otherwise none."""
    if isinstance(node, regex_tree.Literal):
        return frozenset((node.character,) if node.character.isascii() else ())
    if isinstance(node, regex_tree.Characters):
        return _characters(node.source)
    if isinstance(node, regex_tree.Branch):
        branches = [_exact_sequence(branch) for branch in node.branches]
        return _if_few(frozenset().union(*branches) if all(branches) else frozenset())
    return _exact_sequence(node.body) if isinstance(node, regex_tree.Group) else frozenset()


def _exact_sequence(tree: regex_tree.Tree) -> frozenset[str]:
    run = _EMPTY
    for node in tree:
        exact = _exact(node)
        run = _if_few(frozenset(start + end for start in run for end in exact))
    return run


def _if_few(texts: frozenset[str]) -> frozenset[str]:
    return texts if len(texts) <= _MOST else frozenset()


@functools.cache
def _characters(source: str) -> frozenset[str]:
    """Return the characters of a set, if these are few and ASCII alone."""
    matches = outlines.bytes_of(source)
    return frozenset(map(chr, matches)) if len(matches) <= _FEW and max(matches) < 128 else frozenset()


def _of_part(node: regex_tree.Node) -> frozenset[str] | None:
    if isinstance(node, regex_tree.Group) or (isinstance(node, regex_tree.Repeat) and node.least > 0):
        return _required(node.body)
    if isinstance(node, regex_tree.Branch):
        branches = [_required(branch) for branch in node.branches]
        if all(branches):
            return frozenset(text for branch in branches for text in branch or ())
    return None
