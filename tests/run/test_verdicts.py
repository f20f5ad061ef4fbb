"""`run` says which known issue, fault or part ended a program, by the kernel's lines of just that time."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.host import kernel_log
from rocmcfg.host.kernel_log import KernelLog
from tests.support.program import command, process, unfolded

PAGE_FAULT = "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)"
RING = "amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3"
ECC = "amdgpu 0000:83:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block"
REFUSED = "amdgpu: unknown parameter 'gfxoff' ignored"
HEALTHY = "usb 1-2: new high-speed USB device number 4 using xhci_hcd"


def watched(tmp_path: Path, program: str, *lines: str, before: str = "") -> tuple[str, dict[str, Any]]:
    """Run a shell line that logs these lines, and return what `run` printed on stderr and its report."""
    log, report = tmp_path / "kernel.log", tmp_path / "report.json"
    log.write_text(f"[    1.0] Linux version 6.14.0\n{before}\n")
    logging = "".join(f"echo {shlex.quote(f'[   60.000001] {line}')} >> {log}\n" for line in lines)
    words = command("run", "--log", log, "--json", report, "--", "sh", "-c", logging + program)
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    return unfolded(ended.stderr), json.loads(report.read_text())


@pytest.mark.parametrize(
    ("lines", "verdict", "id"),
    [
        ([PAGE_FAULT], "fault", "AMD-401"),
        ([RING], "fault", "AMD-501"),
        ([HEALTHY, RING, PAGE_FAULT], "fault", "AMD-501"),
        ([ECC], "hardware", "AMD-8"),
        ([REFUSED], "known-issue", "lint-unknown-param"),
        ([HEALTHY], "program", ""),
        ([], "program", ""),
    ],
)
@pytest.mark.parametrize("end", ["exit 3", "kill -ABRT $$"])
def test_a_failure_is_explained_in_one_sentence(
    tmp_path: Path, lines: list[str], verdict: str, id: str, end: str
) -> None:
    sentence, report = watched(tmp_path, end, *lines)
    assert report["verdict"] == verdict, report
    assert report["id"].startswith(id)
    assert report["title"] in sentence
    assert f"rocmcfg: {report['sentence']}" == sentence
    assert ("exit code 3" if "exit" in end else "SIGABRT") in sentence
    assert report["lines"] == len(lines)
    assert not lines or verdict == "program" or report["evidence"][0] in (PAGE_FAULT, RING, ECC, REFUSED)


def test_a_fault_is_told_where_the_program_ends_well(tmp_path: Path) -> None:
    sentence, report = watched(tmp_path, "true", PAGE_FAULT)
    assert report["exit_code"] == 0
    assert sentence.startswith("rocmcfg: sh ended well, and the kernel logged a fault meanwhile")


@pytest.mark.parametrize("lines", [(), (HEALTHY,)])
def test_all_is_quiet_where_all_is_well(tmp_path: Path, lines: tuple[str, ...]) -> None:
    sentence, report = watched(tmp_path, "true", *lines)
    assert (sentence, report["verdict"], report["sentence"]) == ("", "well", "")


def test_a_fault_before_the_start_is_not_the_programs(tmp_path: Path) -> None:
    _, report = watched(tmp_path, "exit 1", HEALTHY, before=f"[   59.000001] {PAGE_FAULT}")
    assert (report["verdict"], report["lines"]) == ("program", 1)


def test_a_log_that_was_rotated_is_read_from_its_start(tmp_path: Path) -> None:
    _, report = watched(tmp_path, f"echo '{PAGE_FAULT}' > {tmp_path}/kernel.log; exit 1", before=HEALTHY * 9)
    assert (report["verdict"], report["lines_lost"]) == ("fault", True)
    (tmp_path / "kernel.log").unlink()
    log = tmp_path / "kernel.log"
    line = f"mv {log} {log}.1; echo '{PAGE_FAULT}' > {log}; exit 1"
    _, report = watched(tmp_path, line, HEALTHY)
    assert (report["verdict"], report["lines"], report["lines_lost"]) == ("fault", 2, False)


def test_what_another_layer_hid_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither /dev/kmsg nor the journal can be read, the cause is unknown, and the sentence says so."""
    monkeypatch.setattr(kernel_log, "_DEVICE", str(tmp_path / "nowhere"))
    monkeypatch.setattr(kernel_log, "_JOURNAL", ("false",))
    window = KernelLog().read()
    assert window.problem == f"{tmp_path}/nowhere: No such file or directory"

    from rocmcfg.host.foreground import Ended
    from rocmcfg.host.local import LocalHost
    from rocmcfg.workflow import running

    report = running.report(LocalHost("/"), ["train"], {}, Ended(None, 6, False, False, 1.0), window)
    assert report.verdict == "unknown"
    assert "train was ended by SIGABRT. It is unknown whether the GPU failed" in report.sentence


