"""What a kernel that is installed later makes of the settings on record: which of them do nothing, and which
are withdrawn because they would keep its driver from loading."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.judging.judge import judge
from rocmcfg.judging.verdict import About
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.facts import Kernel, Machine
from rocmcfg.model.spelling import parameter
from rocmcfg.model.state import Request
from rocmcfg.planning.combine import named
from rocmcfg.planning.wording import worded
from rocmcfg.records.receipt import Receipt


def judged_on(kernel: Kernel, known: Receipt, catalogue: Catalogue) -> tuple[list[Diagnostic], list[str]]:
    """What is to be said of the settings on this kernel, and the ids of those that are to be withdrawn."""
    machine = Machine((kernel,))
    said: list[Diagnostic] = []
    harmful: list[str] = []
    for setting in known.settings:
        if not setting.parameter or setting.text is None:
            continue
        asked = parameter(setting.parameter, setting.text)
        verdicts = judge(asked, machine, catalogue)
        if any(verdict.about is About.ABSENT for verdict in verdicts):
            said.append(
                warning(
                    "RC4041",
                    f"kernel {kernel.release} has no {setting.parameter}: {setting.id} does nothing there",
                    hint=f"drop it with `rocmcfg apply … --without {setting.id}`",
                )
            )
        for verdict in verdicts:
            if verdict.about is About.ILLEGAL and verdict.holds:
                harmful.append(setting.id)
                told = worded(verdict, asked, "", catalogue, machine)
                said += [told] if told is not None else []
    return said, harmful


def request_without(known: Receipt, harmful: Sequence[str]) -> Request:
    """What was asked for, as the user would have asked for it without these settings."""
    asked = known.request
    by_hand = {setting.id for setting in known.settings if not setting.profile}
    return asked._replace(
        with_=tuple(name for name in asked.with_ if not any(named(id, [name]) for id in harmful)),
        without=(*asked.without, *(id for id in harmful if id not in by_hand)),
        set=tuple(s for s in asked.set if s.partition("=")[0] not in harmful),
    )
