"""Word verdicts on a name: nothing has or reads it, or people write it for another name."""

from __future__ import annotations

from rocmcfg.judging.verdict import Verdict
from rocmcfg.judging.words.advice import (
    Advice,
    Case,
    Words,
    change,
    changed,
    did_you_mean,
    doubt,
    take_out,
    unneeded,
)
from rocmcfg.model.desired import Kind
from rocmcfg.model.exhaustive import assert_never
from rocmcfg.model.spelling import closest

_NEAR = 3  # names proposed in place of an unknown one
_IGNORED = "The driver loads anyway and logs `unknown parameter … ignored`."


def unknown_module(verdict: Verdict, case: Case) -> Words:
    setting, on = case.asked, ", ".join(verdict.kernels)
    if verdict.instead is not None:
        module = setting.module or setting.name.strip('"').partition(".")[0]
        summary = f"there is no module {module}; nothing reads the argument"
        return change(summary, f"The parameter belongs to {verdict.names[0]}.", verdict.instead)
    see = f"see modinfo {setting.module}"
    if verdict.holds is None:
        summary = f"module {setting.module} cannot be inspected here, so the value is not checked"
        return Words(summary, "", Advice.NOTE, "")
    summary = f"there is no module {setting.module}" + (f" on kernel {on}" if on else "")
    return take_out(case, summary, "", cure=did_you_mean([*verdict.names[:1]], see))


def unknown(verdict: Verdict, case: Case) -> Words:
    match case.asked.kind:
        case Kind.PARAMETER:
            return _unknown_parameter(verdict, case)
        case Kind.FEATURE:
            summary = f"no feature is called {case.asked.name!r}"
            every = "known features: " + ", ".join(case.known.features)
            return take_out(case, summary, "", cure=did_you_mean([*verdict.names], every))
        case Kind.KARG:
            summary = f"{case.name} is not a known kernel argument"
            if verdict.instead is not None and verdict.holds:
                written = str(verdict.instead).removeprefix(f"{Kind.KARG.value}.")
                return change(summary, f"{written} is. {verdict.why}", verdict.instead)
            # other drivers have arguments too
            return doubt(case, summary, verdict.why, cure=f"did you mean {verdict.instead}?")
        case Kind.ENV:
            sure = f"nothing reads {case.name}"
            summary = sure if verdict.why else f"nothing is known to read {case.name}"
            if verdict.instead is not None:
                why = f"{verdict.why} The nearest known name is {verdict.names[0]}.".strip()
                return change(summary, why, verdict.instead)
            like = "".join(f" The nearest name that it has is {name}." for name in verdict.names)
            advise = take_out if verdict.why else doubt
            return advise(case, summary, f"{verdict.why}{like}")
        case _:
            assert_never(case.asked.kind)


def _where(verdict: Verdict, case: Case) -> str:
    here = ", ".join(kernel.release for kernel in case.machine.kernels)
    return f"any kernel here ({here})" if verdict.holds and here else "any known kernel"


def _unknown_parameter(verdict: Verdict, case: Case) -> Words:
    setting, near = case.asked, [*verdict.names]
    summary = f"{setting.id} is not a parameter of {_where(verdict, case)}"
    near += [f"feature {name}" for name in closest(setting.name, [*case.known.features])]
    if verdict.instead is not None:
        cure = did_you_mean(near[:_NEAR], f"write {verdict.instead}")
        return change(summary, _IGNORED, verdict.instead, cure=cure)
    if near:
        return take_out(case, summary, _IGNORED, cure=did_you_mean(near[:_NEAR], ""))
    cure = f"leave {setting.id} out; `modinfo -p {setting.module}` lists the parameters that exist"
    return take_out(case, summary, _IGNORED, cure=cure)


def misnamed(verdict: Verdict, case: Case) -> Words:
    instead, name = verdict.instead, case.name
    match case.asked.kind:
        case Kind.PARAMETER | Kind.FEATURE:
            return _misnamed_parameter(verdict, case)
        case Kind.KARG if verdict.why:
            return changed(verdict, case, f"{case.written} does not do what it seems to", verdict.why)
        case Kind.KARG:
            summary = f"nothing reads {name} on a kernel command line without its module"
            return changed(verdict, case, summary, "")
        case Kind.ENV if instead is None:
            return take_out(case, f"nothing reads {name}", verdict.why)
        case Kind.ENV:
            cure = f"write {instead.name}"
            return change(f"nothing reads {name}", verdict.why, instead, cure=cure)
        case _:
            assert_never(case.asked.kind)


def _misnamed_parameter(verdict: Verdict, case: Case) -> Words:
    setting, instead, why = case.asked, verdict.instead, verdict.why
    if instead is None:
        return take_out(case, f"{setting.id} is not a parameter of any kernel", why or _IGNORED)
    if setting.name.startswith(f"{setting.module}."):
        return change(f"{setting.id} names the module twice; the driver ignores it", why, instead)
    if not why:
        summary = f"{setting.id} is not a parameter of {_where(verdict, case)}"
        return change(summary, f"{instead.id} is. {_IGNORED}", instead)
    summary = f"{setting.id} is not a parameter of any kernel"
    if instead.kind is Kind.FEATURE:
        word = instead.value or "false"
        cure = f"write feature.{instead.name}={word}; in a profile, features.{instead.name} = {word}"
        return change(summary, why, instead, cure=cure)
    if case.known.traps[setting.name].times == 1:
        return change(summary, why, instead)
    if instead.value is None or setting.value is None:  # the value counts in another unit
        return take_out(case, summary, why, cure=f"write {instead.id}, in the unit of that parameter")
    return change(summary, f"{why} The same value is {instead}.", instead)


def absent(verdict: Verdict, case: Case) -> Words:
    parameter, on = case.known.parameters.get(case.asked.id), ", ".join(verdict.kernels)
    summary = f"{case.name} does not exist on kernel {on}"
    if not case.machine.kernels:  # the newest known kernel stands for those that are not known
        summary = f"{case.name} exists only on kernels {', '.join(verdict.others)}"
        return Words(summary, f"{verdict.why} Later kernels ignore it.", Advice.NOTE, "")
    if verdict.others:
        why = f"That kernel ignores it; kernels that have it: {', '.join(verdict.others)}."
        return Words(summary, why, Advice.NOTE, "")
    if parameter is None or parameter.dkms_only:
        return unneeded(case, summary, f"{verdict.why} It is ignored here.".strip())
    return take_out(case, summary, verdict.why)
