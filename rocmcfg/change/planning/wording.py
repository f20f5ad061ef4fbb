"""Turn verdicts into the diagnostics of a plan: add an id, and how serious the verdict is for a plan. What a
setting of a shipped profile does is described in the profile's own texts."""

from __future__ import annotations

from functools import partial

from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.judging.words import Advice, Words, words
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, Severity
from rocmcfg.model.exhaustive import assert_never
from rocmcfg.model.facts import Machine
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling

# Verdicts that say what a setting of the user's own really does.
_CAUTIONS = frozenset(
    {About.BUILD_ONLY, About.OCTAL, About.TRAP, About.NO_EFFECT, About.FEATURE_TAINTS, About.SIDE_EFFECT}
)


class _Frame(NamedTuple):
    """What a plan adds to the words of a verdict."""

    severity: Severity
    id: str
    wording: Words


error, warning, info = (partial(_Frame, severity) for severity in Severity)


def worded(
    verdict: Verdict, setting: Spelling, location: str, catalogue: Catalogue, machine: Machine
) -> Diagnostic | None:
    """Return the diagnostic for a verdict, or None for one that does not matter for a plan, such as a default
    value."""
    frame = _framed(verdict, setting.kind, words(verdict, setting, catalogue, machine))
    if frame is None:
        return None
    wording = frame.wording
    hint = wording.cure
    if frame.id == "RC2103":
        hint = f"remove it from the profile, or leave it out with --without {setting.id}"
    return Diagnostic(frame.severity, frame.id, wording.summary, wording.why, location, hint)


def is_caution(verdict: Verdict, setting: Spelling) -> bool:
    """Return whether a verdict says what a setting really does, or guesses what was meant. Cautions are shown
    only for the user's own settings."""
    if verdict.about in _CAUTIONS:
        return verdict.trap_kind != "limited"  # a profile does not know on which kernel it will be used
    if setting.kind is Kind.KARG and verdict.about is About.MISNAMED:
        return not verdict.why
    guesses = (About.UNKNOWN, About.UNKNOWN_MODULE, About.DEPRECATED)
    return setting.kind in (Kind.KARG, Kind.ENV) and verdict.about in guesses


def _framed(verdict: Verdict, kind: Kind, wording: Words) -> _Frame | None:  # noqa: PLR0912  # a branch for each
    unsure = verdict.holds is None
    match verdict.about:
        case About.UNKNOWN_MODULE if kind is not Kind.PARAMETER:
            return warning("RC2050", wording)
        case About.UNKNOWN_MODULE:
            return warning("RC2109", wording) if unsure else error("RC2110", wording)
        case About.UNKNOWN | About.MISNAMED:
            return _of_the_name(verdict, kind, wording)
        case About.ABSENT if wording.advice is not Advice.TAKE_OUT:
            return warning("RC2102", wording)
        case About.ABSENT:
            return error("RC2103", wording)
        case About.DEPRECATED:
            if kind is not Kind.PARAMETER:
                return info("RC2050", wording)
            return info("RC2108", wording) if wording.advice is Advice.NOTE else warning("RC2108", wording)
        case About.ILLEGAL:
            return _illegal(verdict, kind, wording)
        case About.OUT_OF_RANGE:
            return error("RC2105", wording)
        case About.PRESENCE_ONLY:
            return warning("RC2018", wording)
        case About.TRAP:
            grave = verdict.is_grave or verdict.trap_kind == "limited"
            return warning("RC2050", wording) if grave else info("RC2050", wording)
        case About.UNDOES:
            return info("RC2060", wording) if unsure else warning("RC2060", wording)
        case About.LOSES:
            sure = wording.advice is not Advice.NOTE
            return warning("RC2050", wording) if sure else info("RC2050", wording)
        case About.TAINTS:
            return info("RC2107", wording)
        case About.BUILD_ONLY | About.OCTAL | About.NO_EFFECT | About.FEATURE_TAINTS | About.SIDE_EFFECT:
            return info("RC2050", wording)
        case About.DEFAULT | About.FIXED:
            return None
        case _:
            assert_never(verdict.about)


def _of_the_name(verdict: Verdict, kind: Kind, wording: Words) -> _Frame:
    misnamed = verdict.about is About.MISNAMED
    match kind:
        case Kind.PARAMETER:
            refused = misnamed or verdict.holds
            return error("RC2101", wording) if refused else warning("RC2101", wording)
        case Kind.FEATURE:
            return error("RC2020", wording)
        case Kind.KARG:
            if misnamed and verdict.why:
                return error("RC2015", wording)
            return info("RC2050", wording) if wording.advice is Advice.NOTE else warning("RC2050", wording)
        case Kind.ENV if misnamed:
            return error("RC2016", wording)
        case Kind.ENV:
            return warning("RC2050", wording) if verdict.why else info("RC2050", wording)
        case _:
            assert_never(kind)


def _illegal(verdict: Verdict, kind: Kind, wording: Words) -> _Frame:
    match kind:
        case Kind.PARAMETER:
            return warning("RC2106", wording) if verdict.holds is None else error("RC2104", wording)
        case Kind.FEATURE:
            return error("RC2020", wording)
        case Kind.KARG:
            return warning("RC2051", wording)
        case Kind.ENV:
            return error("RC2017", wording) if verdict.strict else warning("RC2051", wording)
        case _:
            assert_never(kind)
