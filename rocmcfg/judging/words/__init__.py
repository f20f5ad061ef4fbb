"""Word each verdict once: what is wrong with the setting, why it matters, and what to do about it.

`plan`, `lint`, `explain`, `doctor` and `status` use these sentences and add their own frame: a severity, an
id, a place, an option. No command decides for itself what to do about a verdict: `Advice` decides it for all
of them. A new member of `About` or `Kind` fails mypy here until it has a wording.
"""

from __future__ import annotations

from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.judging.words.advice import (
    BUG_REPORTS,
    Advice,
    Case,
    Words,
    changed,
    doubt,
    priced,
    sentence,
    take_out,
    unneeded,
)
from rocmcfg.judging.words.of_names import absent, misnamed, unknown, unknown_module
from rocmcfg.judging.words.of_values import illegal, no_effect, side_effect, taints, trap, undoes
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.exhaustive import assert_never
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import Spelling

__all__ = ["Advice", "Words", "words"]


def words(  # noqa: PLR0912  # a branch for each member
    verdict: Verdict, setting: Spelling, catalogue: Catalogue, machine: Machine
) -> Words:
    """Return the wording of a verdict on a setting."""
    case, about = Case(setting, catalogue, machine), verdict.about
    match about:
        case About.UNKNOWN_MODULE:
            return unknown_module(verdict, case)
        case About.UNKNOWN:
            return unknown(verdict, case)
        case About.MISNAMED:
            return misnamed(verdict, case)
        case About.ABSENT:
            return absent(verdict, case)
        case About.BUILD_ONLY:
            summary = f"{case.name} is read only when software is compiled, never when it runs"
            return unneeded(case, summary, verdict.why)
        case About.DEPRECATED if verdict.instead is not None and verdict.instead.value is None:
            # the value counts otherwise under the new name, so that nobody else can write it
            why, cure = sentence(verdict.why), f"see {verdict.instead}"
            return Words(f"{case.name} is deprecated", why, Advice.CHANGE, cure)
        case About.DEPRECATED:
            return changed(verdict, case, f"{case.name} is deprecated", sentence(verdict.why))
        case About.ILLEGAL:
            return illegal(verdict, case)
        case About.OUT_OF_RANGE:
            low, high = verdict.names
            summary = f"{case.written} is out of range: the values with a meaning run from {low} to {high}"
            return take_out(case, summary, verdict.why, cure="choose a value within the range")
        case About.OCTAL:
            summary = f"{case.written} is read as {verdict.why}: a leading 0 makes the number octal"
            why = "Write the number without the 0, or in hexadecimal with a leading 0x."
            return changed(verdict, case, summary, why)
        case About.PRESENCE_ONLY:
            (readers,) = verdict.names
            summary = f"{case.written} turns it on in {readers}: any value counts as on there"
            return take_out(case, summary, verdict.why, cure="unset the variable to turn it off")
        case About.TRAP:
            assert verdict.trap is not None
            return trap(verdict, verdict.trap, case)
        case About.UNDOES:
            return undoes(verdict, case)
        case About.NO_EFFECT:
            return no_effect(verdict, case)
        case About.TAINTS:
            return taints(verdict, case)
        case About.FEATURE_TAINTS:
            feature, kernels = verdict.names
            summary = f"{case.written} turns {feature} on and taints the kernel"
            on = machine.releases(kernels)
            return doubt(case, summary, f"It taints kernel {on}, and {BUG_REPORTS}. {verdict.why}")
        case About.SIDE_EFFECT:
            return side_effect(verdict, case)
        case About.LOSES:
            feature, needed_for, gpus = verdict.names
            need = f"{gpus} needs it" if gpus else "some GPUs need it"
            summary = f"{case.written} turns {feature} off, and {need} for {needed_for}"
            if catalogue.features[feature].traded:
                return priced(case, summary, verdict.why)
            return take_out(case, summary, verdict.why) if gpus else doubt(case, summary, verdict.why)
        case About.DEFAULT:
            every = "" if machine.kernels or setting.kind is not Kind.PARAMETER else " on every known kernel"
            return unneeded(case, f"{case.written} is the default{every}", verdict.why)
        case About.FIXED:
            on = ", ".join(verdict.kernels)
            summary = f"{case.written} is no longer needed: every kernel here has the fix ({on})"
            return unneeded(case, summary, verdict.why)
        case _:
            assert_never(about)
