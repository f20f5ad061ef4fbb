"""Find profiles and GPUs by the names that people use: a product, a code name or a target, in upper or lower
case."""

from __future__ import annotations

import re
from collections.abc import Callable

from rocmcfg.host.view import HostView
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.catalogue import GpuModel
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.facts import Gpu
from rocmcfg.model.regex import regex
from rocmcfg.model.spelling import closest

# The words in front of the part that distinguishes GPUs: "AMD Radeon RX 7900 XTX" is also "7900xtx".
_MAKERS = regex(r"^(?:amd|ati|radeon|instinct|firepro|ryzen|ai|pro|rx)+(?=.)|graphics$")
_FEWEST = 3  # characters that the beginning of a name must have
# Returns the command to type instead of this one: with the old word replaced by the new one.
Instead = Callable[[str, str], str]


def profile(view: HostView, name: str, instead: Instead) -> tuple[str, ...]:
    """Return the profiles that a name stands for. Raise RocmcfgError if it fits none, or several GPUs with
    different profiles."""
    names = ("auto", *profiles.names(view))
    if name in names or profiles.is_path(name) or not _plain(name):
        return (name,)
    if same := [candidate for candidate in names if _plain(candidate) == _plain(name)]:
        return (same[0],)
    fitting: dict[tuple[str, ...], list[str]] = {}
    for model in gpus(name):
        fit = profiles.for_gpus(view, (Gpu(model.gfx, "", "pci", integrated=model.apu),))
        like = [product for product in _called(model) if _plain(product).startswith(_plain(name))]
        fitting.setdefault(fit, []).append(f"{', '.join(like) or model.codename} ({model.gfx})")
    if not fitting:
        every = (product for model in catalogue.gpu_models() for product in _called(model) if product)
        products = {_plain(product): product for product in every}
        near = [f"{products[key]!r}" for key in closest(_plain(name), list(products))]
        raise profiles.NoSuchProfile(name, names[1:], near)
    if len(fitting) == 1 and (chosen := next(iter(fitting))):
        return chosen
    choices = [
        f"{', '.join(sold)}:\n{instead(name, choice)}" for fit, sold in fitting.items() for choice in fit
    ]
    none = "no profile is for " + ", ".join(fitting[()]) if () in fitting else ""
    if not choices:
        raise profiles.NoSuchProfile(name, names[1:], reason=none)
    raise fail(
        "RC1019", f"{name!r} matches GPUs with different profiles", detail=none, hint="\n".join(choices)
    )


def gpus(text: str, *, whole: bool = False) -> list[GpuModel]:
    """Return the GPUs with this name: a product, a code name, a target or a family, or the beginning of one
    unless the name must be `whole`."""
    wanted = _plain(text)
    named = [(m, {*map(_plain, (m.gfx, m.family, *_called(m)))}) for m in catalogue.gpu_models()]
    models = [model for model, of in named if wanted and wanted in of]
    if models or whole or len(wanted) < _FEWEST:
        return models
    return [model for model, of in named if any(name.startswith(wanted) for name in of)]


def _called(model: GpuModel) -> list[str]:
    return [name.strip() for name in re.split(r"[,/()]", f"{model.codename},{model.products},{model.also}")]


def _plain(name: str) -> str:
    return _MAKERS.sub("", re.sub(r"[^a-z0-9]", "", name.lower()))
