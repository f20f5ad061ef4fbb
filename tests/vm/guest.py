"""A running Debian guest that a scenario drives: commands, files, reboots through GRUB, power cuts.

A guest starts from a throw-away overlay of a cached image, or goes on from a frozen guest, and has no
network. All waits have a time limit, and an error says what was waited for and shows the end of the console.
"""

from __future__ import annotations

import base64
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from . import cache, console, qemu
from .channel import Channel, Message
from .frozen import Frozen
from .monitor import Monitor

CONSOLE_LINES = 60
_CHUNK = 512 * 1024  # bytes of a file in one message
_GRACE = 20  # seconds for the agent to report that a command has run into its own limit


class GuestError(Exception):
    """The guest did not do what the harness needed; the text ends with the last lines of its console."""


class MachineStopped(GuestError):
    """QEMU ended while something was waited for: the guest was reset or powered off, or QEMU failed."""


class CommandFailed(AssertionError):
    """A command that the scenario needs to succeed did not."""


@dataclass(frozen=True)
class Result:
    """What a command in the guest returned; text that is not UTF-8 has replacement characters."""

    command: str
    rc: int
    stdout: str
    stderr: str
    seconds: float

    def check(self) -> Result:
        """Return self, or raise CommandFailed with all that the command said."""
        if self.rc != 0:
            raise CommandFailed(f"exit status {self.rc}: {self.command}\n{self.stdout}{self.stderr}")
        return self


@dataclass(frozen=True)
class Running:
    """A command that was started and not waited for."""

    number: int
    command: str
    started: float
    timeout: float


