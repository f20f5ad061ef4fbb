"""What is known of one name: a parameter, a feature bit, a kernel argument or a variable. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.explain.explanation import (
    Bit,
    Explanation,
    OnKernel,
    Question,
    described,
    mentions,
    on_hardware,
    those,
)
from rocmcfg.judging import names
from rocmcfg.judging.judge import legal, strange_words
from rocmcfg.judging.kernels import declarations
from rocmcfg.judging.parameters import default_mask, features_of
from rocmcfg.model.catalogue import Feature, KernelArgument, Parameter, Variable
from rocmcfg.model.diagnostic import RocmcfgError, fail
from rocmcfg.model.kargs import canonical
from rocmcfg.model.spelling import as_number, closest, hexint, octal, truth

_SCOPES = ("feature", "karg", "env")


def explain(question: Question) -> Explanation:
    """A bare name is looked for among parameters, variables, features and kernel arguments, in this order;
    `feature.`, `karg.` and `env.` name the kind. Raises RocmcfgError with near names for an unknown one."""
    scope, dot, name = question.name.partition(".")
    if not dot or scope not in _SCOPES:
        scope, name = "", question.name
    for scopes, look in (
        (("", "karg"), _parameter),
        (("", "env"), _variable),
        (("", "feature"), _feature),
        (("", "karg"), _argument),
        (("",), _misnomer),
    ):
        if scope in scopes and (found := look(question, name)) is not None:
            return found
    raise _unknown(question)


def _unknown(question: Question) -> RocmcfgError:
    known = question.catalogue
    scope, dot, rest = question.name.partition(".")
    asked = rest if dot and scope in (*known.modules(), *_SCOPES) else question.name
    parameters = [p.name for p in known.parameters.values()]
    near = closest(asked, [*dict.fromkeys(parameters), *known.features, *known.variables, *known.arguments])
    hint = "name a parameter, a feature, a kernel argument or a variable"
    hint = f"did you mean {', '.join(near)}?" if near else hint
    return fail("RC6001", f"nothing is known of {question.name!r}", hint=hint)


def explain_new(question: Question, id: str, description: str) -> Explanation:
    """A parameter that the host's own module declares or shows, and that the catalogue does not have.
    `description` is modinfo's, empty where it could not be asked."""
    return Explanation(
        id,
        "new",
        f"modinfo says: {description}" if description else "This host has it; nothing more is known of it.",
        ("new: the catalogue does not have it, so that its default, its range and its traps are not known",),
        kernels=_on_kernels(question, id, question.value),
        issues=mentions(question, [id]),
        sources=("modinfo of this host's kernels, or its sysfs",),
    )


def _misnomer(question: Question, name: str) -> Explanation | None:
    trap = question.catalogue.traps.get(canonical(name.removeprefix(f"{names.MODULE_OF_TRAPS}.")))
    if trap is None:
        return None
    return Explanation(
        question.name,
        "misnomer",
        trap.summary,
        instead=str(trap.spelt(question.value)),
        issues=mentions(question, [f"{names.MODULE_OF_TRAPS}.{trap.name}", trap.name]),
    )


def _parameter(question: Question, name: str) -> Explanation | None:
    known, plain = question.catalogue, canonical(name)
    ids = (plain, *(f"{module}.{plain}" for module in known.modules()))
    parameter = next((known.parameters[id] for id in ids if id in known.parameters), None)
    if parameter is None:
        return None
    features = features_of(parameter, known)
    found = Explanation(
        parameter.id,
        "parameter",
        parameter.summary,
        _remarks(parameter, question),
        unit=parameter.describe().unit,
        kernels=_on_kernels(question, parameter.id, question.value),
    )
    used = [parameter.id, *(f"feature.{feature.name}" for feature in features)]
    found = described(question, found, used, parameter)
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


def _on_kernels(question: Question, id: str, value: str | None) -> tuple[OnKernel, ...]:
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


