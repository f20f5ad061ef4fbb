"""What a new user of `try` meets: programs that are not what try can run, outputs, and words."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from rocmcfg.model.experiment import Design, Finding, Tally, Variable
from rocmcfg.workflow.try_words import Evidence, Price, sentence
from tests.experiments.real import Bench
from tests.support import processes
from tests.support.program import Result, command, environment, needs_mounts, process, too_wide, unfolded

LONG = 600  # seconds
FAULT_LOG = Path(__file__).parents[2] / "docs/demo/fault.log"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_output_of_one_bad_run_is_not_what_others_are_compared_with(bench: Bench) -> None:
    """The first run prints the fault, as the first run of a program that fails often does."""
    line = (
        "echo >> runs; run=$(wc -l < runs); "
        '[ "$CURE" = 1 ] || { [ $run -gt 1 ] && [ $((run * 61 % 100)) -ge 60 ]; } && echo right && exit; '
        "echo wrong $run"
    )
    words = command("try", "--json", "--no-warm-up", "--same-output", "--set", "env.CURE=1")
    variables = environment(bench.variables())
    done = subprocess.run(
        [*words, "--", "bash", "-c", line], env=variables, cwd=bench.folder, capture_output=True, check=True
    )
    made = json.loads(done.stdout)
    assert (made["verdict"], made["failures"]["treatment"]) == ("cures", 0)
    assert made["failures"]["control"] >= 3
    assert (bench.state / "1/reference.output").read_text() == "right\n"
    assert "reference.output" in " ".join(made["advice"])


def test_outputs_that_always_differ_are_named(bench: Bench) -> None:
    words = ("--same-output", "--set", "env.CURE=1", "--", "sh", "-c", "date +%N")
    refused = bench.run("try", *words)
    assert "error[RC4517]" in refused.err
    assert "--check" in unfolded(refused.err)
    assert len([line for line in bench.lines() if line["kind"] == "ran"]) == 20


def test_a_daemon_without_our_mark_is_ended_before_the_next_run(bench: Bench) -> None:
    pids_file = bench.folder / "pids"
    pids_file.touch()
    daemon = f'(env -i setsid sh -c "echo \\$\\$ >> {pids_file}; exec sleep {LONG}" &)'
    has_begun = f'[ "$(wc -l < {pids_file})" -gt "$before" ]'
    line = f"before=$(wc -l < {pids_file}); {daemon}; until {has_begun}; do sleep 0.01; done; exit 1"
    made = bench.run("try", "--json", "--set", "env.CURE=1", "--no-warm-up", "--", "sh", "-c", line).document
    assert "foreground" in " ".join(made["advice"])
    pids = pids_file.read_text().split()
    assert len(pids) >= 3
    assert not [pid for pid in pids if processes.runs(pid, f"sleep {LONG}")]


@pytest.mark.parametrize(
    ("program", "summary", "hint"),
    [
        (("here",), "cannot run here: it is in no folder of PATH", "run as ./here"),
        (("./gone",), "cannot run ./gone: No such file or directory", "check the name"),
        (("A=1", "./here", "a b"), "cannot run A=1", "env A=1 ./here 'a b'"),
        (("cd", "x"), "cannot run cd", "sh -c"),
        (("",), "cannot run an empty name", "check the name"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "try --set env.CURE=1"])
def test_what_is_not_a_program_is_named_with_what_to_write(
    bench: Bench, verb: str, program: tuple[str, ...], summary: str, hint: str
) -> None:
    (bench.folder / "here").write_text("#!/bin/sh\n")
    (bench.folder / "here").chmod(0o755)
    variables = environment(bench.variables(PATH=f"/nowhere:{os.environ['PATH']}"))
    words = command(*verb.split(), "--", *program)
    refused = subprocess.run(
        words, env=variables, cwd=bench.folder, capture_output=True, text=True, check=False
    )
    assert summary in unfolded(refused.stderr)
    assert hint in unfolded(refused.stderr)


def in_small_disk(bench: Bench, script: str) -> Result:
    """Run a script where the tries lie on a file system that the folder of its own holds: 20 MB."""
    small = bench.folder / "small"
    small.mkdir()
    mounted = f"mount -t tmpfs -o size=20m,mode=700 none {small}; {script}"
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounted]
    return process(argv, env={**bench.variables(P="100"), "XDG_STATE_HOME": str(small)})


@needs_mounts
def test_a_disk_that_fills_up_stops_the_try_which_goes_on_afterwards(bench: Bench) -> None:
    fills = f"[ -s runs ] && mkdir filled && head -c 10000000 /dev/zero > {bench.folder}/small/full"
    line = f"cd {bench.folder}; {fills}; echo >> runs; exit 1"
    words = shlex.join(command("try", "--set", "env.CURE=1", "--", "sh", "-c", line))
    resumed = shlex.join(command("tries", "resume", "--json"))
    done = in_small_disk(bench, f"{words}; rm {bench.folder}/small/full; {resumed}")
    assert "error[RC3002]" in done.err
    assert "error[RC4515]" in done.err
    assert "`rocmcfg tries resume 1` continues it" in unfolded(done.err)
    assert '"try": 1' in done.out


@needs_mounts
def test_a_try_that_cannot_be_put_on_record_leaves_nothing(bench: Bench) -> None:
    words = shlex.join(command("try", "--set", "env.CURE=1", "--", bench.program))
    shown = shlex.join(command("tries", "list"))
    done = in_small_disk(bench, f"head -c 30000000 /dev/zero > {bench.folder}/small/full; {words}; {shown}")
    assert "error[RC3002]" in done.err
    assert "RC4504" not in done.err
    assert "No tries yet" in done.out


def test_the_table_says_with_and_without_and_where_files_are(bench: Bench) -> None:
    done = process(bench.words(), env=bench.variables(P="100"))
    assert "SETTINGS  RUNS  FAILED" in done.out
    assert re.search(r"^none +\d+ +\d+ +100 %", done.out, re.MULTILINE)
    assert re.search(r"^CURE=1 +\d+ +0 ", done.out, re.MULTILINE)
    assert f"first failures: {bench.state}/1" in unfolded(done.out)
    shown = bench.run("tries", "show", "--json").document
    assert all(Path(name).is_file() for name in shown["kept"])


def test_the_list_says_what_each_try_shows(bench: Bench) -> None:
    made = bench.tried(P="100")
    bench.tried("--runs", "3", P="100")
    listed = bench.run("tries", "list").out
    assert too_wide(listed) == []
    assert f"1 {made['began'][:16].replace('T', ' ')} UTC {bench.program}" in unfolded(listed)
    assert made["sentence"] in unfolded(listed)
    assert "Undecided: the allowed runs are used up." in unfolded(listed)


def test_more_runs_are_offered_where_they_are_used_up(bench: Bench) -> None:
    done = process(bench.words("--runs", "3"), env=bench.variables(P="100"))
    assert "To allow more: rocmcfg tries resume 1 --runs N" in done.out


def test_one_variable_that_can_go_is_told_in_the_singular(bench: Bench) -> None:
    words = command("try", "--no-warm-up", "--json", "--drop", "CURE", "--", bench.program)
    needed = process(words, env=bench.variables(CURE="1", P="100")).document
    assert needed["sentence"].startswith(
        "CURE is needed here: the program failed in 4 of 4 runs without it, and"
    )
    gone = process(words, env=bench.variables(CURE="1", P="0")).document
    assert gone["sentence"].startswith(
        "CURE is not needed here: without it the program failed in none of 59 runs;"
    )


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.94, "took about as long with the setting as without"),
        (1.31, "took 1.31 times as long with the setting"),
    ],
)
def test_the_price_of_a_cure_says_no_more_than_was_measured(ratio: float, text: str) -> None:
    """The times of a few runs differ by chance."""
    design = Design("cure", (Variable("CURE", "1"),))
    tallies = {0: Tally(5, 4), 1: Tally(5)}
    price = Price(ratio, None, None)
    evidence = Evidence(
        design,
        Finding("cures", 1),
        tallies,
        Tally(5),
        45.1,
        price,
        Counter(),
        hardware=False,
        left_behind=False,
    )
    assert text in sentence(evidence)


@pytest.mark.parametrize(("pattern", "bad"), [("(a+)+$", True), ("(?i)loss is (nan|inf)", False)])
def test_a_pattern_that_may_take_for_ever_is_refused(bench: Bench, pattern: str, *, bad: bool) -> None:
    done = bench.run("try", "--runs", "1", "--set", "env.CURE=1", "--bad-if-output", pattern, "--", "true")
    assert (done.code, "for ever" in unfolded(done.err)) == ((2, True) if bad else (0, False))


def test_a_pattern_that_takes_for_ever_ends_the_try_with_the_reason(bench: Bench) -> None:
    """Its form does not show that; the line of the program does."""
    words = ("--runs", "1", "--no-warm-up", "--set", "env.CURE=1", "--bad-if-output", "(a+b?){7}c")
    done = bench.run("try", *words, "--", "sh", "-c", "printf '%0400d\n' 0 | tr 0 a")
    assert (done.code, "RC4519" in done.err, "takes too long" in unfolded(done.err)) == (1, True, True)
    worse = bench.run("try", *words, "--", "sh", "-c", "printf '%0400d\n' 0 | tr 0 a; exit 3")
    assert worse.code == 0, "that run has failed, whatever it printed"


def test_a_crash_leads_to_the_sentence_in_two_commands(bench: Bench) -> None:
    """The first one names the second one."""
    line = f"cat {FAULT_LOG} >> {bench.folder}/kernel.log; kill -SEGV $$"
    crashed = bench.run("run", "--log", bench.folder / "kernel.log", "--", "sh", "-c", line)
    second = unfolded(crashed.err).partition("cure the fault: rocmcfg ")[2].replace("\\ ", "")
    options, _, program = second.partition(" -- ")
    assert shlex.split(program) == ["sh", "-c", line]
    words = shlex.split(options)
    assert words[0] == "try"
    assert "--log" in words
    variables = [word for word in words if word.startswith("env.")]
    assert "env.TORCH_BLAS_PREFER_HIPBLASLT=0" in variables
    cured = f'[ "$TORCH_BLAS_PREFER_HIPBLASLT" = 0 ] || {{ {line}; }}'
    tried = bench.run(*words, "--", "sh", "-c", cured)
    assert "cure the fault here" in unfolded(tried.out)


def test_a_search_looks_first_at_what_doctor_names(bench: Bench) -> None:
    (bench.folder / "kernel.log").write_text(FAULT_LOG.read_text())
    others = ("HSA_XNACK=1", "TORCH_BLAS_PREFER_HIPBLASLT=0", "GPU_MAX_HW_QUEUES=2")
    words = [word for name in others for word in ("--set", f"env.{name}")]
    done = process(bench.words("--which", *words), env=bench.variables(P="90"))
    assert "kernel's log: TORCH_BLAS_PREFER_HIPBLASLT.\n" in done.out
    design = bench.lines()[0]["design"]
    weights = dict(zip((each["name"] for each in design["settings"]), design["weights"], strict=True))
    assert weights.pop("TORCH_BLAS_PREFER_HIPBLASLT") > 5
    assert {*weights.values()} == {1}
    assert "CURE=1 cures the fault here" in unfolded(done.out), "a log that misleads makes no claim"
