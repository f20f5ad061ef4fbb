"""What the caller has measured on this host with `try`, for commands that describe the host."""

from __future__ import annotations

from collections.abc import Mapping

from rocmcfg.host.user_state import UserState, user_state
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, warning
from rocmcfg.model.experiment import TryRow, boots_name
from rocmcfg.records import reboots
from rocmcfg.records.reboots import RootTries

_SHOWN = 5  # the newest


def measured_here(view: HostView, environment: Mapping[str, str]) -> tuple[TryRow, ...]:
    """Return the newest tries of the caller that came to an answer, oldest first, and for root those of the
    host; of another root only the latter. A record that cannot be read is left to `rocmcfg tries list`."""
    try:
        states: list[UserState] = [RootTries(view)] if view.is_root else []
        states += [] if view.offline else [user_state(environment, "tries")]
        states = [state for state in states if state.numbers()]
        if not states:
            return ()
        from rocmcfg.workflow.try_report import report, row
        from rocmcfg.workflow.trying import every

        tried = [attempt for state in states for attempt in every(state)[0]]
        rows = [row(report(attempt)) for attempt in tried if attempt.finding is not None]
        rows.sort(key=lambda each: each.ended)
    except RocmcfgError:
        return ()
    answers = [each for each in rows if each.verdict not in ("undecided", "not-reproduced")]
    return tuple(answers[-_SHOWN:])


def under_way(view: HostView) -> list[Diagnostic]:
    """Return the warning that a try compares boots of this host. Raises RocmcfgError where that is not
    known."""
    number = reboots.under_way(view)
    if number is None:
        return []
    name = boots_name(number)
    summary = f"try {name} is under way: this host reboots by itself, and runs a program after each boot"
    hint = f"see `sudo rocmcfg tries show {name}`, or end it with `sudo rocmcfg reject`"
    return [warning("RC4600", summary, location=reboots.UNDER_WAY, hint=hint)]
