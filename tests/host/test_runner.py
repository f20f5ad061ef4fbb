"""Programs of the host: no stdin, a time limit that ends the whole family, output that cannot break us."""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
import uuid
from pathlib import Path

import pytest

from rocmcfg.host import runner
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult, ToolFailed
from tests.support import processes
from tests.support.program import SOURCE, as_nobody, command, problem
from tests.support.tools import HANG, require_root

MARK = uuid.uuid4().hex  # another run of the tests may be at work on this machine


def execute(*argv: str, timeout: float = HANG) -> CommandResult:
    return runner.execute(argv, timeout=timeout, progress=lambda: None)


def sh(script: str, *arguments: str, timeout: float = HANG) -> CommandResult:
    return execute("sh", "-c", script, "sh", *arguments, timeout=timeout)


@pytest.mark.parametrize("status", [0, 1, 3, 77, 126, 255])
def test_the_exit_status_comes_back(status: int) -> None:
    result = sh("echo out; echo err >&2; exit $1", str(status))
    assert (result.status, result.stdout, result.stderr) == (status, "out\n", "err\n")
    assert result.ok == (status == 0)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("number", [6, 9, 11, 15, 40])
def test_a_program_ended_by_a_signal_has_failed_and_keeps_its_output(number: int) -> None:
    """sh 2.1.0 to 2.2.1 raise SignalException for some of them in spite of _ok_code."""
    result = sh(f"echo out; kill -{number} $$")
    assert (result.ok, result.status, result.stdout) == (False, -number, "out\n")


def test_a_missing_program_has_status_127_and_is_no_answer_to_a_query() -> None:
    for name in ("no-such-program-at-all", "/no/such/program", "/etc"):
        result = execute(name, "x")
        assert (result.status, result.argv) == (127, (name, "x"))
        assert "not found" in result.stderr
        assert runner.query((name,)) is None
    assert runner.query(("sh", "-c", "echo said; exit 127")) is not None


@pytest.mark.parametrize("content", [b"no machine code", b"#!/no/such/interpreter\n"])
def test_a_program_that_cannot_start_has_failed_and_says_so(tmp_path: Path, content: bytes) -> None:
    program = tmp_path / "update-grub"
    program.write_bytes(content)
    program.chmod(0o755)
    result = execute(str(program))
    assert result.status == 126
    assert "update-grub" in result.stderr


def test_a_program_for_which_no_process_can_be_made_has_failed_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fork() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))  # as under RLIMIT_NPROC

    monkeypatch.setattr(os, "fork", fork)
    result = execute("true")
    assert (result.status, result.stderr) == (126, "true: Resource temporarily unavailable")


