"""What speaks against keeping a trial's settings: the log of its own boot, and GPUs without their driver."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.change.trial.unattended import unbound, unhealthy
from rocmcfg.host.local import LocalHost
from rocmcfg.workflow import confirming
from rocmcfg.workflow.diagnosing import diagnose
from tests.doctor.samples import HEALTHY, LOGS
from tests.support.asked_host import AskedHost, answer
from tests.support.hosts import debian_grub_host

GPU = "0000:03:00.0"
CLEAN = (
    "2026-11-21T10:00:00+0000 kernel: Linux version 6.12.107+deb13-amd64 (b)\n"
    "2026-11-21T10:00:00+0000 kernel: Command line: BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro quiet\n"
    "2026-11-21T10:00:03+0000 kernel: [drm] amdgpu kernel modesetting enabled.\n"
    f"2026-11-21T10:00:04+0000 kernel: amdgpu {GPU}: amdgpu: MODE1 reset\n"  # as it comes up, on some cards
    "2026-11-21T10:00:09+0000 kernel: usb 1-4: reset full-speed USB device number 3 using xhci_hcd\n"
)


def objections(view: AskedHost, gpus: Sequence[str]) -> tuple[str, ...]:
    return tuple(confirming.objections(view, gpus))


def host(
    tmp_path: Path, *, boot: str | int = CLEAN, dmesg: str | int = "", before: str = "", **made: Any
) -> AskedHost:
    name = f"root{len(list(tmp_path.iterdir()))}"
    return AskedHost(
        debian_grub_host(tmp_path, gfx="gfx1201", name=name, **made),
        answer("journalctl", "-k", "-1", text=before),
        answer("journalctl", "-k", "0", text=boot),
        answer("dmesg", text=dmesg),
    )


def line(text: str) -> str:
    return CLEAN + f"2026-11-21T10:05:00+0000 kernel: {text}\n"


def test_a_quiet_log_and_a_bound_gpu_are_no_objection(tmp_path: Path) -> None:
    assert objections(host(tmp_path), [GPU]) == ()
    assert objections(host(tmp_path), []) == ()


@pytest.mark.parametrize(
    "text",
    [
        # as printed by kernels 5.15 to 7.x: amdgpu_job.c, amdgpu_ring.c, amdgpu_device.c, drm_drv.c
        f"amdgpu {GPU}: amdgpu: GPU reset begin!",
        f"amdgpu {GPU}: amdgpu: GPU reset begin!. Source:  1",
        f"amdgpu {GPU}: amdgpu: GPU reset(7) succeeded!",
        f"amdgpu {GPU}: amdgpu: GPU reset(2) failed",
        f"amdgpu {GPU}: amdgpu: GPU reset succeeded, trying to resume",
        f"amdgpu {GPU}: amdgpu: GPU reset end with ret = -62",
        f"amdgpu {GPU}: amdgpu: soft reset failed, will fallback to full reset!",
        f"amdgpu {GPU}: MES might be in unrecoverable state, issue a GPU reset",
        f"amdgpu {GPU}: amdgpu: ASIC reset failed with error, -62 for drm dev, {GPU}",
        f"amdgpu {GPU}: amdgpu: VRAM is lost due to GPU reset!",
        f"amdgpu {GPU}: [drm] device wedged, but recovered through reset",
        f"amdgpu {GPU}: amdgpu: ring gfx_0.0.0 timeout, but soft recovered",
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=1, emitted seq=3",
        f"amdgpu {GPU}: amdgpu: Starting comp_1.3.0 ring reset",
        f"amdgpu {GPU}: amdgpu: Ring gfx_0.0.0 reset succeeded",
        f"amdgpu {GPU}: amdgpu: Ring gfx_0.0.0 reset failed",
        f"amdgpu {GPU}: amdgpu: GPU Recovery Failed: -19",
    ],
)
def test_every_kind_of_reset_is_an_objection_also_one_that_went_well(tmp_path: Path, text: str) -> None:
    (said,) = [one for one in objections(host(tmp_path, boot=line(text)), [GPU]) if "reset" in one]
    assert said == f"a GPU hung or was reset: {text}"


def test_a_real_log_of_a_reset_is_told_whatever_was_cut_from_it(tmp_path: Path) -> None:
    real = (LOGS / "rdna3-mes-reset.log").read_text()
    reasons = objections(host(tmp_path, boot=real), [GPU])
    assert any("was reset: amdgpu 0000:2f:00.0: amdgpu: soft reset failed" in said for said in reasons)


def test_a_storm_of_resets_is_one_sentence(tmp_path: Path) -> None:
    storm = line(f"amdgpu {GPU}: amdgpu: GPU reset begin!")
    for count in range(300):
        storm += f"2026-11-21T10:06:00+0000 kernel: amdgpu {GPU}: amdgpu: GPU reset({count}) succeeded!\n"
    (said,) = objections(host(tmp_path, boot=storm), [GPU])
    assert said.endswith("GPU reset begin!")


def test_what_healthy_machines_print_is_no_reset(tmp_path: Path) -> None:
    for log in sorted(HEALTHY.glob("*.log")):
        reasons = objections(host(tmp_path, boot=log.read_text()), [GPU])
        assert not [said for said in reasons if "was reset" in said], log.name


def test_resets_of_other_boots_and_other_drivers_are_none(tmp_path: Path) -> None:
    assert objections(host(tmp_path, before=line("amdgpu: GPU reset begin!")), [GPU]) == ()
    for text in ("i915 0000:00:02.0: [drm] GPU reset begin", "xe 0000:00:02.0: [drm] device wedged"):
        assert objections(host(tmp_path, boot=line(text)), [GPU]) == ()


RUNPM = f"amdgpu {GPU}: amdgpu: resume of IP block <smu> failed -5"  # rdna4-headless-runpm
NEWER: dict[str, Any] = {"kernels": ("6.17.2",)}
NEWER_LOG = ("6.12.107+deb13-amd64", "6.17.2")


def test_a_known_issue_is_an_objection_by_its_name(tmp_path: Path) -> None:
    (said,) = objections(host(tmp_path, boot=line(RUNPM).replace(*NEWER_LOG), **NEWER), [GPU])
    assert said == f"the log shows a known issue, rdna4-headless-runpm: {RUNPM}"


def test_a_fault_that_comes_in_spite_of_its_cure_is_one_too(tmp_path: Path) -> None:
    """Doctor believes less in an issue whose workaround is in force, and that is just what a trial tests."""
    cured = line(RUNPM).replace(*NEWER_LOG).replace(" ro ", " ro amdgpu.runpm=0 ")
    view = host(tmp_path, boot=cured, rocm=None, **NEWER)
    candidates = diagnose(view, (), Options(), {}, this_boot=True).candidates
    assert not any(candidate.match.told for candidate in candidates)
    assert [said for said in objections(view, [GPU]) if "rdna4-headless-runpm" in said]


def test_what_fits_an_issue_of_other_kernels_is_none(tmp_path: Path) -> None:
    assert objections(host(tmp_path, boot=line(RUNPM)), [GPU]) == ()


@pytest.mark.parametrize(("boot", "dmesg"), [("", ""), (1, 1), ("", 1)])
def test_a_log_that_cannot_be_read_is_an_objection(tmp_path: Path, boot: str | int, dmesg: str | int) -> None:
    (said,) = objections(host(tmp_path, boot=boot, dmesg=dmesg), [GPU])
    assert said.startswith("the kernel log of this boot could not be read")


def test_without_a_journal_the_ring_buffer_tells(tmp_path: Path) -> None:
    assert objections(host(tmp_path, boot="", dmesg="[    0.0] Linux version 6.12.107 (b)\n"), [GPU]) == ()
    reset = f"[    0.0] Linux version 6.12.107 (b)\n[  9.1] amdgpu {GPU}: amdgpu: GPU reset begin!\n"
    assert len(objections(host(tmp_path, boot="", dmesg=reset), [GPU])) == 1


def test_files_that_hold_other_boots_are_not_looked_at(tmp_path: Path) -> None:
    view = host(tmp_path, boot="", dmesg="")
    log = Path(view.root) / "var/log/kern.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(CLEAN)
    (said,) = objections(view, [GPU])
    assert said.startswith("the kernel log of this boot could not be read")


def test_a_gpu_that_lost_its_driver_is_an_objection(tmp_path: Path) -> None:
    view = host(tmp_path)
    device = Path(view.root) / f"sys/bus/pci/devices/{GPU}"
    (device / "driver").unlink()
    assert tuple(unbound(view, [GPU])) == (
        f"the GPU {GPU} now uses no driver; amdgpu drove it before the trial",
    )
    (device / "driver").symlink_to("../../drivers/vfio-pci")
    assert "now uses vfio-pci" in next(unbound(view, [GPU]))
    assert "is gone" in next(unbound(view, ["0000:09:00.0"]))
    assert objections(view, [GPU, "0000:09:00.0"]) == tuple(unbound(view, [GPU, "0000:09:00.0"]))


# -- the user's own check, really run ---------------------------------------------------------------------


def check(command: str) -> list[str]:
    return list(unhealthy(LocalHost("/"), command, lambda _: None))


def test_a_check_that_ends_well_says_nothing() -> None:
    assert check("true") == []
    assert check("exit 7") == ["the health check `exit 7` ended with status 7"]


@pytest.mark.parametrize("number", [9, 15])
def test_a_check_that_kills_its_parent_fails_and_kills_nobody_else(number: int) -> None:
    command = f"kill -{number} $PPID; sleep 0.1"
    assert check(command) == [f"the health check `{command}` ended with status -{number}"]


def test_a_check_that_goes_on_in_the_background_has_proven_nothing(tmp_path: Path) -> None:
    number = tmp_path / "pid"
    command = f"setsid sleep 600 > /dev/null 2>&1 & echo $! > {number}"
    try:
        (why,) = check(command)
    finally:
        os.kill(int(number.read_text()), signal.SIGKILL)
    assert "running, so its result means nothing" in why
