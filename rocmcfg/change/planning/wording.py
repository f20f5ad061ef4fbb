"""The judge's verdicts as `plan` says them: what is refused, what is warned of, and what a setting of the
user's own really does. Shipped profiles say the last of theirs in their own texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rocmcfg.judging.verdict import GRAVE, About, Verdict, said_of
from rocmcfg.model.catalogue import Catalogue, Parameter
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, Severity
from rocmcfg.model.facts import Machine
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.regex import regex
from rocmcfg.model.spelling import Spelling, closest

# What a setting of the user's own really does.
_CAUTIONS = frozenset(
    {About.BUILD_ONLY, About.OCTAL, About.TRAP, About.NO_EFFECT, About.FEATURE_TAINTS, About.SIDE_EFFECT}
)
_DIGITS = regex("[0-9a-fA-F]+")
_BUG_REPORTS = "maintainers may turn a bug report away"


class _Text(NamedTuple):
    """A diagnostic without its place."""

    severity: Severity
    id: str
    summary: str
    detail: str = ""
    hint: str = ""


error, warning, info = (partial(_Text, severity) for severity in Severity)


class _Case(NamedTuple):
    """A setting, and what it is judged by."""

    asked: Spelling
    known: Catalogue
    machine: Machine


def worded(
    verdict: Verdict, asked: Spelling, location: str, known: Catalogue, machine: Machine
) -> Diagnostic | None:
    """None for what nobody who plans needs to be told: a default, say."""
    if verdict.about in (About.DEFAULT, About.FIXED):
        return None
    words = {Kind.PARAMETER: _parameter, Kind.FEATURE: _feature, Kind.KARG: _argument, Kind.ENV: _variable}
    word = _caution if verdict.about in _CAUTIONS else words[asked.kind]
    return Diagnostic(**word(verdict, _Case(asked, known, machine))._asdict(), location=location)


def is_caution(verdict: Verdict, asked: Spelling) -> bool:
    """Whether it tells what a setting really does, or guesses what is meant: of the user's own alone."""
    if verdict.about in _CAUTIONS:
        return verdict.trap_kind != "limited"  # a profile does not know the kernel that it comes to
    if asked.kind is Kind.KARG and verdict.about is About.MISNAMED:
        return not verdict.why
    guesses = (About.UNKNOWN, About.UNKNOWN_MODULE, About.DEPRECATED)
    return asked.kind in (Kind.KARG, Kind.ENV) and verdict.about in guesses


def _caution(verdict: Verdict, case: _Case) -> _Text:
    asked, machine, trap, unsure = case.asked, case.machine, verdict.trap, verdict.holds is None
    if trap is not None:
        said = f"{asked} {said_of(trap)}" + (", on some GPUs" if unsure else "")
        detail = trap.summary
        if unsure and trap.acts_on is not None:
            detail += f" That is so on {trap.acts_on.words()}; not every GPU of this host is known."
        if trap.kind == "limited":
            said = f"kernel {machine.releases(trap.kernel)} may not give all of {asked}"
            fixed = trap.kernel.removeprefix("<")
            return warning("RC2050", said, detail=detail, hint=f"install kernel {fixed} or a later one")
        return _told(verdict, asked, said, detail, grave=not unsure and trap.kind in GRAVE)
    if verdict.about is About.BUILD_ONLY:
        said = f"{asked.id} is read when software is compiled, and never when it runs"
        return _told(verdict, asked, said, verdict.why)
    if verdict.about is About.OCTAL:
        said = f"{asked} is read as {verdict.why}: a leading 0 makes a number octal"
        return info("RC2050", said, hint="write it without the 0, or in full as 0x and hexadecimal digits")
    if verdict.about is About.SIDE_EFFECT:
        return _told(verdict, asked, f"{asked} {', '.join(verdict.names)}", verdict.why)
    if verdict.about is About.FEATURE_TAINTS:
        feature, kernels = verdict.names
        detail = f"kernel {machine.releases(kernels)}: {_BUG_REPORTS}"
        return _told(verdict, asked, f"{asked} turns {feature} on and taints the kernel", detail)
    (acts_on,) = verdict.names
    if unsure:
        said = f"{asked.id} has an effect on {acts_on} only"
        return _told(verdict, asked, said, "not every GPU of this host is known")
    said = f"{asked.id} has no effect on {machine.gpu_names}"
    return _told(verdict, asked, said, f"it acts on {acts_on} only")