class Guest:
    """One virtual machine, started on entry and killed on exit.

    Its files (disk.qcow2, vars.fd, console.log, qemu.log) live in `work` and are deleted on exit, unless an
    exception passes through, `keep` is set or ROCMCFG_VM_KEEP is in the environment.
    """

    def __init__(self, origin: Path | Frozen, *, extra_args: Sequence[str] = ()) -> None:
        self.keep = "ROCMCFG_VM_KEEP" in os.environ
        self.boot_timeout = 900.0  # emulated, on a machine that may be busy
        self._extra_args = tuple(extra_args)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._monitor: Monitor | None = None
        self._boot: str | None = None
        self._frozen = origin if isinstance(origin, Frozen) else None
        self._numbers = itertools.count(1)
        guests = cache.root() / "guests"  # not /tmp, which may be memory
        guests.mkdir(parents=True, exist_ok=True)
        self.work = Path(tempfile.mkdtemp(prefix=time.strftime("%m%d-%H%M%S-"), dir=guests))
        if isinstance(origin, Frozen):
            qemu.prepare_work_directory(self.work, origin.disk, origin.variables)
        else:
            qemu.prepare_work_directory(self.work, origin)

    def __enter__(self) -> Guest:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        if error is None and not self.keep:
            shutil.rmtree(self.work, ignore_errors=True)

    # -- power

    def start(self) -> float:
        """Switch the machine on and wait for its agent; returns the seconds that took."""
        if self._process is not None and self._process.poll() is None:
            raise GuestError("start(): this guest is already running")
        if self._frozen is not None:
            return self._go_on(self._frozen)
        self.power_on()
        return self.wait_for_boot("the agent after power-on")

    def _go_on(self, frozen: Frozen) -> float:
        """Go on where another guest was frozen, once: the next start is a boot."""
        started = time.monotonic()
        self._frozen = None
        self.power_on(frozen.going_on())
        self._boot = frozen.boot
        self.run(["date", "--set", f"@{time.time():.0f}"], check=True)  # its clock stood still
        return time.monotonic() - started

    def freeze(self, folder: Path) -> None:
        """Write everything that other guests need to go on from here, and end this one."""
        self.run("sync", 600, check=True)
        assert self._monitor is not None
        assert self._boot is not None
        frozen = Frozen(folder)
        self._monitor.write_memory(frozen.memory)
        (frozen.folder / "boot-id").write_text(self._boot)
        self.kill()
        shutil.move(self.work / "disk.qcow2", frozen.disk)
        shutil.move(self.work / "vars.fd", frozen.variables)

    def plug_in(self, disk: Path) -> None:
        """Add a second disk (qcow2) to the running guest, as /dev/vdb, until it is switched off."""
        assert self._monitor is not None
        self._monitor.plug_in(disk)
        self.run("while ! test -e /dev/vdb2; do sleep 0.2; done; udevadm settle", check=True)

    def plug_in_network(self, port: int) -> None:
        """Give the running guest a network card for good; see qemu.network() for what it reaches."""
        assert self._monitor is not None
        self._monitor.plug_in_network(port)
        self._extra_args += tuple(qemu.network(port))

    def power_on(self, more: Sequence[str] = ()) -> None:
        """Switch the machine on and wait for nothing: for a boot that is not expected to get anywhere."""
        self.kill()
        ours, theirs = socket.socketpair()
        our_monitor, its_monitor = socket.socketpair()
        with theirs, its_monitor, (self.work / "qemu.log").open("ab") as log:
            line = qemu.command(
                self.work,
                console=self.console,
                agent_fd=theirs.fileno(),
                monitor_fd=its_monitor.fileno(),
                extra_args=(*self._extra_args, *more),
            )
            # QEMU must not outlive a killed test run: it would hold two cores and the overlay for ever.
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *line],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno(), its_monitor.fileno()],
            )
        self._channel, self._monitor = Channel(ours), Monitor(our_monitor)

    def wait_for_boot(self, what: str = "the next boot", timeout: float | None = None) -> float:
        """Wait until the agent of another boot than the present one speaks; returns the seconds that took.

        For a scenario that makes the guest reset itself, however often: a panic with panic=5, sysrq,
        reboot -f. `timeout` is for all of it, in seconds.
        """
        started = time.monotonic()
        limit = timeout or self.boot_timeout
        self._line().forget()

        def of_another_boot(message: Message) -> bool:
            return message.get("hello", self._boot) != self._boot

        while True:
            remaining = limit - (time.monotonic() - started) / qemu.patience(1)
            try:
                hello = self._wait_for(of_another_boot, what, remaining)
            except MachineStopped:
                if self._status() != 0:  # not a reset: QEMU refused to start or crashed
                    raise
                self.power_on()
            else:
                self._boot = str(hello["hello"])
                return time.monotonic() - started

    def _status(self) -> int:
        assert self._process is not None
        return self._process.wait(qemu.patience(10))  # it has closed its end of the line already

    def stay_up_while(self, busy: Callable[[], bool]) -> int:
        """Switch on again after each reset until `busy()` is false; returns how many boots that were.

        For a program outside the guest that reboots it, such as a playbook.
        """
        boots = 0
        while busy():
            if self._process is not None and self._process.poll() is not None:
                self.wait_for_boot("the agent after a reset from outside")
                boots += 1
            time.sleep(0.2)
        return boots

    def reboot(self) -> float:
        """Reboot cleanly, through the firmware and GRUB; returns the seconds until the agent was back."""
        self.begin("systemctl reboot")
        return self.wait_for_boot("the agent after a reboot")

    def shutdown(self, timeout: float = 120) -> None:
        """Power off cleanly and wait for QEMU to end."""
        self.begin("systemctl poweroff")
        assert self._process is not None
        try:
            self._process.wait(qemu.patience(timeout))
        except subprocess.TimeoutExpired:
            raise self._error(f"waited {timeout:.0f} s for the guest to power off") from None
        self.kill()

    def power_cut(self) -> None:
        """Kill QEMU at once, as a power cut does; `start()` then boots the same disk again.

        The guest's page cache is lost. A real disk may also lose writes in its own cache; this one has none.
        """
        if self._process is None:
            raise GuestError("power_cut(): this guest is not running")
        self.kill()

    def kill(self) -> None:
        """End QEMU if it runs, and forget the connection."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for line in (self._channel, self._monitor):
            if line is not None:
                line.close()
        self._process = self._channel = self._monitor = None

    def save_disk(self, target: Path) -> None:
        """Shut down and move the overlay to `target`, as a disk that still needs the image below it."""
        self.shutdown()
        shutil.move(self.work / "disk.qcow2", target)

    # -- commands

    def run(
        self,
        command: str | Sequence[str],
        timeout: float = 120,
        *,
        check: bool = False,
        user: str = "root",
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Result:
        """Run a command and wait for it; a string goes to sh, a sequence to no shell.

        `timeout` is in seconds and raises GuestError. With `check` a non-zero exit status raises
        CommandFailed. `env` is added to a plain login environment. Another user than root has its own group
        only.
        """
        result = self.finish(self.begin(command, timeout, user=user, stdin=stdin, env=env))
        return result.check() if check else result

    def begin(
        self,
        command: str | Sequence[str],
        timeout: float = 120,
        *,
        user: str = "root",
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Running:
        """Start a command and return at once: to cut the power under it, or to run a second one beside it."""
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        text = stdin.encode() if isinstance(stdin, str) else stdin
        limit = qemu.patience(timeout)
        number = self._request(
            "exec", argv=argv, user=user, stdin=_base64(text), env=dict(env or {}), timeout=limit
        )
        shown = command if isinstance(command, str) else " ".join(argv)
        return Running(number, shown, time.monotonic(), timeout)

    def finish(self, running: Running) -> Result:
        """Wait for a command that was started with `begin`."""
        what = f"the command: {running.command}"
        reply = self._reply(running.number, what, running.timeout + _GRACE)
        seconds = time.monotonic() - running.started
        out, err = (base64.b64decode(reply[name]).decode(errors="replace") for name in ("stdout", "stderr"))
        if reply["timed_out"]:
            raise self._error(f"waited {running.timeout:.0f} s for {what}\nit said so far:\n{out}{err}")
        return Result(running.command, int(reply["rc"]), out, err, seconds)

    # -- files

    def put(self, local: Path, remote: str, mode: int = 0o644) -> None:
        """Copy a file into the guest as root; the folder must exist."""
        self.write(remote, local.read_bytes(), mode)

    def write(self, remote: str, content: str | bytes, mode: int = 0o644) -> None:
        """Write a file in the guest as root, in place and without fsync: for preparing a scenario."""
        data = content.encode() if isinstance(content, str) else content
        for offset in range(0, max(len(data), 1), _CHUNK):
            chunk = _base64(data[offset : offset + _CHUNK])
            number = self._request("put", path=remote, data=chunk, append=offset > 0, mode=mode)
            self._reply(number, f"writing {remote}", 60)

    def read(self, remote: str) -> bytes:
        """Return the content of a file in the guest; raises GuestError when it cannot be read."""
        data = b""
        while True:
            number = self._request("get", path=remote, offset=len(data), size=_CHUNK)
            chunk = base64.b64decode(self._reply(number, f"reading {remote}", 60)["data"])
            if not chunk:
                return data
            data += chunk

    def get(self, remote: str, local: Path) -> None:
        """Copy a file out of the guest."""
        local.write_bytes(self.read(remote))

    # -- what scenarios about amdgpu ask all the time

    def parameter(self, name: str) -> str:
        """Return what /sys/module/amdgpu/parameters says, without the newline."""
        return self.read(f"/sys/module/amdgpu/parameters/{name}").decode().rstrip("\n")

    # -- when it goes wrong

    @property
    def console(self) -> Path:
        """The log of the serial console, of all boots of this guest."""
        return self.work / "console.log"

    def console_tail(self, lines: int = CONSOLE_LINES) -> str:
        """Return the last lines of the console without terminal codes."""
        return console.tail(self.console, lines)

    def _error(self, problem: str) -> GuestError:
        return GuestError(self._with_console(problem))

    def _with_console(self, problem: str) -> str:
        return f"{problem}\nfiles of the guest: {self.work}\nend of its console:\n{self.console_tail()}"

    # -- the line to the agent

    def _line(self) -> Channel:
        if self._channel is None:
            raise GuestError("this guest is not running: start() it first")
        return self._channel

    def _request(self, operation: str, **fields: object) -> int:
        number = next(self._numbers)
        message = {"id": number, "boot": self._boot, "op": operation, **fields}
        try:
            self._line().send(message, qemu.patience(60))
        except OSError as error:
            raise self._error(f"could not send a request to the agent: {error}") from error
        return number

    def _reply(self, number: int, what: str, timeout: float) -> Message:
        reply = self._wait_for(lambda message: message.get("id") == number, what, timeout)
        if "error" in reply:
            raise self._error(f"{what}: {reply['error']}")
        return reply

    def _wait_for(self, wanted: Callable[[Message], bool], what: str, timeout: float) -> Message:
        try:
            message = self._line().wait_for(wanted, qemu.patience(timeout))
        except ConnectionError:
            log = (self.work / "qemu.log").read_text(errors="replace")[-2000:]
            problem = f"QEMU ended while the harness waited for {what}\n{log}"
            raise MachineStopped(self._with_console(problem)) from None
        if message is None:
            raise self._error(f"waited {qemu.patience(timeout):.0f} s for {what}")
        return message


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
