"""The judge's verdicts as `lint` says them. What is so is decided there; here is how sure lint can be of what
the author means, and what it proposes."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Assignment, Trust, What
from rocmcfg.advice.lint.remark import CLASSES, Remark, error, info, warning
from rocmcfg.judging import names
from rocmcfg.judging.judge import judge, of_the_name
from rocmcfg.judging.parameters import default_mask, features_of
from rocmcfg.judging.verdict import GRAVE, OF_THE_NAME, REFUSED, About, Verdict, said_of
from rocmcfg.model.catalogue import Catalogue, Parameter
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import cut
from rocmcfg.model.facts import Machine
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.spelling import Spelling, as_number, hexint, parameter

_IGNORED = "The driver loads without it and logs `unknown parameter … ignored`."
_TO_INIT = (
    "The kernel hands it to the first process alone; logins have it from /etc/environment, as after an apply."
)
_CMDLINE = (
    "kernel Documentation/admin-guide/kernel-parameters.rst; systemd-system.conf(5), ManagerEnvironment=",
)
_KINDS = {What.ARGUMENT: Kind.KARG, What.VARIABLE: Kind.ENV}
_OF_A_TRAP = {kind: id for id, kind in CLASSES.items()}


class Knowledge(NamedTuple):
    """What a text is judged by. `issues` may be empty where the machine is not known."""

    catalogue: Catalogue
    machine: Machine
    issues: tuple[KnownIssue, ...] = ()


class _Case(NamedTuple):
    """An assignment, the setting that it makes, and what it is judged by."""

    found: Assignment
    asked: Spelling
    known: Catalogue
    machine: Machine

    @property
    def name(self) -> str:
        return self.asked.id if self.asked.kind is Kind.PARAMETER else self.asked.name

    @property
    def written(self) -> str:
        return self.name if self.asked.value is None else f"{self.name}={cut(self.asked.value)}"


def remarks(found: Assignment, knowledge: Knowledge) -> Iterator[Remark]:
    known, machine = knowledge.catalogue, knowledge.machine
    asked = spelled(found)
    if found.what is What.VARIABLE and found.where.trust is Trust.FILE and found.where.listed >= 0:
        said = f"{found.name} is a variable, and reaches no program from the kernel's command line"
        yield warning("RC7113", said, _TO_INIT, remove=True, sources=_CMDLINE)
        return
    trust, parameter, path = found.where.trust, asked.kind is Kind.PARAMETER, found.what is What.PATH
    if parameter and trust is not Trust.FILE and asked.id not in known.parameters and _is_any(asked.name):
        return
    mentioned = found.value is None and trust is not Trust.FILE and found.dotted
    if found.opaque or (parameter and mentioned) or (path and asked.value is None):
        verdicts = list(of_the_name(asked, machine, known))
    else:
        verdicts = judge(asked, machine, known, knowledge.issues, found.beside)
    if any(verdict.about is About.BUILD_ONLY for verdict in verdicts) and found.where.builds:
        return
    case = _Case(found, asked, known, machine)
    for verdict in verdicts:
        unsure_of_its_end = trust is Trust.PROSE and (
            verdict.about in REFUSED or (verdict.about is About.DEFAULT and asked.kind is Kind.KARG)
        )
        if not unsure_of_its_end:
            remark = _worded(verdict, case)._replace(sources=verdict.sources)
            yield remark if found.opaque else _to_its_end(remark, case, knowledge)
    written = known.parameters.get(asked.id) if path and found.value is not None else None
    if written is not None and not any(v.about is About.ABSENT for v in verdicts):
        yield from _read_only(written, machine)


def _to_its_end(remark: Remark, case: _Case, knowledge: Knowledge) -> Remark:
    """What would be written is judged in its turn: something else may be better still, or nothing at all."""
    asked, value = {case.asked}, case.asked.value
    while (proposal := remark.proposal) is not None:
        target = written(proposal, knowledge)
        value = value if target is None or target.value is None else target.value
        if target is None or value is None or (target := target._replace(value=value)) in asked:
            break
        asked.add(target)
        again = _Case(case.found, target, case.known, case.machine)
        said = [_worded(v, again) for v in judge(target, case.machine, case.known, knowledge.issues)]
        better = next((one for one in said if one.remove or one.instead is not None), None)
        if better is None:
            break
        why = f"{remark.why} {better.summary}.".strip()
        remark = remark._replace(why=why, better=better.instead, remove=better.remove)
    return remark


def written(instead: Spelling, knowledge: Knowledge) -> Spelling | None:
    """What to write; a feature becomes the mask that differs from the default in it alone."""
    if instead.kind is not Kind.FEATURE:
        return instead
    feature = knowledge.catalogue.features[instead.name]
    default = default_mask(knowledge.catalogue.parameters[feature.parameter], knowledge.machine.kernels)
    if default is None:
        return None
    return parameter(feature.parameter, hexint(feature.compose(default, instead.enabled)))


def spelled(found: Assignment) -> Spelling:
    """The setting that an assignment makes; its value is None where nobody can know it."""
    value = None if found.opaque else found.value
    if found.what in _KINDS:
        return Spelling(_KINDS[found.what], found.name, value)
    module, name = names.split_parameter(found.name) or ("", found.name)
    return Spelling(Kind.PARAMETER, name, value, module)


def _is_any(name: str) -> bool:
    """`amdgpu.x=1`, `amdgpu.NAME=VALUE`: how documents speak of any parameter."""
    return len(name) <= 2 or name.isupper() or name in ("name", "param", "parameter", "option", "foo", "bar")


def _worded(verdict: Verdict, case: _Case) -> Remark:
    if verdict.about in (About.MISNAMED, About.UNKNOWN, About.UNKNOWN_MODULE):
        name_of = {Kind.PARAMETER: _parameter_name, Kind.KARG: _argument_name}
        return name_of.get(case.asked.kind, _variable_name)(verdict, case)
    if verdict.about in OF_THE_NAME:
        return _name(verdict, case)
    return _value(verdict, case) or _effect(verdict, case)


def _name(verdict: Verdict, case: _Case) -> Remark:
    about, why, name = verdict.about, verdict.why, case.name
    if about is About.ABSENT:
        said = f"{name} does not exist on kernel {', '.join(verdict.kernels)}"
        if verdict.others:
            why = f"It is ignored there; kernels that have it: {', '.join(verdict.others)}."
        if verdict.others or case.known.parameters[name].dkms_only:
            return info("RC7117", said, why)
        return warning("RC7117", said, why, remove=True)
    if about is About.BUILD_ONLY:
        said = f"{name} is read when software is compiled, and never when it runs"
        return warning("RC7106", said, why, remove=True)
    if case.asked.kind is Kind.PARAMETER:
        instead = verdict.instead if verdict.instead and verdict.instead.value is not None else None
        why = why[:1].upper() + why[1:] + ("" if why.endswith(".") else ".")
        if instead is None:
            return info("RC7107", f"{name} is deprecated", why)
        return warning("RC7107", f"{name} is deprecated", why, instead=instead)
    variable = names.variable(name)
    return info("RC7107", f"{name} is deprecated: {why}", variable.summary if variable is not None else "")


def _value(verdict: Verdict, case: _Case) -> Remark | None:
    about, why, written = verdict.about, verdict.why, case.written
    if about is About.OCTAL:
        said = f"{written} is read as {why}: a leading 0 makes a number octal"
        plain = case.asked._replace(value=(case.asked.value or "").lstrip("0"))
        return warning("RC7116", said, "Write it without the 0, or in full as 0x and digits.", instead=plain)
    if about is About.ILLEGAL:
        return _illegal(verdict, case)
    if about is About.OUT_OF_RANGE:
        low, high = verdict.names
        said = f"{written} is out of range: its meanings run from {low} to {high}"
        return warning("RC7103", said, why, remove=True)
    if about is About.PRESENCE_ONLY:
        said = f"{written} switches it on: only its presence counts"
        return warning("RC7105", said, f"{why} To switch it off, unset it.", remove=True)
    return _trap(verdict, case) if about is About.TRAP else None


def _effect(verdict: Verdict, case: _Case) -> Remark:
    about, why, machine, written = verdict.about, verdict.why, case.machine, case.written
    if about is About.NO_EFFECT:
        (where,) = verdict.names
        if verdict.holds is None:
            return info("RC7113", f"{case.name} acts on {where} only", why)
        said = f"{case.name} does nothing on {machine.gpu_names}"
        return info("RC7113", said, f"It acts on {where} only. {why}", remove=True)
    if about is About.TAINTS:
        on = f" (seen in {', '.join(verdict.kernels)})" if verdict.others else ""
        since = case.known.parameters[case.name].taints_since
        if since is not None and not machine.kernels:
            on = f" (from {'.'.join(map(str, since.numbers[:2]))} on)"
        why = "The kernel logs `Setting dangerous option`, and maintainers may turn a bug report away."
        return info("RC7108", f"setting {case.name} taints the kernel{on}", why)
    if about is About.FEATURE_TAINTS:
        feature, kernels = verdict.names
        said = f"{written} turns {feature} on and taints the kernel"
        return info("RC7108", said, f"Kernels {kernels} do so. {why}")
    if about is About.SIDE_EFFECT:
        *most, last = verdict.names
        listed = f"{', '.join(most)} and {last}" if most else last
        if verdict.instead is None:
            return info("RC7110", f"{written} {listed}", why)
        kept = _kept(verdict.instead, case)
        return warning("RC7110", f"{written} {listed}{kept}", why, instead=verdict.instead)
    if about is About.DEFAULT:
        every = "" if machine.kernels or case.asked.kind is not Kind.PARAMETER else " of every kernel known"
        return info("RC7114", f"{written} is the default{every}", why, remove=True)
    said = f"{written} is no longer needed: every kernel here has the fix ({', '.join(verdict.kernels)})"
    return info("RC7115", said, why, remove=True)


def _kept(instead: Spelling, case: _Case) -> str:
    """What a mask that is proposed leaves on: the other one was likely copied for that."""
    of, machine = case.known.parameters[case.name], case.machine
    mask, default = as_number(instead.value), default_mask(of, machine.kernels)
    kept = [f for f in features_of(of, case.known) if f.is_on(mask) and not f.is_on(default)]
    tainted = [f.taints for f in kept if f.taints and machine.runs(f.taints) is not False]
    taints = f", which taints kernels {tainted[0]}" if tainted else ""
    return f"; the mask to write keeps {' and '.join(f.name for f in kept)} on{taints}" if kept else ""


def _parameter_name(verdict: Verdict, case: _Case) -> Remark:
    found, asked, instead = case.found, case.asked, verdict.instead
    if asked.name.startswith(f"{asked.module}."):
        said = f"{found.name} names the module twice; the driver ignores it"
        return warning("RC7102", said, instead=instead)
    said = f"{asked.id} is not a parameter of any kernel"
    if verdict.why and instead is not None:  # a name that people write
        if instead.kind is Kind.FEATURE:
            return warning("RC7101", said, verdict.why, instead=instead)
        if case.known.traps[asked.name].times == 1:
            return warning("RC7102", said, verdict.why, instead=instead)
        # in another unit: the value as it stands must not be handed on
        if instead.value is None:
            return warning("RC7102", said, verdict.why, remove=True)
        why = f"{verdict.why} This value would be {instead}."
        proposed = instead if found.dotted else None
        return warning("RC7102", said, why, instead=proposed, remove=proposed is None)
    releases = ", ".join(kernel.release for kernel in case.machine.kernels)
    said += f" known ({releases})" if releases else " known"
    if verdict.about is About.MISNAMED and instead is not None:
        return warning("RC7102", said, f"{instead.id} is one. {_IGNORED}", instead=instead)
    if verdict.names:
        why = f"Did you mean {', '.join(verdict.names)}? {_IGNORED}"
        return warning("RC7102", said, why, instead=instead)
    return warning("RC7101", said, _IGNORED, remove=True)


def _argument_name(verdict: Verdict, case: _Case) -> Remark:
    name, instead = case.asked.name, verdict.instead
    if verdict.about is About.UNKNOWN_MODULE:
        module = name.strip('"').partition(".")[0]
        said = f"there is no module {module}; the argument reaches nobody"
        return warning("RC7102", said, f"The parameter is one of {verdict.names[0]}.", instead=instead)
    if verdict.about is About.MISNAMED and verdict.why:
        return warning("RC7102", f"{case.written} is not what it seems", verdict.why, instead=instead)
    if verdict.about is About.MISNAMED:
        said = f"{name} without its module reaches nobody on a kernel command line"
        return warning("RC7102", said, instead=instead)
    said = f"{name} is no argument of the kernel that is known here"
    if verdict.holds is None or instead is None:  # it may be an argument of somebody else's driver
        return info("RC7102", said, f"Did you mean {verdict.names[0]}?")
    written = str(instead).removeprefix(f"{Kind.KARG.value}.")
    return warning("RC7102", said, f"{written} is one. {verdict.why}", instead=instead)


def _variable_name(verdict: Verdict, case: _Case) -> Remark:
    said, instead = f"nothing reads {case.found.name}", verdict.instead
    if instead is not None and not case.asked.value:
        instead = instead._replace(value=None)
    if verdict.about is About.UNKNOWN:
        mean = f"Did you mean {verdict.names[0]}?" if instead else ""
        mean = mean or "".join(f"The nearest that it has is {name}." for name in verdict.names)
        why = " ".join(filter(None, (verdict.why, mean)))
        return warning("RC7102" if instead else "RC7101", said, why, instead=instead)
    return warning("RC7101", said, verdict.why, instead=instead, remove=instead is None)


def _read_only(parameter: Parameter, machine: Machine) -> Iterator[Remark]:
    """Of a parameter's file in sysfs that somebody writes to."""
    variants = [v for kernel in machine.kernels for v in parameter.on(kernel.version).variants]
    variants = variants if machine.kernels else list(parameter.epochs)
    if variants and all(not int(v.permission, 8) & 0o222 for v in variants):
        said = f"{parameter.id} cannot be written while the driver runs (mode {variants[-1].permission})"
        why = "It is read when the driver loads: set it on the kernel command line or in modprobe.d."
        yield warning("RC7119", said, why, sources=parameter.sources)


