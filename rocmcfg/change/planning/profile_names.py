"""Find the profiles for the names of GPUs that people use."""

from __future__ import annotations

from collections.abc import Callable

from rocmcfg.host.view import HostView
from rocmcfg.knowledge import catalogue, gpu_names, profiles
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.facts import Gpu
from rocmcfg.model.spelling import closest

# Returns the command to type instead of this one: with the old word replaced by the new one.
Instead = Callable[[str, str], str]


def profile(view: HostView, name: str, instead: Instead) -> tuple[str, ...]:
    """Return the profiles that a name stands for. Raise RocmcfgError if it fits none, or several GPUs with
    different profiles."""
    names = ("auto", *profiles.names(view))
    if name in names or profiles.is_path(name) or not gpu_names.plain(name):
        return (name,)
    if same := [candidate for candidate in names if gpu_names.plain(candidate) == gpu_names.plain(name)]:
        return (same[0],)
    fitting: dict[tuple[str, ...], list[str]] = {}
    for model in gpu_names.gpus(name):
        fit = profiles.for_gpus(view, (Gpu(model.gfx, "", "pci", integrated=model.apu),))
        like = [
            product
            for product in gpu_names.called(model)
            if gpu_names.plain(product).startswith(gpu_names.plain(name))
        ]
        fitting.setdefault(fit, []).append(f"{', '.join(like) or model.codename} ({model.gfx})")
    if not fitting:
        every = (
            product for model in catalogue.gpu_models() for product in gpu_names.called(model) if product
        )
        products = {gpu_names.plain(product): product for product in every}
        near = [f"{products[key]!r}" for key in closest(gpu_names.plain(name), list(products))]
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
