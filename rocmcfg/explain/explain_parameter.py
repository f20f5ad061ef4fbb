"""A module parameter, explained for each kernel: what it takes, what it prints, which bits a mask changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocmcfg.explain.explain_context import described, mentions
from rocmcfg.explain.explanation import Bit, Explanation, OnKernel, Question
from rocmcfg.judging.kernels import Declaration, declaration
from rocmcfg.judging.masks import default_mask, features_of
from rocmcfg.model.catalogue import Feature, Fix, Parameter
from rocmcfg.model.facts import Kernel
from rocmcfg.model.value import as_number, octal


def explain_parameter(question: Question, parameter: Parameter) -> Explanation:
    features = features_of(parameter, question.catalogue)
    ids = [parameter.id, *(f"feature.{feature.name}" for feature in features)]
    found = Explanation(
        parameter.id,
        "parameter",
        parameter.summary,
        _octal(question.value) + _remarks(parameter, question.catalogue.fixes),
        unit=parameter.unit,
        kernels=tuple(on_kernel(question, parameter, k, question.value) for k in question.kernels),
        **described(question, ids, parameter, parameter.acts_on),
    )
    return _with_bits(found, parameter, features, question)


def _octal(value: str | None) -> tuple[str, ...]:
    number = octal(value)
    return () if number is None else (f"{value} is octal because of its leading 0, and means {number}",)


def _remarks(parameter: Parameter, fixes: Mapping[str, Fix]) -> tuple[str, ...]:
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
    named = [fix for fix in fixes.values() if any(fix.name in note for note in parameter.notes)]
    never = "other series below {}.{} never got it"
    told = [
        f"the fix {fix.name} came with kernel {fix.releases}; {never.format(*fix.mainline.series)}"
        for fix in named
    ]
    return (*remarks, *parameter.notes, *told)


def on_kernel(question: Question, parameter: Parameter, kernel: Kernel, value: str | None) -> OnKernel:
    declared = declaration(parameter.id, kernel, parameter, question.catalogue, question.seen)
    variants = parameter.on(kernel.version).variants
    if declared is None:  # of a module that the catalogue does not have
        return OnKernel(kernel.release, None, (), (), "", False, False, "", "")
    defaults = tuple(dict.fromkeys(variant.default for variant in variants)) if declared.types else ()
    permission = variants[-1].permission if variants else ""
    return _judged(declared, value, defaults, permission)


def _judged(
    declared: Declaration, value: str | None, defaults: tuple[str, ...] = (), permission: str = ""
) -> OnKernel:
    shown, refused = declared.reads_back(value), ""
    why = "; ".join(dict.fromkeys(declared.reasons(value))) if value is not None else ""
    if declared.typed and value is not None and declared.refuses(value):
        refused, why = why, ""
    return OnKernel(
        declared.release,
        declared.present,
        declared.types,
        defaults,
        permission,
        declared.taints,
        declared.asked,
        shown,
        refused,
        why,
    )


# -- masks ----------------------------------------------------------------------------------------------


def _with_bits(
    found: Explanation, parameter: Parameter, features: Sequence[Feature], question: Question
) -> Explanation:
    default = default_mask(parameter, question.kernels) if features or parameter.bits else None
    if default is None:
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
        if feature.taints and feature.is_on(mask)
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
        feature.is_on(mask) is True,
        feature.is_on(default) is True,
        feature.summary,
    )


# -- what the catalogue lacks ---------------------------------------------------------------------------


def explain_new(question: Question, id: str, description: str) -> Explanation:
    """A parameter that the host's own module declares or shows, and that the catalogue does not have.

    `description` is modinfo's, empty where it could not be asked.
    """
    kernels = []
    for kernel in question.kernels:
        declared = declaration(id, kernel, None, question.catalogue, question.seen)
        if declared is not None:
            kernels.append(_judged(declared, question.value))
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
