"""What is known of one name: a parameter, a feature bit, a kernel argument or a variable. Pure."""

from __future__ import annotations

from rocmcfg.explain.explain_parameter import explain_parameter, on_kernels
from rocmcfg.explain.explanation import Explanation, Question, described, mentions, on_hardware, those
from rocmcfg.judging import names
from rocmcfg.judging.judge import legal, strange_words
from rocmcfg.judging.parameters import default_mask
from rocmcfg.model.catalogue import Feature, KernelArgument, Variable
from rocmcfg.model.diagnostic import RocmcfgError, fail
from rocmcfg.model.kargs import canonical
from rocmcfg.model.spelling import closest, hexint, truth

_SCOPES = ("feature", "karg", "env")


def explain(question: Question) -> Explanation:
    """Raises RocmcfgError with near names for one that is not known.

    A bare name is looked for among parameters, variables, features and kernel arguments, in this
    order; `feature.`, `karg.` and `env.` name the kind.
    """
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


def _parameter(question: Question, name: str) -> Explanation | None:
    known, plain = question.catalogue, canonical(name)
    ids = (plain, *(f"{module}.{plain}" for module in known.modules()))
    parameter = next((known.parameters[id] for id in ids if id in known.parameters), None)
    return explain_parameter(question, parameter) if parameter is not None else None


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


# -- features -------------------------------------------------------------------------------------------


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
        kernels=on_kernels(question, feature.parameter, None),
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


# -- kernel arguments and variables -----------------------------------------------------------------------


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
        values=argument.values,
        unset=argument.default,
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
        values=variable.values,
        unset=variable.default,
        verdict=_variable_verdict(variable, question.value),
    )
    ids = [f"env.{variable.name}", variable.name, shown]
    found = described(question, found, ids, variable, variable.acts_on)
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
