"""The frame in which `plan` puts the words of a verdict: an id, and how grave it is for a plan. Shipped
profiles say in their own texts what a setting of theirs really does."""

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

# What a setting of the user's own really does.
_CAUTIONS = frozenset(
    {About.BUILD_ONLY, About.OCTAL, About.TRAP, About.NO_EFFECT, About.FEATURE_TAINTS, About.SIDE_EFFECT}
)


class _Frame(NamedTuple):
    """What a plan adds to the words of a verdict."""

    severity: Severity
    id: str
    said: Words


error, warning, info = (partial(_Frame, severity) for severity in Severity)


def worded(
    verdict: Verdict, asked: Spelling, location: str, known: Catalogue, machine: Machine
) -> Diagnostic | None:
    """Return None for what nobody who plans needs to be told, such as a default."""
    frame = _framed(verdict, asked.kind, words(verdict, asked, known, machine))
    if frame is None:
        return None
    said = frame.said
    hint = said.cure
    if frame.id == "RC2103":
        hint = f"take it out of the profile, or name it with --without {asked.id}"
    return Diagnostic(frame.severity, frame.id, said.summary, said.why, location, hint)


def is_caution(verdict: Verdict, asked: Spelling) -> bool:
    """Whether it tells what a setting really does, or guesses what is meant: of the user's own alone."""
    if verdict.about in _CAUTIONS:
        return verdict.trap_kind != "limited"  # a profile does not know the kernel that it comes to
    if asked.kind is Kind.KARG and verdict.about is About.MISNAMED:
        return not verdict.why
    guesses = (About.UNKNOWN, About.UNKNOWN_MODULE, About.DEPRECATED)
    return asked.kind in (Kind.KARG, Kind.ENV) and verdict.about in guesses


def _framed(verdict: Verdict, kind: Kind, said: Words) -> _Frame | None:  # noqa: PLR0912  # a branch for each
    unsure = verdict.holds is None
    match verdict.about:
        case About.UNKNOWN_MODULE if kind is not Kind.PARAMETER:
            return warning("RC2050", said)
        case About.UNKNOWN_MODULE:
            return warning("RC2109", said) if unsure else error("RC2110", said)
        case About.UNKNOWN | About.MISNAMED:
            return _of_the_name(verdict, kind, said)
        case About.ABSENT if said.advice is not Advice.TAKE_OUT:
            return warning("RC2102", said)
        case About.ABSENT:
            return error("RC2103", said)
        case About.DEPRECATED:
            return warning("RC2108", said) if kind is Kind.PARAMETER else info("RC2050", said)
        case About.ILLEGAL:
            return _illegal(verdict, kind, said)
        case About.OUT_OF_RANGE:
            return error("RC2105", said)
        case About.PRESENCE_ONLY:
            return warning("RC2018", said)
        case About.TRAP:
            grave = verdict.is_grave or verdict.trap_kind == "limited"
            return warning("RC2050", said) if grave else info("RC2050", said)
        case About.LOSES:
            return info("RC2050", said) if unsure else warning("RC2050", said)
        case About.TAINTS:
            return info("RC2107", said)
        case About.BUILD_ONLY | About.OCTAL | About.NO_EFFECT | About.FEATURE_TAINTS | About.SIDE_EFFECT:
            return info("RC2050", said)
        case About.DEFAULT | About.FIXED:
            return None
        case _:
            assert_never(verdict.about)


def _of_the_name(verdict: Verdict, kind: Kind, said: Words) -> _Frame:
    misnamed = verdict.about is About.MISNAMED
    match kind:
        case Kind.PARAMETER:
            refused = misnamed or verdict.holds
            return error("RC2101", said) if refused else warning("RC2101", said)
        case Kind.FEATURE:
            return error("RC2020", said)
        case Kind.KARG:
            return error("RC2015", said) if misnamed and verdict.why else warning("RC2050", said)
        case Kind.ENV if misnamed:
            return error("RC2016", said)
        case Kind.ENV:
            return warning("RC2050", said) if verdict.why else info("RC2050", said)
        case _:
            assert_never(kind)


def _illegal(verdict: Verdict, kind: Kind, said: Words) -> _Frame:
    match kind:
        case Kind.PARAMETER:
            return warning("RC2106", said) if verdict.holds is None else error("RC2104", said)
        case Kind.FEATURE:
            return error("RC2020", said)
        case Kind.KARG:
            return warning("RC2051", said)
        case Kind.ENV:
            return error("RC2017", said) if verdict.strict else warning("RC2051", said)
        case _:
            assert_never(kind)
