"""The only place that starts programs, and the only import of `sh`.

Children get no stdin (some tools prompt and would wait for ever), a time limit, and a fixed locale, but where
they write texts of the host: grub-mkconfig does so in the boot menu.
"""

from __future__ import annotations

import io
import os
import pwd
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO

from rocmcfg.host.inside import Root
from rocmcfg.host.problems import CommandResult

# Programs of the host live here also where a user's PATH lacks sbin (su without -, Debian).
OFFLINE_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_PATH = ":".join(OFFLINE_PATH)
# and of NixOS and Guix System there; the hooks of `files/templates` and packaging/undo.sh have the same
ROOTS_PATH = f"{_PATH}:/run/current-system/sw/bin:/run/current-system/profile/bin"
_QUERY_TIMEOUT = 600.0  # seconds; on a busy machine lsinitrd takes minutes
_KEEP = 64 * 1024  # bytes of a changing program's output that are kept, from the end
_MOST = 32 << 20  # bytes that a query may print: the listing of an image has some 100,000
_BLOCK = 64 << 10
_GRACE = 3.0  # seconds that a program has to end when it is told to
# Seconds that a process with an empty environment is looked at again: in the middle of execve(2) it has none,
# from the change of memory until load_elf_binary sets env_start, its last work (Linux, fs/binfmt_elf.c).
_EXEC = 0.2
# Marks whatever we start, so that a recovery finds a program that outlived its rocmcfg.
MARK = "ROCMCFG_STARTED"


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("HOME", "TERM") if name in os.environ}
    if temporary := temporary_folder():
        kept["TMPDIR"] = temporary
    if os.geteuid() == 0:  # programs read their settings there, and sudo and su may leave it the caller's
        kept["HOME"] = "/root"
        with suppress(KeyError):
            kept["HOME"] = pwd.getpwuid(0).pw_dir
    # DEBIAN_FRONTEND: hooks that would open a dialogue take their default instead.
    fixed = {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    return {**kept, **fixed, "PATH": ":".join(folders_of_programs())}


def temporary_folder() -> str:
    """Return TMPDIR of the caller; empty where there is none, and for root where others may change the folder
    or a part of the way to it: whoever can rename what root makes there chooses what an image is made of."""
    folder = os.environ.get("TMPDIR", "")
    if os.geteuid() != 0 or not folder:
        return folder
    with suppress(OSError):
        weak, reached = Root("/").weakness(folder)
        if folder.startswith("/") and weak is None and reached is not None:
            return folder
    return ""


def folders_of_programs() -> list[str]:
    """Return the folders where programs of the running host are looked for, first one first. Root gets the
    system's alone: sudo and su may let a PATH through in which a folder is somebody else's."""
    if os.geteuid() == 0:
        return ROOTS_PATH.split(":")
    own = [part for part in os.environ.get("PATH", "").split(":") if part.startswith("/")]
    return [*own, *_PATH.split(":")]


def query(argv: Sequence[str]) -> CommandResult | None:
    """Run a program that changes nothing; None where it is not installed. Its output is whole, since it is
    parsed: a program that prints without end is stopped, as at its time limit."""
    result = execute(argv, timeout=_QUERY_TIMEOUT, progress=lambda: None, whole=True)
    return None if result.status == 127 and not result.stdout else result


def stream(argv: Sequence[str | bytes], stdin: int | None = None, *, failed: int = 0) -> BinaryIO:
    """Return what a program that changes nothing prints, as it comes; closing it early ends the program.

    `stdin` is a descriptor to read from. A program that is missing raises OSError; so does, at the end of the
    output, a death by a signal or a status of `failed` or more, unless `failed` is 0: then no end matters.
    """
    return io.BufferedReader(_Output(argv, stdin, failed), 1 << 16)


class _Output(io.RawIOBase):
    """The standard output of a child. `sh` hands output on in Python, which is too slow for gigabytes."""

    def __init__(self, argv: Sequence[str | bytes], stdin: int | None, failed: int) -> None:
        import subprocess
        from shutil import which

        environment = _environment()
        name = os.fsdecode(argv[0])
        program = which(name, path=environment["PATH"])
        if program is None:
            raise FileNotFoundError(f"{name}: not found")
        self._failed = failed
        self._child = subprocess.Popen(
            [program, *argv[1:]],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "LC_ALL": "C"},
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        assert self._child.stdout is not None
        count: int = self._child.stdout.readinto(buffer)  # type: ignore[attr-defined]
        if count == 0 and self._failed and not 0 <= self._child.wait() < self._failed:
            raise OSError(f"{self._child.args[0]!r} failed")  # type: ignore[index]
        return count

    def close(self) -> None:
        if not self.closed:
            child = self._child
            assert child.stdout is not None
            child.stdout.close()
            if child.poll() is None:
                child.kill()
            child.wait()
        super().close()


def started(mark: str) -> list[tuple[int, str]]:
    """Return all programs of root that carry this mark and are still there, as (pid, name)."""
    return [(pid, name) for pid, name in _processes(f"{MARK}={mark}".encode()) if pid != os.getpid()]


def survivors(mark: str) -> list[tuple[int, str]]:
    """Return the programs of root that a rocmcfg started with this mark and that outlived it, as (pid, name):
    they lead sessions of their own, and still have our pipe. A daemon that one of their hooks left
    (gpg-agent, grub-mount) leads one too, and has let go of the pipe: it stays, and nobody waits for it."""
    return [(pid, name) for pid, name in started(mark) if _session(pid) == pid and _has_pipe(pid)]


def _processes(wanted: bytes) -> Iterator[tuple[int, str]]:
    """Yield our user's processes with `wanted` in their environment, as (pid, name). Others may put the same
    into theirs, by chance or to hold us up, so that all four user ids of a process have to be ours (proc(5),
    /proc/pid/status, Uid): those of a set-uid program that they started are not."""
    unread = _numbers()
    until = time.monotonic() + _EXEC
    while unread:
        later = []
        for entry in unread:
            try:
                with open(f"/proc/{entry}/environ", "rb") as stream:
                    environment = stream.read(1 << 20)
                if not environment and os.readlink(f"/proc/{entry}/exe"):
                    later.append(entry)
                if wanted not in environment.split(b"\0"):
                    continue
            except OSError:
                continue  # it ended meanwhile, is none of ours, or is the kernel's own and has no program
            status = _status(entry)
            if {int(number) for number in status.get(b"Uid", b"").split()} == {os.geteuid()}:
                yield int(entry), status[b"Name"].decode("utf-8", "replace")
        if not later or time.monotonic() > until:
            return
        time.sleep(0.01)
        unread = later


def _numbers() -> list[str]:
    """Return the numbers of all processes; none where there is no /proc, in a bare chroot."""
    try:
        return [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return []


def _status(entry: str) -> dict[bytes, bytes]:
    """Return the fields of proc(5), /proc/pid/status; none where the process has ended, noticed by its parent
    or not."""
    try:
        with open(f"/proc/{entry}/status", "rb") as stream:
            lines = stream.read(1 << 16).splitlines()
    except OSError:
        return {}
    status = {name: value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    return {} if status[b"State"].startswith((b"Z", b"X")) else status


def _has_pipe(pid: int) -> bool:
    for number in (1, 2):
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{number}").startswith("pipe:"):
                return True
    return False


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


class _Printed:
    """What a program prints: all of it, up to what is too much; or its end, however much comes before."""

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._parts: list[str] = []
        self._size = 0

    @property
    def too_much(self) -> bool:
        return self._whole and self._size > _MOST

    def add(self, part: str) -> None:
        if not self.too_much:
            self._parts.append(part)
            self._size += len(part)
        if not self._whole:
            self._parts = ["".join(self._parts)[-_KEEP:]]

    def text(self) -> str:
        return "".join(self._parts).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def execute(
    argv: Sequence[str],
    *,
    timeout: float,
    progress: Callable[[], None],
    mark: str = "",
    locale: Mapping[str, str] | None = None,
    whole: bool = False,
) -> CommandResult:
    """Run a program as `view.Host.execute` does. A missing program has status 127, one that cannot start 126,
    as in a shell. `locale` are the variables of locale(7) that stand in for the fixed one. Of the output the
    end is kept, or the `whole`."""
    import threading
    from shutil import which

    import sh

    environment = _environment() | ({MARK: mark} if mark else {})
    if locale:
        del environment["LC_ALL"]
        environment |= locale
    program = which(argv[0], path=environment["PATH"])
    if program is None:
        return CommandResult(tuple(argv), 127, "", f"{argv[0]}: not found")
    out, err = _Printed(whole=whole), _Printed(whole=whole)
    finished = threading.Event()
    started = time.monotonic()
    try:
        # each with the test in tests/host/test_runner.py that fails without it
        command = sh.Command(program)(
            *argv[1:],
            _in=b"",  # a_program_that_prompts_gets_no_answer_and_ends
            _out=out.add,
            _err=err.add,
            _env=environment,  # a_program_sees_a_fixed_locale_a_full_path_and_nothing_secret
            _cwd="/",  # the same
            _ok_code=list(range(-64, 256)),  # the_exit_status_comes_back
            _bg=True,  # progress_is_told_while_a_program_runs
            _bg_exc=False,  # a_program_ended_by_a_signal_…, with sh 2.1.0 to 2.2.1
            _new_session=True,  # the_time_limit_ends_the_whole_family
            _tty_out=False,  # a_program_writes_to_no_terminal
            # By the block: by the line, one without an end would be kept whole, and many short ones cost dear
            _out_bufsize=_BLOCK,  # output_without_a_line_break_is_bounded_too
            _err_bufsize=_BLOCK,  # the same
            _encoding="utf-8",  # arguments_and_output_are_utf8_in_every_locale
            # A block may end inside a character
            _decode_errors="surrogateescape",  # output_that_is_not_utf8_comes_back_marked
            # No test: without it the end of a program is seen up to 0.2 s late, and no test compares seconds
            _done=lambda *_: finished.set(),
        )
    except sh.ForkException as problem:  # execve(2) failed: no machine code, no interpreter
        bare = "/proc is not mounted here: leave this chroot, mount --rbind /dev, /proc and /sys, come back"
        reason = str(problem).strip().rpartition("\n")[2].strip()
        return CommandResult(tuple(argv), 126, "", reason if os.path.exists("/proc/self/fd") else bare)
    except OSError as problem:  # no process, descriptor or memory is left to start it with
        return CommandResult(tuple(argv), 126, "", f"{argv[0]}: {problem.strerror}")
    try:
        pause = 0.005
        # sh looks once, when the output has ended, and if the program is there still, after a second again
        while not finished.wait(pause) and command.is_alive():
            pause = min(2 * pause, 0.2)
            progress()
            if time.monotonic() - started > timeout or out.too_much or err.too_much:
                _stop(command.pid, mark)
                return CommandResult(tuple(argv), None, out.text(), err.text())
        status: int = command.exit_code
    # sh 2.1.0 to 2.2.1 raise for a deadly signal whatever _ok_code says (get_exc_exit_code_would_raise)
    except sh.SignalException as ended:
        status = ended.exit_code
    except BaseException:
        _stop(command.pid, mark)
        raise
    return CommandResult(tuple(argv), status, out.text(), err.text())


def _stop(leader: int, mark: str) -> None:
    """End the program and whatever it started, also what left its session: none of it may write on while
    what it wrote is taken back. What even a SIGKILL does not end at once hangs in the kernel, and `survivors`
    tells of it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _GRACE
        signalled: set[int] = set()
        while left := _family(leader, mark):
            for pid in left - signalled:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            signalled |= left
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        if not left:
            return


def _family(leader: int, mark: str) -> set[int]:
    """Return the processes of the leader's session, and those that carry its mark."""
    family = {pid for pid, _ in _processes(f"{MARK}={mark}".encode())} if mark else set()
    family |= {int(entry) for entry in _numbers() if _session(int(entry)) == leader and _status(entry)}
    return family - {os.getpid()}
