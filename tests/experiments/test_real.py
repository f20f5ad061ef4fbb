"""`rocmcfg try` on real processes that fail in every way, are interrupted anywhere, and are resumed."""

from __future__ import annotations

import json
import os
import pty
import random
import select
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.experiments.real import Bench
from tests.support import processes
from tests.support.program import command, environment, needs_mounts, process, unfolded

PATIENCE = 120  # seconds
MOST_KILLS = 40


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def wait_for(condition: object, what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until, f"{what} did not happen in {PATIENCE} s"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("fail", "failure", "words"),
    [
        ("exit", "exit", ()),
        ("signal", "signal", ()),
        ("hang", "timeout", ("--timeout", "2")),
        ("output", "bad-output", ("--bad-if-output", r"loss is (nan|inf)\b")),
        ("different", "different-output", ("--same-output",)),
        ("log", "gpu-fault", ()),
        ("leak", "check", ("--check", 'test ! -e "$LEAK" || { rm "$LEAK"; false; }')),
    ],
)
def test_a_cure_is_found_for_every_kind_of_failure(
    bench: Bench, fail: str, failure: str, words: tuple[str, ...]
) -> None:
    # a hang and the rest after a GPU's fault take their time, so these fail nearly always
    made = bench.tried(*words, FAIL=fail, P="90" if fail in ("hang", "log") else "60")
    assert made["verdict"] == "cures", made
    assert made["failures"]["control"] >= 3
    assert made["failures"]["treatment"] == 0
    assert set(made["arms"][0]["reasons"]) == {failure}
    assert made["settings"] == ["CURE=1"]
    assert made["bound"] == made["arms"][1]["most"] > 0
    assert made["apply"] == "sudo rocmcfg apply --add env.CURE=1"
    assert bool(made["faults"]) == (fail == "log")
    # the runs are those that the program has noted
    ends = bench.noted("end")
    assert len(ends) == sum(arm["runs"] + arm["warm_ups"] for arm in made["arms"])
    assert sum(arm["warm_ups"] for arm in made["arms"]) == 2


def test_a_setting_without_effect_is_not_called_a_cure(bench: Bench) -> None:
    made = bench.tried(setting="HSA_XNACK=1", P="100")
    assert (made["verdict"], made["apply"]) == ("no-effect", "")
    assert made["runs"] == {"control": 3, "treatment": 1}
    assert "check that it works at all" in " ".join(made["advice"])


def test_a_fault_that_does_not_come_is_said_plainly(bench: Bench) -> None:
    made = bench.tried(P="0")
    assert made["verdict"] == "not-reproduced"
    assert made["runs"] == {"control": 59}
    assert made["bound"] == pytest.approx(5.0, abs=0.1)
    assert "more frequent" in " ".join(made["advice"])


def test_what_the_first_failures_printed_is_kept(bench: Bench) -> None:
    made = bench.tried(FAIL="log", P="100", setting="HSA_XNACK=1")
    outputs = [name for name in made["kept"] if name.endswith(".output")]
    assert len(outputs) == 3 + 2  # three of the control; the treatment's warm-up and its failure
    assert (bench.state / outputs[0]).read_text() == "result 4711\n"
    kernel = [name for name in made["kept"] if name.endswith(".kernel")]
    assert "page fault" in (bench.state / kernel[0]).read_text()


