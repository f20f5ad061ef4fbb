"""What is known of one name: a parameter, a feature bit, a kernel argument or a variable. Pure."""

from __future__ import annotations

from collections.abc import Callable

from rocmcfg.explain.explain_context import described, mentions, on_hardware
from rocmcfg.explain.explain_parameter import explain_parameter, on_kernel
from rocmcfg.explain.explanation import Explanation, Question
from rocmcfg.judging import names
from rocmcfg.judging.arguments import legal, strange_words
from rocmcfg.judging.masks import default_mask
from rocmcfg.model.catalogue import Feature, KernelArgument, Trap, Variable
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error
from rocmcfg.model.value import closest, hexint, truth


def explain(question: Question) -> Explanation:
    """Raises RocmcfgError with near names for one that is not known.

    A bare name is looked for among parameters, variables, features and kernel arguments, in this
    order; `feature.`, `karg.` and `env.` name the kind.
    """
    for look in (_as_parameter, _as_variable, _as_feature, _as_argument, _as_misnomer):
        found = look(question)
        if found is not None:
            return found
    raise RocmcfgError(_unknown(question))


def _rest(question: Question, scope: str) -> str | None:
    """The name without the scope; None where it names another kind."""
    first, dot, rest = question.name.partition(".")
    if not dot or first not in ("feature", "karg", "env"):
        return question.name
    return rest if first == scope else None


def _as_parameter(question: Question) -> Explanation | None:
    plain = question.name.removeprefix("karg.").replace("-", "_")
    known = question.catalogue.parameters
    modules = question.catalogue.modules()
    parameter = next((known[id] for id in (plain, *(f"{m}.{plain}" for m in modules)) if id in known), None)
    return explain_parameter(question, parameter) if parameter is not None else None


def _as_variable(question: Question) -> Explanation | None:
    name = _rest(question, "env")
    if name is None:
        return None
    variable = names.variable(name) or names.variable(name.upper())
    if variable is None:
        return None
    return _variable(question, variable, name if name.startswith(f"{variable.name}_") else "")


def _as_feature(question: Question) -> Explanation | None:
    name = _rest(question, "feature")
    if name is None:
        return None
    plain = name.removeprefix("amdgpu.")
    features = question.catalogue.features
    feature = features.get(plain) or features.get(plain.replace("_", "-"))
    return _feature(question, feature) if feature is not None else None


def _as_argument(question: Question) -> Explanation | None:
    name = _rest(question, "karg")
    found = names.argument(name) if name is not None else None
    return _argument(question, found) if found is not None else None


def _as_misnomer(question: Question) -> Explanation | None:
    traps: Callable[[str], Trap | None] = question.catalogue.traps.get
    trap = traps(question.name.removeprefix("amdgpu.").replace("-", "_"))
    if trap is None:
        return None
    return Explanation(
        question.name,
        "misnomer",
        trap.summary,
        instead=str(trap.spelt(question.value)),
        issues=mentions(question, [f"amdgpu.{trap.name}", trap.name]),
    )


def _unknown(question: Question) -> Diagnostic:
    known = question.catalogue
    scope, dot, rest = question.name.partition(".")
    asked = rest if dot and scope in (*known.modules(), "feature", "karg", "env") else question.name
    parameters = [p.name for p in known.parameters.values()]
    near = closest(asked, [*dict.fromkeys(parameters), *known.features, *known.variables, *known.arguments])
    return error(
        "RC6001",
        f"nothing is known of {question.name!r}",
        hint=f"did you mean {', '.join(near)}?"
        if near
        else "name a parameter, a feature, a kernel argument or a variable",
    )


# -- features -------------------------------------------------------------------------------------------


