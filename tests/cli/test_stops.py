"""What is said of a host after a stop is what is so: looked up, whatever stopped the command and wherever."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest

from rocmcfg.change.transaction import recovery
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, fail
from rocmcfg.workflow.aftermath import HostAfter, aftermath, on_record
from tests.support import fake_tools, processes
from tests.support import usecases as use
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, rocmcfg, tool_command
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG
from tests.support.trees import tree

RUNPM = ("--set", "amdgpu.runpm=0", "--any-gpu")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, amdgpu_in_initramfs=True)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


@pytest.fixture
def host(root: Path) -> QuickHost:
    return QuickHost(str(root))


def states(root: Path) -> list[str]:
    return [journal.state for journal in use.journals(LocalHost(str(root)))]


# -- what is on record, before and after -------------------------------------------------------------------


def test_nothing_on_record_changed(host: QuickHost) -> None:
    before = on_record(host)
    found = aftermath(host, before, ExitCode.ERROR)
    assert (found.outcome, found.code, found.remarks) == (HostAfter.NOTHING_CHANGED, ExitCode.ERROR, ())


def test_what_was_committed_before_the_stop_is_not_called_nothing(host: QuickHost) -> None:
    before = on_record(host)
    use.apply(host, set=("amdgpu.runpm=0",), any_gpu=True)
    found = aftermath(host, before, ExitCode.ERROR)
    assert (found.outcome, found.code) == (HostAfter.CHANGED, ExitCode.ERROR)
    assert "rocmcfg history" in found.remarks[0].hint


def test_a_transaction_that_is_open_asks_for_recover_whatever_the_stop_claims(host: QuickHost) -> None:
    use.apply(host, set=("amdgpu.runpm=0",), any_gpu=True)
    before = on_record(host)
    recovery.begin_undo(_locked(host), 1)
    found = aftermath(host, before, ExitCode.ERROR)
    assert (found.outcome, found.code) == (HostAfter.RECOVERY_REQUIRED, ExitCode.RECOVERY_REQUIRED)
    assert [d.id for d in found.remarks] == ["RC4021"]


def test_one_that_somebody_else_is_at_work_on_is_not_ours(host: QuickHost) -> None:
    use.apply(host, set=("amdgpu.runpm=0",), any_gpu=True)
    recovery.begin_undo(_locked(host), 1)
    view = LocalHost(host.root)
    with LocalHost(host.root).lock():
        found = aftermath(view, on_record(view), ExitCode.ERROR)
    assert (found.outcome, found.code) == (HostAfter.NOTHING_CHANGED, ExitCode.ERROR)
    again = aftermath(view, on_record(view), ExitCode.ERROR)
    assert again.code is ExitCode.RECOVERY_REQUIRED, "nobody is at work, and it is open all the same"


def test_records_that_cannot_be_read_any_more_prove_nothing(host: QuickHost, root: Path) -> None:
    use.apply(host, set=("amdgpu.runpm=0",), any_gpu=True)
    before = on_record(host)
    (root / "var/lib/rocmcfg/transactions/000001/journal.jsonl").write_text("{}\n")
    assert aftermath(host, before, ExitCode.ERROR).outcome is HostAfter.RECOVERY_REQUIRED


def _locked(host: QuickHost) -> QuickHost:
    host.require_lock = lambda: None  # type: ignore[method-assign]
    return host


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), RuntimeError("x"), fail("RC3001", "x")])
def test_a_stop_after_the_commit_does_not_say_that_nothing_changed(
    root: Path, tools: Path, stop: BaseException
) -> None:
    with mock.patch.object(LocalHost, "log", side_effect=stop):
        found = rocmcfg("apply", "--root", root, "--yes", *RUNPM, "--json", tools=tools)
    assert found.code == 1
    assert found.document["outcome"] == "changed"
    assert "nothing was changed" not in found.out
    assert states(root) == ["committed"]


def test_a_stop_while_the_first_line_is_written_is_no_half_transaction(root: Path, tools: Path) -> None:
    """EIO at the first sync of the transaction's folder: the line is there all the same, and counts."""
    real = os.fsync
    failed: list[bool] = []

    def fsync(descriptor: int) -> None:
        if not failed and os.readlink(f"/proc/self/fd/{descriptor}").endswith("/000001"):
            with contextlib.suppress(FileNotFoundError):
                if (root / "var/lib/rocmcfg/transactions/000001/journal.jsonl").stat().st_size:
                    failed.append(True)
                    raise OSError(5, "Input/output error")
        real(descriptor)

    before = tree(root, state=False)
    with mock.patch.object(os, "fsync", fsync):
        found = rocmcfg("apply", "--root", root, "--yes", *RUNPM, "--json", tools=tools)
    assert failed
    assert (found.code, found.document["outcome"]) == (4, "rolled_back")
    assert tree(root, state=False) == before
    assert states(root) == ["rolled_back"]


