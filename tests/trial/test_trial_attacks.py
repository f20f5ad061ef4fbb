"""What people and machines do to a trial besides what it is made for."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rocmcfg.change.trial import ends
from rocmcfg.change.trial import record as trial
from rocmcfg.change.trial.standing import trial_on_record
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult, Host
from rocmcfg.model.checks import CheckStatus
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Stage, Terms, Trial
from rocmcfg.records.steps import Kept
from rocmcfg.workflow import planning, undoing
from rocmcfg.workflow.status import status
from rocmcfg.workflow.verifying import verify
from tests.support import usecases as use
from tests.support.boots import next_boot, reboot
from tests.support.hosts import debian_grub_host
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool
from tests.support.trials import (
    BLOCK,
    CWSR,
    configuration,
    journal_file,
    kexec,
    outcome,
    states,
    without_last_line,
)

SCRIPT = "etc/grub.d/01_rocmcfg_trial"


@pytest.fixture(autouse=True)
def _real_grub_editenv() -> None:
    require_tool("grub-editenv", "grub-common")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = debian_grub_host(tmp_path)
    (root / "etc/default/grub.d").mkdir(exist_ok=True)  # whether a sweep made it, nobody knows any more
    return root


@pytest.fixture
def host(root: Path) -> QuickHost:
    return QuickHost(str(root))


def ids(problem: pytest.ExceptionInfo[RocmcfgError]) -> list[str]:
    return [d.id for d in problem.value.diagnostics]


def refused(host: LocalHost, terms: Terms | None = None, **request: Sequence[str]) -> list[str]:
    with pytest.raises(RocmcfgError) as problem:
        planning.plan(host, Request(**request), terms or Terms())  # type: ignore[arg-type]
    return [d.id for d in problem.value.diagnostics if d.severity.value == "error"]


class FailsOnce(QuickHost):
    """update-grub fails at its `failing`-th call."""

    calls, failing = 0, 0

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        if argv[0] == "update-grub":
            self.calls += 1
            if self.calls == self.failing:
                return CommandResult(tuple(argv), 1, "", "no space left")
        return super().execute(argv, timeout=timeout, progress=progress, mark=mark)


@pytest.mark.parametrize("failing", [1, 2])
def test_a_rollback_of_several_that_fails_on_the_way_is_finished(root: Path, failing: int) -> None:
    host = FailsOnce(str(root))
    before = configuration(root)
    use.attempt(host, **CWSR)
    reboot(root)
    use.confirm(host)
    host.calls, host.failing = 0, failing
    with pytest.raises(RocmcfgError) as stopped:
        use.rollback(host)
    assert stopped.value.exit_code == ExitCode.RECOVERY_REQUIRED
    with pytest.raises(RocmcfgError) as meanwhile:
        use.apply(host, set=("amdgpu.runpm=0",))
    assert meanwhile.value.exit_code == ExitCode.RECOVERY_REQUIRED
    use.recover(host)
    assert states(use.journals(host)) == ["rolled_back", "rolled_back"]
    assert configuration(root) == before


def test_kexec_does_not_make_a_second_boot_a_trial(root: Path, host: QuickHost) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    reboot(root)
    use.recover(host)  # what every boot runs
    assert status(host).trial is not None
    kexec(root)
    found = trial.load(host)
    assert found is not None
    assert trial.stage(host, found) is Stage.OVER
    with pytest.raises(RocmcfgError) as late:
        use.confirm(host)
    assert ids(late) == ["RC4322"]
    (remark,) = undoing.recover(host, force=False, progress=use.quiet).diagnostics
    assert remark.id == "RC4327"
    assert configuration(root) == before
    assert status(host).reboot_required  # this kernel still has it


def test_a_rejected_trial_that_kexec_hands_on_needs_a_reboot(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    reboot(root)
    use.reject(host)
    kexec(root)
    assert status(host).reboot_required
    reboot(root)
    assert not status(host).reboot_required


@pytest.mark.parametrize("boots", [0, 1, 2])
def test_a_trial_whose_journal_is_lost_can_be_ended(root: Path, host: QuickHost, boots: int) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    for _ in range(boots):
        reboot(root)
    shutil.rmtree(journal_file(root, 1).parent)
    if boots == 1:
        with pytest.raises(RocmcfgError) as unsafe:
            use.confirm(host)
        assert ids(unsafe) == ["RC4335"]
    if boots == 2:
        use.recover(host)
    else:
        use.reject(host)
    assert configuration(root) == before
    assert (next_boot(root), trial.load(host)) == ("", None)
    use.apply(host, set=("amdgpu.runpm=0",))
    use.rollback(host)
    assert configuration(root) == before


def test_what_a_lost_state_directory_leaves_armed_is_told_and_taken_away(root: Path, host: QuickHost) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    shutil.rmtree(root / "var/lib/rocmcfg")
    assert "RC4338" in [d.id for d in status(host).diagnostics]
    use.reject(host)
    assert configuration(root) == before
    assert "cwsr" not in reboot(root)


def test_old_arguments_in_the_block_are_gone_before_anything_is_written(root: Path) -> None:
    subprocess.run(["grub-editenv", root / BLOCK, "set", "rocmcfg_next=amdgpu.gpu_recovery=0"], check=True)
    host = FailsOnce(str(root))
    seen = []

    class Stop(Exception):
        pass

    def cut(argv: Sequence[str], **_: object) -> CommandResult:
        if argv[0] == "update-grub":
            seen.append(next_boot(root))
            raise Stop
        return QuickHost.execute(host, argv, timeout=0, progress=lambda: None)

    host.execute = cut  # type: ignore[method-assign]
    with pytest.raises(RocmcfgError):
        use.attempt(host, **CWSR)
    assert seen[0] == ""


def test_a_trial_does_not_fall_back_on_what_never_booted(root: Path, host: QuickHost) -> None:
    use.apply(host, set=("amdgpu.runpm=0",))
    assert refused(host, **CWSR) == ["RC4332"]
    reboot(root)
    planning.plan(host, Request(**CWSR), Terms())
    use.rollback(host)
    assert refused(host, **CWSR) == ["RC4332"]
    reboot(root)
    defaults = root / "etc/default/grub"
    defaults.write_text(defaults.read_text().replace('"quiet"', '"quiet nomodeset"'))
    assert refused(host, **CWSR) == ["RC4333"]


def test_who_rejects_while_another_confirms_is_heard(
    root: Path, host: QuickHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    use.attempt(host, **CWSR)
    reboot(root)
    first = ends.proven

    def late(view: Host) -> Trial:
        found = first(view)
        use.reject(view)
        return found

    monkeypatch.setattr(ends, "proven", late)
    with pytest.raises(RocmcfgError) as ended:
        use.confirm(host)
    assert ids(ended) == ["RC4337"]
    assert "cwsr" not in reboot(root)


def test_an_edit_of_its_script_holds_up_no_boot(root: Path, host: QuickHost) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    (root / SCRIPT).write_text("#!/bin/sh\n# mine\n")
    with pytest.raises(RocmcfgError) as edited:
        use.reject(host)
    assert ids(edited) == ["RC4022"]
    reboot(root)
    reboot(root)
    use.recover(host)
    assert configuration(root) == before
    kept = use.journals(host)[0].of(Kept)
    assert [line.path for line in kept] == [f"/{SCRIPT}"]


def test_an_edited_trial_is_not_confirmed_and_can_be_forced_to_its_end(root: Path, host: QuickHost) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    reboot(root)
    script = root / SCRIPT
    script.write_text(script.read_text() + "# mine\n")
    with pytest.raises(RocmcfgError) as edited:
        use.confirm(host)
    assert ids(edited) == ["RC4022"]
    assert undoing.reject(host, lambda _: True, use.quiet, force=True) is not None
    assert configuration(root) == before


def test_what_a_trial_takes_away_is_verified_too(root: Path, host: QuickHost) -> None:
    use.apply(host, set=("amdgpu.runpm=0", "amdgpu.cwsr_enable=0"))
    reboot(root)
    use.attempt(host, set=("amdgpu.runpm=0",))
    reboot(root)
    report = verify(host)
    assert [(c.name, c.desired, c.status) for c in report.checks] == [
        ("amdgpu.runpm", "0", CheckStatus.IN_EFFECT),
        ("amdgpu.cwsr_enable", "1", CheckStatus.IN_EFFECT),
    ]
    (root / "sys/module/amdgpu/parameters/cwsr_enable").write_text("0\n")
    assert verify(host).exit_code == ExitCode.DIFFERENCES
    with pytest.raises(RocmcfgError) as unproven:
        use.confirm(host)
    assert ids(unproven) == ["RC4323"]
    (root / "sys/module/amdgpu/parameters/cwsr_enable").write_text("1\n")
    use.confirm(host)
    assert "cwsr" not in reboot(root)


def test_a_block_that_grub_editenv_emptied_is_put_back(root: Path) -> None:
    subprocess.run(["grub-editenv", root / BLOCK, "set", "saved_entry=gnulinux-simple"], check=True)
    before = (root / BLOCK).read_bytes()

    class Full(QuickHost):
        def execute(
            self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
        ) -> CommandResult:
            if argv[0] == "grub-editenv":
                (root / BLOCK).write_bytes(b"")
                return CommandResult(tuple(argv), 1, "", "cannot write: No space left on device")
            return super().execute(argv, timeout=timeout, progress=progress, mark=mark)

    with pytest.raises(RocmcfgError) as failed:
        use.attempt(Full(str(root)), **CWSR)
    assert failed.value.exit_code == ExitCode.ROLLED_BACK
    assert (root / BLOCK).read_bytes() == before


def test_a_trial_that_grub_took_and_did_not_start_is_told(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    subprocess.run(["grub-editenv", root / BLOCK, "set", "rocmcfg_next="], check=True)
    found = trial_on_record(host)
    assert found is not None
    assert (found.stage, found.waits) == (Stage.ARMED, False)
    assert verify(host).exit_code == ExitCode.DIFFERENCES


def test_from_a_rescue_system_the_block_tells_the_stage(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    shutil.rmtree(root / "proc")
    found = trial.load(host)
    assert found is not None
    assert trial.stage(host, found) is Stage.ARMED
    subprocess.run(["grub-editenv", root / BLOCK, "set", "rocmcfg_next="], check=True)
    assert trial.stage(host, found) is Stage.OVER


def test_a_trial_that_waits_still_was_not_tried_whatever_pstore_holds(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    dump = root / "var/lib/systemd/pstore/1/dmesg-efi-1"
    dump.parent.mkdir(parents=True)
    dump.write_text("Panic#1 Part1\n<0>[ 9000.1] Kernel panic - not syncing: Fatal exception\n")
    kexec(root)
    use.recover(host)
    assert outcome(host, 1) == "not_tried"


def test_panic_is_tried_where_it_can_be(root: Path, host: QuickHost) -> None:
    assert refused(host, set=("karg.panic=0",)) == ["RC4329"]
    use.attempt(host, set=("karg.panic=30",))
    line = reboot(root)
    assert line.count("panic=") == 1
    assert verify(host).exit_code == ExitCode.DONE
    use.confirm(host)


def test_what_another_file_would_beat_is_not_confirmed(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    reboot(root)
    late = root / "etc/default/grub.d/zzzz-late.cfg"
    late.write_text('GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.cwsr_enable=1"\n')
    with pytest.raises(RocmcfgError) as beaten:
        use.confirm(host)
    assert ids(beaten) == ["RC4312"]


def test_our_own_name_and_a_value_that_nobody_set_are_no_arguments(root: Path, host: QuickHost) -> None:
    assert "RC4330" in refused(host, set=("karg.rocmcfg.trial=1",))
    use.apply(host, set=("amdgpu.disable_cu=0.0.0", "amdgpu.runpm=0"))
    reboot(root)
    made = planning.plan(host, Request(set=("amdgpu.runpm=0", "amdgpu.cwsr_enable=0")), Terms())
    assert made.trial is not None
    assert not [text for text in made.trial.arguments if "(" in text]
    assert "RC4314" in [d.id for d in made.plan.diagnostics]


def test_an_apply_that_failed_was_no_rejection(root: Path) -> None:
    host = FailsOnce(str(root))
    host.failing = 1
    with pytest.raises(RocmcfgError) as failed:
        use.attempt(host, **CWSR)
    assert failed.value.exit_code == ExitCode.ROLLED_BACK
    assert outcome(host, 1) == "not_tried"


def test_the_last_line_of_a_confirmation_is_what_counts(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    reboot(root)
    use.confirm(host)
    assert without_last_line(journal_file(root, 2)) == "commit"
    use.recover(host)
    assert outcome(host, 1) == "running"
    use.confirm(host)
    assert outcome(host, 1) == "confirmed"


def test_data_journal_is_refused(root: Path, host: QuickHost) -> None:
    (root / "proc/mounts").write_text("/dev/a / ext4 rw 0 0\n/dev/b /boot ext4 rw,data=journal 0 0\n")
    assert refused(host, **CWSR) == ["RC4307"]
    (root / "proc/mounts").write_text("/dev/a / ext4 rw,data=journal 0 0\n/dev/b /boot ext4 rw 0 0\n")
    planning.plan(host, Request(**CWSR), Terms())


@pytest.mark.parametrize("boots", [0, 1])
def test_a_sweep_makes_nobody_forget_what_this_boot_runs_with(
    root: Path, host: QuickHost, boots: int
) -> None:
    use.apply(host, set=("amdgpu.runpm=0",))
    reboot(root)
    use.attempt(host, **CWSR)
    for _ in range(boots):
        reboot(root)
    shutil.rmtree(journal_file(root, 2).parent)
    use.reject(host)
    if boots:
        assert status(host).reboot_required  # this kernel still has what was tried
    reboot(root)
    assert not status(host).reboot_required
    use.rollback(host)
    assert status(host).reboot_required


def test_the_next_value_is_tried_after_a_reboot(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    reboot(root)
    use.reject(host)
    assert refused(host, set=("amdgpu.runpm=0",)) == ["RC4332"]
    reboot(root)
    use.attempt(host, set=("amdgpu.runpm=0",))


def test_what_the_menu_has_left_of_an_edited_file_is_told(root: Path, host: QuickHost) -> None:
    menu = root / "boot/grub/grub.cfg"
    menu.write_text(menu.read_text().replace(" quiet", " quiet nomodeset"))
    told = {d.id: d for d in planning.plan(host, Request(**CWSR), Terms()).plan.diagnostics}
    assert "nomodeset" in told["RC4339"].summary


def test_entries_that_boot_twice_are_refused(root: Path, host: QuickHost) -> None:
    menu = root / "boot/grub/grub.cfg"
    menu.write_text(menu.read_text().replace(" quiet", " quiet panic=-1"))
    assert refused(host, **CWSR) == ["RC4307"]


def test_an_argument_that_adds_up_takes_nothing_away(root: Path, host: QuickHost) -> None:
    late = root / "etc/default/grub.d/zzzz-late.cfg"
    late.write_text('GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT pci=nomsi"\n')
    host.execute(("update-grub",), timeout=60, progress=lambda: None)
    use.attempt(host, set=("karg.pci=realloc=off",))
    assert "pci=realloc=off" in reboot(root)


def test_a_confirmation_counts_by_its_commit_and_by_nothing_after_it(root: Path, host: QuickHost) -> None:
    use.attempt(host, **CWSR)
    reboot(root)
    use.confirm(host)
    assert "confirmed" not in journal_file(root, 1).read_text()
    use.rollback(host)
    assert outcome(host, 1) == "confirmed"
    assert "rejected" not in journal_file(root, 1).read_text()


def test_a_modprobe_setting_that_the_driver_rewrites_is_confirmed_without_a_reboot(
    root: Path, host: QuickHost
) -> None:
    use.attempt(host, set=("amdgpu.gttsize=4096",), via="modprobe")
    reboot(root)
    (root / "sys/module/amdgpu/parameters/gttsize").write_text("8192\n")
    assert state(host) == {CheckStatus.REWRITTEN_BY_DRIVER}
    use.confirm(host)
    assert state(host) == {CheckStatus.REWRITTEN_BY_DRIVER}


def state(host: QuickHost) -> set[CheckStatus]:
    return {check.status for check in verify(host).checks}


def test_a_damaged_record_of_a_trial_that_is_over_is_taken_away_at_boot(root: Path, host: QuickHost) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    reboot(root)
    (root / "var/lib/rocmcfg/trial.json").write_text("{")
    use.recover(host)
    assert (root / SCRIPT).exists()  # this boot is its own
    reboot(root)
    use.recover(host)
    assert configuration(root) == before
    assert outcome(host, 1) == "not_confirmed"


def test_a_sweep_stops_at_no_edit_when_a_boot_asks_for_it(root: Path, host: QuickHost) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    shutil.rmtree(journal_file(root, 1).parent)
    (root / SCRIPT).write_text("#!/bin/sh\n# mine alone\n")
    with pytest.raises(RocmcfgError) as edited:
        use.reject(host)
    assert ids(edited) == ["RC4003"]
    reboot(root)
    reboot(root)
    use.recover(host)
    assert configuration(root) == before
