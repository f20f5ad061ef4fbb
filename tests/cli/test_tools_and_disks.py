"""Tools that fail, hang, prompt and lie; disks that are full or read-only; signals; two at once.

Whatever happens: the exit code of the contract, one cause, and the host as it was. The trees are fake, the
processes, signals, time limits and file systems are real.
"""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from tests.support import processes
from tests.support.hosts import debian_grub_host
from tests.support.program import (
    SOURCE,
    Result,
    command,
    environment,
    in_namespace,
    needs_mounts,
    problem,
    process,
    rocmcfg,
    tool_command,
)
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG, require_tool
from tests.support.trees import Tree, tree
from tests.support.usecases import apply as quick_apply
from tests.support.usecases import attempt as quick_attempt
from tests.support.usecases import reject as quick_reject
from tests.support.usecases import rollback as quick_rollback

DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
RUNPM = ("--set", "amdgpu.runpm=0")
ROOT = os.geteuid() == 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, amdgpu_in_initramfs=True)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


def tool(tools: Path, name: str, script: str) -> None:
    path = tools / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


def host(root: Path) -> Tree:
    """Without our journals and the times of what tools generate."""
    found = tree(root, state=False)
    for path, entry in found.items():
        if path.startswith("boot/") and len(entry) == 5:
            found[path] = entry[:-1]
    return found


def state_of(root: Path) -> list[str]:
    """The transactions, newest first."""
    return [t["state"] for t in rocmcfg("history", "--root", root, "--json").document["transactions"]]


def apply(root: Path, tools: Path, *options: str, via: str = "cmdline") -> Result:
    return rocmcfg("apply", "--root", root, "--yes", *RUNPM, "--via", via, *options, tools=tools)


# -- tools ---------------------------------------------------------------------------------------------


def test_an_undo_without_programs_is_finished_before_another_begins(root: Path) -> None:
    """A rescue system without --chroot leaves update-grub to the user: until it has run no boot is another,
    and finishing it takes nothing back that is still wanted."""
    require_tool("grub-editenv", "grub-common")
    host, menu = QuickHost(str(root)), root / "boot/grub/grub.cfg"
    quick_apply(host, set=("amdgpu.runpm=0",))
    quick_apply(host, set=("amdgpu.runpm=0", "amdgpu.cwsr_enable=0"))
    menu.write_text(menu.read_text() + "# made anew since, so that the saved one is not put back\n")
    undone = rocmcfg("rollback", "--root", root, "--yes", "--json")
    assert (undone.code, undone.ids) == (0, ["RC4016"])
    assert "amdgpu.cwsr_enable=0" in menu.read_text()
    for verb in ("verify", "recover", "status"):
        assert "RC4016" in rocmcfg(verb, "--root", root, "--json").ids, verb
    planned = rocmcfg("rollback", "--dry-run", "--root", root, "--json").document
    assert planned["transactions"] == [1], "where no program runs, the files of the one before can go too"
    quick_rollback(host)
    assert "amdgpu.cwsr_enable" not in menu.read_text()
    assert "amdgpu.runpm=0" in menu.read_text(), "the transaction before it stands"
    assert "RC4016" not in rocmcfg("verify", "--root", root, "--json").ids
    quick_rollback(host)
    assert "amdgpu" not in menu.read_text()
    for verb in ("attempt", "attempt"):  # a trial has its place in the menu, as the one before it had
        quick_attempt(host, set=("amdgpu.cwsr_enable=0",))
        assert "RC4016" not in rocmcfg("verify", "--root", root, "--json").ids, verb
        quick_reject(host)
    quick_apply(host, set=("amdgpu.cwsr_enable=0",))
    assert "RC4016" not in rocmcfg("verify", "--root", root, "--json").ids
    assert rocmcfg("rollback", "--dry-run", "--root", root, "--json").document["transactions"] == [5]


