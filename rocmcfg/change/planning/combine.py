"""Several profiles and the options of the command line as one list of settings, each once; and the numbers
that the user gave for the profiles' parameters (`--set profile.gtt_gib=96`), checked and put in. What
contradicts itself is an error here; whether a setting is needed or legal on a host is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Channel, Kind
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import adds_up
from rocmcfg.model.profile import Multiple, Profile, ProfileParameter, Setting, Use
from rocmcfg.model.request import Request
from rocmcfg.model.spelling import ProfileValue, Spelling, closest, parse

BYTES = {"4 KiB pages": 4 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_LEFT = 8  # warn where less than an eighth of the memory would be left


def misfits(profiles: Sequence[Profile], facts: Facts, *, any_gpu: bool) -> Iterable[Diagnostic]:
    """Yield why profiles are not for this host, or for no host as a whole."""
    for profile in profiles:
        if profile.use is Use.DIAGNOSIS:
            summary = (
                f"profile {profile.name} is for finding a fault; applied to a host it slows every program"
            )
            hint = f"use it for one command: rocmcfg run --profile {profile.name} -- COMMAND"
            yield warning("RC2046", summary, location=profile.location, hint=hint)
        fitting = any(profile.fits(gpu.gfx, gpu.integrated) for gpu in facts.gpus)
        if profile.gfx and not fitting and not any_gpu:
            gpus = ", ".join(f"{gpu.gfx or 'unknown'} ({gpu.name})" for gpu in facts.gpus)
            kind = {True: "APUs with ", False: "graphics cards and accelerators with ", None: ""}[profile.apu]
            yield error(
                "RC2010",
                f"profile {profile.name} is for {kind}{', '.join(profile.gfx)}, "
                "and this host has no such GPU",
                location=profile.location,
                detail=f"found: {gpus}" if gpus else "no AMD GPU was found",
                hint="choose the profile of your GPU (`rocmcfg profile list`), or apply it all the same "
                "with --any-gpu",
            )


def combine(
    profiles: Sequence[Profile], request: Request, catalogue: Catalogue
) -> tuple[list[Setting], dict[str, int], list[Diagnostic]]:
    """The settings of all profiles and --set; the values of the profiles' parameters, not yet compared with
    what they declare; and the problems. Two profiles that disagree are an error: module parameters hold for
    the whole module, so that there is no right choice."""
    requested, numbers, problems = _asked(request, catalogue)
    chosen: dict[str, Setting] = {}
    for setting in (s for profile in profiles for s in profile.settings):
        canonical = _as_parameter(setting, catalogue)
        other = chosen.get(canonical.id)
        if other is None:
            chosen[canonical.id] = canonical
        elif other.value != canonical.value and canonical.id not in requested:
            summary = f"profiles disagree about {canonical.id}: {other.value} and {canonical.value}"
            detail = f"the other place: {other.location}"
            hint = f"decide with --set {canonical.id}=VALUE or --without {canonical.id}"
            problems.append(error("RC2011", summary, location=canonical.location, detail=detail, hint=hint))
        elif other.doubt is not None and canonical.doubt is None:
            chosen[canonical.id] = canonical  # what two of them say is said by the one that root believes
    for id, setting in requested.items():
        old = chosen.get(id)
        chosen[id] = setting._replace(via=old.via) if old else setting
    return list(chosen.values()), numbers, problems


def misspelt(request: Request, catalogue: Catalogue) -> list[Diagnostic]:
    """Return what is wrong with the words of --set, whatever the host."""
    return _asked(request, catalogue)[2]


def _asked(
    request: Request, catalogue: Catalogue
) -> tuple[dict[str, Setting], dict[str, int], list[Diagnostic]]:
    """Return what --set says, each setting once."""
    requested: dict[str, Setting] = {}
    numbers: dict[str, int] = {}
    problems: list[Diagnostic] = []
    for parsed in map(parse_set, request.set):
        if isinstance(parsed, Diagnostic):
            problems.append(parsed)
        elif isinstance(parsed, ProfileValue):
            if numbers.setdefault(parsed.name, parsed.value) != parsed.value:
                problems.append(_twice(f"profile.{parsed.name}", numbers[parsed.name], parsed.value))
        else:
            setting = _as_parameter(parsed, catalogue)
            other = requested.setdefault(setting.id, setting)
            if other.value == setting.value:
                continue
            if setting.kind is Kind.KARG and adds_up(setting.name):
                values = other.value if isinstance(other.value, tuple) else (str(other.value),)
                requested[setting.id] = other._replace(value=(*values, str(setting.value)))
            else:
                problems.append(_twice(setting.id, other.value, setting.value))
    return requested, numbers, problems


def _twice(id: str, first: object, second: object) -> Diagnostic:
    summary = f"--set gives {id} two values: {first} and {second}"
    return error("RC2041", summary, location="--set", hint="keep one of them")


def _as_parameter(setting: Setting, catalogue: Catalogue) -> Setting:
    """`"amdgpu.runpm" = 0` under [cmdline] means the parameter, and becomes it."""
    module, dot, name = setting.name.replace("-", "_").partition(".")
    if setting.kind is not Kind.KARG or not dot or module not in catalogue.modules():
        return setting
    return setting._replace(kind=Kind.PARAMETER, module=module, name=name, via=Channel.CMDLINE)


def named(id: str, names: Iterable[str]) -> bool:
    """Say whether one of the names is this setting: its id, or the id's last part; - and _ are one."""
    full = id.replace("-", "_")
    return any(name.replace("-", "_") in (full, full.partition(".")[2]) for name in names)


