"""Several profiles and the options of the command line as one list of settings, each once. What contradicts
itself is an error here; whether a setting is needed or legal on a host is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import adds_up
from rocmcfg.model.profile import Profile, Setting, Use
from rocmcfg.model.spelling import ProfileValue, Spelling, parse
from rocmcfg.model.state import Channel, Kind, Request


class Combined(NamedTuple):
    """`given` are the values of the profiles' parameters, not yet compared with what they declare."""

    settings: tuple[Setting, ...]
    given: dict[str, int]
    problems: tuple[Diagnostic, ...]


def match(profiles: Sequence[Profile], facts: Facts, *, any_gpu: bool) -> Iterable[Diagnostic]:
    """Whether the profiles are for this host at all."""
    for profile in profiles:
        if profile.use is Use.DIAGNOSIS:
            yield warning(
                "RC2046",
                f"profile {profile.name} is for finding a fault; applied to a host it slows every program",
                location=profile.location,
                hint=f"use it for one command: rocmcfg run --profile {profile.name} -- COMMAND",
            )
        fitting = any(profile.fits(gpu.gfx, gpu.integrated) for gpu in facts.gpus)
        if profile.gfx and not fitting and not any_gpu:
            found = ", ".join(f"{gpu.gfx or 'unknown'} ({gpu.name})" for gpu in facts.gpus)
            kind = {True: "APUs with ", False: "graphics cards and accelerators with ", None: ""}[profile.apu]
            yield error(
                "RC2010",
                f"profile {profile.name} is for {kind}{', '.join(profile.gfx)}, "
                "and this host has no such GPU",
                location=profile.location,
                detail=f"found: {found}" if found else "no AMD GPU was found",
                hint="choose the profile of your GPU (`rocmcfg profile list`), or apply it all the same "
                "with --any-gpu",
            )


def combine(profiles: Sequence[Profile], request: Request, catalogue: Catalogue) -> Combined:
    """The settings of all profiles and --set. Two profiles that disagree are an error: module parameters
    hold for the whole module, so that there is no right choice."""
    asked, given, problems = _asked(request, catalogue)
    chosen: dict[str, Setting] = {}
    for setting in (s for profile in profiles for s in profile.settings):
        canonical = _as_parameter(setting, catalogue)
        other = chosen.get(canonical.id)
        if other is None:
            chosen[canonical.id] = canonical
        elif other.value != canonical.value and canonical.id not in asked:
            problems.append(
                error(
                    "RC2011",
                    f"profiles disagree about {canonical.id}: {other.value} and {canonical.value}",
                    location=canonical.location,
                    detail=f"the other place: {other.location}",
                    hint=f"decide with --set {canonical.id}=VALUE or --without {canonical.id}",
                )
            )
        elif other.doubt is not None and canonical.doubt is None:
            chosen[canonical.id] = canonical  # what two of them say is said by the one that root believes
    for id, setting in asked.items():
        old = chosen.get(id)
        chosen[id] = setting._replace(via=old.via) if old else setting
    problems += _contradictions(request, chosen)
    return Combined(tuple(chosen.values()), given, tuple(problems))


def _asked(
    request: Request, catalogue: Catalogue
) -> tuple[dict[str, Setting], dict[str, int], list[Diagnostic]]:
    """What --set says, each once."""
    asked: dict[str, Setting] = {}
    given: dict[str, int] = {}
    problems: list[Diagnostic] = []
    for parsed in map(parse_set, request.set):
        if isinstance(parsed, Diagnostic):
            problems.append(parsed)
        elif isinstance(parsed, ProfileValue):
            if given.setdefault(parsed.name, parsed.value) != parsed.value:
                problems.append(_twice(f"profile.{parsed.name}", given[parsed.name], parsed.value))
        else:
            setting = _as_parameter(parsed, catalogue)
            other = asked.setdefault(setting.id, setting)
            if other.value == setting.value:
                continue
            if setting.kind is Kind.KARG and adds_up(setting.name):
                values = other.value if isinstance(other.value, tuple) else (str(other.value),)
                asked[setting.id] = other._replace(value=(*values, str(setting.value)))
            else:
                problems.append(_twice(setting.id, other.value, setting.value))
    return asked, given, problems


def _twice(id: str, first: object, second: object) -> Diagnostic:
    return error(
        "RC2041",
        f"--set gives {id} two values: {first} and {second}",
        location="--set",
        hint="keep one of them",
    )


def _contradictions(request: Request, chosen: dict[str, Setting]) -> Iterable[Diagnostic]:
    for id, setting in chosen.items():
        if not named(id, request.without):
            continue
        added = "--set" if setting.location == "--set" else "--with" if named(id, request.with_) else ""
        if added:
            yield error(
                "RC2040",
                f"{added} adds {id}, and --without leaves it out",
                location="--without",
                hint="keep one of the two options",
            )


def _as_parameter(setting: Setting, catalogue: Catalogue) -> Setting:
    """`"amdgpu.runpm" = 0` under [cmdline] means the parameter, and becomes it."""
    module, dot, name = setting.name.partition(".")
    module = module.replace("-", "_")
    if setting.kind is not Kind.KARG or not dot or module not in catalogue.modules():
        return setting
    return setting._replace(
        kind=Kind.PARAMETER, module=module, name=name.replace("-", "_"), via=Channel.CMDLINE
    )


def named(id: str, names: Iterable[str]) -> bool:
    """Whether one of the names is this setting: its id, or the id's last part; - and _ are one."""
    full = id.replace("-", "_")
    return any(name.replace("-", "_") in (full, full.partition(".")[2]) for name in names)


def parse_set(text: str) -> Setting | ProfileValue | Diagnostic:
    """One `--set` option as the setting that it asks for."""
    asked = parse(text)
    if not isinstance(asked, Spelling):
        return asked
    value = asked.enabled if asked.kind is Kind.FEATURE else True if asked.value is None else asked.value
    return Setting(
        asked.kind,
        asked.name,
        value,
        module=asked.module,
        location="--set",
        because="asked for on the command line",
    )