def test_a_host_of_which_an_undo_is_not_finished_is_pending(root: Path) -> None:
    host, menu = QuickHost(str(root)), root / "boot/grub/grub.cfg"
    quick_apply(host, set=("amdgpu.runpm=0",))
    menu.write_text(menu.read_text() + "# made anew since, so that the saved one is not put back\n")
    assert rocmcfg("rollback", "--root", root, "--yes").code == 0
    verified = rocmcfg("verify", "--root", root, "--json")
    assert (verified.code, verified.document["status"]) == (6, "pending"), "no script may take it for well"
    quick_rollback(host)
    assert rocmcfg("verify", "--root", root).code == 0


def test_a_tool_that_is_not_there_is_known_before_anything_is_written(root: Path, tools: Path) -> None:
    (root / "usr/sbin/update-initramfs").chmod(0o644)
    before = tree(root)
    said = problem(apply(root, tools, via="modprobe"), "RC3005", 1)
    assert "update-initramfs is not installed" in said
    assert tree(root) == before


def test_a_tool_that_fails_is_quoted_and_all_is_rolled_back(root: Path, tools: Path) -> None:
    tool(tools, "update-grub", "echo 'grub-probe: error: cannot find a device' >&2\nexit 1\n")
    before = host(root)
    said = problem(apply(root, tools), "RC3003", 4)
    assert "exit status 1" in said
    assert "cannot find a device" in said
    assert "warning[RC4012]" in said
    assert host(root) == before
    assert state_of(root) == ["rolled_back"]


def test_the_document_of_a_failure_says_how_the_host_is(root: Path, tools: Path) -> None:
    refused = apply(root, tools, "--profile", "nope", "--json")
    assert refused.document["outcome"] == "nothing_changed"
    assert rocmcfg("apply", "--json").document["outcome"] == "nothing_changed"
    tool(tools, "update-grub", "exit 1\n")
    failed = apply(root, tools, "--json")
    assert (failed.code, failed.ids) == (4, ["RC3003", "RC4012"])
    assert failed.document["outcome"] == "rolled_back"
    (tools / "update-grub").unlink()
    assert apply(root, tools, "--json").code == 0
    tool(tools, "update-grub", "exit 1\n")
    for verb in (("rollback", "--yes"), ("apply", "--yes", *RUNPM), ("rollback", "--dry-run"), ("verify",)):
        stuck = rocmcfg(*verb, "--root", root, "--json", tools=tools)
        assert (stuck.code, stuck.document["outcome"]) == (5, "recovery_required"), verb


def test_what_a_failing_tool_left_half_written_is_put_back(root: Path, tools: Path) -> None:
    tool(tools, "update-grub", 'echo broken > "$1/boot/grub/grub.cfg"\nexit 1\n')
    before = host(root)
    problem(apply(root, tools), "RC3003", 4)
    assert host(root) == before


