"""What the user gave for the profiles' parameters (`--set profile.gtt_gib=96`): checked, and put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.profile import Multiple, Profile, ProfileParameter, Setting
from rocmcfg.model.spelling import ProfileValue, closest, parse
from rocmcfg.model.state import Request

_BYTES = {"GiB": 1 << 30, "MiB": 1 << 20}
_LEFT = 8  # warn where less than an eighth of the memory would be left


def declared(profiles: Sequence[Profile]) -> dict[str, list[ProfileParameter]]:
    """Every parameter of the profiles by its name; several profiles may share one."""
    found: dict[str, list[ProfileParameter]] = {}
    for parameter in (p for profile in profiles for p in profile.parameters):
        found.setdefault(parameter.name, []).append(parameter)
    return found


def wrong_values(given: Mapping[str, int], profiles: Sequence[Profile], facts: Facts) -> Iterable[Diagnostic]:
    """Problems with the given values. GPUs are counted where the host shows any that fit."""
    known = declared(profiles)
    for name, value in given.items():
        if name not in known:
            near = closest(name, list(known)) or list(known)
            yield error(
                "RC2042",
                f"--set profile.{name}: no profile that is applied has this parameter",
                location="--set",
                hint="they have " + ", ".join(f"profile.{n}" for n in near) if near else "they have none",
            )
        for parameter in known.get(name, ()):
            yield from _out_of_range(parameter, value)
            yield from _out_of_memory(parameter, value, facts)
            yield from _more_than_gpus(parameter, value, profiles, facts)


def _more_than_gpus(
    parameter: ProfileParameter, value: int, profiles: Sequence[Profile], facts: Facts
) -> Iterable[Diagnostic]:
    """A GPU that is split into partitions counts for each of them, so that no right number is refused."""
    if parameter.within != "gpus":
        return
    meant = [profile for profile in profiles if parameter in profile.parameters]
    found = [gpu for gpu in facts.gpus if any(p.fits(gpu.gfx, gpu.integrated) for p in meant)]
    if found and value > len(found):
        yield error(
            "RC2052",
            f"profile.{parameter.name} = {value} is more than this host has: {len(found)}",
            location="--set",
            detail=parameter.summary,
            hint=f"write --set profile.{parameter.name}={len(found)}",
        )


def _out_of_range(parameter: ProfileParameter, value: int) -> Iterable[Diagnostic]:
    if value < parameter.low or (parameter.high is not None and value > parameter.high):
        end = " or more" if parameter.high is None else f" to {parameter.high}"
        yield error(
            "RC2043",
            f"profile.{parameter.name} = {value} is out of range: it takes {parameter.low}{end}",
            location="--set",
            detail=parameter.summary,
            hint="give a value inside the range",
        )


def _out_of_memory(parameter: ProfileParameter, value: int, facts: Facts) -> Iterable[Diagnostic]:
    if parameter.within != "memory":
        return
    asked = value * _BYTES[parameter.unit]
    said = f"profile.{parameter.name} = {value} {parameter.unit}"
    if facts.memory is None:
        yield info(
            "RC2047",
            f"{said} was not compared with the memory of this host, which nothing tells",
            location="--set",
            hint="make sure that it has more, for the system too",
        )
        return
    has = f"the system has {facts.memory / _BYTES[parameter.unit]:.1f} {parameter.unit}"
    if asked > facts.memory:
        yield error(
            "RC2044",
            f"{said} is more than this host has",
            location="--set",
            detail=f"{has}; what the firmware sets aside for graphics is not part of it",
            hint="give less, and leave some for the system itself",
        )
    elif facts.memory - asked < facts.memory // _LEFT:
        yield warning(
            "RC2045",
            f"{said} leaves little for the system itself",
            location="--set",
            detail=f"{has}; a full GPU would then end programs for want of memory",
            hint="give less if the host runs out of memory",
        )
    if parameter.unset == "half of memory" and asked < facts.memory // 2:
        yield warning(
            "RC2053",
            f"{said} lowers the limit: unset it is half of the memory",
            location="--set",
            detail=has,
            hint="give more than half, or leave it out",
        )


def forgotten(before: Iterable[str], request: Request, profiles: Sequence[Profile]) -> Iterable[Diagnostic]:
    """Numbers that the last apply was given (`before`: its --set) and this one is not, although a profile
    takes them: nothing of an earlier apply is kept, and what they gave is taken back."""
    known = declared(profiles)
    now = {parsed.name for text in request.set if isinstance(parsed := parse(text), ProfileValue)}
    for parsed in map(parse, before):
        if isinstance(parsed, ProfileValue) and parsed.name in known and parsed.name not in now:
            yield warning(
                "RC2048",
                f"the last apply was given profile.{parsed.name} = {parsed.value}, this one is given none",
                location="--set",
                detail="what needs it is taken back",
                hint=f"to keep it add --set profile.{parsed.name}={parsed.value}",
            )


def missing(setting: Setting, given: Mapping[str, int], profiles: Sequence[Profile]) -> str:
    """Why a setting cannot be had yet: which option it waits for. Empty where it has its value."""
    if not isinstance(setting.value, Multiple) or setting.value.parameter in given:
        return ""
    name = setting.value.parameter
    parameter = declared(profiles)[name][0]
    unit = parameter.unit or "NUMBER"
    return f"needs a value: --set profile.{name}={unit.upper()} ({parameter.summary.rstrip('.')})"


def filled(setting: Setting, given: Mapping[str, int]) -> tuple[Setting, str]:
    """The setting with its number, and how it came about; as it is where it waits for none."""
    if not isinstance(setting.value, Multiple):
        return setting, ""
    amount, times = given[setting.value.parameter], setting.value.times
    value: int | str = amount * times
    note = f"{amount} (profile.{setting.value.parameter})" + (f" × {times} = {value}" if times > 1 else "")
    return setting._replace(value=value), note