def _feature(question: Question, feature: Feature) -> Explanation:
    parameter = question.catalogue.parameters[feature.parameter]
    default = default_mask(parameter, question.kernels)
    remarks = [
        f"bit {feature.bit:#x} of {feature.parameter}; no kernel has a parameter called {feature.name}"
    ]
    if default is not None:
        state = feature.is_on(default) is True
        other = feature.compose(default, not state)
        remarks.append(
            f"{'on' if state else 'off'} by default; switched {'off' if state else 'on'}, and nothing else "
            f"changed, the mask is {hexint(other)}"
        )
    if feature.taints and question.machine.runs(feature.taints) is not False:
        remarks.append(f"switching it on taints kernels {feature.taints}")
    on = truth(question.value)
    word = "true" if on else "false"
    if question.value is None or on is not None:
        remarks.append(
            f"write features.{feature.name} = {word} in a profile, or --set feature.{feature.name}={word}"
        )
    plain = feature.name.replace("-", "_")
    return Explanation(
        f"feature.{feature.name}",
        "feature",
        feature.summary,
        (*remarks, *feature.notes),
        meaning=_switched(feature, on, default),
        verdict=f"{question.value!r} is neither true nor false" if question.value and on is None else "",
        kernels=tuple(on_kernel(question, parameter, kernel, None) for kernel in question.kernels),
        issues=mentions(question, [f"feature.{feature.name}", f"amdgpu.{plain}"]),
        sources=feature.sources,
        **on_hardware(question, feature.acts_on),
    )


def _switched(feature: Feature, on: bool | None, default: int | None) -> str:
    """What the value that was asked about makes of the feature and of its mask."""
    if on is None:
        return ""
    state = f"{feature.name} is switched {'on' if on else 'off'}"
    if default is None:
        return state
    mask = feature.compose(default, on)
    if mask == default:
        return f"{state}, as it is by default"
    return f"{state}: {feature.parameter} becomes {hexint(mask)}"


# -- kernel arguments and variables -----------------------------------------------------------------------


def _argument(question: Question, argument: KernelArgument) -> Explanation:
    remarks = []
    if argument.flag:
        remarks.append("a flag: it stands without a value")
    if argument.words_join:
        remarks.append("several words may be joined by commas")
    found = described(question, [f"karg.{argument.name}", argument.name], argument, None)
    if legal(question.value, argument) is False:
        found["meaning"] = ""
    return Explanation(
        f"karg.{argument.name}",
        "argument",
        argument.summary,
        (*remarks, *argument.notes),
        values=argument.values,
        unset=argument.default,
        verdict=_argument_verdict(argument, question.value),
        **found,
    )


def _argument_verdict(argument: KernelArgument, value: str | None) -> str:
    if value is None or legal(value, argument) is True:
        return ""
    if argument.pattern:
        return f"{value!r} is no value that it takes"
    return f"{', '.join(map(repr, strange_words(value, argument)))} is no word that it takes"


def _variable(question: Question, variable: Variable, name: str = "") -> Explanation:
    remarks = []
    if variable.unknown:
        remarks.append("nothing reads it")
    if variable.build_only:
        remarks.append("read while software is compiled, and never when it runs")
    if variable.presence_only:
        remarks.append("only its presence counts: any value, also 0, switches it on")
    if variable.reader:
        remarks.append(f"read by {variable.reader}")
    if variable.indexed:
        remarks.append(f"{variable.name}_<n> exists as well; n is {variable.indexed}")
    remarks += [f"{word}: {text}" for word, text in _times(variable) if text]
    shown = name or variable.name
    found = described(question, [f"env.{variable.name}", variable.name, shown], variable, variable.acts_on)
    found["instead"] = found["instead"] or (variable.instead.name if variable.instead else "")
    if variable.presence_only and question.value is not None:
        found["meaning"] = "on, as with any other value"
    return Explanation(
        f"env.{shown}",
        "variable",
        variable.summary,
        (*remarks, *variable.notes),
        values=variable.values,
        unset=variable.default,
        verdict=_variable_verdict(variable, question.value),
        **found,
    )


def _times(variable: Variable) -> tuple[tuple[str, str], ...]:
    return ("since", variable.since), ("until", variable.until), ("deprecated", variable.deprecated)


def _variable_verdict(variable: Variable, value: str | None) -> str:
    if value is None or variable.unknown or variable.takes(value):
        return ""
    reader = variable.reader or "its reader"
    if not variable.strict:
        return f"{value!r} is none of the values that are documented; {reader} may pass over it"
    return f"{value!r} is not a value that {reader} takes"