def test_a_tool_that_hangs_is_ended_with_all_that_it_started(
    root: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(tools, "update-grub", f'sleep {2 * HANG} &\necho $! > "$1/boot/child"\nwait\n')
    child = root / "boot/child"
    for limit in (1, 10, 100):  # a busy machine may not have started it by then
        monkeypatch.setenv("ROCMCFG_TOOL_TIMEOUT", str(limit))
        began = time.monotonic()
        said = problem(apply(root, tools), "RC3003", 4)
        assert time.monotonic() - began < HANG
        assert f"did not finish within {limit} s" in said
        assert "ROCMCFG_TOOL_TIMEOUT" in said
        if child.exists() and child.read_text():
            break
    assert not processes.runs(child.read_text(), f"sleep {2 * HANG}")
    assert not (root / DROP_IN).exists()


def test_a_tool_that_asks_gets_an_end_of_input_and_no_answer(root: Path, tools: Path) -> None:
    tool(tools, "update-grub", 'read answer && exit 0\necho "no answer" >&2\nexit 3\n')
    said = problem(apply(root, tools), "RC3003", 4)
    assert "no answer" in said


def test_an_update_grub_that_lies_is_found_out(root: Path, tools: Path) -> None:
    tool(tools, "update-grub", "echo done\nexit 0\n")
    before = host(root)
    said = apply(root, tools)
    assert said.code == 4
    assert "error[RC3103]" in said.err
    assert "is missing amdgpu.runpm=0" in said.err
    assert host(root) == before


def test_garbage_that_a_tool_prints_does_not_disturb(root: Path, tools: Path) -> None:
    tool(tools, "update-grub", "head -c 300000 /dev/urandom\nhead -c 300 /dev/urandom >&2\nexit 7\n")
    found = apply(root, tools, "--json")
    assert found.code == 4
    assert found.ids[0] == "RC3003"
    assert host(root)


def test_a_rollback_whose_tool_fails_asks_for_recover_and_recover_ends_it(root: Path, tools: Path) -> None:
    before = host(root)
    assert apply(root, tools).code == 0
    tool(tools, "update-grub", "echo 'no space' >&2\nexit 1\n")
    found = rocmcfg("rollback", "--root", root, "--yes", tools=tools)
    said = problem(found, "RC3003", 5)
    assert "rocmcfg recover" in said
    refused = rocmcfg("apply", "--root", root, "--yes", *RUNPM, tools=tools)
    assert "rocmcfg recover" in problem(refused, "RC4021", 5)
    (said,) = rocmcfg("status", "--root", root, "--json").document["diagnostics"]
    assert said["id"] == "RC4021", said
    assert f"`rocmcfg recover --chroot --root {root}`" in said["hint"], "what ran there is to run again"
    (tools / "update-grub").unlink()
    assert rocmcfg("recover", "--root", root, tools=tools).code == 0
    assert {p: e[:4] for p, e in host(root).items()} == {p: e[:4] for p, e in before.items()}
    assert state_of(root) == ["rolled_back"]
    again = rocmcfg("recover", "--root", root, tools=tools)
    assert (again.code, again.out) == (0, "Nothing to recover: no transaction was interrupted.\n")


def test_a_program_that_fails_is_not_said_to_have_left_nothing(root: Path, tools: Path) -> None:
    assert apply(root, tools).code == 0
    tool(tools, "update-grub", "exit 1\n")
    undone = rocmcfg("rollback", "--root", root, "--yes", tools=tools)
    assert "warning[RC4034]: update-grub failed: /boot/grub/grub.cfg was restored" in " ".join(
        undone.err.split()
    ), undone
    assert "runpm" not in (root / "boot/grub/grub.cfg").read_text()


def test_a_rollback_that_leaves_a_menu_with_our_arguments_is_found_out(root: Path, tools: Path) -> None:
    assert apply(root, tools).code == 0
    tool(tools, "update-grub", "exit 0\n")
    found = rocmcfg("rollback", "--root", root, "--yes", tools=tools)
    assert found.code == 0, found
    assert "warning[RC4034]: update-grub left unusable files" in " ".join(found.err.split())
    assert "runpm" not in (root / "boot/grub/grub.cfg").read_text()


# -- signals -------------------------------------------------------------------------------------------


def _in_the_middle(root: Path, tools: Path, *verb: str) -> subprocess.Popen[str]:
    """The program, while its tool runs: as long as the file that it writes is there."""
    running = 'echo $$ >"$1/boot/running"\nwhile [ -e "$1/boot/running" ]; do sleep 0.5; done\n'
    tool(tools, "update-grub", running)
    (root / "boot/running").unlink(missing_ok=True)
    child = subprocess.Popen(
        tool_command(tools, *verb, "--root", root),
        cwd=SOURCE,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell starts what it puts into the background with SIGINT ignored, and a program keeps to that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # takes no lock
    )
    deadline = time.monotonic() + HANG
    while not (root / "boot/running").exists():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.1)
    return child


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda n: n.name)
def test_an_interrupted_apply_is_rolled_back(root: Path, tools: Path, number: signal.Signals) -> None:
    before = host(root)
    child = _in_the_middle(root, tools, "apply", "--yes", *RUNPM)
    # the tool that the rollback runs is the same slow one: the stand-in takes its place before that begins
    (tools / "update-grub").unlink()
    child.send_signal(number)
    out, err = child.communicate(timeout=HANG)
    problem(Result(child.returncode, out, err), "RC4010", 4)
    (root / "boot/running").unlink()
    assert host(root) == before
    assert state_of(root) == ["rolled_back"]


