"""Settings that do not do what they should: not in effect, contested, undone by another program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.backends import modprobe
from rocmcfg.backends.boot import registry
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.knowledge.diagnosis import of_hosts
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, canonical, contains, split
from rocmcfg.model.spelling import as_number, same
from rocmcfg.model.state import PASSES, PENDING, CheckStatus, DesiredSetting, Kind
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.values import default_of, effective, next_boot_kargs, set_parameters
from rocmcfg.state.verify import verify

_NOT_TOLD = frozenset({CheckStatus.NOT_READABLE})  # of no consequence: another right to read is missing


def not_in_effect(view: HostView, receipt: Receipt | None) -> Iterator[Diagnostic]:
    """Of what rocmcfg applied, as `verify` sees it."""
    if receipt is None:
        return
    try:
        report = verify(view, receipt.settings, receipt, receipt.profiles)
    except RocmcfgError:
        return  # `verify` tells why
    pending = [check.name for check in report.checks if check.status in PENDING]
    if pending:
        yield info(
            "RC8101",
            f"applied, and not in force yet: {', '.join(pending)}",
            hint="reboot; `rocmcfg verify` then proves it",
        )
    for check in report.checks:
        if check.status not in PASSES | PENDING | _NOT_TOLD:
            yield warning(
                "RC8102",
                f"{check.name} was applied and is not in effect",
                detail=check.detail,
                location=check.source,
                hint="`rocmcfg verify -v` shows desired, configured and running",
            )


def contested(
    view: HostView, facts: Facts, receipt: Receipt | None, known: Catalogue
) -> Iterator[Diagnostic]:
    """Parameters that several files set to different values: all but one of them wrote in vain."""
    ours = {setting.parameter for setting in receipt.settings} if receipt else set()
    for parameter in set_parameters(view, known.modules(), facts.boot.loader):
        if parameter.overridden and parameter.name not in ours:
            yield warning(
                "RC8103",
                f"{parameter.name} is set to different values; {parameter.next_boot} of {parameter.source} "
                "wins",
                detail=f"without effect: {', '.join(parameter.overridden)}",
                location=parameter.source,
                hint="keep one of them and remove the others",
            )


def not_generated(view: HostView, facts: Facts, known: Catalogue) -> Iterator[Diagnostic]:
    """Edits of the boot loader's defaults that its menu does not have yet, as far as they concern the GPU."""
    loader = facts.boot.loader
    if loader is None or not loader.supported:
        return
    backend = registry.backend(loader.name)
    observed = backend.observe(view)
    if observed.unknown_at or not observed.menu.normal:
        return
    booted = observed.menu.normal[0].kargs
    written = (*observed.foreign, *observed.ours)
    missing = [k for k in observed.foreign if _concerns(k, known) and not contains(booted, k.text)]
    left = [k for k in booted if _concerns(k, known) and not contains(written, k.text)]
    said = [
        f"{what} {' '.join(karg.text for karg in kargs)}"
        for what, kargs in (("lacks", missing), ("still has", left))
        if kargs
    ]
    if said:
        command = "; sudo ".join(" ".join(step.argv) for step in backend.activations(view, ""))
        yield warning(
            "RC8106",
            f"the boot menu {' and '.join(said)}: its defaults were changed, and it was not generated since",
            location=missing[0].source if missing else booted[0].source,
            hint=f"sudo {command}, then reboot",
        )


def _concerns(karg: Karg, known: Catalogue) -> bool:
    module, dot, _ = karg.key.partition(".")
    return (bool(dot) and module in known.modules()) or karg.name in known.arguments


def other_writers(view: HostView, receipt: Receipt | None) -> Iterator[Diagnostic]:
    """Programs that write an argument which rocmcfg applied too, with another value; and what a tuning daemon
    writes of what concerns the GPU, since nobody looks for it there."""
    wanted = [s for s in receipt.settings if s.kind is not Kind.ENV] if receipt else []
    for writer in of_hosts().writers:
        texts = writer.key.findall(text_or_empty(view, writer.file))
        written = [karg for text in texts for karg in split(text.strip().strip("\"'"), writer.file)]
        rivals = [(karg, _rival(karg, wanted)) for karg in written]
        theirs = [
            k.text for k, rival in rivals if rival is None and writer.told and writer.told.search(k.key)
        ]
        if theirs:
            yield info(
                "RC8107",
                f"{writer.name} writes {' '.join(theirs)} on the kernel's command line",
                location=writer.file,
                hint=f"to undo it: {writer.stop}",
            )
        for karg, rival in rivals:
            if rival is not None:
                yield warning(
                    "RC8104",
                    f"{writer.name} writes {karg.text}, and rocmcfg applied {rival.karg}",
                    location=writer.file,
                    hint=writer.stop,
                )


def _rival(karg: Karg, wanted: Sequence[DesiredSetting]) -> DesiredSetting | None:
    for setting in wanted:
        name = canonical(setting.parameter or setting.name)
        if karg.key == name and not same(karg.value or "", setting.text or ""):
            return setting
    return None


def tuners(view: HostView, facts: Facts, known: Catalogue) -> Iterator[Diagnostic]:
    """Programs that were told to change what the mask of the next boot does not let them change."""
    running = next((kernel for kernel in facts.kernels if kernel.running), None)
    for tuner in of_hosts().tuners:
        keys = tuner.key.findall(text_or_empty(view, tuner.file))
        feature = known.features.get(tuner.feature)
        if not keys or feature is None:
            continue
        kargs = next_boot_kargs(view, facts.boot.loader)
        won = effective(feature.parameter, modprobe.read_options(view), kargs)
        value = won.value or default_of(feature.parameter, running, known)
        if feature.is_on(as_number(value)) is False:
            yield warning(
                "RC8105",
                f"{tuner.name} is told to set {', '.join(dict.fromkeys(keys))}, which needs the feature "
                f"{tuner.feature}; {'' if won.value else 'the default '}{feature.parameter}={value} has it "
                "off",
                location=won.source or tuner.file,
                hint=f"add --set feature.{tuner.feature}=true, or take the lines out of {tuner.file}",
            )