# -- signals -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def in_update_grub(root: Path, tools: Path, script: str, *prefix: str) -> Iterator[subprocess.Popen[str]]:
    """An apply of the real program whose update-grub has come to its `touch "$1/boot/running"`."""
    (tools / "update-grub").write_text(f"#!/bin/sh\n{script}")
    (tools / "update-grub").chmod(0o755)
    argv = [*prefix, *tool_command(tools, "apply", "--root", root, "--yes", *RUNPM)]
    child = subprocess.Popen(
        argv, cwd=SOURCE, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + HANG
        while not (root / "boot/running").exists():
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield child
    finally:
        child.kill()
        child.communicate()


def test_under_nohup_a_closed_terminal_stops_nothing(root: Path, tools: Path) -> None:
    script = 'touch "$1/boot/running"; while [ ! -e "$1/boot/go" ]; do sleep 0.02; done\n'
    script += "sed -i 's/^\\(\\s*linux\\s.*\\)$/\\1 amdgpu.runpm=0/' \"$1/boot/grub/grub.cfg\"\n"
    with in_update_grub(root, tools, script, "nohup") as child:
        child.send_signal(signal.SIGHUP)
        (root / "boot/go").touch()
        child.communicate(timeout=HANG)
    assert child.returncode == 0
    assert states(root) == ["committed"]


def test_what_ignores_the_end_and_writes_later_is_gone_before_anything_is_taken_back(
    root: Path, tools: Path
) -> None:
    """Twice TERM, as a shutdown and an impatient user give it: nothing writes the menu afterwards."""
    before = tree(root, state=False, times=False)
    script = (
        "trap '' TERM HUP INT\n"
        'if [ -e "$1/boot/running" ]; then exit 1; fi\n'
        'touch "$1/boot/running"\n'
        '(setsid sh -c \'trap "" TERM; sleep 8; echo evil >>"$0/boot/grub/grub.cfg"\' "$1" &)\n'
        "i=0; while [ $i -lt 60 ]; do sleep 0.1; i=$((i+1)); done\n"
        'echo evil >>"$1/boot/grub/grub.cfg"\n'
    )
    with in_update_grub(root, tools, script) as child:
        child.send_signal(signal.SIGTERM)
        time.sleep(0.7)
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=HANG)
    assert child.returncode == 4, (out, err)
    assert "error[RC4010]" in err
    assert processes.running(str(root)) == [], "nothing of it is alive, so that nothing can write later"
    (root / "boot/running").unlink()
    assert tree(root, state=False, times=False) == before


# -- what cannot be looked at ------------------------------------------------------------------------------


class Rubbish(QuickHost):
    """One of its images is no image."""

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if argv[0] == "lsinitramfs" and argv[-1].endswith("-OLD"):
            return CommandResult(tuple(argv), 1, "", "cpio: premature end of archive")
        return super().query(argv)

    def unpack(
        self, argv: Sequence[str], wanted: Sequence[str], *, here: bool = False
    ) -> dict[str, bytes] | None:
        return None if argv[-1].endswith("-OLD") else super().unpack(argv, wanted, here=here)


def test_an_image_that_nobody_can_look_into_is_refused_beforehand(root: Path) -> None:
    (root / "boot/initrd.img-OLD").write_bytes(b"rubbish")
    before = tree(root)
    with pytest.raises(RocmcfgError) as stop:
        use.apply(Rubbish(str(root)), set=("amdgpu.runpm=0",), any_gpu=True, via="modprobe")
    assert [d.id for d in stop.value.diagnostics if d.severity.value == "error"] == ["RC3019"]
    assert stop.value.diagnostics[0].location == "/boot/initrd.img-OLD"
    assert tree(root) == before
    use.apply(Rubbish(str(root)), set=("amdgpu.runpm=0",), any_gpu=True)


@pytest.mark.parametrize("way", ["rollback", "recover"])
def test_an_image_that_nobody_can_look_into_does_not_keep_an_undo_from_its_end(root: Path, way: str) -> None:
    before = tree(root, state=False, times=False)
    use.apply(QuickHost(str(root)), set=("amdgpu.runpm=0",), any_gpu=True, via="modprobe")
    (root / "boot/initrd.img-OLD").write_bytes(b"rubbish")
    host = Rubbish(str(root))
    if way == "recover":
        recovery.begin_undo(_locked(host), 1)
        host = Rubbish(str(root))
    rebuild = fake_tools.update_initramfs

    def passes_over_it(root: Path) -> int:
        away = (root / "boot/initrd.img-OLD").rename(root / "boot/OLD")
        code = rebuild(root)
        away.rename(root / "boot/initrd.img-OLD")
        return code

    with mock.patch.object(fake_tools, "update_initramfs", passes_over_it):
        if way == "recover":
            use.recover(host)
        else:
            use.rollback(host)
    assert states(root) == ["rolled_back"]
    (root / "boot/initrd.img-OLD").unlink()
    assert not (root / "etc/modprobe.d/zz-rocmcfg.conf").exists()
    after = tree(root, state=False, times=False)
    assert {p: e for p, e in after.items() if "initrd" not in p} == {
        p: e for p, e in before.items() if "initrd" not in p
    }


def test_a_menu_that_still_has_it_is_put_back_by_an_undo(root: Path) -> None:
    """The program ends with 0 and does nothing."""
    host = QuickHost(str(root))
    menu = root / "boot/grub/grub.cfg"
    before = menu.read_bytes()
    use.apply(host, set=("amdgpu.runpm=0",), any_gpu=True)
    with mock.patch.object(fake_tools, "update_grub", return_value=0):
        use.rollback(host)
    assert menu.read_bytes() == before
    assert states(root) == ["rolled_back"]


def test_one_of_several_whose_journal_was_moved_away_keeps_no_recover_from_its_end(root: Path) -> None:
    """A journal that is damaged is to be moved away: it says so itself."""
    host = QuickHost(str(root))
    for value in ("0", "1"):
        use.apply(host, set=(f"amdgpu.runpm={value}",), any_gpu=True)
    recovery.begin_undo(_locked(host), 2, (2, 1))
    (root / "var/lib/rocmcfg/transactions/000001").rename(root / "away")
    use.recover(QuickHost(str(root)))
    assert states(root) == ["rolled_back"]
