"""Expand `--profile auto` into the profiles that fit a host."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.host.view import HostView
from rocmcfg.knowledge import profiles
from rocmcfg.model.diagnostic import Diagnostic, fail, info
from rocmcfg.model.facts import Gpu, computing
from rocmcfg.model.request import Request


def expand_auto(
    view: HostView, request: Request, gpus: Sequence[Gpu]
) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Return the names of the requested profiles, with `auto` replaced by the profiles that fit a host with
    these GPUs, and a remark on the choice. Raise RocmcfgError if no profile fits."""
    if "auto" not in request.profiles:
        return request.profiles, ()
    # Module parameters apply to every GPU. Nobody computes on an iGPU that sits next to a graphics card.
    named_gpus = [gpu for gpu in gpus if gpu.gfx]
    computed_on = computing(named_gpus)
    gfx = tuple(dict.fromkeys(gpu.gfx for gpu in computed_on if gpu.gfx))
    fitting = list(zip(named_gpus, profiles.for_each(view, named_gpus), strict=True))
    chosen = tuple(dict.fromkeys(name for gpu, names in fitting if gpu in computed_on for name in names))
    if not chosen:
        seen = ", ".join(gfx) or "no AMD GPU"
        summary = f"--profile auto found no profile for this host ({seen})"
        raise fail("RC2024", summary, hint="choose one yourself; `rocmcfg profile list` shows all of them")
    none = dict.fromkeys(gpu.gfx or "" for gpu, names in fitting if gpu not in computed_on or not names)
    others = dict.fromkeys(
        f"--profile {name}" for _, names in fitting for name in names if name not in chosen
    )
    hint = f"if you compute on it too, add {' '.join(others)}" if others else "no shipped profile supports it"
    served = ", ".join(target for target in gfx if target not in none)
    remark = info(
        "RC2025",
        f"--profile auto chose {', '.join(chosen)} for {served}"
        + (f", and none for {', '.join(none)}" if none else ""),
        hint=hint if none else "",
    )
    named = tuple(name for name in request.profiles if name != "auto")
    return (*named, *(name for name in chosen if name not in named)), (remark,)
