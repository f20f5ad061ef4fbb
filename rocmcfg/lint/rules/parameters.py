"""Module parameters: is there one of this name, does the driver load with the value, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.judging.values import KernelType, kernel_types
from rocmcfg.lint import names
from rocmcfg.lint.assignment import Assignment, Trust, What
from rocmcfg.lint.rules import masks, traps
from rocmcfg.lint.rules.machine import Machine
from rocmcfg.lint.verdict import Verdict, error, info, warning
from rocmcfg.model.catalogue import Catalogue, Parameter, Trap
from rocmcfg.model.state import Kind
from rocmcfg.model.value import NUMBERS, as_number, closest, octal, same

# Of every module, whoever wrote it (Documentation/admin-guide/dynamic-debug-howto.rst, kernel/module/main.c)
_OF_EVERY_MODULE = frozenset({"dyndbg"})


def judge(found: Assignment, known: Catalogue, machine: Machine) -> Iterator[Verdict]:
    module, name = names.split_parameter(found.name) or ("", found.name)
    if name in _OF_EVERY_MODULE:
        return
    if name.startswith(f"{module}."):
        said = f"{found.name} names the module twice; the driver ignores it"
        yield warning("RC7102", said, instead=_with_value(name, found))
        return
    parameter = known.parameters.get(f"{module}.{name}")
    types = on_kernels(module, name, parameter, known, machine)
    present = [t for t in types if t.types]
    if parameter is None and not present:
        yield from _unknown(module, name, found, types, known, machine)
        return
    if parameter is not None and types and not present:
        yield from _absent(parameter, types, machine)
        return
    if found.what is What.PATH and found.value is None:
        return
    if found.what is What.PATH:
        yield from _read_only(parameter, machine)
    if machine.kernels and present and (lack := [t for t in types if not t.types and t.certain]):
        yield info(
            "RC7117",
            f"{module}.{name} does not exist on kernel {_releases(lack)}",
            why=f"It is ignored there; kernels that have it: {_releases(present)}.",
        )
    if found.opaque or (found.value is None and found.trust is not Trust.FILE and found.dotted):
        return  # in a document, a name alone is a mention
    yield from _octal(f"{module}.{name}", found, present)
    refused = list(_illegal(f"{module}.{name}", found, parameter, present))
    yield from refused
    if not refused and parameter is not None:
        yield from _meaning(found, parameter, present, known, machine)


def on_kernels(
    module: str, name: str, parameter: Parameter | None, known: Catalogue, machine: Machine
) -> list[KernelType]:
    """What the machine's kernels say of it; where none is known, what every kernel in the catalogue said."""
    if machine.kernels:
        types = kernel_types(module, name, machine.kernels, known)
        if parameter is not None and parameter.dkms_only and any(k.dkms for k in machine.kernels):
            return [t for t in types if t.types]
        return types
    if parameter is None or parameter.dkms_only:
        return []
    return [
        KernelType(f"{epoch.first} to {epoch.last}", (epoch.type,), True, True, epoch.taints)
        for epoch in parameter.epochs
    ]


def _unknown(
    module: str,
    name: str,
    found: Assignment,
    types: Sequence[KernelType],
    known: Catalogue,
    machine: Machine,
) -> Iterator[Verdict]:
    if found.trust is not Trust.FILE and _stands_for_any(name):
        return
    written = f"{module}.{name}"
    trap = known.traps.get(name)
    if trap is not None:
        feature = trap.instead.kind is Kind.FEATURE
        instead = str(trap.spelt(None if found.opaque else found.value))
        sources = known.features[trap.instead.name].sources if feature else ()
        said = f"{written} is not a parameter of any kernel"
        id_of = "RC7101" if feature else "RC7102"
        if id_of == "RC7101":
            yield warning("RC7101", said, why=trap.summary, instead=instead, sources=sources)
        elif trap.times == 1:
            yield warning("RC7102", said, why=trap.summary, instead=instead)
        else:
            yield _in_another_unit(said, trap, found, instead)
        return
    if any(not t.certain for t in types):
        return  # AMD's DKMS driver, which could not be asked: it has parameters of its own
    same_module = [p.name for p in known.parameters.values() if p.module == module]
    near = closest(name, same_module)
    other = next((p for p in known.parameters.values() if p.name == name), None)
    where = f" ({', '.join(k.release for k in machine.kernels)})" if machine.kernels else ""
    said = f"{written} is not a parameter of any kernel known{where}"
    ignored = "The driver loads without it and logs `unknown parameter … ignored`."
    if other is not None:
        why = f"{other.id} is one. {ignored}"
        yield warning("RC7102", said, why=why, instead=_with_value(other.id, found))
    elif near:
        sure = names.slips(name, near[0], 2) <= 2
        why = f"Did you mean {', '.join(near)}? {ignored}"
        yield warning(
            "RC7102", said, why=why, instead=_with_value(f"{module}.{near[0]}", found) if sure else None
        )
    else:
        yield warning("RC7101", said, why=ignored, instead="")


def _stands_for_any(name: str) -> bool:
    """`amdgpu.x=1`, `amdgpu.NAME=VALUE`: how documents speak of any parameter."""
    return len(name) <= 2 or name.isupper() or name in ("name", "param", "parameter", "option", "foo", "bar")


def _with_value(name: str, found: Assignment) -> str:
    return name if found.value is None else f"{name}={found.value}"