def test_drop_which_and_cost_run_for_real(bench: Bench) -> None:
    more = bench.variables(CURE="1", HSA_XNACK="1", P="95")
    names = ("CURE", "HSA_XNACK")
    words = command("try", "--json", "--no-warm-up", "--drop", *names, "--", bench.program)
    dropped = process(words, env=more).document
    assert (dropped["verdict"], dropped["settings"]) == ("not-needed", ["CURE=1"])
    assert "You can drop HSA_XNACK here, and need CURE" in dropped["sentence"]
    third = ("--set", "env.HSA_ENABLE_SDMA=0", "--set", "env.HSA_XNACK=0")
    document = bench.tried("--which", *third, P="95")
    assert (document["verdict"], document["settings"]) == ("cures", ["CURE=1"])
    cost = bench.tried("--cost", "--runs", "6", "--no-warm-up", setting="TAKES=0.3")
    assert cost["kind"] == "cost"
    assert cost["verdict"] in ("slower", "undecided")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_ends_the_program_and_counts_no_run(bench: Bench, number: signal.Signals) -> None:
    running = bench.started(bench.words(), TAKES="600")
    wait_for(lambda: bench.noted("start"), "the first run")
    running.send_signal(number)
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1
    assert "tries resume 1" in unfolded(err.decode())
    assert [line["kind"] for line in bench.lines()] == ["begun", "started"]
    assert not bench.noted("end")
    assert not processes.running(str(bench.program))


@pytest.mark.parametrize("seed", range(2))
def test_a_kill_anywhere_loses_and_doubles_no_run(bench: Bench, seed: int) -> None:
    """A run on record ended exactly once, and no run that ended is on record twice. The one that is cut off
    between its end and its record, or before its end, is repeated."""
    chance = random.Random(seed)
    running = bench.started(bench.words(), TAKES="0.03", P="45")
    kills = 0
    wait_for(lambda: bench.noted("start"), "the first run")
    while True:
        before = len(bench.lines())
        wait_for(lambda b=before, r=running: len(bench.lines()) > b or r.poll() is not None, "a line")
        try:
            # on a machine where no run ends in this time, the last ones may take theirs
            running.communicate(timeout=chance.uniform(0, 0.3) if kills < MOST_KILLS else PATIENCE)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            kills += 1
        if _is_over(bench):
            break
        _settle(bench)
        running = bench.started(command("tries", "resume", "1"), TAKES="0.03", P="45")
    assert kills
    marks, recorded = [], []
    for line in bench.lines():
        if line["kind"] == "started":
            marks.append(line["mark"])
        elif line["kind"] == "ran":
            recorded.append(marks[-1])
    ended = [mark for mark, _ in bench.noted("end")]
    assert len({*marks}) == len(marks)
    assert len({*recorded}) == len(recorded), "a run is on record twice"
    assert {*recorded} <= {*ended}, "a run is on record that never ended"
    assert len({*ended} - {*recorded}) <= kills, "a run that ended was lost without a kill"
    shown = bench.run("tries", "show", "1", "--json").document
    assert sum(arm["runs"] + arm["warm_ups"] for arm in shown["arms"]) == len(recorded)
    assert shown["verdict"] is not None


def _is_over(bench: Bench) -> bool:
    return any(line["kind"] == "concluded" for line in bench.lines())


def _settle(bench: Bench) -> None:
    """Wait until the program of the killed try has ended: `resume` refuses before."""
    wait_for(lambda: not processes.running(str(bench.program)), "the end of the program")


def test_resume_waits_for_nobody_and_runs_beside_nobody(bench: Bench) -> None:
    running = bench.started(bench.words(), TAKES="600")
    wait_for(lambda: bench.noted("start"), "the first run")
    second = bench.run("try", "--set", "env.CURE=1", "--", "true")
    assert "error[RC4501]" in second.err
    running.kill()
    running.communicate()
    refused = bench.run("tries", "resume")
    assert "error[RC4511]" in refused.err
    pid = int(unfolded(refused.err).partition("kill ")[2].partition("`")[0])
    os.killpg(os.getpgid(pid), signal.SIGKILL)
    _settle(bench)
    assert bench.run("tries", "resume").code == 0


def test_a_boot_in_the_middle_of_a_run_is_told_and_may_count(bench: Bench) -> None:
    running = bench.started(bench.words(), TAKES="600")
    wait_for(lambda: bench.noted("start"), "the first run")
    running.send_signal(signal.SIGTERM)
    running.communicate()
    record = bench.state / "1/try.jsonl"
    boot = bench.lines()[1]["boot"]
    record.write_text(record.read_text().replace(boot, "0" * len(boot)))
    counted = bench.run("tries", "resume", "--crashed", "--json")
    assert counted.code == 0
    assert counted.document["verdict"] == "cures"
    kinds = [line["outcome"]["failure"] for line in bench.lines() if line["kind"] == "ran"]
    assert kinds[0] == "machine-went-down"
    assert "error[RC4508]" in bench.run("tries", "resume").err


