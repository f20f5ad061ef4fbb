"""A module parameter, explained for each kernel: what it takes, what it prints, which bits a mask changes."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.explain.explanation import Bit, Explanation, OnKernel, Question, described, mentions, those
from rocmcfg.judging.kernels import declarations
from rocmcfg.judging.parameters import default_mask, features_of
from rocmcfg.model.catalogue import Feature, Parameter
from rocmcfg.model.spelling import as_number, octal


def explain_parameter(question: Question, parameter: Parameter) -> Explanation:
    features = features_of(parameter, question.catalogue)
    found = Explanation(
        parameter.id,
        "parameter",
        parameter.summary,
        _remarks(parameter, question),
        unit=parameter.describe().unit,
        kernels=on_kernels(question, parameter.id, question.value),
    )
    ids = [parameter.id, *(f"feature.{feature.name}" for feature in features)]
    found = described(question, found, ids, parameter, parameter.acts_on)
    return _with_bits(found, parameter, features, question)


def _remarks(parameter: Parameter, question: Question) -> tuple[str, ...]:
    number = octal(question.value)
    low, high = parameter.bounds or (0, 0)
    remarks = those(
        (number is not None, f"{question.value} is octal because of its leading 0, and means {number}"),
        (parameter.dkms_only, "exists only in AMD's DKMS driver, not in the one that comes with a kernel"),
        (parameter.since, f"came with kernel {parameter.since}"),
        (parameter.removed, f"removed in kernel {parameter.removed}"),
        (parameter.deprecated, f"deprecated: {parameter.deprecated}"),
        (parameter.config, f"exists only in kernels built with {parameter.config}"),
        (parameter.rewritten, "the driver may replace the value when it starts"),
        (parameter.bounds, f"values with a meaning: {low} to {high}"),
    )
    fixes = [
        f"the fix {fix.name} came with kernel {fix.releases}; "
        "other series below {}.{} never got it".format(*fix.mainline.series)
        for fix in question.catalogue.fixes.values()
        if any(fix.name in note for note in parameter.notes)
    ]
    return (*remarks, *parameter.notes, *fixes)


def on_kernels(question: Question, id: str, value: str | None) -> tuple[OnKernel, ...]:
    found = []
    for declared in declarations(id, question.machine, question.catalogue, question.seen):
        why = "; ".join(dict.fromkeys(declared.reasons(value))) if value is not None else ""
        refused = declared.typed and value is not None and declared.refuses(value)
        found.append(
            OnKernel(
                declared.release,
                declared.present,
                declared.types,
                declared.defaults,
                declared.variants[-1].permission if declared.variants else "",
                declared.taints,
                declared.asked,
                declared.reads_back(value),
                why if refused else "",
                "" if refused else why,
            )
        )
    return tuple(found)


def explain_new(question: Question, id: str, description: str) -> Explanation:
    """A parameter that the host's own module declares or shows, and that the catalogue does not have.

    `description` is modinfo's, empty where it could not be asked.
    """
    return Explanation(
        id,
        "new",
        f"modinfo says: {description}" if description else "This host has it; nothing more is known of it.",
        ("new: the catalogue does not have it, so that its default, its range and its traps are not known",),
        kernels=on_kernels(question, id, question.value),
        issues=mentions(question, [id]),
        sources=("modinfo of this host's kernels, or its sysfs",),
    )


# -- masks ----------------------------------------------------------------------------------------------


def _with_bits(
    found: Explanation, parameter: Parameter, features: Sequence[Feature], question: Question
) -> Explanation:
    unnamed = parameter.describe().bits
    default = default_mask(parameter, question.machine.kernels) if features or unnamed else None
    if default is None:
        return found
    number = as_number(question.value)
    mask = default if number is None or number < 0 else number
    bits = [Bit(f.name, f.bit, bool(f.is_on(mask)), bool(f.is_on(default)), f.summary) for f in features]
    bits += [Bit("", bit, bool(mask & bit), bool(default & bit), text) for bit, text in unnamed.items()]
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
