"""Find settings by the names that people use: without the module or scope, in upper or lower case, and with a
size that has a unit."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from rocmcfg.change.planning.combine import BYTES
from rocmcfg.change.planning.profile_names import Instead
from rocmcfg.host.state_dir import LOCAL_PROFILES
from rocmcfg.host.view import HostView
from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error
from rocmcfg.model.kargs import canonical
from rocmcfg.model.profile import ProfileParameter
from rocmcfg.model.regex import regex
from rocmcfg.model.spelling import closest, parse

_SIZE = regex(r"([0-9]{1,9})([kmgt])(?:i?b)?", re.IGNORECASE)


def setting(view: HostView, text: str, instead: Instead) -> str:
    """Return one setting in the spelling of `--set`. A name with a scope may still be wrong. Raise
    RocmcfgError if a name without a scope fits several things, or none."""
    key, equals, value = text.partition("=")
    scope, dot, _ = key.partition(".")
    scoped = scope.lower() in ("feature", "features", "profile")  # profiles write features.NAME
    if dot and (scoped or canonical(key).lower() in catalogue.load().parameters):
        key = re.sub(r"^features\.", "feature.", key.lower())
    elif not dot and key:
        ids = called(view, key)
        if len(ids) != 1:
            raise RocmcfgError(_not_one(view, text, ids, instead))
        key = ids[0]
    size = _SIZE.fullmatch(value)
    unit = BYTES.get(_unit(view, key), 0) if size else 0
    if size and unit:
        number, rest = divmod(int(size[1]) << 10 * (" kmgt".index(size[2].lower())), unit)
        value = value if rest else str(number)
    return f"{key}{equals}{value}"


def plain_setting(view: HostView, text: str) -> str:
    """Return a setting as `setting` does, for a question about it. Return the text unchanged if it fits
    several settings, or none."""
    try:
        return setting(view, text, lambda _, new: new)
    except RocmcfgError:
        return text


def called(view: HostView, name: str) -> list[str]:
    """Return the ids of everything that has this name, apart from its scope and in upper or lower case."""
    knowledge, plain = catalogue.load(), canonical(name).lower()
    ids = [p.id for p in knowledge.parameters.values() if p.name == plain]
    ids += [f"feature.{f}" for f in knowledge.features if canonical(f) == plain]
    ids += [
        f"env.{spelling}" for spelling in dict.fromkeys((name, name.upper())) if names.variable(spelling)
    ][:1]
    ids += [f"karg.{a.name}" for a in (names.argument(name), names.argument(name.lower())) if a][:1]
    return ids or [f"profile.{number}" for number in numbers(view) if number == plain]


def numbers(view: HostView) -> dict[str, tuple[ProfileParameter, str]]:
    """Return the numbers that shipped profiles leave to the user, each with the name of its profile."""
    shipped = [name for name in profiles.names(view) if os.path.isfile(profiles.shipped_path(name))]
    shipped = [name for name in shipped if name not in view.names(LOCAL_PROFILES)]
    loaded = profiles.load(view, shipped)
    return {
        parameter.name: (parameter, profile.name) for profile in loaded for parameter in profile.parameters
    }


def _unit(view: HostView, id: str) -> str:
    scope, _, name = id.partition(".")
    number = numbers(view).get(name) if scope == "profile" else None
    parameter = catalogue.load().parameters.get(canonical(id))
    return number[0].unit if number else parameter.unit if parameter else ""


def _not_one(view: HostView, text: str, ids: Sequence[str], instead: Instead) -> Diagnostic:
    key, equals, value = text.partition("=")
    if ids:
        choices = (instead(text, f"{id}{equals}{value}") for id in ids)
        return error("RC2001", f"--set {text!r} matches several settings", hint="\n".join(choices))
    knowledge = catalogue.load()
    every = [*numbers(view), *(p.name for p in knowledge.parameters.values())]
    near = closest(
        key, list(dict.fromkeys([*every, *knowledge.features, *knowledge.arguments, *knowledge.variables]))
    )
    parsed = parse(text)
    if not near or not isinstance(parsed, Diagnostic):
        return parsed if isinstance(parsed, Diagnostic) else error("RC2001", text)
    return parsed._replace(hint=f"did you mean {', '.join(near)}?\n{parsed.hint}")
