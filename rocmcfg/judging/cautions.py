"""What the catalogue has to say of a setting that the user brought: legal values that do something else than
meant, names without effect on this host, taint. Shipped profiles say it of theirs in their own texts, and
are not judged. Nothing here is a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.model.catalogue import Catalogue, Feature, Hardware, ValueTrap, Variable, matches
from rocmcfg.model.diagnostic import Diagnostic, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.profile import Setting
from rocmcfg.model.spelling import Spelling
from rocmcfg.model.state import Kind
from rocmcfg.model.value import as_number, closest
from rocmcfg.model.version import parse_range, within

_SAID = {
    "inverted": "does the opposite of what it is set for",
    "dangerous": "is harmful",
    "default": "is what happens anyway",
    "obsolete": "is no longer needed",
    "misread": "is not what many take it for",
    "no_effect": "has no effect here",
}
_GRAVE = ("inverted", "dangerous")


def cautions(
    setting: Setting, texts: Sequence[str | None], facts: Facts, catalogue: Catalogue
) -> Iterable[Diagnostic]:
    """`texts` are the values as they will be written; none where the setting is refused anyway."""
    if setting.kind is Kind.FEATURE:
        yield from _feature(setting, facts, catalogue)
        return
    if setting.kind is Kind.ENV:
        table = catalogue.variables
        if setting.name not in table and texts:
            yield from _unknown_variable(setting, catalogue)
    for text in texts:
        yield from _value(setting, text, facts, catalogue)


def _value(setting: Setting, text: str | None, facts: Facts, catalogue: Catalogue) -> Iterable[Diagnostic]:
    written = setting.id if text is None else f"{setting.id}={text}"
    acts_on: Hardware | None = None
    traps: tuple[ValueTrap, ...] = ()
    if setting.kind is Kind.PARAMETER and (parameter := catalogue.parameters.get(setting.id)):
        acts_on, traps = parameter.acts_on, parameter.traps
        number = as_number(text)
        if parameter.mask and number is not None:
            on = [f for f in catalogue.features.values() if f.parameter == setting.id]
            on = [f for f in on if bool(number & f.bit) == f.set_means_on]
            yield from _tainting(setting, written, on, facts)
    elif setting.kind is Kind.KARG and (argument := catalogue.arguments.get(setting.name)):
        traps = argument.traps
    elif setting.kind is Kind.ENV and (variable := catalogue.variables.get(setting.name)):
        if variable.build_only:
            yield _caution(
                setting,
                f"{setting.id} is read when software is compiled, and never when it runs",
                variable.summary,
            )
            return
        acts_on, traps = variable.acts_on, variable.traps
        yield from _outdated(setting, variable)
    meant = [trap for trap in traps if not trap.asked and _matches(trap, text) and _concerns(trap, facts)]
    for trap in meant:
        yield _caution(
            setting, f"{written} {_SAID[trap.kind]}", trap.summary, trap.instead, trap.kind in _GRAVE
        )
    if not any(trap.kind == "no_effect" for trap in meant):
        yield from _no_effect(setting, acts_on, facts)


def _caution(
    setting: Setting, summary: str, detail: str, instead: Spelling | None = None, grave: bool = False
) -> Diagnostic:
    hint = f"leave {setting.id} out unless you know why you want it"
    if instead is not None:
        hint = f"see {instead}" if instead.value is None else f"write --set {instead}"
    if grave:
        return warning("RC2050", summary, detail=detail, location=setting.location, hint=hint)
    return info("RC2050", summary, detail=detail, location=setting.location, hint=hint)


def _matches(trap: ValueTrap, text: str | None) -> bool:
    if "*" in trap.values:
        return True
    number = as_number(text)
    return any(text == v or (number is not None and number == as_number(v)) for v in trap.values)


def _concerns(trap: ValueTrap, facts: Facts) -> bool:
    """A trap of other GPUs or kernels is none; of a host that tells neither, only what holds everywhere."""
    if trap.kernel:
        wanted = parse_range(trap.kernel)
        if not any(within(wanted, kernel.version) for kernel in facts.driven):
            return False
    return trap.on is None or _covered(trap.on, facts) is True


def _covered(hardware: Hardware, facts: Facts) -> bool | None:
    """Whether a GPU of the host is among it; None where one of them is not known."""
    if any(gpu.gfx and hardware.covers(gpu.gfx, gpu.integrated) for gpu in facts.gpus):
        return True
    return None if not facts.gpus or any(gpu.gfx is None for gpu in facts.gpus) else False


def _no_effect(setting: Setting, acts_on: Hardware | None, facts: Facts) -> Iterable[Diagnostic]:
    if acts_on is not None and _covered(acts_on, facts) is False:
        here = ", ".join(facts.gfx)
        yield _caution(setting, f"{setting.id} has no effect on {here}", f"it acts on {acts_on.words()} only")


def _outdated(setting: Setting, variable: Variable) -> Iterable[Diagnostic]:
    if variable.deprecated:
        yield _caution(setting, f"{setting.id} is deprecated", variable.deprecated, variable.instead)


def _unknown_variable(setting: Setting, catalogue: Catalogue) -> Iterable[Diagnostic]:
    near = closest(setting.name, [v.name for v in catalogue.variables.values() if not v.unknown])
    meant = any(matches(setting.name, row.names) for row in catalogue.hand_overs["variable"])
    if near and not meant:  # PATH is no HIP_PATH misspelt
        yield _caution(
            setting,
            f"no reader of {setting.name} is known",
            f"a name like it is {near[0]}",
            Spelling(Kind.ENV, near[0]),
        )


def _feature(setting: Setting, facts: Facts, catalogue: Catalogue) -> Iterable[Diagnostic]:
    feature = catalogue.features.get(setting.name)
    if feature is None:
        return
    written = f"{setting.id}={'true' if setting.value else 'false'}"
    if setting.value is True:
        yield from _tainting(setting, written, [feature], facts)
    yield from _no_effect(setting, feature.acts_on, facts)


def _tainting(setting: Setting, written: str, on: Sequence[Feature], facts: Facts) -> Iterable[Diagnostic]:
    for feature in on:
        wanted = parse_range(feature.taints) if feature.taints else None
        tainted = [k.release for k in facts.driven if wanted and within(wanted, k.version) is not False]
        if tainted:
            yield _caution(
                setting,
                f"{written} turns {feature.name} on and taints the kernel",
                f"kernel {', '.join(tainted)}: maintainers may turn a bug report away",
            )
