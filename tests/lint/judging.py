"""Judges texts for tests, on a machine that is said, or on none."""

from __future__ import annotations

from rocmcfg.advice.lint.check import check
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.knowledge import catalogue
from rocmcfg.model.facts import Driver, Gpu, Kernel, Machine
from rocmcfg.model.version import parse_kernel


def machine(*gfx: str, kernels: tuple[str, ...] = ()) -> Machine:
    models = catalogue.gpu_models()
    gpus = tuple(Gpu(g, g, "pci", integrated=any(m.apu for m in models if m.gfx == g)) for g in gfx)
    versions = [(release, parse_kernel(release)) for release in kernels]
    return Machine(tuple(Kernel(r, v, Driver.MODULE) for r, v in versions if v), gpus)


def judged(file: str, text: str, on: Machine | None = None) -> Checked:
    on = on or Machine()
    return check(file, text, Knowledge(catalogue.load(), on, catalogue.known_issues() if on.kernels else ()))


def told(checked: Checked) -> list[tuple[str, str]]:
    """(token, class) of each finding, in the order of the text."""
    return [(f.text, f.remark.kind) for f in checked.findings]