def _in_another_unit(said: str, trap: Trap, found: Assignment, instead: str) -> Verdict:
    """The value as it stands must not be handed on. Where the right name cannot stand, the token goes."""
    fits = "=" in instead and found.dotted
    why = f"{trap.summary} This value would be {instead}." if "=" in instead else trap.summary
    return warning("RC7102", said, why=why, instead=instead if fits else "")


def _absent(parameter: Parameter, types: Sequence[KernelType], machine: Machine) -> Iterator[Verdict]:
    lack = [t for t in types if t.certain]
    if not lack or not machine.kernels:
        return
    why = f"It came with {parameter.since}." if parameter.since else ""
    if parameter.removed:
        why += f" It was removed in {parameter.removed}."
    said = f"{parameter.id} does not exist on kernel {_releases(lack)}"
    if parameter.dkms_only:
        yield info("RC7117", said, why="Only AMD's DKMS driver has it.", sources=parameter.sources)
    else:
        yield warning("RC7117", said, why=why.strip(), instead="", sources=parameter.sources)


def _read_only(parameter: Parameter | None, machine: Machine) -> Iterator[Verdict]:
    if parameter is None:
        return
    if machine.kernels:
        variants = [v for kernel in machine.kernels for v in parameter.on(kernel.version).variants]
    else:
        variants = list(parameter.epochs)
    if variants and all(not int(v.permission, 8) & 0o222 for v in variants):
        yield warning(
            "RC7119",
            f"{parameter.id} cannot be written while the driver runs (mode {variants[-1].permission})",
            why="It is read when the driver loads: set it on the kernel command line or in modprobe.d.",
            sources=parameter.sources,
        )


def _octal(id: str, found: Assignment, present: Sequence[KernelType]) -> Iterator[Verdict]:
    numbers = any(type in NUMBERS for kernel in present for type in kernel.types)
    number = octal(found.value) if numbers else None
    if number is not None:
        said = f"{id}={found.value} is read as {number}: a leading 0 makes a number octal"
        yield warning("RC7116", said, why="Write it without the 0, or in full as 0x and hexadecimal digits.")


def _illegal(
    id: str, found: Assignment, parameter: Parameter | None, present: Sequence[KernelType]
) -> Iterator[Verdict]:
    if found.trust is Trust.PROSE:
        return
    refusing = [(kernel, reason) for kernel in present if (reason := kernel.refusal(found.value))]
    certain = [(kernel, reason) for kernel, reason in refusing if kernel.typed]
    everywhere = len(refusing) == len(present)
    written = id if found.value is None else f"{id}={found.value}"
    if certain and (everywhere or " to " not in certain[0][0].release):
        kernels = f" (kernel {_releases([kernel for kernel, _ in certain])})" if not everywhere else ""
        yield error(
            "RC7103",
            f"{written} stops {id.partition('.')[0]} from loading{kernels}",
            why=f"{certain[0][1]}. With it the driver does not start, and the screen may stay black.",
            sources=parameter.sources if parameter else (),
        )
        return
    number = as_number(found.value)
    if parameter and parameter.bounds and number is not None:
        low, high = parameter.bounds
        if not low <= number <= high:
            yield warning(
                "RC7103",
                f"{written} is out of range: its meanings run from {low} to {high}",
                why=parameter.summary,
                sources=parameter.sources,
            )


def _meaning(
    found: Assignment,
    parameter: Parameter,
    present: Sequence[KernelType],
    known: Catalogue,
    machine: Machine,
) -> Iterator[Verdict]:
    sources = parameter.sources
    verdicts = list(
        traps.value_traps(parameter.id, found.value, parameter.traps, sources, machine, found.beside)
    )
    if parameter.deprecated:
        instead = next((str(t.instead) for t in parameter.traps if "*" in t.values and t.instead), None)
        yield warning(
            "RC7107",
            f"{parameter.id} is deprecated",
            why=_sentence(parameter.deprecated),
            instead=instead if instead and "=" in instead else None,
            sources=sources,
        )
    if not any(v.id == "RC7113" for v in verdicts):
        nothing = list(traps.no_effect(parameter.id, parameter.acts_on, sources, machine, parameter.summary))
        # that it does nothing says more than that it is the default where it does something
        verdicts = nothing + [v for v in verdicts if not nothing or v.id != "RC7114"]
    yield from verdicts
    if tainted := [kernel for kernel in present if kernel.taints]:
        on = "" if len(tainted) == len(present) else f" (seen in {_releases(tainted)})"
        if parameter.taints_since is not None and not machine.kernels:
            on = f" (from {'.'.join(map(str, parameter.taints_since.numbers[:2]))} on)"
        yield warning(
            "RC7108",
            f"setting {parameter.id} taints the kernel{on}",
            why="The kernel logs `Setting dangerous option`, and maintainers may turn a bug report away.",
            sources=sources,
        )
    if parameter.mask:
        yield from masks.judge(found, parameter, known, machine)
    if not any(v.id in ("RC7114", "RC7104") for v in verdicts) and _is_default(found, parameter, machine):
        written = f"{parameter.id}={found.value}"
        yield info(
            "RC7114",
            f"{written} is the default{'' if machine.kernels else ' of every kernel known'}",
            why=parameter.summary,
            instead="",
            sources=sources,
        )


def _is_default(found: Assignment, parameter: Parameter, machine: Machine) -> bool:
    if machine.kernels:
        variants = [v for kernel in machine.kernels for v in parameter.on(kernel.version).variants]
    else:
        variants = list(parameter.epochs)
    return bool(variants) and found.value is not None and all(same(v.default, found.value) for v in variants)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _releases(types: Sequence[KernelType]) -> str:
    return ", ".join(kernel.release for kernel in types)