def _told(verdict: Verdict, asked: Spelling, summary: str, detail: str, *, grave: bool = False) -> _Text:
    instead = verdict.instead
    hint = f"leave {asked.id} out unless you know why you want it"
    if instead is not None:
        hint = f"see {instead}" if instead.value is None else f"write {instead}"
    if grave:
        return warning("RC2050", summary, detail=detail, hint=hint)
    return info("RC2050", summary, detail=detail, hint=hint)


def _did_you_mean(near: Sequence[str], otherwise: str) -> str:
    return f"did you mean {', '.join(near)}?" if near else otherwise


def _parameter(verdict: Verdict, case: _Case) -> _Text:
    about, why, on = verdict.about, verdict.why, ", ".join(verdict.kernels)
    asked, id = case.asked, case.asked.id
    found = case.known.parameters.get(id)
    if about is About.UNKNOWN_MODULE:
        return _unknown_module(verdict, asked)
    if about in (About.MISNAMED, About.UNKNOWN):
        return _unknown_parameter(verdict, case)
    if about is About.ABSENT and (verdict.others or found is None or found.dkms_only):
        detail = "only AMD's DKMS driver has it, and none is installed here; it is ignored"
        if verdict.others:
            detail = "it is ignored there; kernels that have it: " + ", ".join(verdict.others)
        return warning("RC2102", f"{id} does not exist on kernel {on}", detail=detail)
    if about is About.ABSENT:
        detail = f"kernel {on} has no such parameter{_lifetime(found)}"
        hint = f"take it out of the profile, or name it with --without {id}"
        return error("RC2103", f"{id} exists on none of the installed kernels", detail=detail, hint=hint)
    if about is About.ILLEGAL and verdict.holds is None:
        return warning("RC2106", f"{id} = {asked.value} may be refused by kernel {on}", detail=why)
    if about is About.ILLEGAL:
        hint = f"see `modinfo -p {asked.module}` for what it takes"
        if found is not None and found.mask and _DIGITS.fullmatch(asked.value or ""):
            hint = f"hexadecimal digits begin with 0x: write 0x{asked.value}"
        elif found is not None and found.mask:
            hint = f"{id} is a mask; switch one feature by --set feature.NAME=false"
        kernels = f"kernel{'s' if len(verdict.kernels) > 1 else ''} {on}"
        said = f"{id} = {asked.value} would stop {asked.module} from loading"
        return error("RC2104", said, detail=f"{kernels}: {why}", hint=hint)
    if about is About.OUT_OF_RANGE:
        low, high = verdict.names
        said = f"{id} = {asked.value} is out of range: its meanings run from {low} to {high}"
        return error("RC2105", said, detail=why, hint="choose a value inside the range")
    if about is About.TAINTS:
        detail, hint = f"kernel {on}: {_BUG_REPORTS}", f"leave {id} out again before you report a fault"
        return info("RC2107", f"setting {id} taints the kernel", detail=detail, hint=hint)
    return warning("RC2108", f"{id} is deprecated", hint=why)


def _lifetime(found: Parameter | None) -> str:
    since, removed = (found.since, found.removed) if found is not None else ("", "")
    said = f"; it came with {since}" if since else ""
    return said + (f" and was removed in {removed}" if removed else "")


def _unknown_module(verdict: Verdict, asked: Spelling) -> _Text:
    module, on = asked.module, ", ".join(verdict.kernels)
    if verdict.holds is None:
        return warning("RC2109", f"module {module} cannot be looked into here; its value is not checked")
    said = f"there is no module {module}" + (f" on kernel {on}" if on else "")
    return error("RC2110", said, hint=_did_you_mean(verdict.names[:1], f"see modinfo {module}"))


