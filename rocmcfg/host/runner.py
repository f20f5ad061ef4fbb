"""Start programs of the host. Only `foreground` starts another one, which is the caller's; no other module
imports `sh`.

Children get no stdin (some tools prompt and would wait for ever), a time limit, and a fixed locale, unless
they write texts of the host, as grub-mkconfig does in the boot menu.
"""

from __future__ import annotations

import io
import os
import pwd
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from rocmcfg.host.inside import Root
from rocmcfg.host.problems import CommandResult

if TYPE_CHECKING:
    import subprocess

# The host's programs are here even if a user's PATH has no sbin (su without -, Debian).
OFFLINE_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_PATH = ":".join(OFFLINE_PATH)
# and those of NixOS and Guix System; the hooks of `files/templates` and packaging/undo.sh use the same PATH
ROOTS_PATH = f"{_PATH}:/run/current-system/sw/bin:/run/current-system/profile/bin"
_QUERY_TIMEOUT = 600.0  # seconds; on a busy machine lsinitrd takes minutes
_KEEP = 64 * 1024  # bytes of a changing program's output that are kept, from the end
_MOST = 32 << 20  # bytes that a query may print: the listing of an image has about 100,000
_BLOCK = 64 << 10
_GRACE = 3.0  # seconds that a program has to end after SIGTERM
_DEATH = 3.0  # and after SIGKILL
# Seconds during which a process in the middle of execve(2) is looked at again, and that a slow disk may take
_EXEC = 3.0
_ENV_END = 48  # the place of env_end in proc_pid_stat(5), counted from the state
# Marks every program that we start, so that a recovery finds one that outlived its rocmcfg.
MARK = "ROCMCFG_STARTED"


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("HOME", "TERM") if name in os.environ}
    if temporary := temporary_folder():
        kept["TMPDIR"] = temporary
    if os.geteuid() == 0:  # programs read their settings there, and sudo and su may keep the caller's
        kept["HOME"] = "/root"
        with suppress(KeyError):
            kept["HOME"] = pwd.getpwuid(0).pw_dir
    # DEBIAN_FRONTEND: hooks that would open a dialogue use their default instead.
    fixed = {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    return {**kept, **fixed, "PATH": ":".join(folders_of_programs())}


def temporary_folder() -> str:
    """Return TMPDIR of the caller; empty where there is none, and for root where other users may change the
    folder or a part of its path: a user who can rename root's files there controls the content of an
    image."""
    folder = os.environ.get("TMPDIR", "")
    if os.geteuid() != 0 or not folder:
        return folder
    with suppress(OSError):
        weak, reached = Root("/").weakness(folder)
        if folder.startswith("/") and weak is None and reached is not None:
            return folder
    return ""


def folders_of_programs() -> list[str]:
    """Return the folders that are searched for programs of the running host, in order. Root gets only the
    system's: sudo and su may pass on a PATH with a folder of another user."""
    if os.geteuid() == 0:
        return ROOTS_PATH.split(":")
    own = [part for part in os.environ.get("PATH", "").split(":") if part.startswith("/")]
    return [*own, *_PATH.split(":")]


def query(argv: Sequence[str]) -> CommandResult | None:
    """Run a program that changes nothing; None where it is not installed. The output is complete, since it is
    parsed: a program that prints without end is stopped, as at its time limit."""
    result = execute(argv, timeout=_QUERY_TIMEOUT, progress=lambda: None, whole=True)
    return None if result.status == 127 and not result.stdout else result


def stream(argv: Sequence[str | bytes], stdin: int | None = None, *, failed: int = 0) -> BinaryIO:
    """Return a stream of the output of a program that changes nothing; closing it early ends the program.

    `stdin` is a descriptor to read from. A missing program raises OSError; so does, at the end of the output,
    a death by a signal or a status of `failed` or more, unless `failed` is 0: then the status is ignored.
    """
    return io.BufferedReader(_Output(argv, stdin, failed), 1 << 16)


class _Output(io.RawIOBase):
    """The standard output of a child. `sh` copies output in Python, which is too slow for gigabytes."""

    _child: subprocess.Popen[bytes] | None = None  # Python closes the object also where its creation failed

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
        assert self._child is not None
        assert self._child.stdout is not None
        count: int = self._child.stdout.readinto(buffer)  # type: ignore[attr-defined]
        if count == 0 and self._failed and not 0 <= self._child.wait() < self._failed:
            raise OSError(f"{self._child.args[0]!r} failed")  # type: ignore[index]
        return count

    def close(self) -> None:
        if not self.closed:
            child = self._child
            if child is not None:
                assert child.stdout is not None
                child.stdout.close()
                if child.poll() is None:
                    child.kill()
                child.wait()
        super().close()


def started(mark: str) -> list[tuple[int, str]]:
    """Return all programs of root with this mark that are still running, as (pid, name)."""
    return [(pid, name) for pid, name in _processes(f"{MARK}={mark}".encode()) if pid != os.getpid()]


def end(mark: str) -> int:
    """End the processes with this mark that are still running, and return their number."""
    left = {pid for pid, _ in started(mark)}
    if left:
        _end_all(lambda: {pid for pid, _ in started(mark)})
    return len(left)


def end_others(running: Callable[[], set[int]]) -> int:
    """End these processes as far as they are ours, and return their number."""

    def ours() -> set[int]:
        return {pid for pid in running() if _is_ours(_status(str(pid)))}

    left = ours()
    if left:
        _end_all(ours)
    return len(left)


def survivors(mark: str) -> list[tuple[int, str]]:
    """Return the programs of root that a rocmcfg started with this mark and that outlived it, as (pid, name):
    they lead sessions of their own, and still have our pipe open. A daemon that one of their hooks left
    (gpg-agent, grub-mount) leads a session too, but has closed the pipe: it keeps running, and nothing waits
    for it."""
    return [(pid, name) for pid, name in started(mark) if _session(pid) == pid and _has_pipe(pid)]


def _processes(wanted: bytes) -> Iterator[tuple[int, str]]:
    """Yield our user's processes with `wanted` in their environment, as (pid, name). Other users may set the
    same variable, by chance or to delay us, so all four user ids of a process must be ours (proc(5),
    /proc/pid/status, Uid): those of a set-uid program that they started are not."""
    unread = _numbers()
    until = time.monotonic() + _EXEC
    while unread:
        later = []
        for entry in unread:
            try:
                variables = _variables(entry)
                if variables is None:
                    later.append(entry)
                if wanted not in (variables or b"").split(b"\0"):
                    continue
            except OSError:
                continue  # it ended meanwhile, is not ours, or is a kernel thread without a program
            status = _status(entry)
            if _is_ours(status):
                yield int(entry), status[b"Name"].decode("utf-8", "replace")
        if not later or time.monotonic() > until:
            return
        time.sleep(0.01)
        unread = later


def _variables(entry: str) -> bytes | None:
    """Return the environment of a process; None in the middle of execve(2), where it has none, from the
    change of its memory until load_elf_binary sets env_end (Linux, fs/binfmt_elf.c). Raises OSError for a
    kernel thread, and for a process that has ended."""
    with open(f"/proc/{entry}/environ", "rb") as stream:
        if read := stream.read(1 << 20):
            return read
    before = _env_end(entry)
    with open(f"/proc/{entry}/environ", "rb") as stream:
        read = stream.read(1 << 20)
    return read if read or before == _env_end(entry) != b"0" else None


def _env_end(entry: str) -> bytes:
    os.readlink(f"/proc/{entry}/exe")
    with open(f"/proc/{entry}/stat", "rb") as stream:
        return stream.read().rpartition(b")")[2].split()[_ENV_END]


def users_of(process: str) -> set[int]:
    """Return the users whose rights a process has, its caller among them; none where it has ended."""
    return _users(_status(process))


def _users(status: Mapping[bytes, bytes]) -> set[int]:
    return {int(number) for number in status.get(b"Uid", b"").split()}


def _is_ours(status: Mapping[bytes, bytes]) -> bool:
    return _users(status) == {os.geteuid()}


def _numbers() -> list[str]:
    """Return the numbers of all processes; none where there is no /proc, in a bare chroot."""
    try:
        return [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return []


def _status(entry: str) -> dict[bytes, bytes]:
    """Return the fields of proc(5), /proc/pid/status; none where the process has ended, whether or not its
    parent has noticed."""
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
    """The output of a program: all of it, up to a limit, or only its end."""

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
    """Run a program for `view.Host.execute`. A missing program has status 127, one that cannot start 126, as
    in a shell. `locale` are the variables of locale(7) that replace the fixed locale. The end of the output
    is kept, or the `whole`."""
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
            # In blocks: by lines, an endless line would be kept whole, and many short ones would be slow
            _out_bufsize=_BLOCK,  # output_without_a_line_break_is_bounded_too
            _err_bufsize=_BLOCK,  # the same
            _encoding="utf-8",  # arguments_and_output_are_utf8_in_every_locale
            # A block may end inside a character
            _decode_errors="surrogateescape",  # output_that_is_not_utf8_comes_back_marked
            # No test: without it the end of a program is seen up to 0.2 s late, and no test compares seconds
            _done=lambda *_: finished.set(),
        )
    except sh.ForkException as problem:  # execve(2) failed: no machine code, no interpreter
        bare = (
            "/proc is not mounted here: leave this chroot, mount --rbind /dev, /proc and /sys, and enter it "
            "again"
        )
        reason = str(problem).strip().rpartition("\n")[2].strip()
        return CommandResult(tuple(argv), 126, "", reason if os.path.exists("/proc/self/fd") else bare)
    except OSError as problem:  # no process, descriptor or memory is left to start it
        return CommandResult(tuple(argv), 126, "", f"{argv[0]}: {problem.strerror}")
    try:
        pause = 0.005
        # sh checks once when the output has ended, and again after a second if the program is still running
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
    """End the program and all processes that it started, even those that left its session: none of them may
    continue to write while their changes are rolled back. A process that even SIGKILL does not end at once
    hangs in the kernel, and `survivors` reports it."""
    _end_all(lambda: _family(leader, mark))


def _end_all(running: Callable[[], set[int]]) -> None:
    for number, grace in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _DEATH)):
        deadline = time.monotonic() + grace
        signalled: set[int] = set()
        while left := running():
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
    """Return the processes of the leader's session, and those with its mark."""
    family = {pid for pid, _ in _processes(f"{MARK}={mark}".encode())} if mark else set()
    family |= {int(entry) for entry in _numbers() if _session(int(entry)) == leader and _status(entry)}
    return family - {os.getpid()}
