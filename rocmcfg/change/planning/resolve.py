"""Resolve profiles, command-line options, catalogue and facts into the desired settings, and collect all
problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from rocmcfg.change.planning.combine import combine, filled, misfits, missing, named, wrong_numbers
from rocmcfg.change.planning.wording import is_caution, worded
from rocmcfg.judging.conditions import Decision, decide
from rocmcfg.judging.hand_overs import disbelieved, hand_overs
from rocmcfg.judging.judge import judge
from rocmcfg.judging.kernels import declarations
from rocmcfg.judging.parameters import starting_mask
from rocmcfg.judging.verdict import OF_THE_NAME, REFUSED, About
from rocmcfg.judging.words import words
from rocmcfg.model.catalogue import Catalogue, Feature, Parameter
from rocmcfg.model.desired import Channel, DesiredSetting, Kind, Skipped
from rocmcfg.model.diagnostic import Diagnostic, Severity, error, info
from rocmcfg.model.facts import Driver, Facts
from rocmcfg.model.profile import Multiple, Profile, Setting
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import IllegalValue, ParamType, Spelling, as_number, closest, hexint, parameter
from rocmcfg.state.values import Effective

_OF_A_COMPOSED_MASK = REFUSED | {About.TAINTS, About.DEPRECATED}


class Resolution(NamedTuple):
    desired: tuple[DesiredSetting, ...]
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]


class _Work:
    """The state of one resolution. It never leaves this module."""

    def __init__(
        self,
        facts: Facts,
        catalogue: Catalogue,
        request: Request,
        base: Callable[[str], Effective],
        shipped: frozenset[str],
    ) -> None:
        self.facts, self.catalogue, self.request = facts, catalogue, request
        self.base, self.shipped = base, shipped
        self.cautions: list[Diagnostic] = []
        self.problems: list[Diagnostic] = []
        self.skipped: list[Skipped] = []
        self.desired: list[DesiredSetting] = []

    def types(self, id: str) -> set[str]:
        """Return the types that a parameter has on the kernels of the host, or an empty set if they are
        unknown."""
        kernels = declarations(id, self.facts.machine, self.catalogue)
        return {type for kernel in kernels for type in kernel.types}


def modules_of(settings: Iterable[Setting | DesiredSetting]) -> tuple[str, ...]:
    """Return the modules whose parameters these settings set. modinfo is asked about these modules and no
    others."""
    return tuple(dict.fromkeys(["amdgpu", *(s.module for s in settings if s.module)]))


def resolve(
    profiles: Sequence[Profile],
    request: Request,
    facts: Facts,
    catalogue: Catalogue,
    base: Callable[[str], Effective],
) -> Resolution:
    """Return the desired settings, the skipped ones and the problems. `base(parameter)` is the value that the
    host would have without rocmcfg; the bits of features are changed in that value."""
    shipped = frozenset(profile.name for profile in profiles if profile.shipped)
    work = _Work(facts, catalogue, request, base, shipped)
    combined, numbers, problems = combine(profiles, request, catalogue)
    work.problems += [*misfits(profiles, facts, any_gpu=request.any_gpu), *problems]
    work.problems += wrong_numbers(numbers, profiles, facts)
    settings = []
    for setting in _select(work, combined):
        reason = missing(setting, numbers, profiles)
        if reason:
            work.skipped.append(Skipped(setting.id, reason, setting.profile))
            continue
        settings.append(filled(setting, numbers))
    work.problems[:0] = [*disbelieved(profiles), *hand_overs(settings, catalogue)]
    for setting in settings:
        if setting.kind is Kind.PARAMETER:
            _parameter(work, setting)
        elif setting.kind in (Kind.KARG, Kind.ENV):
            _as_written(work, setting, Channel.CMDLINE if setting.kind is Kind.KARG else Channel.ENVIRONMENT)
    _features(work, [s for s in settings if s.kind is Kind.FEATURE])
    diagnostics = tuple(dict.fromkeys([*work.problems, *work.cautions]))
    return Resolution(tuple(work.desired), tuple(work.skipped), diagnostics)


def _judged(work: _Work, setting: Setting, text: str | None, *, only: frozenset[About] | None = None) -> bool:
    """Collect the verdicts on a setting with the text to be written. Return False if the setting is
    refused."""
    spelling = Spelling(setting.kind, setting.name, text, setting.module)
    machine = work.facts.machine
    taken = True
    for verdict in judge(spelling, machine, work.catalogue):
        caution = is_caution(verdict, spelling)
        if (only is not None and verdict.about not in only) or (caution and setting.profile in work.shipped):
            continue
        diagnostic = worded(verdict, spelling, setting.location, work.catalogue, machine)
        if diagnostic is not None:
            taken = taken and diagnostic.severity is not Severity.ERROR
            (work.cautions if caution else work.problems).append(diagnostic)
    return taken


def _select(work: _Work, settings: Sequence[Setting]) -> list[Setting]:
    """Return the settings to apply: without optional ones that were not requested, those that --without
    names, and those that this host does not need."""
    request = work.request
    _check_names(work, "--with", request.with_, settings)
    _check_names(work, "--without", request.without, settings)
    chosen: list[Setting] = []
    unsure: dict[str, list[Setting]] = {}
    for setting in settings:
        if named(setting.id, request.without):
            work.skipped.append(Skipped(setting.id, "left out with --without", setting.profile))
            continue
        decision = _decision(work, setting)
        if setting.optional and not named(setting.id, request.with_):
            why = f"optional, and {decision.text}" if decision.holds is False else "optional: --with adds it"
            work.skipped.append(Skipped(setting.id, why, setting.profile))
        elif decision.holds is False:
            work.skipped.append(Skipped(setting.id, decision.text, setting.profile))
        elif harm := _harm_of_auto(work, setting):
            work.skipped.append(Skipped(setting.id, harm, setting.profile))
        else:
            chosen.append(setting)
            if decision.holds is None:
                unsure.setdefault(decision.why, []).append(setting)
    work.problems += _told_once(work, unsure)
    return chosen


def _told_once(work: _Work, unsure: Mapping[str, Sequence[Setting]]) -> Iterable[Diagnostic]:
    """Yield one remark on all settings of which it is unknown whether they are needed, with each reason
    once. `unsure` holds the settings by reason."""
    settings = [setting for of_a_reason in unsure.values() for setting in of_a_reason]
    if not settings:
        return
    several = len(settings) > 1
    verb, they_are = ("are", "they are") if several else ("is", "it is")
    summary = f"{_names(settings)} {verb} applied because it is unknown whether {they_are} needed"
    details = [f"{_names(of_a_reason)}: {why}" for why, of_a_reason in unsure.items()]
    detail = "\n".join(details if len(unsure) > 1 else unsure)
    hint = f"leave {'one' if several else 'it'} out with --without {settings[0].id}"
    if not work.facts.knows_rocm and any(part.rocm for setting in settings for part in setting.when):
        hint = f"name the ROCm release in use with --rocm V; or {hint}"
    yield info("RC2012", summary, location=settings[0].location, detail=detail, hint=hint)


def _names(settings: Iterable[Setting]) -> str:
    return ", ".join(setting.id for setting in settings)


def _harm_of_auto(work: _Work, setting: Setting) -> str:
    """Say what a setting of a profile that `auto` chose for one GPU would break on another GPU of the host;
    empty where nothing is known to break, or where the user named the profile."""
    request = work.request
    by_auto = "auto" in request.profiles and setting.profile not in request.profiles
    if not by_auto or setting.profile not in work.shipped or isinstance(setting.value, tuple | Multiple):
        return ""
    text = str(setting.value).lower() if isinstance(setting.value, bool) else str(setting.value)
    spelling, machine = Spelling(setting.kind, setting.name, text, setting.module), work.facts.machine
    for verdict in judge(spelling, machine, work.catalogue):
        if verdict.holds and (verdict.about in (About.LOSES, About.UNDOES) or verdict.is_grave):
            summary = words(verdict, spelling, work.catalogue, machine).summary
            return f"{summary}; `--set {spelling}` sets it anyway"
    return ""


def _decision(work: _Work, setting: Setting) -> Decision:
    if not setting.when:
        return Decision(True, "always")
    if work.request.unconditional:
        return Decision(True, "conditions are ignored (--unconditional)")
    return decide(setting.when, work.facts, work.catalogue)


def _check_names(work: _Work, option: str, names: Sequence[str], settings: Sequence[Setting]) -> None:
    ids = [s.id for s in settings if option == "--without" or s.optional]
    for name in names:
        if not any(named(setting.id, [name]) for setting in settings):
            near = closest(name, ids) or ids
            summary = f"{option} {name}: the requested profiles have no such setting"
            hint = "choose from: " + ", ".join(near) if near else "there is none"
            work.problems.append(error("RC2013", summary, hint=hint))


def _base(work: _Work, setting: Setting, text: str | None, channel: Channel) -> DesiredSetting:
    shared = {name: value for name, value in setting._asdict().items() if name in DesiredSetting._fields}
    need = _decision(work, setting)
    decision = need.text if setting.when and not work.request.unconditional else need.why
    return DesiredSetting(id=setting.id, text=text, channel=channel, decision=decision, **shared)


def _channel(work: _Work, setting: Setting) -> Channel:
    wanted = Channel(work.request.via) if work.request.via else setting.via or Channel.CMDLINE
    builtin = [k.release for k in work.facts.kernels if k.driver is Driver.BUILTIN]
    of_the_driver = setting.kind is Kind.FEATURE or setting.module in work.catalogue.modules()
    if wanted is Channel.MODPROBE and builtin and of_the_driver:
        summary = (
            f"{setting.id}: kernel {', '.join(builtin)} has amdgpu built in, so it never reads modprobe.d"
        )
        work.problems.append(error("RC2014", summary, location=setting.location, hint="use --via cmdline"))
    return wanted


def _parameter(work: _Work, setting: Setting) -> None:
    if isinstance(setting.value, tuple | Multiple):
        return  # the profile loader refuses lists here, and the number of a multiple is already filled in
    entry = work.catalogue.parameters.get(setting.id)
    try:
        text = _text(setting.value, entry, work.types(setting.id))
    except IllegalValue as problem:
        if _judged(work, setting, None, only=OF_THE_NAME):
            wrong = f"{setting.id}: {problem}"
            work.problems.append(error("RC2104", wrong, location=setting.location, hint="write a number"))
        return
    if _judged(work, setting, text):
        desired = _base(work, setting, text, _channel(work, setting))
        rewritten = entry is not None and entry.rewritten
        work.desired.append(desired._replace(parameter=setting.id, rewritten=rewritten))


def _text(value: str | int | bool, entry: Parameter | None, types: Set[str]) -> str:
    """Return a TOML value as the text after the `=`. Raise IllegalValue if true or false does not fit the
    type."""
    switch = {ParamType.BOOL.value, ParamType.BINT.value}
    if isinstance(value, bool):
        if types and types <= switch:
            return "Y" if value else "N"
        if ParamType.BOOL in types:
            return "1" if value else "0"  # bool on one kernel, int on another: both accept 1 and 0
        raise IllegalValue(f"only bool parameters take true and false; write {int(value)}")
    if isinstance(value, int):
        hexadecimal = entry is not None and entry.mask and value >= 0
        return (hexint(value) if ParamType.HEXINT in types else hex(value)) if hexadecimal else str(value)
    if types and types <= switch:
        # Kernels understand `true` and `false` only from about 5.19 on; every kernel understands Y and N.
        return {"true": "Y", "false": "N"}.get(value.lower(), value)
    return value


def _as_written(work: _Work, setting: Setting, channel: Channel) -> None:
    """Add a kernel argument, which may have several values or none, or a variable, with the text that the
    user or the profile wrote."""
    for value in setting.value if isinstance(setting.value, tuple) else (setting.value,):
        text = None if value is True else str(value)
        if _judged(work, setting, text):
            work.desired.append(_base(work, setting, text, channel))


def _features(work: _Work, settings: Sequence[Setting]) -> None:
    by_mask: dict[str, list[tuple[Setting, Feature]]] = {}
    for setting in settings:
        if _judged(work, setting, "true" if setting.value else "false"):
            feature = work.catalogue.features[setting.name]
            by_mask.setdefault(feature.parameter, []).append((setting, feature))
    for id, members in by_mask.items():
        _compose(work, id, members)


def _compose(work: _Work, id: str, members: Sequence[tuple[Setting, Feature]]) -> None:
    """Compose the features of one mask: take the value that the host would have without rocmcfg, change the
    bits of these features, and keep every other bit."""
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
    types = work.types(id)
    text = hexint(mask) if ParamType.HEXINT in types or not types else hex(mask)
    channels = {_channel(work, setting) for setting, _ in members}
    if own is not None:
        channels.add(own.channel)
        work.desired.remove(own)
        work.desired.append(own._replace(text=text))
    if len(channels) > 1:
        summary = f"the features of {id} share one mask, which cannot be written to two places"
        hint = "use the same `via` for all of them"
        work.problems.append(error("RC2021", summary, location=members[0][0].location, hint=hint))
        return
    for setting, feature in members:
        desired = _base(work, setting, text, channels.copy().pop())
        what = f"bit {feature.bit:#x} of {id}, composed onto {hexint(start)} ({source})"
        decision = what if not setting.when else f"{desired.decision}; {what}"
        work.desired.append(desired._replace(module=id.partition(".")[0], parameter=id, decision=decision))
    mask_itself = parameter(id, text)
    composed = members[0][0]._replace(kind=Kind.PARAMETER, name=mask_itself.name, module=mask_itself.module)
    _judged(work, composed, text, only=_OF_A_COMPOSED_MASK)
