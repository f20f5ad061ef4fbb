"""Profiles, options of the command line, catalogue and facts in; desired settings and all problems out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rocmcfg.judging.cautions import cautions
from rocmcfg.judging.conditions import decide
from rocmcfg.judging.hand_overs import disbelieved, hand_overs
from rocmcfg.judging.masks import starting_mask
from rocmcfg.judging.values import illegal, kernel_types, to_text, unknown_module, unknown_name
from rocmcfg.model.catalogue import Catalogue, Feature
from rocmcfg.model.diagnostic import Diagnostic, Severity, error, info, warning
from rocmcfg.model.facts import Driver, Facts
from rocmcfg.model.profile import Multiple, Profile, Setting
from rocmcfg.model.request import Request
from rocmcfg.model.state import Channel, DesiredSetting, Kind, Skipped
from rocmcfg.model.value import IllegalValue, ParamType, as_number, closest, hexint
from rocmcfg.planning.combine import combine, match
from rocmcfg.planning.profile_values import filled, missing, wrong_values
from rocmcfg.planning.request import named
from rocmcfg.state.effective import Effective


class Resolution(NamedTuple):
    desired: tuple[DesiredSetting, ...]
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(slots=True)
class _Work:
    """The state of one resolution; it never leaves this module."""

    facts: Facts
    catalogue: Catalogue
    request: Request
    base: Callable[[str], Effective]
    problems: list[Diagnostic] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    desired: list[DesiredSetting] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)  # how a value came about, by setting


def modules_of(settings: Iterable[Setting]) -> tuple[str, ...]:
    """The modules whose parameters a set of settings touches; modinfo is asked about these and no others."""
    return tuple(dict.fromkeys(["amdgpu", *(s.module for s in settings if s.module)]))


def resolve(
    profiles: Sequence[Profile],
    request: Request,
    facts: Facts,
    catalogue: Catalogue,
    base: Callable[[str], Effective],
) -> Resolution:
    """`base(parameter)` is the value that the host would have without us; masks are composed onto it."""
    work = _Work(facts, catalogue, request, base)
    combined = combine(profiles, request, catalogue)
    work.problems += [*match(profiles, facts, any_gpu=request.any_gpu), *combined.problems]
    work.problems += wrong_values(combined.given, profiles, facts)
    settings = []
    for setting in _select(work, combined.settings):
        reason = missing(setting, combined.given, profiles)
        if reason:
            work.skipped.append(Skipped(setting.id, reason, setting.profile))
            continue
        complete, note = filled(setting, combined.given)
        settings.append(complete)
        if note:
            work.notes[setting.id] = note
    work.problems[:0] = [*disbelieved(profiles), *hand_overs(settings, catalogue)]
    for setting in settings:
        if setting.kind is Kind.PARAMETER:
            _parameter(work, setting)
        elif setting.kind is Kind.KARG:
            _karg(work, setting)
        elif setting.kind is Kind.ENV:
            _variable(work, setting)
    _features(work, [s for s in settings if s.kind is Kind.FEATURE])
    shipped = {profile.name for profile in profiles if profile.shipped}
    for setting in (s for s in settings if s.profile not in shipped):
        texts = [desired.text for desired in work.desired if desired.id == setting.id]
        work.problems += cautions(setting, texts, facts, catalogue)
    return Resolution(tuple(work.desired), tuple(work.skipped), tuple(dict.fromkeys(work.problems)))


def refused(settings: Iterable[DesiredSetting], facts: Facts, catalogue: Catalogue) -> Iterable[Diagnostic]:
    """Of settings that were resolved before: which values would keep the driver of a kernel that is installed
    now from loading."""
    for setting in settings:
        module, _, name = setting.parameter.partition(".")
        if setting.parameter and setting.text is not None:
            types = kernel_types(module, name, facts.driven, catalogue)
            known = catalogue.parameters.get(setting.parameter)
            for problem in illegal(setting.parameter, setting.text, known, types, setting.location):
                if problem.severity is Severity.ERROR:
                    yield problem


def _select(work: _Work, settings: Sequence[Setting]) -> list[Setting]:
    """Leaves out what is optional and not asked for, what --without names, and what is not needed."""
    request = work.request
    _check_names(work, "--with", request.with_, settings)
    _check_names(work, "--without", request.without, settings)
    chosen = []
    for setting in settings:
        if named(setting.id, request.without):
            work.skipped.append(Skipped(setting.id, "left out with --without", setting.profile))
        elif setting.optional and not named(setting.id, request.with_):
            work.skipped.append(Skipped(setting.id, _why_not(work, setting), setting.profile))
        elif not setting.when or request.unconditional or _needed(work, setting):
            chosen.append(setting)
    return chosen


def _why_not(work: _Work, setting: Setting) -> str:
    """Of an optional setting that nobody asked for: how to get it, or why not to want it."""
    decision = decide(setting.when, work.facts, work.catalogue)
    if decision.holds is False and not work.request.unconditional:
        return f"optional, and {decision.text}"
    return f"optional; add it with --with {setting.id}"


def _needed(work: _Work, setting: Setting) -> bool:
    decision = decide(setting.when, work.facts, work.catalogue)
    if decision.holds is None:
        work.problems.append(
            info(
                "RC2012",
                f"{setting.id} is applied because it cannot be told whether it is needed",
                location=setting.location,
                detail=decision.why,
                hint=f"leave it out with --without {setting.id}",
            )
        )
    if decision.holds is False:
        work.skipped.append(Skipped(setting.id, decision.text, setting.profile))
    return decision.holds is not False


def _decision(work: _Work, setting: Setting) -> str:
    if setting.when and work.request.unconditional:
        said = "conditions are ignored (--unconditional)"
    elif setting.when:
        said = decide(setting.when, work.facts, work.catalogue).text
    else:
        said = "always"
    note = work.notes.get(setting.id, "")
    return said if not note else note if not setting.when else f"{note}; {said}"


def _check_names(work: _Work, option: str, names: Sequence[str], settings: Sequence[Setting]) -> None:
    known = [s.id for s in settings if option == "--without" or s.optional]
    for name in names:
        if not any(named(setting.id, [name]) for setting in settings):
            near = closest(name, known) or known
            work.problems.append(
                error(
                    "RC2013",
                    f"{option} {name}: the profile has no such setting",
                    hint="it has " + ", ".join(near) if near else "it has none",
                )
            )


def _base(work: _Work, setting: Setting, text: str | None, channel: Channel) -> DesiredSetting:
    return DesiredSetting(
        id=setting.id,
        kind=setting.kind,
        name=setting.name,
        text=text,
        channel=channel,
        module=setting.module,
        because=setting.because,
        evidence=setting.evidence,
        cost=setting.cost,
        confidence=setting.confidence,
        decision=_decision(work, setting),
        location=setting.location,
        profile=setting.profile,
    )


def _channel(work: _Work, setting: Setting) -> Channel:
    wanted = Channel(work.request.via) if work.request.via else setting.via or Channel.CMDLINE
    builtin = [k.release for k in work.facts.kernels if k.driver is Driver.BUILTIN]
    if wanted is Channel.MODPROBE and builtin:
        work.problems.append(
            error(
                "RC2014",
                f"{setting.id}: kernel {', '.join(builtin)} has amdgpu built in and never reads modprobe.d",
                location=setting.location,
                hint="use --via cmdline",
            )
        )
    return wanted


def _parameter(work: _Work, setting: Setting) -> None:
    kernels = work.facts.driven
    types = kernel_types(setting.module, setting.name, kernels, work.catalogue)
    wrong = unknown_name(setting.module, setting.name, types, work.catalogue, setting.location)
    if wrong is None and not types and kernels:
        wrong = unknown_module(setting.module, kernels, work.catalogue, setting.location)
    if wrong is not None:
        work.problems.append(wrong)
        if wrong.severity.value == "error":
            return
    parameter = work.catalogue.parameters.get(setting.id)
    if isinstance(setting.value, tuple | Multiple):
        return  # the profile loader refuses lists here, and a multiple has its number by now
    try:
        text = to_text(setting.value, parameter, types)
    except IllegalValue as problem:
        work.problems.append(
            error("RC2104", f"{setting.id}: {problem}", location=setting.location, hint="write the number")
        )
        return
    problems = illegal(setting.id, text, parameter, types, setting.location)
    work.problems += problems
    if not any(p.severity.value == "error" for p in problems):
        desired = _base(work, setting, text, _channel(work, setting))
        work.desired.append(
            desired._replace(parameter=setting.id, rewritten=parameter.rewritten if parameter else False)
        )


def _karg(work: _Work, setting: Setting) -> None:
    values = setting.value if isinstance(setting.value, tuple) else (setting.value,)
    for value in values:
        text = None if value is True else str(value)
        trap = work.catalogue.traps.get(setting.name if text is None else f"{setting.name}={text}")
        if trap is not None:
            work.problems.append(
                error(
                    "RC2015",
                    f"{trap.name} does not do what it seems to",
                    location=setting.location,
                    detail=trap.summary,
                    hint=f"write {trap.instead}",
                )
            )
            continue
        work.desired.append(_base(work, setting, text, Channel.CMDLINE))


def _variable(work: _Work, setting: Setting) -> None:
    variable = work.catalogue.variables.get(setting.name)
    text = str(setting.value)
    if variable is not None and variable.unknown:
        work.problems.append(
            error(
                "RC2016",
                f"nothing reads the variable {setting.name}",
                location=setting.location,
                detail=variable.summary,
                hint=f"write {variable.instead.name}" if variable.instead else "leave it out",
            )
        )
        return
    if variable is not None and not variable.takes(text):
        words = ", ".join(variable.values)
        hint = f"it takes {words}" if words else f"see `rocmcfg explain {setting.name}`"
        reader = variable.reader or "its reader"
        if variable.strict:
            work.problems.append(
                error(
                    "RC2017",
                    f"{setting.name}={text}: {reader} does not take this value",
                    location=setting.location,
                    detail=variable.summary,
                    hint=hint,
                )
            )
            return
        work.problems.append(
            warning(
                "RC2051",
                f"{setting.name}={text} is none of the values that are documented",
                location=setting.location,
                detail=f"{reader} may pass over it",
                hint=hint,
            )
        )
    if variable is not None and variable.presence_only and text in ("0", "off", "false", "no"):
        work.problems.append(
            warning(
                "RC2018",
                f"{setting.name}={text} switches it on all the same: only its presence counts",
                location=setting.location,
                hint="leave the variable out to switch it off",
            )
        )
    work.desired.append(_base(work, setting, text, Channel.ENVIRONMENT))


def _features(work: _Work, settings: Sequence[Setting]) -> None:
    by_mask: dict[str, list[tuple[Setting, Feature]]] = {}
    for setting in settings:
        feature = work.catalogue.features.get(setting.name)
        if feature is None:
            near = closest(setting.name, list(work.catalogue.features))
            work.problems.append(
                error(
                    "RC2020",
                    f"no feature is called {setting.name!r}",
                    location=setting.location,
                    hint="did you mean " + ", ".join(near) + "?"
                    if near
                    else "known: " + ", ".join(work.catalogue.features),
                )
            )
            continue
        by_mask.setdefault(feature.parameter, []).append((setting, feature))
    for parameter, members in by_mask.items():
        _compose(work, parameter, members)


def _compose(work: _Work, id: str, members: Sequence[tuple[Setting, Feature]]) -> None:
    """The mask that the host would have without us, with our bits changed and every other bit kept."""
    module, _, name = id.partition(".")
    types = kernel_types(module, name, work.facts.driven, work.catalogue)
    own = next((d for d in work.desired if d.parameter == id), None)
    if own is not None:
        start, source = as_number(own.text), own.location
    else:
        start, source, problems = starting_mask(
            work.catalogue.parameters[id], work.base(id), work.facts.driven, members[0][0].location
        )
        work.problems += problems
    if start is None:
        return
    mask = start
    for setting, feature in members:
        mask = feature.compose(mask, bool(setting.value))
    hexadecimal = any(ParamType.HEXINT in kernel.types for kernel in types)
    text = hexint(mask) if hexadecimal or not types else hex(mask)
    channels = {_channel(work, setting) for setting, _ in members}
    if own is not None:
        channels.add(own.channel)
        work.desired.remove(own)
        work.desired.append(own._replace(text=text))
    if len(channels) > 1:
        work.problems.append(
            error(
                "RC2021",
                f"the features of {id} share one mask and cannot go to two places",
                location=members[0][0].location,
                hint="give all of them the same `via`",
            )
        )
        return
    for setting, feature in members:
        desired = _base(work, setting, text, channels.copy().pop())
        what = f"bit {feature.bit:#x} of {id}, composed onto {hexint(start)} ({source})"
        decision = what if not setting.when else f"{desired.decision}; {what}"
        work.desired.append(desired._replace(module=module, parameter=id, decision=decision))
    work.problems += illegal(id, text, work.catalogue.parameters.get(id), types, members[0][0].location)