def test_a_folder_of_path_that_may_not_be_entered_makes_no_program_forbidden(tmp_path: Path) -> None:
    """It is as if the folder were not there: execvp(3) would report EACCES, and so would sudo's users see
    it, who keep the PATH of root."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    tmp_path.chmod(0o755)
    script = (
        "from rocmcfg.host import runner; from rocmcfg.host.local import LocalHost;"
        "print(runner.query(('no-such-program',)), LocalHost('/').has_tool('no-such-program'),"
        " LocalHost('/').stream_query(('no-such-program',)), runner.query(('true',)).status)"
    )
    path = {"PATH": f"{closed}:/no/such/folder:/etc/passwd:/usr/bin:/bin"}
    assert as_nobody([sys.executable, "-c", script], path).out == "None False None 0\n"
    ran = as_nobody(command("run", "--set", "env.HSA_XNACK=1", "--", "no-such-program"), path)
    assert "it is in no folder of PATH" in problem(ran, "RC2031", 1)


def test_a_stream_of_a_missing_program_leaves_nothing_to_complain_about() -> None:
    """Python 3.13 shows what goes wrong while a half-made stream is closed, older ones only with -X dev."""
    line = "from rocmcfg.host import runner\ntry:\n    runner.stream(('nowhere',))\nexcept OSError:\n    pass"
    command = [sys.executable, "-X", "dev", "-c", line]
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd=SOURCE).stderr == ""


def test_a_program_that_prompts_gets_no_answer_and_ends() -> None:
    result = sh("read answer; echo got:$answer:; cat")
    assert (result.status, result.stdout) == (0, "got::\n")


def test_a_program_writes_to_no_terminal() -> None:
    assert sh("for n in 0 1 2; do test -t $n && echo $n; done; echo none").stdout == "none\n"


def test_arguments_and_output_are_utf8_in_every_locale() -> None:
    said = "runner.execute(('printf', '%s', chr(228)), timeout=60, progress=lambda: None).stdout"
    script = f"from rocmcfg.host import runner\nprint(ascii({said}))"
    told = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, env={**os.environ, **told}, cwd=SOURCE, capture_output=True, check=True)
    assert done.stdout == b"'\\xe4'\n"


def test_the_time_limit_ends_the_whole_family(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    far = f"sleep {2 * HANG}"
    script = f'echo begun; (trap "" TERM; {far}) & echo $! >"$1"; {far} & echo $! >>"$1"; wait'
    for limit in (1, 10, 100):  # a busy machine may not have begun by then
        started = time.monotonic()
        result = sh(script, str(pids), timeout=limit)
        assert (result.status, result.ok) == (None, False)
        assert time.monotonic() - started < HANG
        family = pids.read_text().split() if pids.exists() else []
        if len(family) == 2:
            break
    assert result.stdout == "begun\n"
    assert len(family) == 2
    for pid in family:
        assert not processes.runs(pid, f"{2 * HANG}")


def test_an_interrupt_ends_the_program_too(tmp_path: Path) -> None:
    file = tmp_path / "pid"

    def interrupt() -> None:
        if file.exists() and file.read_text().strip():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.execute(
            ("sh", "-c", f"echo $$ >{file}; exec sleep {2 * HANG}"), timeout=HANG, progress=interrupt
        )
    assert not processes.runs(file.read_text(), f"sleep {2 * HANG}")


def test_the_end_of_a_program_is_seen_at_once_though_its_output_ended_before() -> None:
    """The best of some, since the machine may be busy; what was not looked for lasted a second each time."""

    def seconds(script: str) -> float:
        began = time.monotonic()
        runner.query(("sh", "-c", script))
        return time.monotonic() - began

    pairs = [(seconds("exec >&- 2>&-; sleep 0.05"), seconds("sleep 0.05")) for _ in range(5)]
    assert min(closed - usual for closed, usual in pairs) < 0.8, pairs


def test_progress_is_told_while_a_program_runs() -> None:
    calls: list[int] = []
    assert runner.execute(("sleep", "0.7"), timeout=HANG, progress=lambda: calls.append(1)).ok
    assert calls


def test_only_the_end_of_a_long_output_is_kept() -> None:
    result = sh("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo last")
    assert len(result.stdout) == 64 * 1024
    assert result.stdout.endswith("line 19999\nlast\n")


def test_output_that_is_not_utf8_comes_back_marked() -> None:
    assert sh(r"printf 'a\377b\n'; printf '\303' ").stdout.startswith("a\ufffdb\n")


def test_characters_are_whole_however_the_output_is_cut() -> None:
    result = sh("i=0; while [ $i -lt 3000 ]; do printf 'äöü'; i=$((i+1)); done")
    assert result.stdout == "äöü" * 3000


def test_a_program_sees_a_fixed_locale_a_full_path_and_nothing_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("LC_MESSAGES", "de_DE.UTF-8")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("SECRET", "x")
    lines = dict(line.partition("=")[::2] for line in sh("env; pwd").stdout.splitlines())
    assert lines["LC_ALL"] == "C.UTF-8"
    assert lines["DEBIAN_FRONTEND"] == "noninteractive"
    # root gets the system's programs alone, whoever set his PATH
    assert (lines["PATH"].split(":")[0] == "/nowhere") is (os.geteuid() != 0)
    assert "/usr/sbin" in lines["PATH"].split(":")
    assert not {"LANG", "LC_MESSAGES", "SECRET", "LD_PRELOAD"} & lines.keys()
    assert "/" in lines


def test_arguments_are_never_read_by_a_shell(tmp_path: Path) -> None:
    assert execute("echo", "$(id)", "a  b", "*", "-n").stdout == "$(id) a  b * -n\n"


def test_a_failed_tool_shows_the_end_of_what_it_said() -> None:
    lines = "\n".join(f"line {n}" for n in range(30))
    stop = ToolFailed(CommandResult(("update-grub",), 1, "out", lines), "exit status 1", "look")
    (found,) = stop.diagnostics
    assert found.summary == "update-grub: exit status 1"
    assert found.detail.splitlines() == [f"line {n}" for n in range(18, 30)]
    silent = ToolFailed(CommandResult(("x",), None, "only out", " "), "stopped", "")
    assert silent.diagnostics[0].detail == "only out"


def test_an_empty_path_of_the_caller_is_no_hindrance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH", raising=False)
    assert sh("true").ok
    assert os.environ.get("PATH") is None


STUBBORN = """
trap '' TERM HUP INT
{child}
i=0; while [ $i -lt 200 ]; do sleep 0.05; echo $$ >>"$1"; i=$((i+1)); done
"""


@pytest.mark.parametrize(
    "child",
    [
        "",
        'setsid sh -c \'while :; do sleep 0.05; echo x >>"$0"; done\' "$1" &',
        'set -m; (sleep 20; echo x >>"$1") &',
    ],
    ids=["alone", "a child with a session of its own", "a child with a process group of its own"],
)
def test_nothing_of_a_program_that_is_stopped_writes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child: str
) -> None:
    """update-grub may ignore TERM, and what it started may have left its family: an undo comes next."""
    file = tmp_path / "menu"
    file.touch()
    monkeypatch.setattr(runner, "_GRACE", 0.3)

    def written() -> None:
        if file.stat().st_size:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.execute(
            ("sh", "-c", STUBBORN.format(child=child), "sh", str(file)),
            timeout=HANG,
            progress=written,
            mark=MARK,
        )
    assert list(runner._processes(f"{runner.MARK}={MARK}".encode())) == []
    size = file.stat().st_size
    time.sleep(0.4)
    assert file.stat().st_size == size


def test_only_programs_of_root_are_waited_for() -> None:
    """Whoever may start a program could hold up every boot with it."""
    require_root()
    environment = {"PATH": os.environ["PATH"], runner.MARK: MARK}
    pipe = subprocess.PIPE
    another = subprocess.Popen(
        ["sleep", "300"], env=environment, start_new_session=True, user=65534, stdout=pipe
    )
    ours = subprocess.Popen(["sleep", "300"], env=environment, start_new_session=True, stdout=pipe)
    null = subprocess.DEVNULL
    daemon = subprocess.Popen(
        ["sleep", "300"], env=environment, start_new_session=True, stdout=null, stderr=null
    )
    try:
        assert [pid for pid, _ in runner.survivors(MARK)] == [ours.pid]
        assert runner.survivors(MARK[:-1]) == []
    finally:
        for one in (another, ours, daemon):
            one.kill()
            one.wait()


def test_a_program_is_seen_while_it_becomes_another(tmp_path: Path) -> None:
    """update-grub ends in `exec grub-mkconfig`, and in the middle of that a process has no environment."""
    again = tmp_path / "again"
    again.write_text('exec /bin/sh "$0"\n')
    environment = {"PATH": os.environ["PATH"], runner.MARK: MARK}
    restless = subprocess.Popen(
        ["/bin/sh", again], env=environment, start_new_session=True, stdout=subprocess.PIPE
    )
    try:
        assert all(runner.survivors(MARK) for _ in range(200))
    finally:
        restless.kill()
        restless.communicate()


def test_a_program_that_takes_long_to_become_another_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pages come from a slow disk, or the processor has others to run."""
    marked = subprocess.Popen(["sleep", "300"], env={runner.MARK: MARK}, start_new_session=True)
    read, until = runner._variables, time.monotonic() + 1

    def variables(entry: str) -> bytes | None:
        return None if entry == str(marked.pid) and time.monotonic() < until else read(entry)

    monkeypatch.setattr(runner, "_variables", variables)
    try:
        assert [pid for pid, _ in runner.started(MARK)] == [marked.pid]
    finally:
        marked.kill()
        marked.wait()


