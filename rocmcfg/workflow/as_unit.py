"""Run a program as another user, in a unit of its own: a try with reboots belongs to root, its program does
not. The unit contains whatever the program starts, and ends with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rocmcfg.host.foreground import Ended
from rocmcfg.host.runner import folders_of_programs
from rocmcfg.host.unattended import Unattended
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import fail
from rocmcfg.records.tries import Begun
from rocmcfg.workflow.one_run import Stopped

UNIT = "rocmcfg-try-program.service"
# Where root's unit is stopped, it must have heard of the shutdown before its program ends by the same.
_BEFORE = "rocmcfg-try.service"
# In memory, and root's alone: an environment on the command line or in a unit could be seen by everybody.
ENVIRONMENT = "/run/rocmcfg-try.environment"
_IN_FOLDER = 'cd -- "$1" || exit 126; shift; exec "$@"'
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GRACE = 10  # seconds after a signal
_STOP = 60.0  # seconds for systemctl
_EXITED = 1  # CLD_EXITED of siginfo, which systemd shows as ExecMainCode


def passes(environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the variables that a unit can get, and the names of the others: systemd takes no values that are
    not UTF-8 or that hold control characters (systemd.exec(5), EnvironmentFile=)."""
    good = {
        name: value
        for name, value in environment.items()
        if _NAME.fullmatch(name)
        and not any((ord(c) < 32 and c not in "\t\n") or "\ud800" <= c <= "\udfff" for c in value)
    }
    return good, sorted({*environment} - {*good})


def environment_file(environment: Mapping[str, str]) -> bytes:
    """Return variables as EnvironmentFile= reads them: in double quotes, a backslash makes the next of these
    characters literal."""
    lines = []
    for name, value in environment.items():
        quoted = re.sub(r'(["\\`$])', r"\\\1", value)
        lines.append(f'{name}="{quoted}"\n')
    return "".join(lines).encode()


class AsUnit:
    """Start the program of a try in a transient unit, with the user and the limits on record."""

    def __init__(self, host: Host, begun: Begun) -> None:
        assert begun.boots is not None
        self._host, self._folder, self._boots = host, begun.folder, begun.boots

    def __call__(
        self, program: Unattended, command: Sequence[str], environment: Mapping[str, str], limit: float | None
    ) -> Ended:
        """Run the program to its end. Raises OSError where systemd-run is missing, Stopped where the host is
        being shut down, or RocmcfgError where systemd started nothing."""
        good, _ = passes(environment)
        content = self._host.new_file(environment_file(good), 0o600)
        self._host.write(ENVIRONMENT, content, keep_mtime=False)
        own = {"PATH": ":".join(folders_of_programs())}
        self._stop()  # of an earlier run that was cut off
        try:
            ended = program.run(self._command(command), own, limit)
            if program.stopped or self._goes_down():
                raise Stopped
            return ended if ended.timed_out or ended.code == 0 else self._how(ended)
        finally:
            self._stop()
            self._host.remove(ENVIRONMENT)

    def _command(self, command: Sequence[str]) -> list[str]:
        properties = {
            "EnvironmentFile": ENVIRONMENT,
            "Before": _BEFORE,
            "TimeoutStopSec": str(_GRACE),
            **self._boots.limits,
        }
        if self._boots.user != "root":
            properties["User"] = self._boots.user
        words = [f"--property={name}={value}" for name, value in properties.items()]
        # systemd replaces $NAME in the words of a command, and $$ by a dollar (systemd.service(5)).
        run = [
            word.replace("$", "$$") for word in ("/bin/sh", "-c", _IN_FOLDER, "sh", self._folder, *command)
        ]
        # Of a oneshot service, no signal counts as a good end.
        how = ("--quiet", "--wait", "--pipe", "--service-type=oneshot", f"--unit={UNIT}")
        return ["systemd-run", *how, "--description=The program of a rocmcfg try", *words, "--", *run]

    def _how(self, ended: Ended) -> Ended:
        """Return how the program ended: systemd-run does not pass on by which signal."""
        names = ("LoadState", "Result", "ExecMainCode", "ExecMainStatus")
        shown = self._host.query(("systemctl", "show", UNIT, *(f"--property={name}" for name in names)))
        values = dict(
            line.split("=", 1) for line in (shown.stdout.splitlines() if shown else ()) if "=" in line
        )
        code, status = (values.get(name, "") for name in names[2:])
        if (
            values.get("LoadState") != "loaded"
            or not code.isdecimal()
            or not status.isdecimal()
            or code == "0"
        ):
            summary = "systemd did not start the program of the try"
            hint = "see `journalctl -b -u rocmcfg-try`; then go on with `rocmcfg tries resume`"
            raise fail("RC4609", summary, detail=f"systemd-run ended with {ended.code}", hint=hint)
        if int(code) == _EXITED:
            return ended._replace(code=int(status), signal=None)
        return ended._replace(code=None, signal=int(status))

    def _goes_down(self) -> bool:
        """Return whether the host is being shut down, which ends the program as well."""
        state = self._host.query(("systemctl", "is-system-running"))
        return state is not None and state.stdout.strip() == "stopping"

    def _stop(self) -> None:
        """End what is left of the unit, and let systemd forget how it ended."""
        for words in (("stop", UNIT), ("reset-failed", UNIT)):
            self._host.execute(("systemctl", *words), timeout=_STOP, progress=lambda: None)
