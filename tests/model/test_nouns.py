"""What the nouns say of themselves: kinds of change, exit codes of a verification, stops."""

from __future__ import annotations

import pytest

from rocmcfg.model.activation import ActivationState
from rocmcfg.model.checks import Check, CheckStatus, VerificationReport
from rocmcfg.model.desired import Channel, DesiredSetting, Kind
from rocmcfg.model.diagnostic import ExitCode, Severity, error, fail, has_errors, info, warning
from rocmcfg.model.facts import BootChain, Driver, Facts, Gpu, Kernel, Os
from rocmcfg.model.file_state import FileState
from rocmcfg.model.plan import Activation, ChangeKind, FileChange, Plan
from rocmcfg.model.profile import Setting
from rocmcfg.model.version import KernelVersion

STATE = FileState(b"", 0o644, 0, 0, 0)


def report(*statuses: CheckStatus) -> VerificationReport:
    checks = tuple(Check("n", "t", "1", "1", "1", status, "") for status in statuses)
    return VerificationReport(("p",), 1, checks, ())


S = CheckStatus


@pytest.mark.parametrize(
    ("statuses", "exit_code", "word"),
    [
        ((), ExitCode.DONE, "nothing_applied"),
        ((S.IN_EFFECT, S.REWRITTEN_BY_DRIVER), ExitCode.DONE, "in_effect"),
        ((S.IN_EFFECT, S.PENDING_REBOOT), ExitCode.PENDING, "pending"),
        ((S.PENDING_ACTIVATION,), ExitCode.PENDING, "pending"),
        *(((S.IN_EFFECT, s), ExitCode.DIFFERENCES, "differences") for s in list(S)[4:]),
        ((S.PENDING_REBOOT, S.DRIFT), ExitCode.DIFFERENCES, "differences"),
    ],
)
def test_the_worst_check_decides_and_unreadable_is_never_a_pass(
    statuses: tuple[CheckStatus, ...], exit_code: ExitCode, word: str
) -> None:
    found = report(*statuses)
    assert (found.exit_code, found.status) == (exit_code, word)


def test_a_change_is_named_by_what_was_there_and_what_will_be() -> None:
    assert FileChange("/a", None, b"x", "").kind is ChangeKind.CREATE
    assert FileChange("/a", STATE, b"x", "").kind is ChangeKind.MODIFY
    assert FileChange("/a", STATE, None, "").kind is ChangeKind.REMOVE


def test_a_plan_of_skipped_steps_only_is_empty() -> None:
    skipped = Activation("update-initramfs", (), "no image has the driver", state=ActivationState.SKIPPED)
    due = Activation("update-grub", (), "the drop-in changed")

    def plan(*activations: Activation) -> Plan:
        return Plan((), (), activations, (), (), (), None, False, "grub")

    assert plan(skipped).empty
    assert not plan(skipped, due).empty
    assert plan(skipped, due).due == (due,)


@pytest.mark.parametrize(
    ("setting", "id"),
    [
        (Setting(Kind.PARAMETER, "runpm", 0, "amdgpu"), "amdgpu.runpm"),
        (Setting(Kind.FEATURE, "gfxoff", False), "feature.gfxoff"),
        (Setting(Kind.KARG, "iommu", "pt"), "karg.iommu"),
        (Setting(Kind.ENV, "HSA_XNACK", "0"), "env.HSA_XNACK"),
    ],
)
def test_a_setting_has_one_name_everywhere(setting: Setting, id: str) -> None:
    assert setting.id == id


def test_a_feature_is_written_as_the_parameter_that_carries_it() -> None:
    feature = DesiredSetting(
        "feature.gfxoff",
        Kind.FEATURE,
        "gfxoff",
        "0xfff73fff",
        Channel.CMDLINE,
        "amdgpu",
        "amdgpu.ppfeaturemask",
    )
    assert feature.karg == "amdgpu.ppfeaturemask=0xfff73fff"
    assert DesiredSetting("karg.nosmt", Kind.KARG, "nosmt", None, Channel.CMDLINE).karg == "nosmt"


def test_a_stop_carries_its_cause_first_and_its_exit_code() -> None:
    stop = fail("RC0001", "broken", detail="d", location="f:1", hint="h", exit_code=ExitCode.ROLLED_BACK)
    assert str(stop) == "broken"
    assert stop.exit_code is ExitCode.ROLLED_BACK
    assert stop.diagnostics[0].severity is Severity.ERROR
    assert has_errors([warning("W", "w"), error("E", "e")])
    assert not has_errors([warning("W", "w"), info("I", "i")])


def test_facts_list_each_target_once_and_only_kernels_with_a_driver() -> None:
    version = KernelVersion((6, 12, 1, 0))
    kernels = tuple(Kernel(d.value, version, d) for d in Driver)
    gpus = tuple(Gpu(gfx, "", "kfd") for gfx in ("gfx942", "gfx942", None, "gfx1036"))
    facts = Facts(Os("", "", ""), kernels, "", gpus, None, "", BootChain(None, (), ()), "", False)
    assert facts.gfx == ("gfx942", "gfx1036")
    assert [k.driver for k in facts.driven] == [Driver.MODULE, Driver.BUILTIN]