def test_an_interrupted_rollback_says_that_recover_is_needed(root: Path, tools: Path) -> None:
    assert apply(root, tools).code == 0
    child = _in_the_middle(root, tools, "rollback", "--yes")
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=HANG)
    said = problem(Result(child.returncode, out, err), "RC4010", 5)
    assert "rocmcfg recover" in said
    (root / "boot/running").unlink()
    (tools / "update-grub").unlink()
    assert rocmcfg("recover", "--root", root, tools=tools).code == 0
    assert state_of(root) == ["rolled_back"]


# -- disks ---------------------------------------------------------------------------------------------


@needs_mounts
@pytest.mark.parametrize("place", ["etc", "var"])
def test_a_read_only_file_system_is_known_before_anything_is_written(root: Path, place: str) -> None:
    (root / "var").mkdir(exist_ok=True)
    before = tree(root)
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
    found = in_namespace(script, root / place, *command("apply", "--root", root, "--yes", *RUNPM))
    assert found.code == 1, found.err
    assert "Traceback" not in found.err
    assert "error[RC3002]" in found.err
    said = " ".join(found.err.split())
    assert f"below {root}: " in said
    assert "remount" in found.err
    assert tree(root) == before


@needs_mounts
@pytest.mark.parametrize("free", [0, 4, 8, 12, 16, 20, 24, 32, 40])
def test_a_full_file_system_changes_nothing(root: Path, tmp_path: Path, free: int) -> None:
    """With `free` KiB left some steps succeed and a later one fails; all of it is taken back."""
    script = (
        'mount -t tmpfs -o size=4m tmpfs "$1" && cp -a "$2/." "$1/" && cd / && '
        'room=$(df -k --output=avail "$1" | tail -1) && '
        'head -c $(( (room - $3) * 1024 )) /dev/zero > "$1/filler"; '
        'report="$4"; root=$1; shift 4; "$@" --root "$root"; code=$?; '
        'rm "$root/filler"; cp -a "$root/." "$report/"; exit $code'
    )
    mount, report = tmp_path / "mount", tmp_path / "report"
    mount.mkdir()
    report.mkdir()
    before = tree(root, state=False)
    settings = ("--set", "env.HSA_XNACK=0", *RUNPM)
    found = in_namespace(script, mount, root, str(free), report, *command("apply", "--yes", *settings))
    assert "Traceback" not in found.err
    assert "RC9000" not in found.err
    assert found.code in (0, 1, 4), f"{found.code}\n{found.err}"
    if found.code == 0:
        assert free >= 32
        return
    assert "error[RC3002]" in found.err
    assert "full" in found.err or "space" in found.err
    after = tree(report, state=False)
    assert {p: e for p, e in after.items() if not p.startswith("var")} == {
        p: e for p, e in before.items() if not p.startswith("var")
    }
    assert rocmcfg("recover", "--root", report).code == 0
    assert rocmcfg("apply", "--yes", *settings, "--root", report).code == 0, "usable once there is room"


