"""Settings that do not do what they should: not in effect, contested, undone by another program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.backends import modprobe
from rocmcfg.backends.boot import registry
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.knowledge.hosts import of_hosts
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, canonical, contains, split
from rocmcfg.model.report import PASSES, PENDING, CheckStatus
from rocmcfg.model.state import DesiredSetting, Kind
from rocmcfg.model.value import as_number, same
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.configured import effective
from rocmcfg.state.inventory import default_of, next_boot_kargs, set_parameters
from rocmcfg.state.verify import verify

_NOT_TOLD = frozenset({CheckStatus.NOT_READABLE})  # of no consequence: another right to read is missing


def not_in_effect(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    """Of what rocmcfg applied, as `verify` sees it."""
    if receipt is None:
        return []
    try:
        report = verify(view, receipt.settings, receipt, receipt.profiles)
    except RocmcfgError:
        return []  # `verify` tells why
    found = []
    pending = [check.name for check in report.checks if check.status in PENDING]
    if pending:
        found.append(
            info(
                "RC8101",
                f"applied, and not in force yet: {', '.join(pending)}",
                hint="reboot; `rocmcfg verify` then proves it",
            )
        )
    for check in report.checks:
        if check.status not in PASSES | PENDING | _NOT_TOLD:
            found.append(
                warning(
                    "RC8102",
                    f"{check.name} was applied and is not in effect",
                    detail=check.detail,
                    location=check.source,
                    hint="`rocmcfg verify -v` shows desired, configured and running",
                )
            )
    return found


def contested(view: HostView, facts: Facts, receipt: Receipt | None, known: Catalogue) -> list[Diagnostic]:
    """Parameters that several files set to different values: all but one of them wrote in vain."""
    ours = {setting.parameter for setting in receipt.settings} if receipt else set()
    return [
        warning(
            "RC8103",
            f"{parameter.name} is set to different values; {parameter.next_boot} of {parameter.source} wins",
            detail=f"without effect: {', '.join(parameter.overridden)}",
            location=parameter.source,
            hint="keep one of them and remove the others",
        )
        for parameter in set_parameters(view, known.modules(), facts.boot.loader)
        if parameter.overridden and parameter.name not in ours
    ]


def not_generated(view: HostView, facts: Facts, known: Catalogue) -> list[Diagnostic]:
    """Edits of the boot loader's defaults that its menu does not have yet, as far as they concern the GPU."""
    loader = facts.boot.loader
    observed = registry.backend(loader.name).observe(view) if loader and loader.supported else None
    if loader is None or observed is None or not observed.plain or not observed.normal:
        return []
    wanted = [karg for karg in observed.foreign if _concerns(karg, known)]
    booted = observed.normal[0].kargs
    missing = [karg for karg in wanted if not contains(booted, karg.text)]
    written = (*observed.foreign, *observed.ours)
    left = [k.text for k in booted if _concerns(k, known) and not contains(written, k.text)]
    if not missing and not left:
        return []
    command = "; sudo ".join(
        " ".join(step.argv) for step in registry.backend(loader.name).activations(view, "")
    )
    said = [f"lacks {' '.join(karg.text for karg in missing)}"] if missing else []
    said += [f"still has {' '.join(left)}"] if left else []
    return [
        warning(
            "RC8106",
            f"the boot menu {' and '.join(said)}: its defaults were changed, and it was not generated since",
            location=missing[0].source if missing else observed.normal[0].kargs[0].source,
            hint=f"sudo {command}, then reboot",
        )
    ]


def _concerns(karg: Karg, known: Catalogue) -> bool:
    module, dot, _ = karg.key.partition(".")
    return (bool(dot) and module in known.modules()) or karg.name in known.arguments


def other_writers(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    """Programs that write an argument which rocmcfg applied too, with another value; and what a tuning daemon
    writes of what concerns the GPU, since nobody looks for it there."""
    wanted = [s for s in receipt.settings if s.kind is not Kind.ENV] if receipt else []
    found = []
    for writer in of_hosts().writers:
        written = _arguments(text_or_empty(view, writer.file), writer.key, writer.file)
        theirs = [
            karg.text
            for karg in written
            if writer.told and writer.told.search(karg.key) and _rival(karg, wanted) is None
        ]
        if theirs:
            found.append(
                info(
                    "RC8107",
                    f"{writer.name} writes {' '.join(theirs)} on the kernel's command line",
                    location=writer.file,
                    hint=f"to undo it: {writer.stop}",
                )
            )
        for karg in written:
            rival = _rival(karg, wanted)
            if rival is not None:
                found.append(
                    warning(
                        "RC8104",
                        f"{writer.name} writes {karg.text}, and rocmcfg applied {rival.karg}",
                        location=writer.file,
                        hint=writer.stop,
                    )
                )
    return found


def _arguments(text: str, key: re.Pattern[str], source: str) -> list[Karg]:
    return [karg for words in key.findall(text) for karg in split(words.strip().strip("\"'"), source)]


def _rival(karg: Karg, wanted: Sequence[DesiredSetting]) -> DesiredSetting | None:
    for setting in wanted:
        name = canonical(setting.parameter or setting.name)
        if karg.key == name and not same(karg.value or "", setting.text or ""):
            return setting
    return None


def tuners(view: HostView, facts: Facts, known: Catalogue) -> list[Diagnostic]:
    """Programs that were told to change what the mask of the next boot does not let them change."""
    found = []
    running = next((kernel for kernel in facts.kernels if kernel.running), None)
    for tuner in of_hosts().tuners:
        keys = tuner.key.findall(text_or_empty(view, tuner.file))
        feature = known.features.get(tuner.feature)
        if not keys or feature is None:
            continue
        kargs = next_boot_kargs(view, facts.boot.loader)
        won = effective(feature.parameter, modprobe.read_options(view), kargs)
        value = won.value or default_of(feature.parameter, running, known)
        mask = as_number(value)
        if mask is not None and bool(mask & feature.bit) != feature.set_means_on:
            found.append(
                warning(
                    "RC8105",
                    f"{tuner.name} is told to set {', '.join(dict.fromkeys(keys))}, which needs the feature "
                    f"{tuner.feature}; {'' if won.value else 'the default '}{feature.parameter}={value} has "
                    "it off",
                    location=won.source or tuner.file,
                    hint=f"add --set feature.{tuner.feature}=true, or take the lines out of {tuner.file}",
                )
            )
    return found
