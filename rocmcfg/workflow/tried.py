"""What the caller has measured on this host with `try`, for commands that describe the host."""

from __future__ import annotations

from collections.abc import Mapping

from rocmcfg.host.user_state import user_state
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.experiment import TryRow

_SHOWN = 5  # the newest


def measured_here(view: HostView, environment: Mapping[str, str]) -> tuple[TryRow, ...]:
    """Return the newest tries of the caller that came to an answer, oldest first; none for the host of
    another root. A record that cannot be read is left to `rocmcfg tries list`."""
    if view.offline:
        return ()
    try:
        state = user_state(environment, "tries")
        if not state.numbers():
            return ()
        from rocmcfg.workflow.try_report import report, row
        from rocmcfg.workflow.trying import every

        rows = [row(report(attempt)) for attempt in every(state)[0] if attempt.finding is not None]
    except RocmcfgError:
        return ()
    answers = [each for each in rows if each.verdict not in ("undecided", "not-reproduced")]
    return tuple(answers[-_SHOWN:])
