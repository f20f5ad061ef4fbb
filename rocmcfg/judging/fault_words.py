"""Word what a fault class says about who is to blame and whether work goes on; `doctor`, `explain` and the
manual use these phrases."""

from __future__ import annotations

from collections.abc import Mapping

from rocmcfg.model.fault import Action, Continues, Fault, Party, Severity

_PARTIES: Mapping[Party, str] = {
    "program": "the program",
    "library": "a library",
    "driver": "the driver",
    "firmware": "the firmware",
    "host": "the set-up of the host",
    "hardware": "the hardware",
}
_CONTINUES: Mapping[Continues, str] = {
    "yes": "Work can continue.",
    "no": "Work on this GPU cannot continue until the cause is removed.",
    "after-reset": "Work can continue after a reset of the GPU.",
    "after-reboot": "Work can continue after a reboot.",
}
SEVERITIES: Mapping[Severity, str] = {
    "fatal": "the GPU or the host is unusable until the cause is removed",
    "error": "a program loses its work",
    "degraded": "the GPU works, but not fully",
    "note": "harmless by itself",
}
ACTIONS: Mapping[Action, str] = {
    "retry": "start the program again",
    "smaller-work": "give the GPU less work at a time",
    "fix-rights": "give the user the right to use the GPU",
    "fix-setup": "change the set-up",
    "update": "update the named component",
    "reset": "reset the GPU",
    "reboot": "reboot",
    "drain": "take the host out of service when its work is done",
    "replace": "have the hardware replaced",
    "report": "report the fault",
}


def blamed(fault: Fault) -> str:
    """Return the parties that may be at fault as an enumeration: a; a or b; a, b or c."""
    *first, last = (_PARTIES[party] for party in fault.blame)
    return f"{', '.join(first)} or {last}" if first else last


def outlook(fault: Fault) -> str:
    """Return a sentence on whether work goes on."""
    return _CONTINUES[fault.continues]
