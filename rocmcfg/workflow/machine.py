"""The machine of a try with reboots: its programs run as units of systemd, which also reboots it."""

from __future__ import annotations

from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import cut, fail
from rocmcfg.records.tries import Try
from rocmcfg.workflow.as_unit import AsUnit
from rocmcfg.workflow.one_run import Start

_PATIENCE = 120.0  # seconds


class RealMachine:
    """This machine."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def starter(self, attempt: Try) -> Start:
        """Return how the program of a try is run."""
        return AsUnit(self._host, attempt.begun)

    def reboot(self) -> None:
        """Reboot. Raises RocmcfgError where systemd refuses."""
        self._host.log("a try with reboots reboots this host")
        done = self._host.execute(("systemctl", "reboot"), timeout=_PATIENCE, progress=lambda: None)
        if not done.ok:
            hint = "see `systemctl list-jobs`; then run the command again, or `rocmcfg tries resume`"
            raise fail("RC4617", "systemd does not reboot this host", detail=cut(done.stderr), hint=hint)
