"""Combine the profiles and the command-line options into one list that holds each setting once. Check the
numbers that the user set for parameters of profiles (`--set profile.gtt_gib=96`) and fill them in.
Contradictions are errors here; whether a host needs or allows a setting is decided elsewhere."""

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
_LEFT = 8  # warn if less than one eighth of the memory would remain


def misfits(profiles: Sequence[Profile], facts: Facts, *, any_gpu: bool) -> Iterable[Diagnostic]:
    """Yield a problem for each profile that does not fit this host, or that is not meant to be applied to any
    host."""
    for profile in profiles:
        if profile.use is Use.DIAGNOSIS:
            summary = (
                f"profile {profile.name} is for finding a fault; applied to a host, it slows down every "
                "program"
            )
            hint = f"use it for one command only: rocmcfg run --profile {profile.name} -- COMMAND"
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
                hint="choose the profile of your GPU (`rocmcfg profile list`), or apply it anyway with "
                f"--any-gpu; to read it: rocmcfg profile show {profile.name}",
            )


def combine(
    profiles: Sequence[Profile], request: Request, catalogue: Catalogue
) -> tuple[list[Setting], dict[str, int], list[Diagnostic]]:
    """Return the settings of all profiles and of --set; the values for the profiles' parameters, not yet
    compared with the declarations; and the problems. Two profiles that disagree are an error: module
    parameters apply to the whole module, so neither choice is right."""
    requested, numbers, problems = _asked(request, catalogue)
    chosen: dict[str, Setting] = {}
    for setting in (s for profile in profiles for s in profile.settings):
        canonical = _as_parameter(setting, catalogue)
        other = chosen.get(canonical.id)
        if other is None:
            chosen[canonical.id] = canonical
        elif other.value != canonical.value and canonical.id not in requested:
            summary = f"profiles disagree about {canonical.id}: {other.value} and {canonical.value}"
            detail = f"the other value comes from {other.location}"
            hint = f"decide with --set {canonical.id}=VALUE or --without {canonical.id}"
            problems.append(error("RC2011", summary, location=canonical.location, detail=detail, hint=hint))
        elif other.doubt is not None and canonical.doubt is None:
            chosen[canonical.id] = canonical  # if two profiles agree, keep the setting of the trusted one
    for id, setting in requested.items():
        old = chosen.get(id)
        chosen[id] = setting._replace(via=old.via) if old else setting
    return list(chosen.values()), numbers, problems


def misspelt(request: Request, catalogue: Catalogue) -> list[Diagnostic]:
    """Return what is wrong with the --set options on any host."""
    return _asked(request, catalogue)[2]


def _asked(
    request: Request, catalogue: Catalogue
) -> tuple[dict[str, Setting], dict[str, int], list[Diagnostic]]:
    """Return the settings of --set, each once; the numbers for profile parameters; and the problems."""
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
    summary = f"--set sets {id} to two values: {first} and {second}"
    return error("RC2041", summary, location="--set", hint="keep one of them")


def _as_parameter(setting: Setting, catalogue: Catalogue) -> Setting:
    """Return the module parameter that a kernel argument means: `"amdgpu.runpm" = 0` under [cmdline] becomes
    one. Return any other setting unchanged."""
    module, dot, name = setting.name.replace("-", "_").partition(".")
    if setting.kind is not Kind.KARG or not dot or module not in catalogue.modules():
        return setting
    return setting._replace(kind=Kind.PARAMETER, module=module, name=name, via=Channel.CMDLINE)


def named(id: str, names: Iterable[str]) -> bool:
    """Return whether one of the names is this setting: its id, or the last part of its id. A - equals a _."""
    full = id.replace("-", "_")
    return any(name.replace("-", "_") in (full, full.partition(".")[2]) for name in names)


@cache
def parse_set(text: str) -> Setting | ProfileValue | Diagnostic:
    """Return the setting that one `--set` option requests, or what is wrong with it. Each option is parsed
    once, although the check of the options, the facts and each plan of a command all use the result."""
    spelling = parse(text)
    if not isinstance(spelling, Spelling):
        return spelling
    value = True if spelling.value is None else spelling.value
    if spelling.kind is Kind.FEATURE:
        value = spelling.enabled
    because = "requested on the command line"
    return Setting(spelling.kind, spelling.name, value, spelling.module, because, location="--set")


