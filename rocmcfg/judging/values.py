"""Checks a parameter and its value against every installed kernel, and turns it into the text to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rocmcfg.model.catalogue import Catalogue, Parameter
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Kernel
from rocmcfg.model.spelling import Spelling
from rocmcfg.model.state import Kind
from rocmcfg.model.value import IllegalValue, ParamType, as_number, closest, hexint, parse


class KernelType(NamedTuple):
    """What one kernel says of a parameter. `types` is empty where it has none; more than one where only
    the neighbours of an unread build are known and they disagree. `certain` is about its presence, `typed`
    about its type: a guess never refuses a value."""

    release: str
    types: tuple[ParamType, ...]
    certain: bool
    typed: bool
    taints: bool

    def refusal(self, text: str | None) -> str:
        """Why this kernel would not take the text; empty where it would, or where its types disagree."""
        reasons = [reason for type in self.types if (reason := _reason(type, text))]
        return reasons[0] if reasons and len(reasons) == len(self.types) else ""


def kernel_types(module: str, name: str, kernels: Sequence[Kernel], catalogue: Catalogue) -> list[KernelType]:
    """The host's own modinfo wins over the catalogue; a module that neither knows is left out."""
    parameter = catalogue.parameters.get(f"{module}.{name}")
    found = []
    for kernel in kernels:
        declared = kernel.parameters.get(module)
        standing = parameter.on(kernel.version) if parameter else None
        taints = standing is not None and bool(standing.variants) and all(v.taints for v in standing.variants)
        if declared is not None:
            own = _type(declared.get(name))
            found.append(KernelType(kernel.release, (own,) if own else (), True, True, taints))
        elif standing is not None:
            types = tuple(dict.fromkeys(v.type for v in standing.variants))
            if kernel.dkms and parameter is not None and parameter.dkms_type is not None:
                types = (parameter.dkms_type,)
            # A DKMS driver replaces the kernel's own, so that the catalogue only guesses there.
            found.append(
                KernelType(
                    kernel.release,
                    types,
                    standing.certain and not kernel.dkms,
                    standing.typed and not kernel.dkms,
                    taints,
                )
            )
        elif module in catalogue.modules():
            found.append(KernelType(kernel.release, (), not kernel.dkms, False, False))
    return found


def _type(text: str | None) -> ParamType | None:
    if text is None:
        return None
    try:
        return ParamType(text)
    except ValueError:
        return ParamType.STRING  # an array or a type of the module's own: the kernel takes any text


def unknown_name(
    module: str, name: str, types: Sequence[KernelType], catalogue: Catalogue, location: str
) -> Diagnostic | None:
    """The refusal of a name that no installed kernel has, or a warning for one that only some have."""
    have = [t for t in types if t.types]
    lack = [t for t in types if not t.types and t.certain]
    if have or not types or not lack:
        if not lack:
            return None
        return warning(
            "RC2102",
            f"{module}.{name} does not exist on kernel {', '.join(t.release for t in lack)}",
            location=location,
            detail="it is ignored there; kernels that have it: " + ", ".join(t.release for t in have),
        )
    parameter = catalogue.parameters.get(f"{module}.{name}")
    if parameter is not None and parameter.dkms_only:
        # A profile names the spelling for either driver; the one that is not there costs nothing.
        return warning(
            "RC2102",
            f"{module}.{name} does not exist on kernel {', '.join(t.release for t in lack)}",
            location=location,
            detail="only AMD's DKMS driver has it, and none is installed here; it is ignored",
        )
    if parameter is not None:
        return error(
            "RC2103",
            f"{module}.{name} exists on none of the installed kernels",
            location=location,
            detail=_lifetime(parameter, lack),
            hint="take it out of the profile, or name it with --without " + f"{module}.{name}",
        )
    trap = catalogue.traps.get(name)
    if trap is not None and module == "amdgpu":
        return error(
            "RC2101",
            f"{module}.{name} is not a parameter of any kernel",
            location=location,
            detail=trap.summary,
            hint=f"write {_spelling(trap.instead)}",
        )
    near = closest(name, [p.name for p in catalogue.parameters.values() if p.module == module])
    near += [f"feature {f}" for f in closest(name, list(catalogue.features)) if len(near) < 3]
    return error(
        "RC2101",
        f"{module}.{name} is not a parameter of any installed kernel ({', '.join(t.release for t in lack)})",
        location=location,
        hint="did you mean " + ", ".join(near) + "?" if near else f"see modinfo -p {module}",
    )