@pytest.mark.parametrize(
    ("words", "id", "names"),
    [
        (("--set", "env.CURE=1", "--", "python3 train.py"), "RC0001", "sh -c"),
        (("--set", "env.CURE=1", "--", "nowhere"), "RC2031", "nowhere"),
        (("--set", "env.CURE=1", "--", "/etc/passwd"), "RC2031", "/etc/passwd"),
        (("--set", "env.CURE=1", "--", "sh", "-c", "nowhere"), "RC4507", "exit code 127"),
        (("--set", "env.CURE=1"), "RC0001", "CMD"),
        (("--", "true"), "RC0001", "--set"),
        (("--set", "amdgpu.cwsr_enable=0", "--", "true"), "RC4618", "amdgpu.cwsr_enable=0"),
        (("--set", "env.CURE=1", "--which", "--", "true"), "RC0001", "2 to 12"),
        (("--which", "--cost", "--set", "env.CURE=1", "--", "true"), "RC0001", "exclude"),
        (("--set", "env.CURE=1", "--bad-if-output", "(", "--", "true"), "RC0001", "regular expression"),
        (("--set", "env.CURE=1", "--confidence", "100", "--", "true"), "RC0001", "50 to 99"),
        (("--set", "env.CURE=1", "--budget", "soon", "--", "true"), "RC0001", "soon"),
        (("--set", "env.CURE=1", "--budget", "9" * 400, "--", "true"), "RC0001", "365d"),
        (("--set", "env.CURE=1", "--timeout", "9" * 20, "--", "true"), "RC0001", "365d"),
        (("--drop", "NOT_SET_HERE", "--", "true"), "RC4514", "NOT_SET_HERE"),
        (("--set", "env.CURE=1", "NAME", "--", "true"), "RC0001", "--drop"),
    ],
)
def test_a_request_that_cannot_be_tried(bench: Bench, words: tuple[str, ...], id: str, names: str) -> None:
    refused = bench.run("try", *words)
    assert f"error[{id}]" in refused.err
    assert names in unfolded(refused.err)
    assert "Traceback" not in refused.err
    assert bench.run("tries", "list", "--json").document["tries"] == []


def test_no_warning_of_pythons_is_printed_for_a_pattern(bench: Bench) -> None:
    """`re` foresees sets in sets, and would print a line of rocmcfg's source."""
    words = ("--set", "env.CURE=1", "--runs", "1", "--no-warm-up", "--log", "/dev/null")
    assert bench.run("try", *words, "--bad-if-output", "[[a]b", "--", "true").err == ""


def test_an_interactive_program_is_refused_on_a_terminal(bench: Bench) -> None:
    words = command("try", "--set", "env.CURE=1", "--", "sh", "-c", "read line </dev/tty")
    pid, terminal = pty.fork()
    if not pid:
        os.execve(words[0], words, environment(bench.variables()))
    shown = b""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            break
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"RC4505" in shown, shown


def test_gigabytes_do_not_fill_the_disk_and_are_searched(bench: Bench) -> None:
    line = 'head -c 1000000000 /dev/zero; echo; echo "loss is nan"; head -c 100000000 /dev/zero; exit 4'
    words = ("--runs", "2", "--no-warm-up", "--bad-if-output", "loss is nan")
    made = bench.run("try", "--json", "--set", "env.CURE=1", *words, "--", "sh", "-c", line).document
    assert made["failures"] == {"control": 2}
    kept = [bench.state / name for name in made["kept"]]
    assert all(path.stat().st_size < 2 << 20 for path in kept)
    assert any(b"bytes were cut out here" in path.read_bytes() for path in kept)
    seen = bench.run(
        "try", "--json", "--set", "env.CURE=1", *words, "--", "sh", "-c", line.removesuffix("; exit 4")
    ).document
    assert seen["arms"][0]["reasons"] == {"bad-output": 2}