def wrong_numbers(
    numbers: Mapping[str, int], profiles: Sequence[Profile], facts: Facts
) -> Iterable[Diagnostic]:
    """Yield the problems with the numbers of `--set profile.NAME`. The number of GPUs is checked only on a
    host that has GPUs which fit the profile."""
    every = [parameter for profile in profiles for parameter in profile.parameters]
    names = {parameter.name for parameter in every}
    for name, value in numbers.items():
        if name not in names:
            near = closest(name, list(names)) or list(names)
            hint = "choose from: " + ", ".join(f"profile.{n}" for n in near)
            if not near:
                hint = "select a profile that has it with --profile; `rocmcfg profile list` shows them"
            summary = f"profile.{name}: none of the requested profiles has this parameter"
            yield error("RC2042", summary, hint=hint)
        for parameter in (candidate for candidate in every if candidate.name == name):
            for problem in _misfit(parameter, value, profiles, facts):
                yield problem._replace(location="--set")


def _misfit(
    parameter: ProfileParameter, value: int, profiles: Sequence[Profile], facts: Facts
) -> Iterable[Diagnostic]:
    """Yield each reason why the profile or the host does not allow a number. A GPU that is split into
    partitions counts once per partition, so no valid number is refused."""
    name = f"profile.{parameter.name}"
    if value < parameter.low or (parameter.high is not None and value > parameter.high):
        end = " or more" if parameter.high is None else f" to {parameter.high}"
        summary = f"{name} = {value} is out of range: allowed are {parameter.low}{end}"
        yield error("RC2043", summary, detail=parameter.summary, hint="use a value in this range")
    if parameter.within == "memory":
        yield from _out_of_memory(parameter, value, facts)
    elif parameter.within == "gpus":
        meant = [profile for profile in profiles if parameter in profile.parameters]
        gpus = [gpu for gpu in facts.gpus if any(p.fits(gpu.gfx, gpu.integrated) for p in meant)]
        if gpus and value > len(gpus):
            summary = f"{name} = {value} is too high: this host has {len(gpus)}"
            yield error("RC2052", summary, detail=parameter.summary, hint=f"use --set {name}={len(gpus)}")


def _out_of_memory(parameter: ProfileParameter, value: int, facts: Facts) -> Iterable[Diagnostic]:
    amount = value * BYTES[parameter.unit]
    assignment = f"profile.{parameter.name} = {value} {parameter.unit}"
    if facts.memory is None:
        unknown = f"{assignment} could not be checked: the size of this host's memory is unknown"
        yield info(
            "RC2047", unknown, hint="make sure that the host has more, because the system needs memory too"
        )
        return
    has = f"the system has {facts.memory / BYTES[parameter.unit]:.1f} {parameter.unit}"
    if amount > facts.memory:
        summary = f"{assignment} is more than this host has"
        detail = f"{has}, not counting what the firmware reserves for graphics"
        yield error(
            "RC2044",
            summary,
            detail=detail,
            hint="use a lower number, and leave some memory for the system itself",
        )
    elif facts.memory - amount < facts.memory // _LEFT:
        summary = f"{assignment} leaves little for the system itself"
        detail = f"{has}; once the GPU uses all of it, programs would be killed for lack of memory"
        yield warning(
            "RC2045", summary, detail=detail, hint="use a lower number if the host runs out of memory"
        )
    if parameter.unset == "half of memory" and amount < facts.memory // 2:
        lowers = f"{assignment} lowers the limit: the default is half of the memory"
        yield warning("RC2053", lowers, detail=has, hint="use more than half, or leave it out")


def missing(setting: Setting, numbers: Mapping[str, int], profiles: Sequence[Profile]) -> str:
    """Return the option that a setting still needs, or an empty string if it has its value."""
    if not isinstance(setting.value, Multiple) or setting.value.parameter in numbers:
        return ""
    name = setting.value.parameter
    parameter = next(p for profile in profiles for p in profile.parameters if p.name == name)
    unit = parameter.unit or "NUMBER"
    return f"needs a value: --set profile.{name}={unit.upper()} ({parameter.summary.rstrip('.')})"


def filled(setting: Setting, numbers: Mapping[str, int]) -> Setting:
    """Return the setting with its number, and with a note on how the number came about. Return a setting that
    needs no number unchanged."""
    if not isinstance(setting.value, Multiple):
        return setting
    amount, times = numbers[setting.value.parameter], setting.value.times
    note = f"{amount} (profile.{setting.value.parameter})"
    note += f" × {times} = {amount * times}" if times > 1 else ""
    return setting._replace(value=amount * times, because=f"{setting.because} It is {note}.".strip())