def _illegal(verdict: Verdict, case: _Case) -> Remark:
    asked, written, why = case.asked, case.written, verdict.why
    if asked.kind is Kind.KARG:
        said = f"{written} is no value that the kernel knows; it ignores the argument"
        return warning("RC7103", said, why, remove=True)
    if asked.kind is Kind.PARAMETER:
        on = f" (kernel {', '.join(verdict.kernels)})"
        if verdict.holds is None:
            said = f"{written} may stop {asked.module} from loading{on}"
            return warning("RC7103", said, f"{why}.", remove=True)
        why = f"{why}. With it the driver does not start, and the screen may stay black."
        said = f"{written} stops {asked.module} from loading"
        return error("RC7103", said + on if verdict.others else said, why, remove=True)
    variable = names.variable(asked.name)
    reader = (variable.reader if variable else "") or "its reader"
    bare = (asked.value or "").strip("\"'")
    said, instead = f"{written} is no value that {reader} takes", None
    if bare != asked.value and variable is not None and variable.takes(bare):
        said = f"the quotes in {written} are part of the value, and {reader} takes none"
        instead = asked._replace(value=bare)
    if verdict.strict:
        return warning("RC7103", said, why, instead=instead, remove=instead is None)
    if instead is None:
        said = f"{written} is none of the values that are documented; {reader} may pass over it"
    return info("RC7103", said, why, instead=instead)