def test_what_a_program_leaves_running_is_ended_before_the_next_run(bench: Bench) -> None:
    line = f"setsid sleep {PATIENCE * 10} & echo $! >> {bench.folder}/pids; exit 1"
    words = ("--set", "env.CURE=1", "--no-warm-up", "--", "sh", "-c", line)
    made = bench.run("try", "--json", *words).document
    assert "foreground" in " ".join(made["advice"])
    for pid in (bench.folder / "pids").read_text().split():
        assert not processes.runs(pid, f"sleep {PATIENCE * 10}")


def test_a_program_that_changes_its_folder_runs_in_the_same_one_each_time(bench: Bench) -> None:
    line = f"pwd >> {bench.folder}/folders; mkdir -p inner; cd inner; exit 1"
    words = command("try", "--json", "--set", "env.CURE=1", "--", "sh", "-c", line)
    variables = environment(bench.variables())
    subprocess.run(words, env=variables, cwd=bench.folder, capture_output=True, check=True)
    assert {*(bench.folder / "folders").read_text().split()} == {str(bench.folder)}


def test_progress_is_for_a_terminal_only_and_json_is_one_document(bench: Bench) -> None:
    done = process(bench.words("--json"), env=bench.variables())
    assert json.loads(done.out)["command"] == "try"
    assert done.err == ""


def test_the_control_runs_without_what_is_set_in_the_shell(bench: Bench) -> None:
    made = bench.tried(CURE="1", P="100")
    assert made["verdict"] == "cures"
    assert made["failures"]["control"] == made["runs"]["control"]


def test_variables_that_differ_at_the_resume_are_named(bench: Bench) -> None:
    running = bench.started(bench.words(), TAKES="600", HSA_XNACK="0")
    wait_for(lambda: bench.noted("start"), "the first run")
    running.send_signal(signal.SIGTERM)
    running.communicate()
    resumed = bench.run("tries", "resume", HSA_XNACK="1")
    assert "warning[RC4513]" in resumed.err
    assert "HSA_XNACK" in resumed.err
    assert "warning[RC4513]" not in bench.run("tries", "resume", HSA_XNACK="1").err
    text = (bench.state / "1/try.jsonl").read_text()
    assert str(bench.notes) not in text, "the values of variables are not kept"


@needs_mounts
def test_a_full_disk_begins_no_run(bench: Bench) -> None:
    """In a mount namespace of its own, as root."""
    folder = bench.folder / "small"
    folder.mkdir()
    words = command("try", "--set", "env.CURE=1", "--", bench.program)
    script = 'mount -t tmpfs -o size=1m,mode=700 none "$1"; shift; exec "$@"'
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", str(folder), *words]
    done = process(argv, env={**bench.variables(), "XDG_STATE_HOME": str(folder)})
    assert done.code == 1
    assert "error[RC3002]" in done.err
    assert "free some space" in unfolded(done.err)
    assert not bench.noted("start")


