"""Variables that hit the wrong GPU: in files that set them for everybody, and in the caller's environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rocmcfg.backends.environment import for_everybody
from rocmcfg.facts.gpus import gfx_name
from rocmcfg.host.view import HostView
from rocmcfg.knowledge.diagnosis import of_hosts
from rocmcfg.model.diagnostic import Diagnostic, info, warning
from rocmcfg.model.facts import Facts, Gpu


def set_variables(view: HostView, environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """NAME to (value, where): the caller's environment, over the files that new logins read."""
    found = {one.name: (one.value, one.source) for one in for_everybody(view)}
    found |= {name: (value, "the environment of this command") for name, value in environment.items()}
    return found


def override(view: HostView, facts: Facts, environment: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The variable that passes a GPU off as another: left over from another GPU, or hitting a second one."""
    per_node = re.compile(rf"{of_hosts().target_variable}(?:_(\d+))?")
    for name, (value, where) in set_variables(view, environment).items():
        match = per_node.fullmatch(name)
        if match is None or not value:
            continue
        target = _target(value)
        gpus = [gpu for gpu in facts.gpus if gpu.gfx and (match[1] is None or gpu.node == int(match[1]))]
        if target is None:
            yield warning(
                "RC8120",
                f"{name}={value} is no version: ROCm refuses it",
                location=where,
                hint="write numbers such as 10.3.0, or take it away",
            )
        elif wrong := [gpu for gpu in gpus if _is_wrong(gpu, target)]:
            yield _wrong(name, value, where, target, gpus, wrong)
        elif gpus and all(gpu.gfx == target for gpu in gpus):
            yield info(
                "RC8122",
                f"{name}={value} does nothing: {target} is what the GPU is",
                location=where,
                hint="take it away before another GPU comes",
            )


def _target(value: str) -> str | None:
    numbers = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{1,2})", value)
    return gfx_name(int(numbers[1]) * 10000 + int(numbers[2]) * 100 + int(numbers[3])) if numbers else None


def _is_wrong(gpu: Gpu, target: str) -> bool:
    """Whether the target is of another generation than the GPU, and so has other instructions. Targets of one
    generation differ in the last digit; which of them run each other's code was not measured for all, so they
    are not judged."""
    return (gpu.gfx or "")[:-1] != target[:-1]


def _wrong(name: str, value: str, where: str, target: str, gpus: list[Gpu], wrong: list[Gpu]) -> Diagnostic:
    names = ", ".join(f"{gpu.gfx} ({gpu.name})" for gpu in wrong)
    rest = [gpu for gpu in gpus if gpu not in wrong and gpu.gfx != target]
    hint = "take it away: `unset` in a shell, and remove the line"
    if rest and rest[0].node is not None:
        one = f"{of_hosts().target_variable}_{rest[0].node}={value}"
        hint = f"set it for one GPU only: {one} (the number is the KFD node)"
    return warning(
        "RC8121",
        f"{name}={value} passes {names} off as {target}, which has other instructions",
        location=where,
        detail="programs crash on it, or report memory faults at address (nil)",
        hint=hint,
    )


def mixed_gpus(view: HostView, facts: Facts, environment: Mapping[str, str]) -> Iterator[Diagnostic]:
    """An integrated GPU beside a graphics card, where ROCm is here and nothing chooses between them."""
    cards = [gpu for gpu in facts.gpus if gpu.gfx and not gpu.integrated]
    inside = [gpu for gpu in facts.gpus if gpu.gfx and gpu.integrated]
    if not cards or not inside or facts.rocm is None:
        return
    if not any(name in set_variables(view, environment) for name in of_hosts().choosers):
        yield info(
            "RC8123",
            f"ROCm sees an integrated GPU ({inside[0].gfx}) beside {cards[0].gfx}",
            detail="programs that take every GPU, and variables for every GPU, hit both",
            hint="ROCR_VISIBLE_DEVICES=GPU-<uuid> hides one for good; `rocminfo` prints the uuids",
        )