def test_a_process_without_variables_is_not_waited_for() -> None:
    bare = subprocess.Popen(["sleep", "300"], env={})
    try:
        until = time.monotonic() + HANG
        while runner._variables(str(bare.pid)) is None:  # Popen returns in the middle of execve(2)
            assert time.monotonic() < until
        assert runner._variables(str(bare.pid)) == b""
    finally:
        bare.kill()
        bare.wait()


def test_a_set_uid_program_is_its_callers() -> None:
    """passwd waits for an answer as long as one likes, and the kernel says root of it."""
    require_root()
    place = Path(tempfile.mkdtemp(dir="/var/tmp"))  # which is not mounted nosuid, and reached by everybody
    place.chmod(0o755)
    try:
        copy = place / "sleep"
        shutil.copy(shutil.which("sleep") or "/bin/sleep", copy)
        copy.chmod(0o4755)
        environment = {"PATH": os.environ["PATH"], runner.MARK: MARK}
        waiting = subprocess.Popen(
            [copy, "300"], env=environment, start_new_session=True, user=65534, stdout=subprocess.PIPE
        )
        try:
            assert runner.survivors(MARK) == []
        finally:
            waiting.kill()
            waiting.wait()
    finally:
        shutil.rmtree(place)


LONG = "tr '\\0' x </dev/zero | fold -w 1000"


