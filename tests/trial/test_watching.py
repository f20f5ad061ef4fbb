"""A trial that confirms itself, or says why not: the conditions, the waiting, and what is left on record. The
tree boots as in tests/support/boots; what programs print has the form that test_logins and test_trial_health
cite."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from rocmcfg.change.trial import record as trial
from rocmcfg.change.trial.standing import past_trial, trial_on_record
from rocmcfg.change.trial.unattended import uptime
from rocmcfg.host.view import CommandResult, Locked
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.trial import Terms
from rocmcfg.records.steps import Event, TrialEvent
from rocmcfg.workflow import confirming
from rocmcfg.workflow.confirming import watch
from rocmcfg.workflow.planning import Planned
from rocmcfg.workflow.verifying import verify
from tests.support import usecases as use
from tests.support.boots import enable_unit, reboot
from tests.support.hosts import debian_grub_host
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool

GPU = "0000:03:00.0"
LOG = "kernel: Linux version 6.12.107+deb13-amd64 (b)\nkernel: [drm] amdgpu kernel modesetting enabled.\n"
RESET = f"amdgpu {GPU}: amdgpu: GPU reset begin!"


class Machine(QuickHost):
    """A host in the boot of a trial. `logged_in` as PAM tells it, None where nobody can be asked; `log` is
    the kernel's of this boot; `health` is how the health check ends. It keeps what it was told to log."""

    logged_in: tuple[str, ...] | None = ("sshd",)
    log_text = LOG
    health: tuple[int | None, str] = (0, "")

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.logged: list[str] = []
        self.checked: list[tuple[tuple[str, ...], float]] = []

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        said = self._said(tuple(argv))
        return super().query(argv) if said is None else CommandResult(tuple(argv), 0, said, "")

    def _said(self, call: tuple[str, ...]) -> str | None:
        if call[0] == "systemctl":
            return "enabled\n"
        if call[0] == "getent":
            return "root:x:0:0:root:/root:/bin/bash\n"
        if call[0] != "journalctl" or self.logged_in is None:
            return None
        said = "pam_unix({}:session): session opened for user root(uid=0) by root(uid=0)"
        return "".join(json.dumps({"MESSAGE": said.format(one)}) + "\n" for one in self.logged_in)

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        return io.BytesIO(self.log_text.encode()) if argv[0] in ("journalctl", "dmesg") else None

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        if argv[0] != "/bin/sh":
            return super().execute(argv, timeout=timeout, progress=progress, mark=mark)
        self.checked.append((tuple(argv), timeout))
        return CommandResult(tuple(argv), self.health[0], self.health[1], "")

    def log(self, message: str) -> None:
        self.logged.append(message)


class Clock:
    """Sleeping lets the kernel's clock go on, in steps; `then` are things that happen at a second."""

    def __init__(self, root: Path, now: float = 30.0) -> None:
        self.root, self.now = root, now
        self.steps: list[float] = []
        self.then: list[tuple[float, Callable[[], object]]] = []
        self._set()

    def _set(self) -> None:
        (self.root / "proc/uptime").write_text(f"{self.now:.2f} 111.11\n")

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.steps.append(seconds)
        self.now += seconds
        self._set()
        for due in [one for one in self.then if one[0] <= self.now]:
            self.then.remove(due)
            due[1]()


@pytest.fixture(autouse=True)
def _real_grub_editenv() -> None:
    require_tool("grub-editenv", "grub-common")


def begin(tmp_path: Path, terms: Terms, *, boots: int = 1) -> tuple[Machine, Clock]:
    root = debian_grub_host(tmp_path)
    enable_unit(root)
    host = Machine(str(root))
    use.attempt(host, terms, set=("amdgpu.cwsr_enable=0",))
    for _ in range(boots):
        reboot(root)
    return host, Clock(root)


def watched(host: Machine, clock: Clock) -> Planned | str:
    return watch(host, clock.sleep, lambda _: True, use.quiet)


def refused(host: Machine, clock: Clock) -> tuple[str, ...]:
    with pytest.raises(RocmcfgError) as stop:
        watched(host, clock)
    (told,) = stop.value.diagnostics
    assert (told.id, stop.value.exit_code) == ("RC4340", ExitCode.ERROR)
    reasons = tuple(told.detail.splitlines())
    (line,) = host.logged[-1:]
    assert all(reason in line for reason in reasons)
    found = trial.load(host)
    assert found is not None, "the trial goes on"
    newest = use.journals(host)[0]
    assert newest.of(TrialEvent)[-1].reasons == reasons
    stands = trial_on_record(host)
    assert stands is not None
    assert stands.until is None
    assert set(reasons) <= set(stands.withheld)
    return reasons


