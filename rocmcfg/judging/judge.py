"""Judge a setting on a machine. Pure. `parameters` judges module parameters.

`judge` returns everything that is known about a setting. A caller that knows only the name, or cannot be sure
where the value ends, calls `of_the_name`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.judging import names, parameters
from rocmcfg.judging.conditions import has_fix
from rocmcfg.judging.verdict import (
    REFUSED,
    About,
    Verdict,
    loses,
    meanings,
    meets,
    no_effect,
    taint,
    traps_of,
)
from rocmcfg.model.catalogue import Catalogue, Hardware, KernelArgument
from rocmcfg.model.desired import Kind
from rocmcfg.model.facts import Machine
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.kargs import canonical
from rocmcfg.model.known_cure import KnownCure
from rocmcfg.model.regex import fullmatch
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling, closest, parameter, same, switched
from rocmcfg.model.version import parse_range

_MEANT_AS_OFF = frozenset({"0", "false", "no", "off", "n", "disable", "disabled"})


def judge(
    setting: Spelling,
    machine: Machine,
    catalogue: Catalogue,
    issues: Sequence[KnownIssue] = (),
    beside: str = "",
) -> list[Verdict]:
    """Return the verdicts on a setting. `beside` are the words around it, if they may show what its author
    means by it."""
    verdicts = list(of_the_name(setting, machine, catalogue))
    if any(verdict.about is not About.DEPRECATED and not verdict.others for verdict in verdicts):
        return verdicts
    if setting.kind is Kind.PARAMETER:
        values = parameters.of_the_value(setting, machine, catalogue, beside)
    elif setting.kind is Kind.KARG:
        values = _argument(setting, machine, beside)
    elif setting.kind is Kind.ENV:
        values = _variable(setting, machine, beside)
    else:
        values = _feature(setting, machine, catalogue)
    verdicts += values
    if any((v.about in REFUSED and v.holds) or v.about is About.DEFAULT for v in verdicts):
        verdicts = [verdict for verdict in verdicts if verdict.about is not About.DEPRECATED]
    if any(verdict.about in REFUSED and verdict.holds for verdict in verdicts):
        return verdicts
    if any(
        verdict.trap is not None and verdict.trap.kind == "no_effect" and verdict.holds
        for verdict in verdicts
    ):
        verdicts = [verdict for verdict in verdicts if verdict.about is not About.DEFAULT]  # which says less
    opposed = list(_undoes(setting, machine, catalogue))
    if opposed and not any(verdict.about is About.LOSES and verdict.holds for verdict in verdicts):
        verdicts = [*opposed, *(verdict for verdict in verdicts if verdict.about is not About.DEFAULT)]
    if not verdicts:
        verdicts += _fixed(setting, machine, catalogue, issues)
    return verdicts


def of_the_name(setting: Spelling, machine: Machine, catalogue: Catalogue) -> Iterator[Verdict]:
    for verdict in _of_the_name(setting, machine, catalogue):
        instead = verdict.instead
        harm = None
        if instead is not None and instead.kind is Kind.FEATURE and instead.value == "false":
            harm = next((v for v in loses(catalogue.features[instead.name], machine) if v.holds), None)
        if harm is None:
            yield verdict
            continue
        # never propose a setting that the judge would then reject
        feature, needed_for, gpus = harm.names
        why = f"{verdict.why} Without {feature} there is no {needed_for} on {gpus}." if verdict.why else ""
        yield verdict._replace(instead=None, why=why)


def _of_the_name(setting: Spelling, machine: Machine, catalogue: Catalogue) -> Iterator[Verdict]:
    if setting.kind is Kind.PARAMETER:
        return parameters.of_the_name(setting, machine, catalogue)
    if setting.kind is Kind.KARG:
        return _argument_name(setting, catalogue)
    return _variable_name(setting) if setting.kind is Kind.ENV else _feature_name(setting, catalogue)


def _argument_name(setting: Spelling, catalogue: Catalogue) -> Iterator[Verdict]:
    trap = catalogue.traps.get(f"{canonical(setting.name)}={setting.value}")
    if trap is not None:
        yield Verdict(About.MISNAMED, why=trap.summary, instead=trap.spelt(setting.value))
        return
    if names.argument(setting.name) is not None:
        return
    if meant_id := names.misspelt_parameter(setting.name):
        instead = parameter(meant_id, setting.value)
        yield Verdict(About.UNKNOWN_MODULE, instead=instead, names=(instead.module,))
        return
    dotted = "." in setting.name.strip('"')
    owner = "" if dotted or setting.value is None else names.bare_parameter(f"{setting.name}={setting.value}")
    if owner:
        meant = parameter(f"{owner}.{setting.name}", setting.value)
        right = next(parameters.of_the_name(meant, Machine(), catalogue), None)
        yield Verdict(About.MISNAMED, instead=right.instead if right and right.instead else meant)
        return
    near = names.near_argument(setting.name)
    if near is not None and setting.value is not None:
        meant = Spelling(Kind.KARG, near.name, setting.value)
        better = next(_argument_name(meant, catalogue), None)
        holds = True if better is not None or legal(setting.value, near) is not False else None
        instead = meant if holds else meant._replace(value=None)
        if better is not None and better.instead is not None:
            instead = better.instead
        # other drivers have arguments too: only a value that fits this one leaves no doubt
        why = better.why if better is not None else near.summary
        yield Verdict(About.UNKNOWN, holds, why, instead, names=(near.name,))


def _argument(setting: Spelling, machine: Machine, beside: str) -> Iterator[Verdict]:
    argument = names.argument(setting.name)
    if argument is None:
        return
    right = legal(setting.value, argument)
    meant = next((t for t in argument.traps if t.instead and meets(t, setting.value)), None)
    if right is False and meant is not None:
        verdict = Verdict(
            About.TRAP, True, meant.summary, meant.instead, trap=meant, sources=argument.sources
        )
        yield verdict._replace(strict=False)
        return
    traps = traps_of(setting, argument, machine, beside)
    yield from traps
    if traps:
        return
    if right is False:
        takes = (
            f"{argument.name} accepts {', '.join(argument.values)}." if argument.values else argument.summary
        )
        yield Verdict(About.ILLEGAL, why=takes, sources=argument.sources, strict=False)
    elif setting.value is not None and argument.default and same(setting.value, argument.default):
        yield Verdict(About.DEFAULT, why=argument.summary, sources=argument.sources)


def legal(value: str | None, argument: KernelArgument) -> bool | None:
    """Return whether an argument may have the value; None if some of several words are known, because newer
    kernels know more words, and kernels ignore the rest."""
    if value is None:
        return argument.flag or not (argument.values or argument.pattern)
    if argument.values:
        strange = strange_words(value, argument)
        if not strange:
            return True
        if len(strange) < len(value.split(",")) and argument.words_join:
            return None
        if not argument.pattern:
            return False
    return not argument.pattern or fullmatch(argument.pattern, value) is not None


def strange_words(value: str, argument: KernelArgument) -> list[str]:
    """Return the words of the value that are not documented. The kernel compares them case-sensitively
    (strncmp, as in parse_amd_iommu_options)."""
    words = value.split(",") if argument.words_join else [value]
    return [word for word in words if word not in argument.values]


def _variable_name(setting: Spelling) -> Iterator[Verdict]:
    variable = names.variable(setting.name)
    if variable is None:
        near, space = names.near_variable(setting.name), names.reads_not(setting.name)
        why = f"{space.reader} has no such name ({space.release})." if space else ""
        if near:
            yield Verdict(About.UNKNOWN, why=why, instead=setting._replace(name=near), names=(near,))
        elif space is not None:
            yield Verdict(About.UNKNOWN, why=why, names=tuple(closest(setting.name, sorted(space.names))[:1]))
        elif names.is_stray(setting.name):
            yield Verdict(About.UNKNOWN, None)
    elif variable.unknown:
        instead = variable.instead._replace(value=setting.value or None) if variable.instead else None
        yield Verdict(About.MISNAMED, why=variable.summary, instead=instead, sources=variable.sources)
    elif variable.build_only:
        yield Verdict(About.BUILD_ONLY, why=variable.summary, sources=variable.sources)
    elif variable.deprecated and not variable.presence_before:
        # the release that reads it here is unknown, and older releases read only this name
        yield Verdict(
            About.DEPRECATED, why=variable.deprecated, instead=variable.instead, sources=variable.sources
        )


def _variable(setting: Spelling, machine: Machine, beside: str) -> Iterator[Verdict]:
    variable, value = names.variable(setting.name), setting.value
    if variable is None or value is None:
        return
    by_presence = machine.imports_before(variable.presence_before)
    if by_presence is not False and value.lower() in _MEANT_AS_OFF:
        readers = (f"{variable.reader} before {variable.presence_before}",)
        why, sources = variable.summary, variable.sources
        yield Verdict(About.PRESENCE_ONLY, by_presence, why, names=readers, sources=sources)
        return
    if by_presence:
        return
    if not variable.takes(value):
        takes = f"It accepts {', '.join(variable.values)}." if variable.values else variable.summary
        bare = value.strip("\"'")
        instead = setting._replace(value=bare) if bare != value and variable.takes(bare) else None
        yield Verdict(
            About.ILLEGAL, why=takes, instead=instead, sources=variable.sources, strict=variable.strict
        )
        return
    traps = traps_of(setting, variable, machine, beside)
    yield from meanings(traps, variable, machine)
    if (
        variable.default
        and same(value, variable.default)
        and not any(trap.trap_kind == "default" for trap in traps)
    ):
        yield Verdict(About.DEFAULT, why=variable.summary, sources=variable.sources)


def _feature_name(setting: Spelling, catalogue: Catalogue) -> Iterator[Verdict]:
    if setting.name not in catalogue.features:
        yield Verdict(About.UNKNOWN, names=tuple(closest(setting.name, list(catalogue.features))))


def _feature(setting: Spelling, machine: Machine, catalogue: Catalogue) -> Iterator[Verdict]:
    feature = catalogue.features[setting.name]
    if setting.value not in (None, "true", "false"):
        yield Verdict(About.ILLEGAL, why=feature.summary, sources=feature.sources)
        return
    if setting.enabled:
        yield from taint(feature, machine)
    elif setting.value is not None:
        yield from loses(feature, machine)
    yield from no_effect(feature, machine)


def _undoes(setting: Spelling, machine: Machine, catalogue: Catalogue) -> Iterator[Verdict]:
    """Yield a verdict where the opposite value cures known issues of these GPUs, and the value itself cures
    none of them. It is certain where somebody has seen a cure work whose issue does not depend on a release
    of ROCm, which nothing here tells."""
    on = switched(setting.value)
    cures = catalogue.cures.get(canonical(setting.id), ()) if on is not None else ()
    here = [
        cure
        for cure in cures
        if machine.has(Hardware(gfx=cure.gfx))
        and machine.runs(cure.kernel) is not False
        and not (cure.several_gpus and len(machine.gpus) == 1)
    ]
    if any(switched(cure.value) is on for cure in here):
        return
    unfixed = [cure for cure in here if not (machine.kernels and _is_fixed(cure, catalogue, machine))]
    certain = [cure for cure in unfixed if cure.confidence != "unverified" and not cure.of_releases]
    for cure in (certain or unfixed)[:1]:
        issues = dict.fromkeys(each.issue for each in (cure, *certain, *unfixed))
        gpus = (gpu.gfx or "" for gpu in machine.named if Machine(gpus=(gpu,)).has(Hardware(gfx=cure.gfx)))
        names = (cure.value, cure.fixed_in, ", ".join(dict.fromkeys(gpus)), *issues)
        sources = (cure.source,) if cure.source else ()
        yield Verdict(About.UNDOES, True if certain else None, cure.title, names=names, sources=sources)


class Undone(NamedTuple):
    """The cure that a setting undoes: the value that cures, and the issue. `certain` as in a verdict."""

    issue: str
    cure: str
    title: str
    certain: bool


def undoes(setting: Spelling, machine: Machine, catalogue: Catalogue) -> list[Undone]:
    """Return the cure that a setting undoes on a machine, if it undoes one. A setting without a cure in the
    catalogue is not judged."""
    if canonical(setting.id) not in catalogue.cures:
        return []
    verdicts = [v for v in judge(setting, machine, catalogue) if v.about is About.UNDOES]
    return [Undone(v.names[3], v.names[0], v.why, v.holds is True) for v in verdicts]


def _fixed(
    setting: Spelling, machine: Machine, catalogue: Catalogue, issues: Sequence[KnownIssue]
) -> Iterator[Verdict]:
    """Yield a verdict if every fault that the setting works around is fixed on these GPUs and kernels."""
    if not machine.kernels or not machine.named:
        return
    cured = [issue for issue in issues if issue.kind == "fault" and _works_around(setting, issue)]
    here = [issue for issue in cured if machine.has(Hardware(gfx=issue.gfx))]
    if here and all(_is_fixed(issue, catalogue, machine) for issue in here):
        yield Verdict(
            About.FIXED,
            why=" ".join(f"{issue.title}. Fixed in: {issue.fixed_in}" for issue in here),
            kernels=tuple(kernel.release for kernel in machine.kernels),
            sources=tuple(source for issue in here for source in issue.evidence[:1]),
        )


def _works_around(setting: Spelling, issue: KnownIssue) -> bool:
    return any(
        canonical(remedy.id) == canonical(setting.id) and same(remedy.value, setting.value)
        for remedy in issue.workaround.settings
    )


def _is_fixed(issue: KnownIssue | KnownCure, catalogue: Catalogue, machine: Machine) -> bool:
    if issue.fixed_by == "both":
        return False  # ROCm has the other half of the fix, and its version is unknown here
    if issue.lacks_fix:
        fix = catalogue.fixes[issue.lacks_fix]
        return all(has_fix(fix, kernel, machine.gpus) is True for kernel in machine.kernels)
    if any(kernel.dkms for kernel in machine.kernels):
        return False
    fixed = issue.fixed_kernels
    if isinstance(fixed, str):
        fixed = parse_range(fixed) if fixed else None
    return fixed is not None and all(fixed.contains(k.version.numbers[:3]) for k in machine.kernels)
