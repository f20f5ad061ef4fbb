"""Read the machine that options describe: `--gfx`, `--kernel` and `--rocm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse
from rocmcfg.model.spelling import closest
from rocmcfg.model.version import parse_kernel

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.judging.origin import Options


def named_machine(gfx: Sequence[str], kernel: str, rocm: str) -> Options:
    """Return the machine that the options describe. Raises Misuse, with an example, for an unknown GPU target
    and for an invalid version."""
    from rocmcfg.advice.doctor.judging.origin import Options

    if kernel and parse_kernel(kernel) is None:
        problem = f"{kernel!r} is not a kernel version; write 6.8, or the output of `uname -r`"
        raise Misuse(problem, "--kernel")
    return Options(targets(gfx), kernel, opt.release(rocm))


def targets(names: Sequence[str]) -> tuple[str, ...]:
    """Return the GPU targets for any names of GPUs. Raises Misuse for an unknown name, and for a name that
    several targets share."""
    from rocmcfg.knowledge import gpu_names
    from rocmcfg.knowledge.catalogue import gpu_models

    targets_ = {model.gfx for model in gpu_models()}
    chosen = []
    for name in names:
        matching = [name] if name in targets_ else sorted({model.gfx for model in gpu_names.gpus(name)})
        if len(matching) != 1:
            near = closest(name, sorted(targets_)) if name.startswith("gfx") else ()
            example = f"did you mean {', '.join(near)}?" if near else "write one such as gfx1100 or 9070xt"
            problem = (
                f"may be {' or '.join(matching)}" if matching else f"is not a known GPU target; {example}"
            )
            raise Misuse(f"{name!r} {problem}", "--gfx")
        chosen += matching
    return tuple(chosen)