def test_a_run_costs_at_most_30_ms_more_than_run(bench: Bench) -> None:
    """The median of the time between the ends of two runs, less what the program takes by itself; compared
    with a run that reads the kernel's log of a file too. On a machine where the program by itself takes more
    than 5 ms, because it is slow or busy, a run may take more, too."""
    line = "date +%s%N >> " + str(bench.folder / "ends")
    measured = []
    for _ in range(5):
        (bench.folder / "ends").write_text("")
        words = ("--log", bench.folder / "kernel.log", "--set", "env.CURE=1", "--", "sh", "-c", line)
        assert bench.run("try", *words).code == 0
        ends = [int(text) for text in (bench.folder / "ends").read_text().split()]
        gaps = sorted(after - before for before, after in pairwise(ends))
        began = time.monotonic_ns()
        for _ in range(9):
            subprocess.run(["sh", "-c", "date +%s%N >/dev/null"], check=True)
        alone = (time.monotonic_ns() - began) // 9
        measured.append(((gaps[len(gaps) // 2] - alone) / 1e6, alone / 1e6))
        if measured[-1][0] <= max(30, 6 * measured[-1][1]):
            return
    pytest.fail(f"{measured}: more, and the program alone, in ms")


def test_status_and_report_say_what_was_measured_here(bench: Bench) -> None:
    made = bench.tried()
    shown = bench.run("status")
    assert unfolded(made["sentence"]) in unfolded(shown.out)
    listed = bench.run("status", "--json").document["tries"]
    assert [each["verdict"] for each in listed] == ["cures"]
    assert made["sentence"] in bench.run("report").out
    assert str(bench.program) not in bench.run("tries", "show", "--tracker").out


def test_a_try_that_used_up_its_runs_goes_on_with_more(bench: Bench) -> None:
    made = bench.tried("--runs", "4", P="100")
    assert (made["verdict"], made["obstacle"]) == ("undecided", "runs")
    refused = bench.run("tries", "resume", P="100")
    assert "error[RC4508]" in refused.err
    assert "--runs" in refused.err
    resumed = bench.run("tries", "resume", "--runs", "50", "--json", P="100").document
    assert resumed["verdict"] == "cures"
    assert resumed["arms"][0]["runs"] >= 3
    assert len(bench.noted("end")) == sum(arm["runs"] + arm["warm_ups"] for arm in resumed["arms"])
    assert "error[RC4508]" in bench.run("tries", "resume", "--runs", "99", P="100").err


def test_a_stopped_try_stops_its_program_and_continues_it(bench: Bench) -> None:
    line = f"echo start >> {bench.notes}; sleep 0.2; echo done >> {bench.folder}/done; exit 1"
    running = bench.started(command("try", "--set", "env.CURE=1", "--", "sh", "-c", line))
    wait_for(bench.notes.read_text, "a run")
    running.send_signal(signal.SIGTSTP)
    wait_for(lambda: _state(running.pid) == "T", "the stop")
    before = (bench.folder / "done").read_text() if (bench.folder / "done").exists() else ""
    time.sleep(0.6)
    after = (bench.folder / "done").read_text() if (bench.folder / "done").exists() else ""
    assert before == after
    running.send_signal(signal.SIGCONT)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 0


def test_a_try_stops_even_where_its_program_does_not(bench: Bench) -> None:
    """A shell that waits in vfork(2) for a child that was stopped before its execve(2) is never reported as
    stopped. A program that ignores the signal shows the same at each run."""
    line = f"trap '' TSTP; echo start >> {bench.notes}; sleep 1; exit 1"
    running = bench.started(command("try", "--runs", "2", "--set", "env.CURE=1", "--", "sh", "-c", line))
    wait_for(bench.notes.read_text, "a run")
    running.send_signal(signal.SIGTSTP)
    wait_for(lambda: _state(running.pid) == "T", "the stop")
    running.send_signal(signal.SIGCONT)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 0


def test_the_time_of_a_stop_is_not_that_of_a_run(bench: Bench) -> None:
    limit, pause = 4, 5  # seconds
    words = ("--timeout", str(limit), "--no-warm-up", "--runs", "2", "--set", "env.CURE=1")
    line = f"echo start >> {bench.notes}; sleep 0.5; exit 1"
    running = bench.started(command("try", *words, "--", "sh", "-c", line))
    wait_for(bench.notes.read_text, "a run")
    running.send_signal(signal.SIGTSTP)
    wait_for(lambda: _state(running.pid) == "T", "the stop")
    time.sleep(pause)
    running.send_signal(signal.SIGCONT)
    running.communicate(timeout=PATIENCE)
    outcomes = [line["outcome"] for line in bench.lines() if line["kind"] == "ran"]
    assert {outcome["failure"] for outcome in outcomes} == {"exit"}
    assert max(outcome["microseconds"] for outcome in outcomes) < 1_000_000 * pause


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