def _feature(question: Question, name: str) -> Explanation | None:
    known, value = question.catalogue, question.value
    module, _, plain = name.rpartition(".")
    feature = known.features.get(plain) or known.features.get(plain.replace("_", "-"))
    if feature is None or module not in ("", known.parameters[feature.parameter].module):
        return None
    parameter = known.parameters[feature.parameter]
    default = default_mask(parameter, question.machine.kernels)
    ids = [f"feature.{feature.name}", f"{parameter.module}.{canonical(feature.name)}"]
    on = truth(value)
    word = "true" if on else "false"
    spelling = f"features.{feature.name} = {word} in a profile, or --set feature.{feature.name}={word}"
    tainting = feature.taints and question.machine.runs(feature.taints) is not False
    found = Explanation(
        f"feature.{feature.name}",
        "feature",
        feature.summary,
        (
            f"bit {feature.bit:#x} of {feature.parameter}; no kernel has a parameter called {feature.name}",
            *those(
                (default is not None, _by_default(feature, default)),
                (tainting, f"switching it on taints kernels {feature.taints}"),
                (value is None or on is not None, f"write {spelling}"),
            ),
            *feature.notes,
        ),
        meaning=_switched(feature, on, default),
        verdict=f"{value!r} is neither true nor false" if value and on is None else "",
        kernels=_on_kernels(question, feature.parameter, None),
        issues=mentions(question, ids),
        sources=feature.sources,
    )
    return on_hardware(question, found, feature.acts_on)


def _by_default(feature: Feature, default: int | None) -> str:
    if default is None:
        return ""
    on = bool(feature.is_on(default))
    other = hexint(feature.compose(default, not on))
    now = f"{_state(on)} by default"
    return f"{now}; switched {_state(not on)}, and nothing else changed, the mask is {other}"


def _switched(feature: Feature, on: bool | None, default: int | None) -> str:
    """What the value that was asked about makes of the feature and of its mask."""
    if on is None:
        return ""
    said = f"{feature.name} is switched {_state(on)}"
    if default is None:
        return said
    mask = feature.compose(default, on)
    if mask == default:
        return f"{said}, as it is by default"
    return f"{said}: {feature.parameter} becomes {hexint(mask)}"


def _state(on: bool) -> str:
    return "on" if on else "off"


def _argument(question: Question, name: str) -> Explanation | None:
    argument, value = names.argument(name), question.value
    if argument is None:
        return None
    remarks = those(
        (argument.flag, "a flag: it stands without a value"),
        (argument.words_join, "several words may be joined by commas"),
    )
    found = Explanation(
        f"karg.{argument.name}",
        "argument",
        argument.summary,
        (*remarks, *argument.notes),
        verdict=_argument_verdict(argument, value),
    )
    found = described(question, found, [found.name, argument.name], argument)
    return found._replace(meaning="") if legal(value, argument) is False else found


def _argument_verdict(argument: KernelArgument, value: str | None) -> str:
    if value is None or legal(value, argument) is True:
        return ""
    if argument.pattern:
        return f"{value!r} is no value that it takes"
    return f"{', '.join(map(repr, strange_words(value, argument)))} is no word that it takes"


def _variable(question: Question, name: str) -> Explanation | None:
    variable = names.variable(name) or names.variable(name.upper())
    if variable is None:
        return None
    shown = name if name.startswith(f"{variable.name}_") else variable.name
    remarks = those(
        (variable.unknown, "nothing reads it"),
        (variable.build_only, "read while software is compiled, and never when it runs"),
        (variable.presence_only, "only its presence counts: any value, also 0, switches it on"),
        (variable.reader, f"read by {variable.reader}"),
        (variable.indexed, f"{variable.name}_<n> exists as well; n is {variable.indexed}"),
        (variable.since, f"since: {variable.since}"),
        (variable.until, f"until: {variable.until}"),
        (variable.deprecated, f"deprecated: {variable.deprecated}"),
    )
    found = Explanation(
        f"env.{shown}",
        "variable",
        variable.summary,
        (*remarks, *variable.notes),
        verdict=_variable_verdict(variable, question.value),
    )
    ids = [f"env.{variable.name}", variable.name, shown]
    found = described(question, found, ids, variable)
    if variable.presence_only and question.value is not None:
        found = found._replace(meaning="on, as with any other value")
    return found._replace(instead=found.instead or (variable.instead.name if variable.instead else ""))


def _variable_verdict(variable: Variable, value: str | None) -> str:
    if value is None or variable.unknown or variable.takes(value):
        return ""
    reader = variable.reader or "its reader"
    if not variable.strict:
        return f"{value!r} is none of the values that are documented; {reader} may pass over it"
    return f"{value!r} is not a value that {reader} takes"