@pytest.fixture
def kmsg() -> str:
    if not os.access("/dev/kmsg", os.W_OK):
        pytest.skip("/dev/kmsg can be written by root alone")
    return "/dev/kmsg"


@pytest.mark.slow  # not beside tests of `run`, which would see these lines too
def test_the_kernels_own_log_is_read_from_the_start_of_the_program(tmp_path: Path, kmsg: str) -> None:
    Path(kmsg).write_text(f"<3>{RING}\n")  # one moment before the start
    report = tmp_path / "report.json"
    lines = rf"printf '<3>{PAGE_FAULT}\n' > {kmsg}; printf '<6>\303\244 tab\there\n' > {kmsg}; exit 1"
    words = command("run", "--json", report, "--", "sh", "-c", lines)
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    made = json.loads(report.read_text())
    assert (ended.returncode, made["verdict"], made["id"]) == (1, "fault", "AMD-401")
    assert made["log"] == "/dev/kmsg"
    assert made["evidence"] == [PAGE_FAULT]


def test_lines_that_the_kernel_dropped_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel reports records that were overwritten before they were read with EPIPE, and goes on with the
    oldest that it has (devkmsg_read in kernel/printk/printk.c)."""
    answers = iter(
        (OSError(errno.EPIPE, "Broken pipe"), b"3,9,60000001,-;" + RING.encode() + b"\n", BlockingIOError())
    )

    def read(*_: object) -> bytes:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(kernel_log, "_DEVICE", os.devnull)
    log = KernelLog()
    monkeypatch.setattr(os, "read", read)
    window = log.read()
    monkeypatch.undo()
    assert window.lost
    assert window.text.decode() == f"[   60.000001] {RING}\n"


@pytest.mark.parametrize(
    "line", ["[1]", '{"PRIORITY": ["3", "4"]}', '{"MESSAGE": {"a": 1}, "PRIORITY": {}}', "[" * 9000]
)
def test_a_journal_that_is_none_is_a_log_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(kernel_log, "_DEVICE", str(tmp_path / "nowhere"))
    monkeypatch.setattr(kernel_log, "_JOURNAL", ("sh", "-c", 'echo "$0"', line))
    assert KernelLog().read().problem.endswith("No such file or directory")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--json", "/nowhere/report.json"), "/nowhere/report.json"),
        (("--log", "/nowhere/kernel.log"), "/nowhere/kernel.log"),
        (("--without", "env.A"), "name it with -p"),
    ],
)
def test_wrong_options_are_told_before_the_program_starts(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    words = command("run", *options, "--", "touch", tmp_path / "started")
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode in (1, 2)
    assert message in unfolded(ended.stderr)
    assert not (tmp_path / "started").exists()


def test_a_report_that_cannot_be_written_changes_no_exit_code(tmp_path: Path) -> None:
    ended = subprocess.run(
        command("run", "--json", "/dev/full", "--", "sh", "-c", "exit 4"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 4
    assert "/dev/full" in ended.stderr


def test_a_log_that_has_no_end_is_refused(tmp_path: Path) -> None:
    """A pipe would be waited for before the program is even started."""
    os.mkfifo(tmp_path / "pipe")
    for log in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        for words in (("run",), ("try", "--set", "env.HSA_XNACK=1", "--runs", "2")):
            env = {"XDG_STATE_HOME": str(tmp_path / "state")}
            refused = process(command(*words, "--log", log, "--", "true"), env=env)
            assert refused.code == 1
            assert "not a regular file" in refused.err, refused.err
    nowhere = process(command("run", "--log", "/dev/null", "--", "true"))
    assert (nowhere.code, nowhere.err) == (0, "")
