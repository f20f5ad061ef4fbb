"""What is known of one name: a parameter, a feature bit or a variable, on given kernels. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocmcfg.model.catalogue import Catalogue, Epoch, Feature, Parameter, Variable
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error
from rocmcfg.model.facts import Kernel
from rocmcfg.model.value import IllegalValue, ParamType, as_number, closest, hexint, parse, printed


@dataclass(frozen=True, slots=True)
class OnKernel:
    """A parameter on one kernel. `types` and `defaults` hold two where the neighbours of an unread build
    disagree; `asked` says that the kernel's own modinfo gave the type. `verdict` judges the value that was
    asked about: empty where there is none or it is fine."""

    kernel: str
    present: bool | None
    types: tuple[str, ...]
    defaults: tuple[str, ...]
    permission: str
    taints: bool
    asked: bool
    reads_back: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Bit:
    """One named bit of a mask: what the value and the default make of the feature (True: on)."""

    feature: str
    bit: int
    on: bool
    default: bool
    summary: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """`kind` is parameter, feature or variable. `instead` is set for a name that is not what it seems.

    `compared` is the mask whose bits are listed, `default` the one that they are compared with, and
    `unnamed` the bits in which both differ and that have no name.
    """

    name: str
    kind: str
    summary: str
    remarks: tuple[str, ...] = ()
    instead: str = ""
    values: tuple[str, ...] = ()
    kernels: tuple[OnKernel, ...] = ()
    compared: int | None = None
    default: int | None = None
    bits: tuple[Bit, ...] = ()
    unnamed: int = 0


def explain(name: str, value: str | None, kernels: Sequence[Kernel], catalogue: Catalogue) -> Explanation:
    """`value` is what stood behind `=`. Raises RocmcfgError with near names for one that is not known."""
    scope, _, rest = name.partition(".")
    plain = name.replace("-", "_")
    parameter = catalogue.parameters.get(plain) or catalogue.parameters.get(f"amdgpu.{plain}")
    if parameter is not None:
        return _parameter(parameter, value, kernels, catalogue)
    variable = catalogue.variables.get(rest if scope == "env" else name)
    if variable is not None:
        return _variable(variable, value)
    feature = catalogue.features.get(rest if scope == "feature" else name.removeprefix("amdgpu."))
    if feature is not None:
        return _feature(feature, kernels, catalogue)
    trap = catalogue.traps.get(name.removeprefix("amdgpu.")) or catalogue.traps.get(f"{name}={value}")
    if trap is not None:
        return Explanation(name, "misnomer", trap.summary, instead=trap.instead)
    raise RocmcfgError(_unknown(name, catalogue))


def _unknown(name: str, catalogue: Catalogue) -> Diagnostic:
    short = [p.name for p in catalogue.parameters.values()]
    near = closest(
        name.removeprefix("amdgpu.").removeprefix("feature.").removeprefix("env."),
        [*short, *catalogue.features, *catalogue.variables],
    )
    return error(
        "RC6001",
        f"nothing is known of {name!r}",
        hint=f"did you mean {', '.join(near)}?" if near else "name a parameter, a feature or a variable",
    )


def _parameter(
    parameter: Parameter, value: str | None, kernels: Sequence[Kernel], catalogue: Catalogue
) -> Explanation:
    on = tuple(_on_kernel(parameter, value, kernel) for kernel in kernels)
    remarks = []
    if parameter.since:
        remarks.append(f"came with kernel {parameter.since}")
    if parameter.removed:
        remarks.append(f"removed in kernel {parameter.removed}")
    if parameter.deprecated:
        remarks.append(f"deprecated: {parameter.deprecated}")
    if parameter.config:
        remarks.append(f"exists only in kernels built with {parameter.config}")
    if parameter.rewritten:
        remarks.append("the driver may replace the value when it starts")
    if parameter.bounds:
        remarks.append(f"values with a meaning: {parameter.bounds[0]} to {parameter.bounds[1]}")
    found = Explanation(parameter.id, "parameter", parameter.summary, tuple(remarks), kernels=on)
    return _with_bits(found, parameter, value, kernels, catalogue)


def _on_kernel(parameter: Parameter, value: str | None, kernel: Kernel) -> OnKernel:
    standing = parameter.on(kernel.version)
    declared = kernel.parameters.get(parameter.module)
    types = tuple(dict.fromkeys(v.type.value for v in standing.variants))
    present: bool | None = bool(standing.variants) if standing.certain else None
    if declared is not None:
        own = declared.get(parameter.name)
        present, types = own is not None, (own,) if own else ()
    reads_back, verdict = _judge(types, value) if value is not None and types else ("", "")
    return OnKernel(
        kernel.release,
        present,
        types,
        tuple(dict.fromkeys(v.default for v in standing.variants)) if types else (),
        standing.variants[-1].permission if standing.variants else "",
        any(v.taints for v in standing.variants),
        declared is not None,
        reads_back,
        verdict,
    )


def _judge(types: Sequence[str], value: str) -> tuple[str, str]:
    """The text that sysfs would show, and why the kernel would refuse the value."""
    shown, wrong = [], []
    for name in types:
        try:
            type = ParamType(name)
            parse(type, value)
            shown.append(printed(type, value))
        except IllegalValue as problem:
            wrong.append(str(problem))
        except ValueError:
            continue  # a type that only this module knows
    return " or ".join(dict.fromkeys(shown)), "; ".join(dict.fromkeys(wrong))


def _with_bits(
    found: Explanation,
    parameter: Parameter,
    value: str | None,
    kernels: Sequence[Kernel],
    catalogue: Catalogue,
) -> Explanation:
    features = [f for f in catalogue.features.values() if f.parameter == parameter.id]
    default = _default(parameter, kernels)
    if not features or default is None:
        return found
    number = as_number(value)
    mask = default if number is None or number < 0 else number
    bits = tuple(_bit(feature, mask, default) for feature in features)
    named = 0
    for feature in features:
        named |= feature.bit
    return Explanation(
        found.name,
        found.kind,
        found.summary,
        found.remarks,
        kernels=found.kernels,
        compared=mask,
        default=default,
        bits=bits,
        unnamed=(mask ^ default) & ~named,
    )


def _bit(feature: Feature, mask: int, default: int) -> Bit:
    return Bit(
        feature.name,
        feature.bit,
        bool(mask & feature.bit) == feature.set_means_on,
        bool(default & feature.bit) == feature.set_means_on,
        feature.summary,
    )


def _default(parameter: Parameter, kernels: Sequence[Kernel]) -> int | None:
    """Of the newest kernel that has the parameter."""
    for kernel in reversed(kernels):
        variants: tuple[Epoch, ...] = parameter.on(kernel.version).variants
        if variants:
            return as_number(variants[-1].default)
    return None


def _feature(feature: Feature, kernels: Sequence[Kernel], catalogue: Catalogue) -> Explanation:
    parameter = catalogue.parameters[feature.parameter]
    default = _default(parameter, kernels)
    remarks = [
        f"bit {feature.bit:#x} of {feature.parameter}; no kernel has a parameter called {feature.name}"
    ]
    if default is not None:
        state = bool(default & feature.bit) == feature.set_means_on
        other = feature.compose(default, not state)
        remarks.append(
            f"{'on' if state else 'off'} by default; switched {'off' if state else 'on'}, and nothing else "
            f"changed, the mask is {hexint(other)}"
        )
    remarks.append(
        f"write features.{feature.name} = false in a profile, or --set feature.{feature.name}=false"
    )
    return Explanation(
        f"feature.{feature.name}",
        "feature",
        feature.summary,
        tuple(remarks),
        kernels=tuple(_on_kernel(parameter, None, kernel) for kernel in kernels),
    )


def _variable(variable: Variable, value: str | None) -> Explanation:
    remarks = []
    if variable.unknown:
        remarks.append("nothing reads it")
    if variable.presence_only:
        remarks.append("only its presence counts: any value, also 0, switches it on")
    if variable.reader:
        remarks.append(f"read by {variable.reader}")
    if value is not None and variable.values and value.lower() not in variable.values:
        remarks.append(f"{value!r} is not a value that {variable.reader or 'its reader'} takes")
    return Explanation(
        f"env.{variable.name}",
        "variable",
        variable.summary,
        tuple(remarks),
        variable.instead,
        variable.values,
    )
