"""The judge's verdicts as `plan` says them: what is refused, what is warned of, and what a setting of the
user's own really does. Shipped profiles say the last of theirs in their own texts."""

from __future__ import annotations

from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.model.catalogue import Catalogue, Parameter
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.machine import Machine
from rocmcfg.model.spelling import Spelling
from rocmcfg.model.state import Kind
from rocmcfg.model.value import closest

# What a setting of the user's own really does.
_CAUTIONS = frozenset(
    {About.BUILD_ONLY, About.OCTAL, About.TRAP, About.NO_EFFECT, About.FEATURE_TAINTS, About.SIDE_EFFECT}
)
_SILENT = frozenset({About.DEFAULT, About.FIXED})
_SAID = {
    "inverted": "does the opposite of what it is set for",
    "dangerous": "is harmful",
    "default": "is what happens anyway",
    "obsolete": "is no longer needed",
    "misread": "is not what many take it for",
    "no_effect": "has no effect here",
}
_BUG_REPORTS = "maintainers may turn a bug report away"


def worded(
    verdict: Verdict, asked: Spelling, location: str, known: Catalogue, machine: Machine
) -> Diagnostic | None:
    """None for what nobody who plans needs to be told: a default, say."""
    if verdict.about in _SILENT:
        return None
    if verdict.about in _CAUTIONS:
        return _caution(verdict, asked, location, machine)
    words = {Kind.PARAMETER: _parameter, Kind.FEATURE: _feature, Kind.KARG: _argument, Kind.ENV: _variable}
    return words[asked.kind](verdict, asked, location, known)


def is_caution(verdict: Verdict, asked: Spelling) -> bool:
    """Whether it tells what a setting really does, or guesses what is meant: of the user's own alone."""
    if verdict.about in _CAUTIONS:
        return True
    if asked.kind is Kind.KARG and verdict.about is About.MISNAMED:
        return not verdict.why
    guesses = (About.UNKNOWN, About.UNKNOWN_MODULE, About.DEPRECATED)
    return asked.kind in (Kind.KARG, Kind.ENV) and verdict.about in guesses


def _caution(verdict: Verdict, asked: Spelling, location: str, machine: Machine) -> Diagnostic:
    trap = verdict.trap
    if trap is not None:
        perhaps = ", on some GPUs" if verdict.holds is None else ""
        detail = trap.summary
        if verdict.holds is None and trap.acts_on is not None:
            detail += f" That is so on {trap.acts_on.words()}; not every GPU of this host is known."
        grave = verdict.holds is True and trap.kind in ("inverted", "dangerous")
        return _told(verdict, asked, f"{asked} {_SAID[trap.kind]}{perhaps}", detail, location, grave=grave)
    if verdict.about is About.BUILD_ONLY:
        said = f"{asked.id} is read when software is compiled, and never when it runs"
        return _told(verdict, asked, said, verdict.why, location)
    if verdict.about is About.OCTAL:
        said = f"{asked} is read as {verdict.why}: a leading 0 makes a number octal"
        hint = "write it without the 0, or in full as 0x and hexadecimal digits"
        return info("RC2050", said, location=location, hint=hint)
    if verdict.about is About.SIDE_EFFECT:
        return _told(verdict, asked, f"{asked} {', '.join(verdict.names)}", verdict.why, location)
    if verdict.about is About.FEATURE_TAINTS:
        feature, kernels = verdict.names
        releases = ", ".join(k.release for k in machine.kernels if Machine((k,)).runs(kernels) is not False)
        detail = f"kernel {releases or kernels}: {_BUG_REPORTS}"
        return _told(verdict, asked, f"{asked} turns {feature} on and taints the kernel", detail, location)
    (acts_on,) = verdict.names
    if verdict.holds is None:
        said = f"{asked.id} has an effect on {acts_on} only"
        return _told(verdict, asked, said, "not every GPU of this host is known", location)
    said = f"{asked.id} has no effect on {machine.gpu_names}"
    return _told(verdict, asked, said, f"it acts on {acts_on} only", location)