def _unknown_parameter(verdict: Verdict, case: _Case) -> _Text:
    asked, instead = case.asked, verdict.instead
    said = f"{asked.id} is not a parameter of any"
    if verdict.about is About.MISNAMED and instead is not None:
        hint = f"write {instead.id}"
        if instead.kind is Kind.FEATURE:
            hint = f"write feature.{instead.name}=false; in a profile, features.{instead.name} = false"
        return error("RC2101", f"{said} kernel", detail=verdict.why, hint=hint)
    near = list(verdict.names)
    near += [f"feature {f}" for f in closest(asked.name, list(case.known.features)) if len(near) < 3]
    hint = _did_you_mean(near, f"see modinfo -p {asked.module}")
    if verdict.holds is None:
        return warning("RC2101", f"{said} kernel known", hint=hint)
    return error("RC2101", f"{said} installed kernel ({', '.join(verdict.kernels)})", hint=hint)


def _feature(verdict: Verdict, case: _Case) -> _Text:
    hint = _did_you_mean(verdict.names, "known: " + ", ".join(case.known.features))
    return error("RC2020", f"no feature is called {case.asked.name!r}", hint=hint)


def _argument(verdict: Verdict, case: _Case) -> _Text:
    asked = case.asked
    setting = asked.name if asked.value is None else f"{asked.name}={asked.value}"
    if verdict.about is About.ILLEGAL:
        said = f"{setting} is none of the values that are documented"
        detail = f"the kernel may pass over it. {verdict.why}"
        return warning("RC2051", said, detail=detail, hint=f"see `rocmcfg explain {asked.id}`")
    if verdict.about is About.MISNAMED and verdict.why:
        said = f"{setting} does not do what it seems to"
        return error("RC2015", said, detail=verdict.why, hint=f"write {verdict.instead}")
    detail = ""
    if verdict.about is About.MISNAMED:
        said = f"{asked.name} without its module reaches nobody on a kernel command line"
    elif verdict.about is About.UNKNOWN_MODULE:
        said = f"there is no module {asked.name.partition('.')[0]}; the argument reaches nobody"
    else:
        said = f"no argument of the kernel is known as {asked.name}"
        detail = f"a name like it is {verdict.names[0]}"
    return _told(verdict, asked, said, detail, grave=True)


def _variable(verdict: Verdict, case: _Case) -> _Text:
    asked, instead = case.asked, verdict.instead
    setting = f"{asked.name}={asked.value}"
    variable = case.known.variables.get(asked.name)
    if verdict.about is About.UNKNOWN:
        said = f"no reader of {asked.name} is known"
        like = f"A name like it is {verdict.names[0]}." if verdict.names else ""
        detail = " ".join(filter(None, (verdict.why, like)))
        return _told(verdict, asked, said, detail, grave=bool(verdict.why))
    if verdict.about is About.MISNAMED:
        hint = f"write {instead.name}" if instead else "leave it out"
        return error("RC2016", f"nothing reads the variable {asked.name}", detail=verdict.why, hint=hint)
    if verdict.about is About.DEPRECATED:
        return _told(verdict, asked, f"{asked.id} is deprecated", verdict.why)
    if verdict.about is About.PRESENCE_ONLY:
        said = f"{setting} switches it on all the same: only its presence counts"
        return warning("RC2018", said, hint="leave the variable out to switch it off")
    reader = (variable.reader if variable else "") or "its reader"
    words = ", ".join(variable.values) if variable else ""
    hint = f"it takes {words}" if words else f"see `rocmcfg explain {asked.name}`"
    if verdict.strict:
        detail = variable.summary if variable else ""
        return error("RC2017", f"{setting}: {reader} does not take this value", detail=detail, hint=hint)
    said = f"{setting} is none of the values that are documented"
    return warning("RC2051", said, detail=f"{reader} may pass over it", hint=hint)
