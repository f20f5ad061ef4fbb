"""What is left of a boot that fell back."""

from __future__ import annotations

from dataclasses import dataclass

from rocmcfg.host.view import HostView
from rocmcfg.model.trial import Trial


@dataclass(frozen=True, slots=True)
class Evidence:
    source: str
    boot_id: str
    text: str
    lines: tuple[str, ...]


def evidence(view: HostView, trial: Trial) -> Evidence:
    del view, trial
    return Evidence("none", "", "nothing is left of that boot", ())