def test_output_without_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_MOST", 1 << 20)
    asked = runner.query(("sh", "-c", f"{LONG} | head -c 8000000; exec sleep 300"))
    assert asked is not None
    assert asked.status is None
    assert len(asked.stdout) < 3 << 20
    tracemalloc.start()
    changed = execute("sh", "-c", f"{LONG} | head -c 8000000")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert changed.ok
    assert len(changed.stdout) == 64 << 10
    assert most < 4 << 20


@pytest.mark.parametrize("to", ["stdout", "stderr"])
def test_output_without_a_line_break_is_bounded_too(monkeypatch: pytest.MonkeyPatch, to: str) -> None:
    monkeypatch.setattr(runner, "_MOST", 1 << 20)
    asked = runner.query(("sh", "-c", f"tr '\\0' x </dev/zero >/dev/{to}"))
    assert asked is not None
    assert asked.status is None
    assert len(asked.stdout + asked.stderr) < 3 << 20


def test_root_runs_the_systems_programs_whatever_the_path_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_root()
    (tmp_path / "true").write_text("#!/bin/sh\necho evil\n")
    (tmp_path / "true").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (str(tmp_path), ":/usr/bin", ".", "relative"):
        monkeypatch.setenv("PATH", path)
        assert execute("true").stdout == ""


def test_roots_programs_get_no_folder_that_others_can_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mkinitramfs makes the image below TMPDIR, and gpg reads its settings in HOME."""
    require_root()
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(theirs))
    for folder in (ours, theirs):
        os.chown(theirs, 12345, 12345)
        monkeypatch.setenv("TMPDIR", str(folder))
        printed = execute("sh", "-c", 'echo "[$TMPDIR] $HOME"').stdout.strip()
        assert printed == f"[{ours if folder == ours else ''}] {pwd.getpwuid(0).pw_dir}"
    for value in ("relative", str(tmp_path / "missing"), str(theirs / "missing")):
        monkeypatch.setenv("TMPDIR", value)
        assert runner.temporary_folder() == ""
    monkeypatch.setenv("TMPDIR", "/var/tmp")
    assert runner.temporary_folder() == "/var/tmp", (
        "a sticky folder is everybody's, and what root makes is root's"
    )


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (
            "default/locale",
            'LANG="de_DE.UTF-8"\nLANGUAGE=de:en\nLC_TIME=C\n',
            {"LANG=de_DE.UTF-8", "LANGUAGE=de:en"},
        ),
        ("locale.conf", "LANG=pt_BR.UTF-8\n", {"LANG=pt_BR.UTF-8"}),
        ("locale.conf", "LANG=$(id)\n", {"LC_ALL=C.UTF-8"}),
        ("hostname", "LANG=de_DE.UTF-8\n", {"LC_ALL=C.UTF-8"}),
    ],
)
def test_what_changes_the_host_speaks_its_language(
    tmp_path: Path, path: str, text: str, said: set[str]
) -> None:
    """grub-mkconfig writes titles and `set lang` into the menu: else a rollback would not bring it back."""
    (tmp_path / "etc" / path).parent.mkdir(parents=True)
    (tmp_path / "etc" / path).write_text(text)
    ran = LocalHost(str(tmp_path)).execute(["env"], timeout=HANG, progress=lambda: None)
    assert {line for line in ran.stdout.splitlines() if line.startswith(("LANG", "LC_"))} == said