def _told(
    verdict: Verdict, asked: Spelling, summary: str, detail: str, location: str, *, grave: bool = False
) -> Diagnostic:
    instead = verdict.instead
    hint = f"leave {asked.id} out unless you know why you want it"
    if instead is not None:
        hint = f"see {instead}" if instead.value is None else f"write --set {instead}"
    if grave:
        return warning("RC2050", summary, detail=detail, location=location, hint=hint)
    return info("RC2050", summary, detail=detail, location=location, hint=hint)


# -- module parameters and features -------------------------------------------------------------------------


def _parameter(verdict: Verdict, asked: Spelling, location: str, known: Catalogue) -> Diagnostic:
    id, why, on = asked.id, verdict.why, ", ".join(verdict.kernels)
    kernels = f"kernel{'s' if len(verdict.kernels) > 1 else ''} {on}"
    found = known.parameters.get(id)
    if verdict.about is About.UNKNOWN_MODULE:
        return _unknown_module(verdict, asked, location)
    if verdict.about in (About.MISNAMED, About.UNKNOWN):
        return _unknown_parameter(verdict, asked, location, known)
    if verdict.about is About.ABSENT and (verdict.others or found is None or found.dkms_only):
        detail = "only AMD's DKMS driver has it, and none is installed here; it is ignored"
        if verdict.others:
            detail = "it is ignored there; kernels that have it: " + ", ".join(verdict.others)
        return warning("RC2102", f"{id} does not exist on kernel {on}", location=location, detail=detail)
    if verdict.about is About.ABSENT:
        return error(
            "RC2103",
            f"{id} exists on none of the installed kernels",
            location=location,
            detail=f"kernel {on} has no such parameter{_lifetime(found)}",
            hint=f"take it out of the profile, or name it with --without {id}",
        )
    if verdict.about is About.ILLEGAL and verdict.holds is None:
        return warning(
            "RC2106", f"{id} = {asked.value} may be refused by kernel {on}", location=location, detail=why
        )
    if verdict.about is About.ILLEGAL:
        hint = f"see `modinfo -p {asked.module}` for what it takes"
        if found is not None and found.mask:
            hint = (
                f"{id} is a mask; to switch one feature write features.NAME = false and leave the rest to us"
            )
        return error(
            "RC2104",
            f"{id} = {asked.value} would stop {asked.module} from loading",
            location=location,
            detail=f"{kernels}: {why}",
            hint=hint,
        )
    if verdict.about is About.OUT_OF_RANGE:
        low, high = verdict.names
        return error(
            "RC2105",
            f"{id} = {asked.value} is out of range: its meanings run from {low} to {high}",
            location=location,
            detail=why,
            hint="choose a value inside the range",
        )
    if verdict.about is About.TAINTS:
        return info(
            "RC2107",
            f"setting {id} taints the kernel",
            location=location,
            detail=f"kernel {on}: {_BUG_REPORTS}",
            hint=f"leave {id} out again before you report a fault",
        )
    return warning("RC2108", f"{id} is deprecated", location=location, hint=why)


def _lifetime(found: Parameter | None) -> str:
    since, removed = (found.since, found.removed) if found is not None else ("", "")
    said = f"; it came with {since}" if since else ""
    return said + (f" and was removed in {removed}" if removed else "")


def _unknown_module(verdict: Verdict, asked: Spelling, location: str) -> Diagnostic:
    module, on = asked.module, ", ".join(verdict.kernels)
    if verdict.holds is None:
        return warning(
            "RC2109",
            f"module {module} cannot be looked into here; its value is not checked",
            location=location,
        )
    return error(
        "RC2110",
        f"there is no module {module}" + (f" on kernel {on}" if on else ""),
        location=location,
        hint=f"did you mean {verdict.names[0]}?" if verdict.names else f"see modinfo {module}",
    )