@needs_mounts
@pytest.mark.parametrize("damage", ["", ': > "$1/boot/grub/grub.cfg"\n'], ids=["before", "in the middle"])
def test_a_boot_disk_that_fills_up_is_a_failed_apply(root: Path, tools: Path, damage: str) -> None:
    """As grub-mkconfig does it: into grub.cfg.new, which then is what fills the disk."""
    tool(tools, "update-grub", f'{damage}cat /dev/zero > "$1/boot/grub/grub.cfg.new"\n')
    before = host(root)
    script = (
        'cp -a "$1/boot" "$1/saved" && mount -t tmpfs -o size=1m tmpfs "$1/boot" && '
        'cp -a "$1/saved/." "$1/boot/" && cd / && root=$1 && shift && "$@"; code=$?; '
        'ls "$root/boot/grub"; cmp "$root/boot/grub/grub.cfg" "$root/saved/grub/grub.cfg" || code=99; '
        'rm -r "$root/saved"; exit $code'
    )
    found = in_namespace(script, root, *tool_command(tools, "apply", "--yes", *RUNPM, "--root", root))
    problem(found, "RC3003", 4)
    assert "grub.cfg.new" not in found.out
    assert host(root) == before


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_a_directory_without_the_right_to_write(root: Path) -> None:
    (root / "etc/default/grub.d").mkdir(exist_ok=True)
    (root / "etc/default/grub.d").chmod(0o555)
    before = tree(root)
    problem(rocmcfg("apply", "--root", root, "--yes", *RUNPM), "RC3002", 1)
    assert tree(root) == before


# -- two at once, and what changes while a question is open ---------------------------------------------


def test_of_two_at_once_the_second_is_sent_away(root: Path) -> None:
    before = tree(root)
    with LocalHost(str(root)).lock():
        for verb in (("apply", "--yes", *RUNPM), ("rollback", "--yes")):
            problem(process(command(*verb, "--root", root)), "RC3004", 1)
        assert process(command("recover", "--root", root)).code == 0, "nothing is interrupted"
        found = process(command("apply", "--yes", *RUNPM, "--json", "--root", root))
        assert (found.code, found.ids, found.document["outcome"]) == (1, ["RC3004"], "nothing_changed")
        assert process(command("plan", *RUNPM, "--root", root)).code == 0, "looking is always allowed"
    assert tree(root) == before


def test_what_is_at_work_is_not_called_interrupted(root: Path, tools: Path) -> None:
    child = _in_the_middle(root, tools, "apply", "--yes", *RUNPM)
    try:
        for verb in (("verify",), ("rollback", "--dry-run"), ("recover",)):
            problem(process(command(*verb, "--root", root)), "RC3004", 1)
        assert "RC3004" in process(command("status", "--root", root)).err
    finally:
        child.kill()
        child.wait()
        os.killpg(int((root / "boot/running").read_text()), signal.SIGKILL)
    problem(process(command("verify", "--root", root)), "RC4021", 5)