def _trap(verdict: Verdict, case: _Case) -> Remark:
    trap, instead, written, unsure = verdict.trap, verdict.instead, case.written, verdict.holds is None
    assert trap is not None
    if not verdict.strict:
        return warning("RC7102", f"{written} is not what it seems", trap.summary, instead=instead)
    id, kind = _OF_A_TRAP[trap.kind], trap.kind
    why = trap.summary + (f" (kernel {trap.kernel})" if trap.kernel else "")
    if unsure and trap.acts_on:
        which = "not every GPU" if case.machine.gpus else "no GPU"
        why += f" That is so on {trap.acts_on.words()}; {which} is known here."
    said = f"{written} {said_of(trap)}"
    if kind == "no_effect":
        on_kernels = f"kernel {case.machine.releases(trap.kernel)}" if trap.kernel else "some hosts"
        where = "some GPUs" if unsure else case.machine.gpu_names if trap.acts_on else on_kernels
        said = f"{written} does nothing on {where}"
        needless = not unsure and trap.acts_on is not None and instead is None
        return info(id, said, why, instead=instead, remove=needless)
    if unsure and kind in (*GRAVE, "default"):
        return info(id, f"{said}, on some GPUs", why)
    if kind in GRAVE:
        return warning(id, said, why, instead=instead, remove=instead is None)
    return info(id, said, why, remove=True) if kind == "default" else info(id, said, why, instead=instead)
