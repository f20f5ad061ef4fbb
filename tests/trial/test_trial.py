"""A trial from its apply to each of its ends, on a tree that boots as GRUB would boot it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.change.trial import record as trial
from rocmcfg.change.trial.standing import trial_on_record
from rocmcfg.model.checks import CheckStatus, VerificationReport
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.trial import Stage, Terms
from rocmcfg.records import receipt
from rocmcfg.workflow import undoing
from rocmcfg.workflow.status import status
from rocmcfg.workflow.verifying import verify
from tests.support import usecases as use
from tests.support.boots import enable_unit, next_boot, reboot
from tests.support.hosts import debian_grub_host
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool
from tests.support.trees import tree
from tests.support.trials import BLOCK, CWSR, configuration, journal_file, outcome, without_last_line

DROP_IN = "etc/default/grub.d/zzz-rocmcfg-trial.cfg"
SCRIPT = "etc/grub.d/01_rocmcfg_trial"
PERMANENT = "etc/default/grub.d/zz-rocmcfg.cfg"


@pytest.fixture(autouse=True)
def _real_grub_editenv() -> None:
    require_tool("grub-editenv", "grub-common")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, amdgpu_in_initramfs=True)


@pytest.fixture
def host(root: Path) -> QuickHost:
    return QuickHost(str(root))


def parameter(root: Path, name: str) -> str:
    return (root / f"sys/module/amdgpu/parameters/{name}").read_text().strip()


def ids(problem: pytest.ExceptionInfo[RocmcfgError]) -> list[str]:
    return [d.id for d in problem.value.diagnostics]


def applied_settings(host: QuickHost) -> tuple[DesiredSetting, ...]:
    known = receipt.load(host)
    return known.settings if known else ()


def state(report: VerificationReport) -> set[CheckStatus]:
    return {check.status for check in report.checks}


def test_the_next_boot_has_it_and_the_boot_after_it_does_not(root: Path, host: QuickHost) -> None:
    before = configuration(root)
    images = {path.name: path.read_bytes() for path in (root / "boot").glob("initrd*")}
    use.attempt(host, via="modprobe", **CWSR)
    assert not (root / PERMANENT).exists()
    assert not (root / "etc/modprobe.d/zz-rocmcfg.conf").exists()
    assert {path.name: path.read_bytes() for path in (root / "boot").glob("initrd*")} == images
    assert verify(host).exit_code == ExitCode.PENDING
    assert outcome(host, 1) == "armed"

    line = reboot(root)
    assert line.split()[-3:-1] == ["amdgpu.cwsr_enable=0", "panic=10"]
    assert line.split()[-1].startswith("rocmcfg.trial=")
    assert parameter(root, "cwsr_enable") == "0"
    report = verify(host)
    assert (state(report), report.trial) == ({CheckStatus.IN_EFFECT}, 1)
    assert [(c.configured, c.running) for c in report.checks] == [(None, "0")]
    assert outcome(host, 1) == "running"
    undoing.recover(host, force=False, progress=use.quiet)  # what every boot runs: the trial goes on
    assert outcome(host, 1) == "running"

    assert "cwsr" not in reboot(root)
    assert parameter(root, "cwsr_enable") == "1"
    assert outcome(host, 1) == "over"
    assert use.journals(host)[0].state == "committed"
    use.recover(host)
    assert outcome(host, 1) == "not_confirmed"
    assert configuration(root) == before
    assert next_boot(root) == ""
    assert "rocmcfg" not in (root / BLOCK).read_text()
    assert verify(host).status == "nothing_applied"


@pytest.mark.parametrize("boots", [0, 1, 2])
@pytest.mark.parametrize("end", [use.reject, use.rollback])
def test_a_trial_can_be_forgotten_at_any_time(root: Path, host: QuickHost, boots: int, end: object) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    for _ in range(boots):
        reboot(root)
    assert callable(end)
    end(host)
    assert configuration(root) == before
    assert outcome(host, 1) == "rejected"
    assert status(host).reboot_required == (boots == 1)
    assert "cwsr" not in reboot(root)


def test_a_trial_is_confirmed_in_its_own_boot_only(root: Path, host: QuickHost) -> None:
    with pytest.raises(RocmcfgError) as nothing:
        use.confirm(host)
    assert ids(nothing) == ["RC4320"]
    use.attempt(host, **CWSR)
    with pytest.raises(RocmcfgError) as early:
        use.confirm(host)
    assert ids(early) == ["RC4321"]
    reboot(root)
    (root / "sys/module/amdgpu/parameters/cwsr_enable").write_text("1\n")
    with pytest.raises(RocmcfgError) as unproven:
        use.confirm(host)
    assert ids(unproven) == ["RC4323"]
    reboot(root)
    with pytest.raises(RocmcfgError) as late:
        use.confirm(host)
    assert ids(late) == ["RC4322"]
    assert outcome(host, 1) == "over"


def test_what_is_kept_is_what_was_tried(root: Path, host: QuickHost) -> None:
    profile = root / "etc/rocmcfg/profiles/mine.toml"
    profile.parent.mkdir(parents=True)
    text = 'schema = 1\nsummary = "mine"\n[module.amdgpu]\nrunpm = {}\n'
    profile.write_text(text.format(0))
    use.attempt(host, profiles=("mine",), set=("env.HSA_XNACK=1",))
    reboot(root)
    profile.write_text(text.format(1) + '[cmdline]\ninit = "/tmp/evil"\n[env]\nLD_PRELOAD = "/tmp/evil.so"\n')
    use.confirm(host)
    kept = {setting.spelled for setting in applied_settings(host)}
    assert kept == {"amdgpu.runpm=0", "env.HSA_XNACK=1"}
    assert "evil" not in (root / "boot/grub/grub.cfg").read_text()
    profile.unlink()


def test_a_trial_that_takes_a_setting_away_is_confirmed(root: Path, host: QuickHost) -> None:
    use.apply(host, set=("amdgpu.runpm=0",))
    reboot(root)
    use.attempt(host)
    assert "amdgpu.runpm=-" in reboot(root)
    use.confirm(host)
    assert not applied_settings(host)


def test_an_apply_cut_off_after_its_last_step_is_a_whole_trial_in_its_boot(
    root: Path, host: QuickHost
) -> None:
    use.attempt(host, **CWSR)
    assert without_last_line(journal_file(root, 1)) == "commit"
    reboot(root)
    use.recover(host)
    assert outcome(host, 1) == "running"
    assert verify(host).exit_code == ExitCode.DONE
    use.confirm(host)


def test_an_apply_cut_off_after_its_last_step_is_no_trial_without_its_boot(
    root: Path, host: QuickHost
) -> None:
    before = configuration(root)
    use.attempt(host, **CWSR)
    without_last_line(journal_file(root, 1))
    use.recover(host)
    assert configuration(root) == before
    assert next_boot(root) == ""
    assert "cwsr" not in reboot(root)


@pytest.mark.parametrize(
    ("abstraction", "system"),
    [("lvm", "ext2"), ("diskfilter mdraid1x", "ext2"), ("", "btrfs"), ("", "zfs"), ("", "nfs")],
)
def test_where_grub_cannot_write_nothing_is_begun(
    root: Path, host: QuickHost, abstraction: str, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QuickHost, "probed", {"abstraction": f"{abstraction}\n", "fs": f"{system}\n"})
    whole = tree(root)
    with pytest.raises(RocmcfgError) as refused:
        use.attempt(host, **CWSR)
    assert "RC4307" in ids(refused)
    assert (abstraction.split() or [system])[0] in str(refused.value)
    assert tree(root) == whole


def test_a_full_block_is_refused(root: Path, host: QuickHost) -> None:
    block = b"# GRUB Environment Block\nsaved_entry=" + b"x" * 930 + b"\n"
    (root / BLOCK).write_bytes(block + b"#" * (1024 - len(block)))
    with pytest.raises(RocmcfgError) as refused:
        use.attempt(host, **CWSR)
    assert ids(refused)[0] == "RC4306"
    (root / BLOCK).write_bytes(b"rubbish")
    with pytest.raises(RocmcfgError) as damaged:
        use.attempt(host, **CWSR)
    assert ids(damaged)[0] == "RC4305"


def test_variables_wait_for_the_confirmation(root: Path, host: QuickHost) -> None:
    with pytest.raises(RocmcfgError) as nothing:
        use.attempt(host, set=("env.HSA_ENABLE_SDMA=0",))
    assert "RC4311" in ids(nothing)
    use.attempt(host, set=("amdgpu.cwsr_enable=0", "env.HSA_ENABLE_SDMA=0"))
    assert not (root / "etc/environment.d/90-rocmcfg.conf").exists()
    reboot(root)
    use.confirm(host)
    assert "HSA_ENABLE_SDMA=0" in (root / "etc/environment.d/90-rocmcfg.conf").read_text()


def test_the_stage_is_told_by_the_command_line_and_the_boot_id(root: Path, host: QuickHost) -> None:
    enable_unit(root)
    use.attempt(host, Terms(600, "true"), **CWSR)
    found = trial.load(host)
    assert found is not None
    assert (trial.stage(host, found), found.terms) == (Stage.ARMED, Terms(600, "true"))
    reboot(root)
    (root / "proc/stat").write_text("cpu 1 2 3\nbtime 1700000000\n")
    stands = trial_on_record(host)
    assert stands is not None
    assert (stands.stage, stands.until) == (Stage.RUNNING, 1700000600)
    reboot(root)
    assert trial.stage(host, found) is Stage.OVER
