"""Feature masks: the value that a host has without us, onto which our bits are composed."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.model.catalogue import Parameter
from rocmcfg.model.diagnostic import Diagnostic, error, info
from rocmcfg.model.facts import Kernel
from rocmcfg.model.value import as_number, hexint
from rocmcfg.model.version import KernelVersion
from rocmcfg.state.effective import Effective


def starting_mask(
    parameter: Parameter, configured: Effective, kernels: Sequence[Kernel], location: str
) -> tuple[int | None, str, list[Diagnostic]]:
    """The mask, where it comes from, and what is wrong; the mask is None where nothing can be built on it.

    `configured` is what others set; without it the kernels' default counts, the newest one's where they
    differ.
    """
    if configured.value is not None:
        number = as_number(configured.value)
        if number is not None and number >= 0:
            return number, configured.source, []
        problem = error(
            "RC2022",
            f"{parameter.id}={configured.value} is no mask, and would stop the driver from loading",
            location=configured.source,
            hint="mend or remove it there first",
        )
        return None, "", [problem]
    defaults: dict[int, list[str]] = {}
    for kernel in kernels:
        standing = parameter.on(kernel.version)
        for default in {v.default for v in standing.variants}:
            defaults.setdefault(as_number(default) or 0, []).append(kernel.release)
    if not defaults:
        newest = parameter.on(max(parameter.builds, default=KernelVersion((99, 0, 0, 0))))
        defaults = {as_number(v.default) or 0: ["the newest known kernel"] for v in newest.variants}
    chosen = list(defaults)[-1]  # kernels are sorted: the newest one's
    if len(defaults) > 1:
        said = ", ".join(f"{hexint(mask)} on {', '.join(releases)}" for mask, releases in defaults.items())
        remark = info(
            "RC2023",
            f"the default of {parameter.id} differs between the installed kernels; the newest one's is used",
            location=location,
            detail=said,
        )
        return chosen, "the kernel's default", [remark]
    return chosen, "the kernel's default", []
