"""Word verdicts on a value: it is refused, it is a trap, or it does something else than people think."""

from __future__ import annotations

from rocmcfg.judging import names
from rocmcfg.judging.parameters import default_mask, features_of
from rocmcfg.judging.verdict import Verdict, said_of
from rocmcfg.judging.words.advice import (
    BUG_REPORTS,
    Advice,
    Case,
    Words,
    change,
    changed,
    doubt,
    priced,
    sentence,
    take_out,
    unneeded,
)
from rocmcfg.model.catalogue import ValueTrap
from rocmcfg.model.desired import Kind
from rocmcfg.model.exhaustive import assert_never
from rocmcfg.model.spelling import Spelling, as_number


def illegal(verdict: Verdict, case: Case) -> Words:
    setting, written, why = case.asked, case.written, verdict.why
    match setting.kind:
        case Kind.PARAMETER:
            return _illegal_parameter(verdict, case)
        case Kind.FEATURE:
            return take_out(
                case, f"{setting.value!r} is neither true nor false", "", cure="write true or false"
            )
        case Kind.KARG:
            argument = names.argument(setting.name)
            of = setting.value or ""
            if argument is not None and argument.values and argument.words_join:
                strange = [word for word in of.split(",") if word not in argument.values]
                of = ", ".join(strange)
            summary = f"{written} is not a documented value"
            if of and of != setting.value:
                summary = f"{of} in {written} is not a documented word"
            why = f"The kernel may ignore it. {why}"
            return take_out(case, summary, why, cure=f"see `rocmcfg explain {setting.id}`")
        case Kind.ENV:
            variable = names.variable(setting.name)
            reader = (variable.reader if variable else "") or "its reader"
            if verdict.instead is not None:
                summary = f"the quotes in {written} are part of the value, and {reader} does not accept them"
                return change(summary, why, verdict.instead)
            cure = f"write a value that it accepts, or leave {case.name} out"
            if verdict.strict:
                return take_out(case, f"{reader} does not accept {written}", why, cure=cure)
            summary = f"{written} is not a documented value"
            return take_out(case, summary, f"{sentence(reader)[:-1]} may ignore it. {why}", cure=cure)
        case _:
            assert_never(setting.kind)


def _illegal_parameter(verdict: Verdict, case: Case) -> Words:
    setting = case.asked
    several = "s" if verdict.kernels[1:] else ""
    on = f" on kernel{several} {', '.join(verdict.kernels)}" if case.machine.kernels else ""
    parameter = case.known.parameters.get(setting.id)
    cure = f"see `modinfo -p {setting.module}` for the values that it accepts"
    if parameter is not None and parameter.mask:
        cure = f"{setting.id} is a mask; to turn off one feature, write feature.NAME=false"
    if verdict.holds is None:
        summary = f"{case.written} may stop {setting.module} from loading{on}"
        return take_out(case, summary, f"{sentence(verdict.why)}", cure=cure)
    summary = f"{case.written} stops {setting.module} from loading{on}"
    why = f"{sentence(verdict.why)} Without the driver the screen may stay black."
    if verdict.instead is not None:
        cure = f"a hexadecimal number begins with 0x: write {verdict.instead}"
        return change(summary, why, verdict.instead, cure=cure)
    return take_out(case, summary, why, cure=cure)