def unknown_module(
    module: str, kernels: Sequence[Kernel], catalogue: Catalogue, location: str
) -> Diagnostic | None:
    """A module of which neither modinfo nor the catalogue knows anything; most often a slip of the pen."""
    if module in catalogue.modules():
        return None
    near = closest(module, list(catalogue.modules()))
    asked = [kernel.release for kernel in kernels if kernel.parameters]
    if near or asked:
        return error(
            "RC2110",
            f"there is no module {module}" + (f" on kernel {', '.join(asked)}" if asked else ""),
            location=location,
            hint=f"did you mean {near[0]}?" if near else f"see modinfo {module}",
        )
    return warning(
        "RC2109", f"module {module} cannot be looked into here; its value is not checked", location=location
    )


def _lifetime(parameter: Parameter, lack: Sequence[KernelType]) -> str:
    said = f"kernel {', '.join(t.release for t in lack)} has no such parameter"
    if parameter.since:
        said += f"; it came with {parameter.since}"
    return said + (f" and was removed in {parameter.removed}" if parameter.removed else "")


def _spelling(instead: Spelling) -> str:
    name = instead.name
    if instead.kind is not Kind.FEATURE:
        return str(instead)
    return f"features.{name} = false (or --set feature.{name}=false)"


def to_text(value: str | int | bool, parameter: Parameter | None, types: Sequence[KernelType]) -> str:
    """A TOML value as the text behind `=`. Raises IllegalValue where true or false does not fit the type."""
    known = {t for kernel in types for t in kernel.types}
    if isinstance(value, bool):
        if known and known <= {ParamType.BOOL, ParamType.BINT}:
            return "Y" if value else "N"
        if ParamType.BOOL in known:
            return "1" if value else "0"  # bool on one kernel, int on another: both read 1 and 0
        raise IllegalValue(f"true and false are for bool parameters; write {int(value)}")
    if isinstance(value, int):
        hexadecimal = parameter is not None and parameter.mask and value >= 0
        return (hexint(value) if ParamType.HEXINT in known else hex(value)) if hexadecimal else str(value)
    if known <= {ParamType.BOOL, ParamType.BINT} and known:
        # `true` and `false` are understood from about 5.19 on, Y and N by every kernel
        return {"true": "Y", "false": "N"}.get(value.lower(), value)
    return value


def illegal(
    id: str, text: str, parameter: Parameter | None, types: Sequence[KernelType], location: str
) -> list[Diagnostic]:
    """What each installed kernel would do with the text. Where types disagree it is never a refusal."""
    refused: dict[str, list[str]] = {}
    doubtful: dict[str, list[str]] = {}
    for kernel in types:
        refusal = kernel.refusal(text)
        if refusal and kernel.typed:
            refused.setdefault(refusal, []).append(kernel.release)
        elif any(_reason(type, text) for type in kernel.types):
            doubt = next(reason for type in kernel.types if (reason := _reason(type, text)))
            doubtful.setdefault(doubt, []).append(kernel.release)
    problems = [
        error(
            "RC2104",
            f"{id} = {text} would stop {id.partition('.')[0]} from loading",
            location=location,
            detail=f"{_kernels(releases)}: {reason}",
            hint=_what_it_takes(id, parameter),
        )
        for reason, releases in refused.items()
    ]
    problems += [
        warning(
            "RC2106",
            f"{id} = {text} may be refused by kernel {', '.join(releases)}",
            location=location,
            detail=reason,
        )
        for reason, releases in doubtful.items()
    ]
    number = as_number(text)
    if not refused and parameter and parameter.bounds and number is not None:
        low, high = parameter.bounds
        if not low <= number <= high:
            problems.append(
                error(
                    "RC2105",
                    f"{id} = {text} is out of range: its meanings run from {low} to {high}",
                    location=location,
                    detail=parameter.summary,
                    hint="choose a value inside the range",
                )
            )
    tainted = [kernel.release for kernel in types if kernel.taints]
    if tainted:
        problems.append(
            info(
                "RC2107",
                f"setting {id} taints the kernel",
                location=location,
                detail=f"kernel {', '.join(tainted)}: maintainers may turn a bug report away",
                hint=f"leave {id} out again before you report a fault",
            )
        )
    if parameter and parameter.deprecated:
        problems.append(
            warning("RC2108", f"{id} is deprecated", location=location, hint=parameter.deprecated)
        )
    return problems


def _kernels(releases: Sequence[str]) -> str:
    return f"kernel{'s' if len(releases) > 1 else ''} {', '.join(releases)}"


def _what_it_takes(id: str, parameter: Parameter | None) -> str:
    if parameter is not None and parameter.mask:
        return f"{id} is a mask; to switch one feature write features.NAME = false and leave the rest to us"
    return f"see `modinfo -p {id.partition('.')[0]}` for what it takes"


def _reason(type: ParamType, text: str | None) -> str:
    try:
        parse(type, text)
    except IllegalValue as problem:
        return str(problem)
    return ""
