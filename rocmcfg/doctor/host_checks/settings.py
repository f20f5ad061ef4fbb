"""Settings that do not do what they should: not in effect, contested, undone by another program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.backends import modprobe
from rocmcfg.doctor import knowledge
from rocmcfg.engine.effective import effective
from rocmcfg.engine.inventory import next_boot_kargs, set_parameters
from rocmcfg.engine.receipt import Receipt
from rocmcfg.engine.verify import verify
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, canonical, split
from rocmcfg.model.report import PASSES, PENDING, CheckStatus
from rocmcfg.model.state import DesiredSetting, Kind
from rocmcfg.model.value import as_number, same

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


def other_writers(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    """Programs that write an argument which rocmcfg applied too, with another value."""
    wanted = [s for s in receipt.settings if s.kind is not Kind.ENV] if receipt else []
    found = []
    for writer in knowledge.of_hosts().writers:
        for karg in _arguments(_text(view, writer.file), writer.key, writer.file):
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
    for tuner in knowledge.of_hosts().tuners:
        keys = tuner.key.findall(_text(view, tuner.file))
        feature = known.features.get(tuner.feature)
        if not keys or feature is None:
            continue
        kargs = next_boot_kargs(view, facts.boot.loader)
        won = effective(feature.parameter, modprobe.read_options(view), kargs)
        mask = as_number(won.value)
        if mask is not None and bool(mask & feature.bit) != feature.set_means_on:
            found.append(
                warning(
                    "RC8105",
                    f"{tuner.name} is told to set {', '.join(dict.fromkeys(keys))}, which needs the feature "
                    f"{tuner.feature}; {feature.parameter}={won.value} has it off",
                    location=won.source,
                    hint=f"add --set feature.{tuner.feature}=true, or take the lines out of {tuner.file}",
                )
            )
    return found


def _text(view: HostView, path: str) -> str:
    try:
        return view.text(path) or ""
    except Unreadable:
        return ""