def trap(verdict: Verdict, trap: ValueTrap, case: Case) -> Words:
    unsure, written, machine = verdict.holds is None, case.written, case.machine
    why = trap.summary
    if trap.kernel and trap.kind != "limited":
        why += f" This applies to kernels {trap.kernel}."
    unsure_gpus = unsure and machine.has(trap.acts_on) is None
    if unsure_gpus and trap.acts_on is not None:
        which = "not every GPU" if machine.gpus else "no GPU"
        why += f" This applies to {trap.acts_on.words()}; {which} is known here."
    some = (", on some GPUs" if unsure_gpus else ", on some kernels") if unsure else ""
    summary = f"{written} {said_of(trap)}{some}"
    match trap.kind:
        case "no_effect":
            on_kernels = f" on kernel {machine.releases(trap.kernel)}" if trap.kernel else ""
            where = " on some GPUs" if unsure else f" on {machine.gpu_names}" if trap.acts_on else on_kernels
            summary = f"{written} has no effect{where}"
            if not unsure and verdict.instead is None:
                return unneeded(case, summary, why)
            return changed(verdict, case, summary, why)
        case "limited":
            summary = f"kernel {machine.releases(trap.kernel)} may not provide all of {written}"
            cure = f"install kernel {trap.kernel.removeprefix('<')} or a later one"
            return Words(summary, why, Advice.NOTE, cure)
        case "costly":
            return priced(case, summary, why)
        case "dangerous" | "inverted" | "default" | "obsolete" | "debugging" if unsure:
            return doubt(case, summary, why)
        case "default":
            return unneeded(case, summary, why)
        case "debugging":
            return take_out(case, summary, why, cure=f"set {case.name} only while you look for a fault")
        case "dangerous" | "inverted" | "obsolete" if verdict.instead is None:
            return take_out(case, summary, why)
        case "dangerous" | "inverted" | "obsolete" | "misread":
            return changed(verdict, case, summary, why)
        case _:
            assert_never(trap.kind)


def undoes(verdict: Verdict, case: Case) -> Words:
    cure, fixed_in, gpus, issue, *others = verdict.names
    undoes = "undoes" if verdict.holds else "may undo"
    summary = f"{case.written} {undoes} the cure of {issue} on {gpus}"
    why = f"{sentence(verdict.why)} Its cure is {case.name}={cure}."
    if fixed_in:
        why += f" Fixed in: {fixed_in}" + ("" if fixed_in.endswith(".") else ".")
    if others:
        why += f" The same cures {', '.join(others)}."
    return take_out(case, summary, why) if verdict.holds else doubt(case, summary, why)


# -- effects -----------------------------------------------------------------------------------------------


def no_effect(verdict: Verdict, case: Case) -> Words:
    (where,) = verdict.names
    if verdict.holds is None:
        return doubt(case, f"{case.name} only has an effect on {where}", verdict.why)
    summary = f"{case.name} has no effect on {case.machine.gpu_names}"
    return unneeded(case, summary, f"It only acts on {where}. {verdict.why}")


def taints(verdict: Verdict, case: Case) -> Words:
    on = f" ({', '.join(verdict.kernels)})" if verdict.kernels and case.machine.kernels else ""
    since = case.known.parameters[case.asked.id].taints_since
    if not case.machine.kernels and verdict.others:
        on = f" (seen in {', '.join(verdict.kernels)})"
    if since is not None and not case.machine.kernels:
        on = f" (since {'.'.join(map(str, since.numbers[:2]))})"
    why = f"The kernel logs `Setting dangerous option`, and {BUG_REPORTS}."
    cure = f"remove {case.name} before you report a fault"
    return Words(f"setting {case.name} taints the kernel{on}", why, Advice.NOTE, cure)


def side_effect(verdict: Verdict, case: Case) -> Words:
    *most, last = verdict.names
    summary = f"{case.written} {', '.join(most)} and {last}" if most else f"{case.written} {last}"
    if verdict.instead is None:
        return doubt(case, summary, verdict.why)
    return change(summary + _kept(verdict.instead, case), verdict.why, verdict.instead)


def _kept(instead: Spelling, case: Case) -> str:
    """Name the features that a proposed mask leaves on: the author probably copied the mask for them."""
    of, machine = case.known.parameters[case.asked.id], case.machine
    mask, default = as_number(instead.value), default_mask(of, machine.kernels)
    kept = [f for f in features_of(of, case.known) if f.is_on(mask) and not f.is_on(default)]
    tainted = [f.taints for f in kept if f.taints and machine.runs(f.taints) is not False]
    taints = f", which taints kernels {tainted[0]}" if tainted else ""
    return f"; the proposed mask still turns {' and '.join(f.name for f in kept)} on{taints}" if kept else ""