@cache
def parse_set(text: str) -> Setting | ProfileValue | Diagnostic:
    """Return what a word of `--set` asks for, or what is wrong with it. Each word is parsed once, though the
    check of the words, the facts and each plan of a command ask for it."""
    spelling = parse(text)
    if not isinstance(spelling, Spelling):
        return spelling
    value = True if spelling.value is None else spelling.value
    if spelling.kind is Kind.FEATURE:
        value = spelling.enabled
    because = "asked for on the command line"
    return Setting(spelling.kind, spelling.name, value, spelling.module, because, location="--set")


def wrong_numbers(
    numbers: Mapping[str, int], profiles: Sequence[Profile], facts: Facts
) -> Iterable[Diagnostic]:
    """Problems with the numbers of `--set profile.NAME`; GPUs count where the host shows any that fit."""
    every = [parameter for profile in profiles for parameter in profile.parameters]
    names = {parameter.name for parameter in every}
    for name, value in numbers.items():
        if name not in names:
            near = closest(name, list(names)) or list(names)
            hint = "they take " + ", ".join(f"profile.{n}" for n in near)
            if not near:
                hint = "name one that does with --profile; `rocmcfg profile list` shows them"
            summary = f"profile.{name}: no profile that is asked for takes this number"
            yield error("RC2042", summary, hint=hint)
        for parameter in (candidate for candidate in every if candidate.name == name):
            for problem in _misfit(parameter, value, profiles, facts):
                yield problem._replace(location="--set")


def _misfit(
    parameter: ProfileParameter, value: int, profiles: Sequence[Profile], facts: Facts
) -> Iterable[Diagnostic]:
    """Yield what a profile, and what the host, has against a number. A GPU that is split into partitions
    counts for each of them, so that no right number is refused."""
    name = f"profile.{parameter.name}"
    if value < parameter.low or (parameter.high is not None and value > parameter.high):
        end = " or more" if parameter.high is None else f" to {parameter.high}"
        summary = f"{name} = {value} is out of range: it takes {parameter.low}{end}"
        yield error("RC2043", summary, detail=parameter.summary, hint="give a value inside the range")
    if parameter.within == "memory":
        yield from _out_of_memory(parameter, value, facts)
    elif parameter.within == "gpus":
        meant = [profile for profile in profiles if parameter in profile.parameters]
        gpus = [gpu for gpu in facts.gpus if any(p.fits(gpu.gfx, gpu.integrated) for p in meant)]
        if gpus and value > len(gpus):
            summary = f"{name} = {value} is more than this host has: {len(gpus)}"
            yield error("RC2052", summary, detail=parameter.summary, hint=f"write --set {name}={len(gpus)}")


def _out_of_memory(parameter: ProfileParameter, value: int, facts: Facts) -> Iterable[Diagnostic]:
    amount = value * BYTES[parameter.unit]
    assignment = f"profile.{parameter.name} = {value} {parameter.unit}"
    if facts.memory is None:
        unknown = f"{assignment} was not compared with the memory of this host, which nothing tells"
        yield info("RC2047", unknown, hint="make sure that it has more, for the system too")
        return
    has = f"the system has {facts.memory / BYTES[parameter.unit]:.1f} {parameter.unit}"
    if amount > facts.memory:
        summary = f"{assignment} is more than this host has"
        detail = f"{has}; what the firmware sets aside for graphics is not part of it"
        yield error("RC2044", summary, detail=detail, hint="give less, and leave some for the system itself")
    elif facts.memory - amount < facts.memory // _LEFT:
        summary = f"{assignment} leaves little for the system itself"
        detail = f"{has}; a full GPU would then end programs for want of memory"
        yield warning("RC2045", summary, detail=detail, hint="give less if the host runs out of memory")
    if parameter.unset == "half of memory" and amount < facts.memory // 2:
        lowers = f"{assignment} lowers the limit: unset it is half of the memory"
        yield warning("RC2053", lowers, detail=has, hint="give more than half, or leave it out")


def missing(setting: Setting, numbers: Mapping[str, int], profiles: Sequence[Profile]) -> str:
    """Return why a setting cannot be had yet: which option it waits for. Empty where it has its value."""
    if not isinstance(setting.value, Multiple) or setting.value.parameter in numbers:
        return ""
    name = setting.value.parameter
    parameter = next(p for profile in profiles for p in profile.parameters if p.name == name)
    unit = parameter.unit or "NUMBER"
    return f"needs a value: --set profile.{name}={unit.upper()} ({parameter.summary.rstrip('.')})"


def filled(setting: Setting, numbers: Mapping[str, int]) -> Setting:
    """The setting with its number, and how it came about; as it is where it waits for none."""
    if not isinstance(setting.value, Multiple):
        return setting
    amount, times = numbers[setting.value.parameter], setting.value.times
    note = f"{amount} (profile.{setting.value.parameter})"
    note += f" × {times} = {amount * times}" if times > 1 else ""
    return setting._replace(value=amount * times, because=f"{setting.because} It is {note}.".strip())
