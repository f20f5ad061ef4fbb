"""The one judge: a machine and a setting in, verdicts out. Pure. `parameters` judges module parameters.

`judge` says everything that is known of a setting. Whoever knows only its name, or cannot be sure where its
value ends, asks for `of_the_name` alone.
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
from rocmcfg.model.regex import fullmatch
from rocmcfg.model.spelling import Spelling, closest, parameter, same

_MEANT_AS_OFF = frozenset({"0", "false", "no", "off", "n", "disable", "disabled"})


def judge(
    asked: Spelling, machine: Machine, known: Catalogue, issues: Sequence[KnownIssue] = (), beside: str = ""
) -> list[Verdict]:
    """`beside` are the words around the setting, where they may tell what is meant by it."""
    found = list(of_the_name(asked, machine, known))
    if any(verdict.about is not About.DEPRECATED and not verdict.others for verdict in found):
        return found
    if asked.kind is Kind.PARAMETER:
        values = parameters.of_the_value(asked, machine, known, beside)
    elif asked.kind is Kind.KARG:
        values = _argument(asked, machine)
    elif asked.kind is Kind.ENV:
        values = _variable(asked, machine)
    else:
        values = _feature(asked, machine, known)
    found += values
    if any(one.about in REFUSED and one.holds for one in found):
        return [one for one in found if one.about is not About.DEPRECATED]
    if any(one.trap is not None and one.trap.kind == "no_effect" and one.holds for one in found):
        found = [one for one in found if one.about is not About.DEFAULT]  # which says less
    if not found:
        found += _fixed(asked, machine, known, issues)
    return found


def of_the_name(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    for verdict in _of_the_name(asked, machine, known):
        instead = verdict.instead
        harm = None
        if instead is not None and instead.kind is Kind.FEATURE and instead.value == "false":
            harm = next((v for v in loses(known.features[instead.name], machine) if v.holds), None)
        if harm is None:
            yield verdict
            continue
        # nobody is to write what the judge then has something against
        feature, needed_for, gpus = harm.names
        why = f"{verdict.why} Without {feature} there is no {needed_for} on {gpus}." if verdict.why else ""
        yield verdict._replace(instead=None, why=why)


def _of_the_name(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    if asked.kind is Kind.PARAMETER:
        return parameters.of_the_name(asked, machine, known)
    if asked.kind is Kind.KARG:
        return _argument_name(asked, known)
    return _variable_name(asked) if asked.kind is Kind.ENV else _feature_name(asked, known)


def _argument_name(asked: Spelling, known: Catalogue) -> Iterator[Verdict]:
    trap = known.traps.get(f"{canonical(asked.name)}={asked.value}")
    if trap is not None:
        yield Verdict(About.MISNAMED, why=trap.summary, instead=trap.spelt(asked.value))
        return
    if names.argument(asked.name) is not None:
        return
    module, dot, rest = asked.name.strip('"').partition(".")
    if dot and rest:
        near_module = names.near_module(module)
        if near_module and f"{near_module}.{canonical(rest)}" in known.parameters:
            instead = parameter(f"{near_module}.{rest}", asked.value)
            yield Verdict(About.UNKNOWN_MODULE, instead=instead, names=(near_module,))
            return
    owner = "" if dot or asked.value is None else names.bare_parameter(f"{asked.name}={asked.value}")
    if owner:
        meant = parameter(f"{owner}.{asked.name}", asked.value)
        right = next(parameters.of_the_name(meant, Machine(), known), None)
        yield Verdict(About.MISNAMED, instead=right.instead if right and right.instead else meant)
        return
    near = names.near_argument(asked.name)
    if near is not None and asked.value is not None:
        meant = Spelling(Kind.KARG, near.name, asked.value)
        better = next(_argument_name(meant, known), None)
        holds = True if better is not None or legal(asked.value, near) is not False else None
        instead = meant if holds else meant._replace(value=None)
        if better is not None and better.instead is not None:
            instead = better.instead
        # the drivers of others have arguments too: only a value that is meant for this one leaves no doubt
        why = better.why if better is not None else near.summary
        yield Verdict(About.UNKNOWN, holds, why, instead, names=(near.name,))


def _argument(asked: Spelling, machine: Machine) -> Iterator[Verdict]:
    found = names.argument(asked.name)
    if found is None:
        return
    right = legal(asked.value, found)
    meant = next((t for t in found.traps if t.instead and meets(t, asked.value)), None)
    if right is False and meant is not None:
        told = Verdict(About.TRAP, True, meant.summary, meant.instead, trap=meant, sources=found.sources)
        yield told._replace(strict=False)
        return
    traps = traps_of(asked, found, machine)
    yield from traps
    if traps:
        return
    if right is False:
        takes = f"{found.name} takes {', '.join(found.values)}." if found.values else found.summary
        yield Verdict(About.ILLEGAL, why=takes, sources=found.sources, strict=False)
    elif asked.value is not None and found.default and same(asked.value, found.default):
        yield Verdict(About.DEFAULT, why=found.summary, sources=found.sources)


def legal(value: str | None, argument: KernelArgument) -> bool | None:
    """None where some of several words are known: kernels learn new ones, and pass over the others."""
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
    """The kernel compares them as they are: capitals count (strncmp, as in parse_amd_iommu_options)."""
    words = value.split(",") if argument.words_join else [value]
    return [word for word in words if word not in argument.values]


def _variable_name(asked: Spelling) -> Iterator[Verdict]:
    found = names.variable(asked.name)
    if found is None:
        near, space = names.near_variable(asked.name), names.reads_not(asked.name)
        why = f"{space.reader} has no such name ({space.release})." if space else ""
        if near:
            yield Verdict(About.UNKNOWN, why=why, instead=asked._replace(name=near), names=(near,))
        elif space is not None:
            yield Verdict(About.UNKNOWN, why=why, names=tuple(closest(asked.name, sorted(space.names))[:1]))
    elif found.unknown:
        instead = found.instead._replace(value=asked.value or None) if found.instead else None
        yield Verdict(About.MISNAMED, why=found.summary, instead=instead, sources=found.sources)
    elif found.build_only:
        yield Verdict(About.BUILD_ONLY, why=found.summary, sources=found.sources)
    elif found.deprecated and not found.presence_only:
        # which release reads it here is not known, and older ones know nothing else
        yield Verdict(About.DEPRECATED, why=found.deprecated, instead=found.instead, sources=found.sources)


def _variable(asked: Spelling, machine: Machine) -> Iterator[Verdict]:
    found, value = names.variable(asked.name), asked.value
    if found is None or value is None:
        return
    if found.presence_only:
        if value.lower() in _MEANT_AS_OFF:
            yield Verdict(About.PRESENCE_ONLY, why=found.summary, sources=found.sources)
        return
    if not found.takes(value):
        takes = f"It takes {', '.join(found.values)}." if found.values else found.summary
        bare = value.strip("\"'")
        instead = asked._replace(value=bare) if bare != value and found.takes(bare) else None
        yield Verdict(About.ILLEGAL, why=takes, instead=instead, sources=found.sources, strict=found.strict)
        return
    traps = traps_of(asked, found, machine)
    yield from meanings(traps, found, machine)
    if found.default and same(value, found.default) and not any(one.trap_kind == "default" for one in traps):
        yield Verdict(About.DEFAULT, why=found.summary, sources=found.sources)


def _feature_name(asked: Spelling, known: Catalogue) -> Iterator[Verdict]:
    if asked.name not in known.features:
        yield Verdict(About.UNKNOWN, names=tuple(closest(asked.name, list(known.features))))


def _feature(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    found = known.features[asked.name]
    if asked.value not in (None, "true", "false"):
        yield Verdict(About.ILLEGAL, why=found.summary, sources=found.sources)
        return
    if asked.enabled:
        yield from taint(found, machine)
    elif asked.value is not None:
        yield from loses(found, machine)
    yield from no_effect(found, machine)


def _fixed(
    asked: Spelling, machine: Machine, known: Catalogue, issues: Sequence[KnownIssue]
) -> Iterator[Verdict]:
    """A verdict where all faults that the setting works around are fixed on these GPUs and kernels."""
    if not machine.kernels or not machine.named:
        return
    cured = [issue for issue in issues if issue.kind == "fault" and _works_around(asked, issue)]
    here = [issue for issue in cured if machine.has(Hardware(gfx=issue.gfx))]
    if here and all(_is_fixed(issue, known, machine) for issue in here):
        yield Verdict(
            About.FIXED,
            why=" ".join(f"{issue.title}. Fixed in: {issue.fixed_in}" for issue in here),
            kernels=tuple(kernel.release for kernel in machine.kernels),
            sources=tuple(source for issue in here for source in issue.evidence[:1]),
        )


def _works_around(asked: Spelling, issue: KnownIssue) -> bool:
    return any(
        canonical(setting.id) == canonical(asked.id) and same(setting.value, asked.value)
        for setting in issue.workaround.settings
    )


def _is_fixed(issue: KnownIssue, known: Catalogue, machine: Machine) -> bool:
    if issue.fixed_by == "both":
        return False  # the other half is ROCm's, and nothing here tells its version
    if issue.lacks_fix:
        fix = known.fixes[issue.lacks_fix]
        return all(has_fix(fix, kernel, machine.gpus) is True for kernel in machine.kernels)
    if any(kernel.dkms for kernel in machine.kernels):
        return False
    fixed = issue.fixed_kernels
    return fixed is not None and all(fixed.contains(k.version.numbers[:3]) for k in machine.kernels)
