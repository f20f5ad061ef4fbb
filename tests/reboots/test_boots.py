"""A try with reboots from its begin to its end, on a tree that boots as GRUB would boot it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocmcfg.change.trial import record as trial
from rocmcfg.model.diagnostic import RocmcfgError, fail
from rocmcfg.model.trial import Stage
from rocmcfg.workflow import rebooting
from rocmcfg.workflow.one_run import Stopped
from tests.support import usecases as use
from tests.support.rebooting import Lab
from tests.support.trees import Tree
from tests.support.trials import configuration

FAILS = "#!/bin/sh\nexit 3\n"
ORDER = ["1", "0", "0", "1", "1", "0"]  # of three and three boots


@pytest.fixture
def before(lab: Lab) -> Tree:
    return configuration(lab.root)


def assert_as_before(lab: Lab, before: Tree) -> None:
    assert configuration(lab.root) == before
    assert trial.load(lab.host) is None
    assert lab.under_way() is None
    lab.goes_down()
    assert lab.value.read_text() == "1\n"


def test_a_cure_is_found_and_the_host_is_as_before(lab: Lab, before: Tree) -> None:
    attempt = lab.begin(3)
    assert attempt.name == "R1"
    assert configuration(lab.root) == before, "the first boot is a control"
    made = lab.to_the_end()
    assert lab.ran_with() == ORDER
    assert (made.verdict, made.runs, made.failures) == (
        "cures",
        {"control": 3, "treatment": 3},
        {"control": 3, "treatment": 0},
    )
    assert made.sentence.startswith(
        "amdgpu.cwsr_enable=0 cures the fault here: the program failed in 3 of 3 boots without, and in "
        "none of 3 boots with it; at most 63 % of boots still fail (95 % confidence)."
    )
    assert made.apply == "sudo rocmcfg apply --add amdgpu.cwsr_enable=0"
    assert made.boots is not None
    assert (made.boots.came_not_up, made.boots.lost, made.boots.restored) == (0, {}, True)
    assert lab.boots == 7, "the last boot of the try had the setting, so one more follows"
    assert lab.value.read_text() == "1\n"
    assert not (lab.root / "var/lib/rocmcfg/tries/1/environment.json").exists(), "it may hold secrets"
    assert_as_before(lab, before)


def test_a_setting_without_effect_ends_early(lab: Lab, before: Tree) -> None:
    lab.program.write_text(FAILS)
    lab.begin(5)
    made = lab.to_the_end()
    assert (made.verdict, made.apply) == ("no-effect", "")
    assert made.runs == {"control": 2, "treatment": 2}
    assert "does not cure the fault here: the program failed in 2 of 2 boots without" in made.sentence
    assert_as_before(lab, before)


def test_a_boot_of_the_treatment_that_gets_nowhere_counts_against_it(lab: Lab, before: Tree) -> None:
    lab.begin(5)
    lab.comes_up()
    lab.goes_down()  # boot 2, of the treatment
    made = lab.to_the_end()
    assert (made.verdict, made.obstacle) == ("undecided", "rarer")
    assert made.failures == {"control": 5, "treatment": 1}
    assert made.arms[1].reasons == {"did-not-come-up": 1}
    assert made.boots is not None
    assert (made.boots.came_not_up, made.boots.lost) == (1, {})
    assert "in 1 of 5 boots with amdgpu.cwsr_enable=0 (1 boot with the settings did not" in made.sentence
    assert_as_before(lab, before)


def cut_off(_: Lab) -> None:
    raise SystemExit


def test_a_power_cut_during_a_run_counts_for_no_arm(lab: Lab, before: Tree) -> None:
    lab.begin(3)
    for _ in range(2):
        lab.in_run = cut_off
        with pytest.raises(SystemExit):
            lab.comes_up()
        lab.in_run = None
        lab.comes_up()  # another boot, in which it is only noted
        lab.comes_up()
    made = lab.to_the_end()
    assert made.verdict == "cures"
    assert made.runs == {"control": 3, "treatment": 3}
    assert made.boots is not None
    assert made.boots.lost == {"went-down": 2}
    assert "2 boots did not count: the machine went down during the run (2)." in made.advice
    assert_as_before(lab, before)


def test_a_machine_that_goes_down_without_the_setting_is_not_fit(lab: Lab, before: Tree) -> None:
    lab.begin(3)
    lab.in_run = cut_off
    for _ in range(2):
        with pytest.raises(SystemExit):
            lab.comes_up()
        lab.comes_up()
    made = lab.report()
    assert (made.verdict, made.obstacle) == ("undecided", "control-down")
    assert not lab.reboots_due or not lab.under_way()
    assert "begin again with --crashed" in made.sentence
    assert_as_before(lab, before)


def test_a_panic_during_the_run_counts_for_its_arm(lab: Lab) -> None:
    lab.begin(3)

    def panics(lab: Lab) -> None:
        dump = lab.root / "sys/fs/pstore/dmesg-efi_pstore-1"
        dump.parent.mkdir(parents=True)
        dump.write_text("Panic#1 Part1\n<0>[ 61.2] Kernel panic - not syncing: sysrq triggered crash\n")
        raise SystemExit

    lab.in_run = panics
    with pytest.raises(SystemExit):
        lab.comes_up()
    lab.in_run = None
    lab.comes_up()
    made = lab.to_the_end()
    assert (made.verdict, made.arms[0].reasons) == ("cures", {"machine-went-down": 1, "exit": 2})


def test_boots_without_the_setting_that_get_nowhere_end_it(
    lab: Lab, before: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocmcfg.workflow.boot_arms.evidence.boots_between", lambda *_: 2)
    lab.begin(3)
    lab.comes_up()
    made = lab.report()
    assert (made.obstacle, lab.ran_with()) == ("control-down", [])
    assert_as_before(lab, before)


def test_a_fault_that_takes_the_machine_down_counts_if_that_was_said_before(lab: Lab, before: Tree) -> None:
    lab.begin(3, going_down_fails=True)

    def hangs(lab: Lab) -> None:
        if lab.value.read_text().strip() != "0":
            raise SystemExit

    lab.in_run = hangs
    for _ in range(20):
        if lab.under_way() is None:
            break
        try:
            lab.comes_up()
        except SystemExit:
            continue
    made = lab.report()
    assert (made.verdict, made.arms[0].reasons) == ("cures", {"machine-went-down": 3})
    assert_as_before(lab, before)


def test_a_shutdown_by_somebody_counts_for_no_arm(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def shut_down(_: Lab) -> None:
        raise Stopped

    monkeypatch.setattr("rocmcfg.workflow.boot_arms.evidence.was_shut_down", lambda *_: True)
    lab.begin(3)
    lab.in_run = shut_down
    with pytest.raises(Stopped):
        lab.comes_up()
    lab.in_run = None
    lab.comes_up()
    made = lab.to_the_end()
    assert made.verdict == "cures"
    assert made.boots is not None
    assert made.boots.lost == {"shut-down": 1}


def test_a_boot_of_another_kernel_counts_for_no_arm_and_ends_it_if_it_stays(lab: Lab, before: Tree) -> None:
    lab.begin(3)

    def another(lab: Lab) -> None:
        (lab.root / "proc/sys/kernel/osrelease").write_text("6.16.0\n")

    lab.fates[2] = another
    made = lab.to_the_end()
    assert (made.verdict, made.obstacle) == ("undecided", "lost-boots")
    assert made.boots is not None
    assert made.boots.lost == {"other-kernel": 5}
    assert lab.ran_with() == ["1"]
    assert_as_before(lab, before)


def test_a_boot_menu_that_somebody_changed_ends_it(lab: Lab) -> None:
    lab.begin(3)

    def edit(lab: Lab) -> None:
        with (lab.root / "etc/default/grub").open("a") as file:
            file.write("GRUB_TIMEOUT=9\n")

    lab.fates[3] = edit
    made = lab.to_the_end()
    assert (made.verdict, made.obstacle) == ("undecided", "host-changed")
    assert made.boots is not None
    assert made.boots.restored is False
    assert any("/etc/default/grub" in text for text in made.advice)
    assert trial.load(lab.host) is None


def test_nothing_else_changes_the_host_meanwhile(lab: Lab) -> None:
    lab.begin(3)
    lab.comes_up()
    with pytest.raises(RocmcfgError) as stop:
        use.apply(lab.host, set=("amdgpu.runpm=0",))
    assert [d.id for d in stop.value.diagnostics] == ["RC4601"]
    lab.comes_up()
    with pytest.raises(RocmcfgError) as stop:
        use.confirm(lab.host)
    assert stop.value.diagnostics[0].id in ("RC4348", "RC4321")
    with pytest.raises(RocmcfgError) as stop:
        lab.begin(3)
    assert [d.id for d in stop.value.diagnostics] == ["RC4601"]


@pytest.mark.parametrize("boots", range(4))
def test_its_owner_may_end_it_at_any_time(lab: Lab, before: Tree, boots: int) -> None:
    lab.begin(3)
    for _ in range(boots):
        lab.comes_up()
    ended = rebooting.stop(lab.host, use.quiet)
    assert ended is not None
    made = lab.report()
    assert (made.verdict, made.obstacle) == ("undecided", "ended")
    assert made.boots is not None
    assert made.boots.restored
    assert_as_before(lab, before)
    assert rebooting.stop(lab.host, use.quiet) is None


def test_a_fault_stops_it_with_nothing_armed_and_resume_goes_on(
    lab: Lab, before: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.begin(3)
    lab.comes_up()
    lab.goes_down()
    lab.reboots_due = False

    def full(*_: object, **__: object) -> None:
        raise fail("RC3002", "no space")

    use.recover(lab.host)
    with monkeypatch.context() as patched:
        patched.setattr("rocmcfg.workflow.rebooting.apply", full)
        with pytest.raises(RocmcfgError):
            rebooting.go_on(lab.host, lab, use.quiet)
    assert not lab.reboots_due
    assert lab.under_way() is None
    assert configuration(lab.root) == before
    assert rebooting.go_on(lab.host, lab, use.quiet) is None
    taken = rebooting.resume(lab.host, 1, lab, use.quiet)
    assert taken.rebooting
    made = lab.to_the_end()
    assert (made.verdict, made.runs) == ("cures", {"control": 3, "treatment": 3})
    assert_as_before(lab, before)


def test_it_recovers_by_itself_where_that_unit_is_not_enabled(lab: Lab, before: Tree) -> None:
    lab.begin(3)
    while lab.reboots_due:
        lab.goes_down()
        lab.reboots_due = False
        lab.goes_on()
    made = lab.report()
    assert (made.verdict, made.runs) == ("cures", {"control": 3, "treatment": 3})
    assert_as_before(lab, before)


def test_a_unit_that_is_started_again_waits_for_the_reboot(lab: Lab) -> None:
    lab.begin(3)
    lab.comes_up()
    armed = trial.load(lab.host)
    assert armed is not None
    taken = rebooting.go_on(lab.host, lab, use.quiet)
    assert taken is not None
    assert taken.text == "the reboot is still to come"
    assert trial.load(lab.host) == armed
    assert trial.stage(lab.host, armed) is Stage.ARMED


def record_of(lab: Lab) -> Path:
    return lab.root / "var/lib/rocmcfg/tries/1/try.jsonl"


@pytest.mark.parametrize("which", ["tries/1/try.jsonl", "tries", "tries.on", "tries/1/environment.json"])
def test_root_believes_no_record_that_others_can_change(lab: Lab, before: Tree, which: str) -> None:
    lab.begin(3)
    lab.goes_down()
    (lab.root / "var/lib/rocmcfg" / which).chmod(0o777)
    lab.reboots_due = False
    with pytest.raises(RocmcfgError) as stop:
        rebooting.go_on(lab.host, lab, use.quiet)
    assert stop.value.diagnostics[0].id in ("RC4502", "RC4028")
    assert lab.ran_with() == []
    assert not lab.reboots_due
    assert configuration(lab.root) == before


@pytest.mark.parametrize(
    ("change", "id"), [({"v": 2}, "RC4029"), ({"kind": "other"}, "RC4504"), ({"boots": None}, "RC4504")]
)
def test_a_record_of_a_newer_version_or_a_damaged_one_runs_nothing(
    lab: Lab, change: dict[str, object], id: str
) -> None:
    lab.begin(3)
    lines = record_of(lab).read_text().splitlines()
    record_of(lab).write_text("\n".join([json.dumps({**json.loads(lines[0]), **change}), *lines[1:], ""]))
    lab.goes_down()
    lab.reboots_due = False
    with pytest.raises(RocmcfgError) as stop:
        rebooting.go_on(lab.host, lab, use.quiet)
    assert [d.id for d in stop.value.diagnostics] == [id]
    assert (lab.ran_with(), lab.reboots_due, lab.under_way()) == ([], False, None)
