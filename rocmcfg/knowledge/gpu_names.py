"""Find GPUs by the names that people use: a product, a code name or a target, in upper or lower case."""

from __future__ import annotations

import re

from rocmcfg.knowledge import catalogue
from rocmcfg.model.catalogue import GpuModel
from rocmcfg.model.regex import regex

# The words in front of the part that distinguishes GPUs: "AMD Radeon RX 7900 XTX" is also "7900xtx".
_MAKERS = regex(r"^(?:amd|ati|radeon|instinct|firepro|ryzen|ai|pro|rx)+(?=.)|graphics$")
_FEWEST = 3  # characters that the beginning of a name must have


def gpus(text: str, *, whole: bool = False) -> list[GpuModel]:
    """Return the GPUs with this name: a product, a code name, a target or a family, or the beginning of one
    unless the name must be `whole`."""
    wanted = plain(text)
    named = [(m, {*map(plain, (m.gfx, m.family, *called(m)))}) for m in catalogue.gpu_models()]
    models = [model for model, of in named if wanted and wanted in of]
    if models or whole or len(wanted) < _FEWEST:
        return models
    return [model for model, of in named if any(name.startswith(wanted) for name in of)]


def called(model: GpuModel) -> list[str]:
    """Return the code names and the products of a model."""
    return [name.strip() for name in re.split(r"[,/()]", f"{model.codename},{model.products},{model.also}")]


def plain(name: str) -> str:
    """Return a name without its maker, blanks and case, as names are compared."""
    return _MAKERS.sub("", re.sub(r"[^a-z0-9]", "", name.lower()))
