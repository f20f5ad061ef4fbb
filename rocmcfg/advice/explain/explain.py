"""Explain one name: a parameter, a feature bit, a kernel argument or a variable. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rocmcfg.advice.explain.explanation import (
    Bit,
    Explanation,
    OnKernel,
    Question,
    described,
    mentions,
    on_hardware,
    on_or_off,
    those,
)
from rocmcfg.judging import names
from rocmcfg.judging.judge import judge, of_the_name
from rocmcfg.judging.kernels import declarations
from rocmcfg.judging.parameters import default_mask, features_of
from rocmcfg.judging.verdict import OF_THE_NAME, About, Verdict
from rocmcfg.judging.words import Words, words
from rocmcfg.judging.words.advice import sentence
from rocmcfg.model.catalogue import Catalogue, Feature, KernelArgument, Parameter, Variable
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import RocmcfgError, cut, fail
from rocmcfg.model.kargs import canonical
from rocmcfg.model.spelling import Spelling, as_number, closest, hexint, parameter, split, well_named

_Entry: TypeAlias = "Parameter | Variable | Feature | KernelArgument"


def explain(question: Question) -> Explanation:
    """Explain a name. A name without a scope is looked up among parameters, variables, features and kernel
    arguments, in this order. Raises RocmcfgError for an unknown name, with similar names."""
    setting, catalogue = question.setting, question.catalogue
    if not well_named(setting):
        raise _unknown(question, None)
    if setting.kind is Kind.KARG and names.split_parameter(setting.name) is not None:
        setting = parameter(setting.name, setting.value)
        question = question._replace(setting=setting)
    for reading in _readings(setting, catalogue):
        entry = _entry(reading, catalogue)
        if entry is not None:
            # a feature that is written like a parameter is judged as it was written
            judged = setting if reading.kind is Kind.FEATURE and setting.module else reading
            question = _judged(question._replace(setting=reading), judged)
            return _with_verdicts(_of_its_kind(question, entry), question)
    return _new(question) or _misnamed(question)


def _judged(question: Question, setting: Spelling) -> Question:
    """Return the question with the verdicts on the setting; there are none without a value."""
    if setting.value is None:
        return question
    return question._replace(verdicts=tuple(judge(setting, question.machine, question.catalogue)))


def _readings(setting: Spelling, catalogue: Catalogue) -> Iterator[Spelling]:
    """Yield the settings that a text may mean."""
    name, value = setting.name, setting.value
    if setting.kind is not Kind.PARAMETER:
        yield setting
        return
    for module in (setting.module,) if setting.module else catalogue.modules():
        yield setting._replace(module=module)
    if not setting.module:
        yield Spelling(Kind.ENV, name, value)
        yield Spelling(Kind.ENV, name.upper(), value)
    feature = catalogue.features.get(name) or catalogue.features.get(name.replace("_", "-"))
    if feature is not None and setting.module in ("", catalogue.parameters[feature.parameter].module):
        yield split(f"feature.{feature.name}" if value is None else f"feature.{feature.name}={value}")
    yield Spelling(Kind.KARG, setting.id if setting.module else name, value)


def _entry(setting: Spelling, catalogue: Catalogue) -> _Entry | None:
    if setting.kind is Kind.PARAMETER:
        return catalogue.parameters.get(setting.id)
    if setting.kind is Kind.FEATURE:
        return catalogue.features.get(setting.name)
    return names.variable(setting.name) if setting.kind is Kind.ENV else names.argument(setting.name)


def _of_its_kind(question: Question, entry: _Entry) -> Explanation:
    if isinstance(entry, Parameter):
        return _parameter(question, entry)
    if isinstance(entry, Variable):
        return _variable(question, entry)
    return _feature(question, entry) if isinstance(entry, Feature) else _argument(question, entry)


def _with_verdicts(explanation: Explanation, question: Question) -> Explanation:
    setting = question.setting
    of_the_name = OF_THE_NAME if setting.kind is Kind.ENV else frozenset({About.UNKNOWN})
    instead = next((v.instead for v in question.verdicts if v.instead and v.about not in of_the_name), None)
    taints = _words(question, About.FEATURE_TAINTS) if setting.kind is Kind.PARAMETER else ()
    octal = (wording.summary for wording in _words(question, About.OCTAL))
    undone = (f"{wording.summary}. {wording.why}" for wording in _words(question, About.UNDOES))
    others = (f"{wording.summary}." for wording in (*_words(question, About.LOSES), *taints))
    refusals = (v for v in question.verdicts if _refuses(v, setting))
    refused = next((_worded(v, question).summary for v in refusals), "")
    return explanation._replace(
        remarks=(*octal, *explanation.remarks),
        instead=str(instead) if instead is not None else explanation.instead,
        meaning="" if refused else explanation.meaning,
        verdict=refused,
        harms=(*undone, *others),
    )


def _of(question: Question, about: About) -> list[Verdict]:
    return [verdict for verdict in question.verdicts if verdict.about is about]


def _worded(verdict: Verdict, question: Question) -> Words:
    return words(verdict, question.setting, question.catalogue, question.machine)


def _words(question: Question, about: About) -> list[Words]:
    return [_worded(verdict, question) for verdict in _of(question, about)]


def _refuses(verdict: Verdict, setting: Spelling) -> bool:
    """Return whether the value is refused, or has no meaning. A refusal by a kernel is shown with that
    kernel."""
    if verdict.about is About.OUT_OF_RANGE:
        return True
    if setting.kind is Kind.KARG:
        return verdict.about in (About.ILLEGAL, About.MISNAMED) or not verdict.strict
    return verdict.about is About.ILLEGAL and setting.kind is not Kind.PARAMETER


def as_parameter(setting: Spelling) -> Spelling | None:
    """Return the module parameter that a text may mean; None if it cannot mean one."""
    if setting.kind is Kind.KARG and "." in setting.name:
        setting = parameter(setting.name, setting.value)
    if setting.kind is not Kind.PARAMETER or not well_named(setting):
        return None
    return setting if setting.module else setting._replace(module=names.MODULE_OF_TRAPS)


def _new(question: Question) -> Explanation | None:
    """Explain a parameter that is not in the catalogue, but that a module of this host declares or shows."""
    setting = as_parameter(question.setting)
    if setting is None:
        return None
    declared = any(setting.name in k.parameters.get(setting.module, {}) for k in question.machine.kernels)
    if not declared and question.seen(setting.id) is not True:
        return None
    question = _judged(question._replace(setting=setting), setting)
    return Explanation(
        setting.id,
        "new",
        f"This host has it; `modinfo -p {setting.module}` may describe it.",
        ("new: it is not in the catalogue, so its default, its range and its traps are unknown",),
        kernels=_on_kernels(question),
        issues=mentions(question, [setting.id]),
        sources=("modinfo of this host's kernels, or its sysfs",),
    )


def _misnamed(question: Question) -> Explanation:
    """Explain a name that people write for another one. Raises RocmcfgError for an unknown name."""
    setting, machine, catalogue = question.setting, question.machine, question.catalogue
    meant = setting if setting.kind is not Kind.PARAMETER else as_parameter(setting) or setting
    verdict = next(of_the_name(meant, machine, catalogue), None)
    misnamed = verdict is not None and verdict.about is About.MISNAMED
    if verdict is None or not misnamed or not (verdict.why or setting.kind is Kind.KARG):
        if meant != setting:
            login = Spelling(Kind.ENV, setting.name, setting.value)
            of_logins = next(of_the_name(login, machine, catalogue), None)
            kernel = next(of_the_name(login._replace(kind=Kind.KARG), machine, catalogue), None)
            verdict, meant = kernel or of_logins, setting if kernel else login
        if not _is_read_by_nothing(meant, verdict):
            raise _unknown(question, verdict)
    assert verdict is not None
    worded = words(verdict, meant, catalogue, machine)
    summary = worded.why if misnamed and verdict.why else f"{sentence(worded.summary)} {worded.why}".strip()
    issues = mentions(question, [meant.id, meant.name])
    return Explanation(
        _written(setting), "misnomer", summary, instead=str(verdict.instead or ""), issues=issues
    )


def _is_read_by_nothing(setting: Spelling, verdict: Verdict | None) -> bool:
    """Return whether a variable looks like one of ROCm, and neither it nor a similar name is known."""
    return (
        verdict is not None
        and verdict.about is About.UNKNOWN
        and setting.kind is Kind.ENV
        and verdict.instead is None
    )


def _unknown(question: Question, verdict: Verdict | None) -> RocmcfgError:
    setting, name, catalogue = question.setting, _written(question.setting), question.catalogue
    near: Sequence[str] = ()
    if verdict is not None:
        near = (str(verdict.instead),) if verdict.instead is not None else verdict.names
    if not near:
        parameters = [p.name for p in catalogue.parameters.values()]
        every = [*dict.fromkeys(parameters), *catalogue.features, *catalogue.variables, *catalogue.arguments]
        by_scope = setting.kind is not Kind.PARAMETER or setting.module in ("", *catalogue.modules())
        near = closest(setting.name if by_scope else setting.id, every)
    hint = "specify a setting, a GPU, a known issue or a profile; for a line of a log use `rocmcfg doctor`"
    hint = f"did you mean {', '.join(near)}?" if near else hint
    return fail("RC6001", f"nothing is known about {cut(name)!r}", hint=hint)


def _written(setting: Spelling) -> str:
    return setting.name if setting.kind is Kind.PARAMETER and not setting.module else setting.id


def _parameter(question: Question, parameter: Parameter) -> Explanation:
    features = features_of(parameter, question.catalogue)
    explanation = Explanation(parameter.id, "parameter", parameter.summary, _remarks(parameter, question))
    explanation = explanation._replace(unit=parameter.unit, kernels=_on_kernels(question))
    used = [parameter.id, *(f"feature.{feature.name}" for feature in features)]
    explanation = described(question, explanation, used, parameter)
    return _with_bits(explanation, parameter, features, question)


def _of_the_name(question: Question, *abouts: About) -> Iterator[tuple[bool, str]]:
    """Yield remarks on the verdicts about a name, whatever its value; on a deprecated name with the
    reason."""
    for verdict in of_the_name(question.setting, question.machine, question.catalogue):
        wording = _worded(verdict, question)
        if verdict.about in abouts:
            with_reason = verdict.about is About.DEPRECATED
            yield True, f"{wording.summary}: {verdict.why}" if with_reason else wording.summary


def _remarks(parameter: Parameter, question: Question) -> tuple[str, ...]:
    low, high = parameter.bounds or (0, 0)
    remarks = those(
        (parameter.dkms_only, "exists only in AMD's DKMS driver, not in the kernel's own driver"),
        (parameter.since, f"added in kernel {parameter.since}"),
        (parameter.removed, f"removed in kernel {parameter.removed}"),
        *_of_the_name(question, About.DEPRECATED),
        (parameter.config, f"exists only in kernels built with {parameter.config}"),
        (parameter.rewritten, "the driver may replace the value when it starts"),
        (parameter.bounds, f"values with a meaning: {low} to {high}"),
    )
    fixes = [
        f"the fix {fix.name} was added in kernel {fix.history}"
        for fix in question.catalogue.fixes.values()
        if any(fix.name in note for note in parameter.notes)
    ]
    return (*remarks, *parameter.notes, *fixes)


def _on_kernels(question: Question) -> tuple[OnKernel, ...]:
    id, value = question.setting.id, question.setting.value
    illegal = next(iter(_of(question, About.ILLEGAL)), None)
    kernels = []
    for declared in declarations(id, question.machine, question.catalogue, question.seen):
        why, refused = "", False
        if illegal is not None and declared.release not in illegal.others:
            why = "; ".join(dict.fromkeys(declared.reasons(value)))
            refused = illegal.holds is True and declared.release in illegal.kernels
        kernels.append(
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
    return tuple(kernels)


def _with_bits(
    explanation: Explanation, parameter: Parameter, features: Sequence[Feature], question: Question
) -> Explanation:
    unnamed = parameter.bits
    default = default_mask(parameter, question.machine.kernels) if features or unnamed else None
    if default is None:
        return explanation
    number = as_number(question.setting.value)
    mask = default if number is None or number < 0 else number
    bits = [Bit(f.name, f.bit, bool(f.is_on(mask)), bool(f.is_on(default)), f.summary) for f in features]
    bits += [Bit("", bit, bool(mask & bit), bool(default & bit), text) for bit, text in unnamed.items()]
    return explanation._replace(
        compared=mask,
        default=default,
        bits=tuple(sorted(bits, key=lambda bit: bit.bit)),
        unnamed=(mask ^ default) & ~sum(bit.bit for bit in bits),
    )


def _feature(question: Question, feature: Feature) -> Explanation:
    setting, parameter = question.setting, question.catalogue.parameters[feature.parameter]
    default = default_mask(parameter, question.machine.kernels)
    ids = [f"feature.{feature.name}", f"{parameter.module}.{canonical(feature.name)}"]
    on = setting.enabled if setting.value in ("true", "false") else None
    # without a value, the one that changes something
    wanted = not feature.is_on(default) if on is None else on
    word = "true" if wanted else "false"
    spelling = f"features.{feature.name} = {word} in a profile, or --set feature.{feature.name}={word}"
    tainting = feature.taints and question.machine.runs(feature.taints) is not False
    explanation = Explanation(
        f"feature.{feature.name}",
        "feature",
        feature.summary,
        (
            f"bit {feature.bit:#x} of {feature.parameter}; no kernel has a parameter called {feature.name}",
            *those(
                (default is not None, _by_default(feature, default)),
                (tainting, f"turning it on taints kernels {feature.taints}"),
                (setting.value is None or on is not None, f"write {spelling}"),
            ),
            *feature.notes,
        ),
        meaning=_switched(feature, on, default),
        kernels=_on_kernels(
            Question(split(parameter.id), question.machine, question.catalogue, seen=question.seen)
        ),
        issues=mentions(question, ids),
        sources=feature.sources,
    )
    return on_hardware(question, explanation, feature.acts_on)


def _by_default(feature: Feature, default: int | None) -> str:
    if default is None:
        return ""
    on = bool(feature.is_on(default))
    other = hexint(feature.compose(default, not on))
    now = f"{on_or_off(on)} by default"
    return f"{now}; turning only this bit {on_or_off(not on)} makes the mask {other}"


def _switched(feature: Feature, on: bool | None, default: int | None) -> str:
    """Return the effect of the value on the feature and its mask."""
    if on is None:
        return ""
    summary = f"{feature.name} is turned {on_or_off(on)}"
    if default is None:
        return summary
    mask = feature.compose(default, on)
    if mask == default:
        return f"{summary}, as it is by default"
    return f"{summary}: {feature.parameter} becomes {hexint(mask)}"


def _argument(question: Question, argument: KernelArgument) -> Explanation:
    remarks = those(
        (argument.flag, "a flag: it takes no value"),
        (argument.words_join, "several words may be joined by commas"),
    )
    explanation = Explanation(
        f"karg.{argument.name}", "argument", argument.summary, (*remarks, *argument.notes)
    )
    return described(question, explanation, [explanation.name, argument.name], argument)


def _variable(question: Question, variable: Variable) -> Explanation:
    shown = question.setting.name
    remarks = those(
        *_of_the_name(question, About.MISNAMED, About.BUILD_ONLY),
        (
            variable.presence_before,
            f"in {variable.reader} before {variable.presence_before} only its presence counts: any value, "
            "even 0, turns it on",
        ),
        (variable.reader, f"read by {variable.reader}"),
        (variable.indexed, f"{variable.name}_<n> exists as well; n is {variable.indexed}"),
        (variable.since, f"since: {variable.since}"),
        (variable.until, f"until: {variable.until}"),
        *_of_the_name(question, About.DEPRECATED),
    )
    explanation = Explanation(f"env.{shown}", "variable", variable.summary, (*remarks, *variable.notes))
    explanation = explanation._replace(instead=variable.instead.name if variable.instead else "")
    explanation = described(question, explanation, [f"env.{variable.name}", variable.name, shown], variable)
    value, by_presence = question.setting.value, question.machine.imports_before(variable.presence_before)
    if value is None or by_presence is False:
        return explanation
    meaning = f"on in {variable.reader} before {variable.presence_before}, as with any other value"
    if not by_presence:
        meaning += f"; from then on {explanation.meaning or 'it is ignored with a warning'}"
    return explanation._replace(meaning=meaning)
