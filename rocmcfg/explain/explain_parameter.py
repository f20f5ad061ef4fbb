"""A module parameter, explained for each kernel: what it takes, what it prints, which bits a mask changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocmcfg.explain.explain_context import described, mentions
from rocmcfg.explain.explanation import Bit, Explanation, OnKernel, Question
from rocmcfg.model.catalogue import Catalogue, Epoch, Feature, Parameter
from rocmcfg.model.facts import Kernel
from rocmcfg.model.value import IllegalValue, ParamType, as_number, octal, parse, printed


def explain_parameter(question: Question, parameter: Parameter) -> Explanation:
    features = _features(question.catalogue, parameter)
    ids = [parameter.id, *(f"feature.{feature.name}" for feature in features)]
    found = Explanation(
        parameter.id,
        "parameter",
        parameter.summary,
        _octal(question.value) + _remarks(parameter),
        unit=parameter.unit,
        kernels=tuple(on_kernel(parameter, question.value, k, question.seen) for k in question.kernels),
        **described(question, ids, parameter, parameter.acts_on),
    )
    return _with_bits(found, parameter, features, question)


def _octal(value: str | None) -> tuple[str, ...]:
    number = octal(value)
    return () if number is None else (f"{value} is octal because of its leading 0, and means {number}",)


def _remarks(parameter: Parameter) -> tuple[str, ...]:
    remarks = []
    if parameter.dkms_only:
        remarks.append("exists only in AMD's DKMS driver, not in the one that comes with a kernel")
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
    return (*remarks, *parameter.notes)


def on_kernel(
    parameter: Parameter, value: str | None, kernel: Kernel, seen: Callable[[str], bool | None]
) -> OnKernel:
    """The kernel's own modinfo wins over the catalogue, and so does sysfs for the kernel that runs."""
    standing = parameter.on(kernel.version)
    declared = kernel.parameters.get(parameter.module)
    types = tuple(dict.fromkeys(v.type.value for v in standing.variants))
    present: bool | None = bool(standing.variants) if standing.certain else None
    if kernel.dkms and declared is None:  # AMD's driver replaces the kernel's own: a guess
        present = None if not types else present
        types = (parameter.dkms_type.value,) if parameter.dkms_type else types
    if declared is not None:
        own = declared.get(parameter.name)
        present, types = own is not None, (own,) if own else ()
    elif kernel.running and (there := seen(parameter.id)) is not None:
        present, types = there, types if there else ()
    reads_back, verdict = judge(types, value) if value is not None and types else ("", "")
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


def judge(types: Sequence[str], value: str) -> tuple[str, str]:
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


# -- masks ----------------------------------------------------------------------------------------------


def _with_bits(
    found: Explanation, parameter: Parameter, features: Sequence[Feature], question: Question
) -> Explanation:
    default = default_mask(parameter, question.kernels)
    if not (features or parameter.bits) or default is None:
        return found
    number = as_number(question.value)
    mask = default if number is None or number < 0 else number
    bits = [_bit(feature, mask, default) for feature in features]
    bits += [
        Bit("", bit, bool(mask & bit), bool(default & bit), text) for bit, text in parameter.bits.items()
    ]
    named = sum(bit.bit for bit in bits)
    remarks = [
        f"{feature.name} on taints kernels {feature.taints}"
        for feature in features
        if feature.taints and bool(mask & feature.bit) == feature.set_means_on
    ]
    return found._replace(
        remarks=(*found.remarks, *remarks),
        compared=mask,
        default=default,
        bits=tuple(sorted(bits, key=lambda bit: bit.bit)),
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


def default_mask(parameter: Parameter, kernels: Sequence[Kernel]) -> int | None:
    """Of the newest kernel that has the parameter."""
    for kernel in reversed(kernels):
        variants: tuple[Epoch, ...] = parameter.on(kernel.version).variants
        if variants:
            return as_number(variants[-1].default)
    return None


def _features(catalogue: Catalogue, parameter: Parameter) -> list[Feature]:
    if not parameter.mask:
        return []
    return [f for f in catalogue.features.values() if f.parameter == parameter.id]


# -- what the catalogue lacks ---------------------------------------------------------------------------


def explain_new(question: Question, id: str, description: str) -> Explanation:
    """A parameter that the host's own module declares or shows, and that the catalogue does not have.

    `description` is modinfo's, empty where it could not be asked.
    """
    module, _, name = id.partition(".")
    kernels = []
    for kernel in question.kernels:
        declared = kernel.parameters.get(module)
        own = declared.get(name) if declared is not None else None
        types = (own,) if own else ()
        present: bool | None = own is not None if declared is not None else None
        if declared is None and kernel.running:
            present = question.seen(id)
        reads_back, verdict = judge(types, question.value) if question.value is not None else ("", "")
        kernels.append(
            OnKernel(kernel.release, present, types, (), "", False, declared is not None, reads_back, verdict)
        )
    summary = (
        f"modinfo says: {description}" if description else "This host has it; nothing more is known of it."
    )
    return Explanation(
        id,
        "new",
        summary,
        ("new: the catalogue does not have it, so that its default, its range and its traps are not known",),
        kernels=tuple(kernels),
        issues=mentions(question, [id]),
        sources=("modinfo of this host's kernels, or its sysfs",),
    )