def test_it_waits_for_its_time_and_then_keeps_the_settings(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(600))
    found = watched(host, clock)
    assert clock.now == pytest.approx(600)
    assert max(clock.steps) <= 10, "a machine that sleeps in between must notice it"
    assert isinstance(found, Planned)
    assert found.transaction == 2
    assert trial.load(host) is None
    assert verify(host).exit_code is ExitCode.DONE
    assert "confirmed itself" in host.logged[-1]
    assert "cwsr_enable=0" in reboot(Path(host.root))


def test_a_machine_that_slept_past_its_time_is_looked_at_at_once(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(600))
    clock.now = 5000.0
    clock._set()
    assert isinstance(watched(host, clock), Planned)
    assert clock.steps == []


@pytest.mark.parametrize(
    ("terms", "boots"), [(Terms(600), 0), (Terms(600), 2), (Terms(None), 1), (Terms(None, "true"), 1)]
)
def test_there_is_nothing_to_do_but_in_a_running_trial_that_is_to_confirm_itself(
    tmp_path: Path, terms: Terms, boots: int
) -> None:
    host, clock = begin(tmp_path, terms, boots=boots)
    found = watched(host, clock)
    assert isinstance(found, str)
    assert clock.steps == []
    assert trial.load(host) is not None


def test_without_a_trial_there_is_nothing_to_do(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    assert watched(Machine(str(root)), Clock(root)) == "no trial is running in this boot"


@pytest.mark.parametrize("end", [use.confirm, use.reject])
def test_who_decides_meanwhile_is_not_overruled(tmp_path: Path, end: Callable[[Machine], None]) -> None:
    host, clock = begin(tmp_path, Terms(600))
    clock.then.append((300, lambda: end(host)))
    found = watched(host, clock)
    assert isinstance(found, str)
    assert "meanwhile" in found
    assert clock.now < 320
    assert len([j for j in use.journals(host) if j.state == "committed"]) == (2 if end is use.confirm else 0)


def test_a_value_that_is_not_in_effect_withholds_it(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60))
    (Path(host.root) / "sys/module/amdgpu/parameters/cwsr_enable").write_text("1\n")
    (why,) = refused(host, clock)
    assert why.startswith("amdgpu.cwsr_enable is not in effect, so the trial proves nothing: ")
    assert why.endswith("; wanted: 0, running: 1")


def test_a_reset_a_lost_gpu_and_nobody_there_are_all_told_at_once(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60))
    host.log_text, host.logged_in = f"{LOG}kernel: {RESET}\n", ()
    (Path(host.root) / f"sys/bus/pci/devices/{GPU}/driver").unlink()
    reasons = refused(host, clock)
    assert [
        word for word in ("no driver", RESET, "no user has logged in") if not any(word in r for r in reasons)
    ] == []
    assert len(reasons) == 3


@pytest.mark.parametrize(("who", "why"), [((), "no user has logged in"), (None, "cannot be determined")])
@pytest.mark.parametrize("service", [None, "gdm-autologin", "systemd-user"])
def test_only_a_person_counts_as_a_login(
    tmp_path: Path, who: tuple[str, ...] | None, why: str, service: str | None
) -> None:
    host, clock = begin(tmp_path, Terms(60))
    host.logged_in = who if who is None or service is None else (service,)
    (said,) = refused(host, clock)
    assert why in said


def test_no_log_is_no_good_news(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60))
    host.log_text = ""
    (why,) = refused(host, clock)
    assert why.startswith("the kernel log of this boot could not be read")


def test_a_health_check_decides_in_place_of_a_login(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60, "systemctl is-active llm"))
    host.logged_in = ()
    assert isinstance(watched(host, clock), Planned)
    assert [(argv[-1], limit) for argv, limit in host.checked] == [("systemctl is-active llm", 300.0)]


@pytest.mark.parametrize(
    ("health", "why"),
    [
        ((3, "one\ntwo\nthree\nfour\nfive\n\nsix\n"), "ended with status 3: two / three / four / five / six"),
        ((None, ""), "did not finish within 300 seconds"),
        ((127, "sh: 1: nope: not found"), "ended with status 127: sh: 1: nope: not found"),
    ],
)
def test_a_failed_health_check_withholds_it_whoever_logged_in(
    tmp_path: Path, health: tuple[int | None, str], why: str
) -> None:
    host, clock = begin(tmp_path, Terms(60, "check"))
    host.health = health
    assert refused(host, clock) == (f"the health check `check` {why}",)