def _unknown_parameter(verdict: Verdict, asked: Spelling, location: str, known: Catalogue) -> Diagnostic:
    instead = verdict.instead
    if verdict.about is About.MISNAMED and instead is not None:
        hint = f"write {instead.id}"
        if instead.kind is Kind.FEATURE:
            hint = f"write features.{instead.name} = false (or --set feature.{instead.name}=false)"
        said = f"{asked.id} is not a parameter of any kernel"
        return error("RC2101", said, location=location, detail=verdict.why, hint=hint)
    near = list(verdict.names)
    near += [f"feature {f}" for f in closest(asked.name, list(known.features)) if len(near) < 3]
    hint = f"did you mean {', '.join(near)}?" if near else f"see modinfo -p {asked.module}"
    if verdict.holds is None:
        return warning(
            "RC2101", f"{asked.id} is not a parameter of any kernel known", location=location, hint=hint
        )
    return error(
        "RC2101",
        f"{asked.id} is not a parameter of any installed kernel ({', '.join(verdict.kernels)})",
        location=location,
        hint="did you mean " + ", ".join(near) + "?" if near else f"see modinfo -p {asked.module}",
    )


def _feature(verdict: Verdict, asked: Spelling, location: str, known: Catalogue) -> Diagnostic:
    near = verdict.names
    return error(
        "RC2020",
        f"no feature is called {asked.name!r}",
        location=location,
        hint="did you mean " + ", ".join(near) + "?" if near else "known: " + ", ".join(known.features),
    )


# -- kernel arguments and variables -------------------------------------------------------------------------


def _argument(
    verdict: Verdict,
    asked: Spelling,
    location: str,
    known: Catalogue,  # noqa: ARG001
) -> Diagnostic:
    setting = asked.name if asked.value is None else f"{asked.name}={asked.value}"
    if verdict.about is About.ILLEGAL:
        return warning(
            "RC2051",
            f"{setting} is none of the values that are documented",
            location=location,
            detail=f"the kernel may pass over it. {verdict.why}",
            hint=f"see `rocmcfg explain {asked.id}`",
        )
    if verdict.about is About.MISNAMED and verdict.why:
        return error(
            "RC2015",
            f"{setting} does not do what it seems to",
            location=location,
            detail=verdict.why,
            hint=f"write {verdict.instead}",
        )
    if verdict.about is About.MISNAMED:
        said = f"{asked.name} without its module reaches nobody on a kernel command line"
        return _told(verdict, asked, said, "", location, grave=True)
    if verdict.about is About.UNKNOWN_MODULE:
        said = f"there is no module {asked.name.partition('.')[0]}; the argument reaches nobody"
        return _told(verdict, asked, said, "", location, grave=True)
    said = f"no argument of the kernel is known as {asked.name}"
    return _told(verdict, asked, said, f"a name like it is {verdict.names[0]}", location, grave=True)


def _variable(verdict: Verdict, asked: Spelling, location: str, known: Catalogue) -> Diagnostic:
    setting = f"{asked.name}={asked.value}"
    variable = known.variables.get(asked.name)
    if verdict.about is About.UNKNOWN:
        said = f"no reader of {asked.name} is known"
        return _told(verdict, asked, said, f"a name like it is {verdict.names[0]}", location)
    if verdict.about is About.MISNAMED:
        return error(
            "RC2016",
            f"nothing reads the variable {asked.name}",
            location=location,
            detail=verdict.why,
            hint=f"write {verdict.instead.name}" if verdict.instead else "leave it out",
        )
    if verdict.about is About.DEPRECATED:
        return _told(verdict, asked, f"{asked.id} is deprecated", verdict.why, location)
    if verdict.about is About.PRESENCE_ONLY:
        return warning(
            "RC2018",
            f"{setting} switches it on all the same: only its presence counts",
            location=location,
            hint="leave the variable out to switch it off",
        )
    reader = (variable.reader if variable else "") or "its reader"
    words = ", ".join(variable.values) if variable else ""
    hint = f"it takes {words}" if words else f"see `rocmcfg explain {asked.name}`"
    if verdict.strict:
        return error(
            "RC2017",
            f"{setting}: {reader} does not take this value",
            location=location,
            detail=variable.summary if variable else "",
            hint=hint,
        )
    return warning(
        "RC2051",
        f"{setting} is none of the values that are documented",
        location=location,
        detail=f"{reader} may pass over it",
        hint=hint,
    )