def _terminal(root: Path, meanwhile: object, answer: bytes) -> tuple[int, str]:
    """Run apply at a terminal; call `meanwhile` while its question is open, then answer."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(SOURCE)
        os.environ.update(environment({"TERM": "xterm", "NO_COLOR": ""}))
        os.execv(sys.executable, command("apply", "--root", root, *RUNPM))
    said = b""
    answered = False
    while True:
        ready, _, _ = select.select([terminal], [], [], HANG)
        assert ready, said
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            break
        said += piece
        if b"[y/N]" in said and not answered:
            answered = True
            assert callable(meanwhile)
            meanwhile()
            os.write(terminal, answer)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()


def test_a_file_that_changes_while_the_question_is_open_makes_the_plan_stale(root: Path) -> None:
    def edit() -> None:
        (root / DROP_IN).parent.mkdir(exist_ok=True)
        (root / DROP_IN).write_text("# Written by rocmcfg, says somebody else\n")

    code, said = _terminal(root, edit, b"y\n")
    assert code == 1, said
    assert "error[RC4004]" in said.replace("\x1b[31m", "").replace("\x1b[0m", "")
    assert "changed after the plan was made" in " ".join(said.split())
    assert (root / DROP_IN).read_text() == "# Written by rocmcfg, says somebody else\n"


def test_a_terminal_is_answered_in_colour_and_no_color_is_respected(root: Path) -> None:
    code, said = _terminal(root, lambda: None, b"y\n")
    assert code == 0, said
    assert "\x1b[1mSettings" in said
    assert (root / DROP_IN).exists()


# -- damaged state -------------------------------------------------------------------------------------


@pytest.fixture
def applied(root: Path) -> Path:
    quick_apply(QuickHost(str(root)), set=("amdgpu.runpm=0",))
    return root


def _journal(root: Path) -> Path:
    return root / "var/lib/rocmcfg/transactions/000001/journal.jsonl"


def _changed(line: bytes) -> bytes:
    return line.replace(b'"kind":"file"', b'"kind":"fil_"', 1)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda _: b"{not json", "it is damaged"),
        (lambda _: b"[]", "it is damaged"),
        (lambda _: b"\xff\xfe", "it is damaged"),
        (lambda _: b"[" * 200_000, "it is damaged"),
        (_changed, "a checksum is wrong"),
    ],
    ids=["not JSON", "not an object", "not text", "too deep", "changed"],
)
def test_a_journal_that_cannot_be_trusted_stops_everything(applied: Path, damage: object, says: str) -> None:
    path = _journal(applied)
    lines = path.read_bytes().split(b"\n")
    at = next(n for n, line in enumerate(lines) if b'"kind":"file"' in line)
    assert callable(damage)
    lines[at] = damage(lines[at])
    path.write_bytes(b"\n".join(lines))
    before = tree(applied)
    for verb in (
        ("apply", "--yes", "--set", "amdgpu.runpm=1"),
        ("rollback", "--yes"),
        ("recover",),
        ("history",),
    ):
        said = problem(rocmcfg(*verb, "--root", applied), "RC4020", 5)
        assert says in said
        assert f"journal.jsonl:{at + 1}" in said
    assert tree(applied) == before
    assert "RC4020" in rocmcfg("status", "--root", applied).err


def test_a_torn_last_line_is_what_a_power_cut_leaves(applied: Path) -> None:
    path = _journal(applied)
    with path.open("ab") as stream:
        stream.write(b'{"v":1,"kind":"und')
    assert rocmcfg("history", "--root", applied).code == 0
    assert rocmcfg("rollback", "--root", applied, "--yes").code == 0
    assert state_of(applied) == ["rolled_back"], "and what is appended behind it can be read"


def test_a_backup_that_is_damaged_is_not_written_back(applied: Path) -> None:
    quick_apply(QuickHost(str(applied)), set=("amdgpu.runpm=1",))
    backups = applied / "var/lib/rocmcfg/transactions/000002/backups"
    for path in backups.iterdir():
        path.write_bytes(b"garbage")
    found = rocmcfg("rollback", "--root", applied, "--yes")
    assert found.code == 5
    assert "saved file is missing or damaged" in found.err
    assert "amdgpu.runpm=1" in (applied / DROP_IN).read_text()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "damaged"),
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"schema_version": 1}', "damaged"),
        ('{"schema_version": "x"}', "damaged"),
    ],
)
def test_a_receipt_that_cannot_be_used_is_said_and_replaced_by_the_next_apply(
    applied: Path, text: str, says: str
) -> None:
    path = applied / "var/lib/rocmcfg/receipt.json"
    path.write_text(text)
    said = problem(rocmcfg("verify", "--root", applied), "RC4030", 1)
    assert says in said
    found = rocmcfg("status", "--root", applied)
    assert found.code == 0
    assert "RC4030" in found.err
    again = rocmcfg("apply", "--root", applied, "--yes", "--set", "amdgpu.runpm=1")
    assert again.code == 0, again.err
    assert rocmcfg("verify", "--root", applied).code == 6


def test_a_file_edited_since_is_kept_unless_it_is_forced(applied: Path) -> None:
    with (applied / DROP_IN).open("a") as stream:
        stream.write("# mine\n")
    said = problem(rocmcfg("rollback", "--root", applied, "--yes"), "RC4022", 1)
    assert "--force" in said
    assert "# mine" in (applied / DROP_IN).read_text()
    assert rocmcfg("rollback", "--root", applied, "--yes", "--force").code == 0
    assert not (applied / DROP_IN).exists()
    kept = [p.read_text() for p in (applied / "var/lib/rocmcfg/transactions/000001/backups").iterdir()]
    assert any("# mine" in text for text in kept), "a copy of the edit stays"