def test_what_fails_to_look_is_a_reason_and_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> tuple[str, ...]:
        raise Locked("/run/rocmcfg.lock", "process 1")

    monkeypatch.setattr(confirming, "objections", broken)
    host, clock = begin(tmp_path, Terms(60))
    assert refused(host, clock) == ("another rocmcfg is running on this host",)


def test_withheld_once_it_can_be_looked_at_again(tmp_path: Path) -> None:
    """`systemctl start rocmcfg-trial`, when what was missing is there."""
    host, clock = begin(tmp_path, Terms(60))
    host.logged_in = ()
    refused(host, clock)
    host.logged_in = ("sshd",)
    assert isinstance(watched(host, clock), Planned)
    assert trial.load(host) is None


def test_another_rocmcfg_at_work_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host, clock = begin(tmp_path, Terms(60))
    tries: list[float] = []
    real = confirming.confirm

    def busy(*arguments: Any, **options: Any) -> Any:
        tries.append(clock.now)
        if len(tries) < 3:
            raise Locked("/run/rocmcfg.lock", "process 1")
        return real(*arguments, **options)

    monkeypatch.setattr(confirming, "confirm", busy)
    assert isinstance(watched(host, clock), Planned)
    assert tries == [60, 70, 80]


def test_a_confirm_that_fails_is_on_record_with_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise RocmcfgError(*_problem("the menu came out wrong"), exit_code=ExitCode.ROLLED_BACK)

    monkeypatch.setattr(confirming, "confirm", failing)
    host, clock = begin(tmp_path, Terms(60))
    with pytest.raises(RocmcfgError) as stop:
        watched(host, clock)
    assert stop.value.exit_code is ExitCode.ROLLED_BACK
    assert stop.value.diagnostics[0].detail == "the menu came out wrong"
    assert use.journals(host)[0].of(TrialEvent)[-1].event is Event.WITHHELD


def _problem(summary: str) -> tuple[Any, ...]:
    from rocmcfg.model.diagnostic import error

    return (error("RC4100", summary),)


def test_history_tells_why_it_was_withheld(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60))
    host.log_text = f"{LOG}kernel: {RESET}\n"
    (why,) = refused(host, clock)
    every = use.journals(host)
    found = past_trial(host, every[0], every)
    assert found is not None
    assert (found.outcome, found.withheld) == ("running", (why,))
    assert json.dumps(found.withheld)


def test_a_clock_that_tells_no_time_stops_it(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60))
    (Path(host.root) / "proc/uptime").write_text("\n")
    with pytest.raises(RocmcfgError):
        uptime(host)
    with pytest.raises(RocmcfgError):
        watched(host, clock)
    assert trial.load(host) is not None


def test_what_the_health_check_left_in_the_log_is_seen(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60, "gpu-test"))
    check = host.execute

    def hurts(argv: Sequence[str], **how: Any) -> CommandResult:
        if argv[0] == "/bin/sh":
            host.log_text = f"{LOG}kernel: {RESET}\n"
        return check(argv, **how)

    host.execute = hurts  # type: ignore[method-assign]
    (why,) = refused(host, clock)
    assert "reset" in why


def test_a_reset_while_another_rocmcfg_is_at_work_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, clock = begin(tmp_path, Terms(60))
    first = confirming.confirm

    def late(*arguments: Any, **how: Any) -> object:
        host.log_text = f"{LOG}kernel: {RESET}\n"
        return first(*arguments, **how)

    monkeypatch.setattr(confirming, "confirm", late)
    (why,) = refused(host, clock)
    assert "reset" in why
    assert use.journals(host)[0].id == 1, "nothing was applied"


def test_a_log_without_its_beginning_is_no_clean_log(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(60))
    host.log_text = "kernel: [drm] amdgpu kernel modesetting enabled.\n"
    (why,) = refused(host, clock)
    assert "the beginning of this boot's kernel log is missing" in why


def test_a_machine_that_slept_is_given_time_to_wake(tmp_path: Path) -> None:
    host, clock = begin(tmp_path, Terms(600))

    def sleeps() -> None:
        clock.now = 5000.0
        clock._set()

    clock.then.append((100.0, sleeps))
    assert isinstance(watched(host, clock), Planned)
    assert clock.now == pytest.approx(5060)
