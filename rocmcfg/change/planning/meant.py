"""What people call profiles, GPUs and settings, as the names that rocmcfg has for them: any case, what a GPU
is sold as, a name without its module, a size with its unit. What is as it should be stays as it is."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence

from rocmcfg.change.planning.combine import BYTES
from rocmcfg.host.view import HostView
from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.catalogue import GpuModel
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error, fail, info
from rocmcfg.model.facts import Gpu
from rocmcfg.model.kargs import canonical
from rocmcfg.model.profile import ProfileParameter
from rocmcfg.model.regex import regex
from rocmcfg.model.request import Request
from rocmcfg.model.spelling import closest, parse

# Before what tells one GPU from another: "AMD Radeon RX 7900 XTX" is also "7900xtx".
_MAKERS = regex(r"^(?:amd|ati|radeon|instinct|firepro|ryzen|ai|pro|rx)+(?=.)|graphics$")
_SIZE = regex(r"([0-9]{1,9})([kmgt])(?:i?b)?", re.IGNORECASE)
_FEWEST = 3  # characters of the beginning of a name
# Of a word of the command line and what it may have meant: the command to be typed in its place.
Instead = Callable[[str, str], str]


def instead_in(command: Sequence[str]) -> Instead:
    def instead(old: str, new: str) -> str:
        words = [
            w.removesuffix(old) + new if w in (old, f"-p{old}") or w.endswith(f"={old}") else w
            for w in command
        ]
        return shlex.join(words)

    return instead


def understood(
    view: HostView, request: Request, instead: Instead, *, alone: bool = True
) -> tuple[Request, list[Diagnostic]]:
    """The request in names of ours, and how each was understood. Where it is `alone` and names no profile,
    nor anything that stands without one, `auto` is meant. Raises RocmcfgError for what cannot be told."""
    settings = [setting(view, text, instead) for text in request.set]
    wrong = [found for found in map(parse, settings) if isinstance(found, Diagnostic)]
    if any(one.id == "RC2001" for one in wrong):
        raise RocmcfgError(*wrong)
    called = [profile(view, name, instead) for name in request.profiles]
    said = [*zip(request.profiles, map(" and ".join, called), strict=True)]
    said += zip(request.set, settings, strict=True)
    wanted = [name for found in called for name in found]
    if alone and not wanted and all(text.startswith("profile.") for text in settings):
        wanted = ["auto"]
    return request._replace(profiles=tuple(dict.fromkeys(wanted)), set=tuple(settings)), [
        info("RC2058", f"{old} is read as {new}") for old, new in said if old != new
    ]


def profile(view: HostView, name: str, instead: Instead) -> tuple[str, ...]:
    """The profiles that a name stands for. Raises RocmcfgError where it fits none, or several GPUs whose
    profiles differ."""
    known = ("auto", *profiles.names(view))
    if name in known or profiles.is_path(name) or not _plain(name):
        return (name,)
    if same := [one for one in known if _plain(one) == _plain(name)]:
        return (same[0],)
    fitting: dict[tuple[str, ...], list[str]] = {}
    for model in gpus(name):
        fit = profiles.for_gpus(view, (Gpu(model.gfx, "", "pci", integrated=model.apu),))
        like = [one for one in _called(model) if _plain(one).startswith(_plain(name))]
        fitting.setdefault(fit, []).append(f"{', '.join(like) or model.codename} ({model.gfx})")
    if not fitting:
        every = (product for model in catalogue.gpu_models() for product in _called(model) if product)
        products = {_plain(product): product for product in every}
        near = [f"{products[one]!r}" for one in closest(_plain(name), list(products))]
        raise profiles.NoSuchProfile(name, known[1:], near)
    if len(fitting) == 1 and (chosen := next(iter(fitting))):
        return chosen
    choices = [f"{', '.join(sold)}:\n{instead(name, one)}" for fit, sold in fitting.items() for one in fit]
    none = "no profile is for " + ", ".join(fitting[()]) if () in fitting else ""
    if not choices:
        raise profiles.NoSuchProfile(name, known[1:], said=none)
    raise fail("RC1019", f"{name!r} fits GPUs of different profiles", detail=none, hint="\n".join(choices))


def gpus(text: str, *, whole: bool = False) -> list[GpuModel]:
    """Those that go by a name: a product, a code name, a target or a family, or the beginning of one where it
    need not be `whole`."""
    wanted = _plain(text)
    named = [(m, {*map(_plain, (m.gfx, m.family, *_called(m)))}) for m in catalogue.gpu_models()]
    found = [model for model, of in named if wanted and wanted in of]
    if found or whole or len(wanted) < _FEWEST:
        return found
    return [model for model, of in named if any(name.startswith(wanted) for name in of)]


def _called(model: GpuModel) -> list[str]:
    return [name.strip() for name in re.split(r"[,/()]", f"{model.codename},{model.products},{model.also}")]


def _plain(name: str) -> str:
    return _MAKERS.sub("", re.sub(r"[^a-z0-9]", "", name.lower()))


def setting(view: HostView, text: str, instead: Instead) -> str:
    """One setting as `--set` takes it; one with a scope may still be wrong. Raises RocmcfgError where a name
    without a scope is known of several things, or of none."""
    key, equals, value = text.partition("=")
    scope, dot, _ = key.partition(".")
    scoped = scope.lower() in ("feature", "features", "profile")  # a profile writes features.NAME
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
    """As `setting`, of what somebody only asks about: left as it is where it may be several, or none."""
    try:
        return setting(view, text, lambda _, new: new)
    except RocmcfgError:
        return text


def called(view: HostView, name: str) -> list[str]:
    """The ids of all that goes by a name without a scope, in any case."""
    known, plain = catalogue.load(), canonical(name).lower()
    found = [p.id for p in known.parameters.values() if p.name == plain]
    found += [f"feature.{f}" for f in known.features if canonical(f) == plain]
    found += [f"env.{one}" for one in dict.fromkeys((name, name.upper())) if names.variable(one)][:1]
    found += [f"karg.{a.name}" for a in (names.argument(name), names.argument(name.lower())) if a][:1]
    return found or [f"profile.{one}" for one in numbers(view) if one == plain]


def numbers(view: HostView) -> dict[str, tuple[ProfileParameter, str]]:
    """What shipped profiles leave to the user, and the name of the profile."""
    shipped = [name for name in profiles.names(view) if os.path.isfile(profiles.shipped_path(name))]
    shipped = [name for name in shipped if name not in view.names(profiles.LOCAL_DIR)]
    loaded = profiles.load(view, shipped)
    return {one.name: (one, profile.name) for profile in loaded for one in profile.parameters}


def _unit(view: HostView, id: str) -> str:
    scope, _, name = id.partition(".")
    number = numbers(view).get(name) if scope == "profile" else None
    known = catalogue.load().parameters.get(canonical(id))
    return number[0].unit if number else known.unit if known else ""


def _not_one(view: HostView, text: str, ids: Sequence[str], instead: Instead) -> Diagnostic:
    key, equals, value = text.partition("=")
    if ids:
        choices = (instead(text, f"{id}{equals}{value}") for id in ids)
        return error("RC2001", f"--set {text!r} fits several settings", hint="\n".join(choices))
    known = catalogue.load()
    every = [*numbers(view), *(p.name for p in known.parameters.values())]
    near = closest(key, list(dict.fromkeys([*every, *known.features, *known.arguments, *known.variables])))
    found = parse(text)
    if not near or not isinstance(found, Diagnostic):
        return found if isinstance(found, Diagnostic) else error("RC2001", text)
    return found._replace(hint=f"did you mean {', '.join(near)}?\n{found.hint}")
