"""The rules for patterns of log lines, which Python's `re` and `grep -E` in the C locale must read alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.model import regex_tree
from rocmcfg.model.regex import UnshippedPattern, compiled, regex, search

# Syntax that Python and `grep -E` in the C locale read differently. It is searched for in the pattern without
# its escaped punctuation and its bracket expressions.
_PUNCTUATION = regex(r"\\[][\\(){}.*+?^$|]")
_BRACKETS = regex(r"\[\^?\]?[^]]*\]")
_NOT_FOR_BOTH = (
    (re.compile(r"[^ -~]"), "characters beyond ASCII"),
    (re.compile(r"\(\?"), "a group that starts with (?"),
    (re.compile(r"[*+?}][*+?{]"), "a repeat of a repeat, or a lazy one"),
    (re.compile(r"\\[0-9]"), "a back-reference"),
    (re.compile(r"\\[^wWbB]"), r"an escape other than \w, \W, \b and \B: write [0-9] for a digit"),
    (re.compile(r"^\||\|\||\|$|\(\||\|\)|\(\)"), "an empty alternative"),
)


def mistakes(pattern: str, samples: Sequence[str]) -> Iterator[str]:
    """Yield the mistakes in a pattern, each as a phrase. It must match each of the samples."""
    if re.search(r"\[\[[:.=]", pattern):
        yield f"{pattern!r} uses a POSIX class, which Python reads as letters"
        return
    rest = _BRACKETS.sub("_", _PUNCTUATION.sub("_", pattern))
    yield from (f"{pattern!r} has {what}" for form, what in _NOT_FOR_BOTH if form.search(rest))
    try:
        compiled(pattern)
        if regex_tree.repeats_a_repeat(pattern):
            yield f"{pattern!r} has a repeat that can take hours"
    except ValueError as problem:
        yield str(problem)
        return
    tried = UnshippedPattern(pattern)
    for sample in samples:
        if "\n" in sample or not (search(tried, sample) or tried.stopped):
            yield f"{pattern!r} does not match its sample {sample!r}"
    if tried.stopped:
        yield f"{pattern!r} takes too long to match its own samples"
