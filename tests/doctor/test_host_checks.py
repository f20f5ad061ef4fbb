"""What doctor says of the host itself, and that a host with nothing wrong hears nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.files.environment import for_everybody
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.workflow import diagnosing
from tests.support.hosts import Link, debian_grub_host
from tests.support.program import rocmcfg

DKMS = {"sys/module/amdgpu/version": "6.3.6\n"}


def checks(root: Path, environment: Mapping[str, str] | None = None) -> dict[str, Diagnostic]:
    """By id; a log without facts keeps the host's own."""
    silent = root.parent / "silent.log"
    silent.write_text("all is well\n")
    found = diagnosing.diagnose(LocalHost(str(root)), [str(silent)], Options(), environment or {})
    assert len({d.id for d in found.diagnostics}) == len(found.diagnostics), found.diagnostics
    return {d.id: d for d in found.diagnostics}


@pytest.mark.parametrize("gfx", ["gfx1201", "gfx1100", "gfx1151", "gfx942", "gfx1030", None])
def test_a_healthy_host_hears_nothing(tmp_path: Path, gfx: str | None) -> None:
    assert checks(debian_grub_host(tmp_path, gfx=gfx)) == {}


def test_what_rocmcfg_applied_and_is_in_effect_is_no_news(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, parameters={"runpm": "0"}, booted_with="quiet amdgpu.runpm=0")
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").code == 0
    assert "RC8102" not in checks(root)


def test_settings_that_wait_for_a_reboot_or_were_lost(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    settings = ("--set", "amdgpu.runpm=0", "--set", "env.HSA_ENABLE_SDMA=0")
    assert rocmcfg("apply", *settings, "--root", root, "--yes").code == 0
    waiting = checks(root)["RC8101"]
    assert "amdgpu.runpm" in waiting.summary
    assert waiting.hint.startswith("run what apply left to you, then reboot that host; "), (
        "update-grub is due"
    )
    for path in ("etc/environment.d/90-rocmcfg.conf", "etc/profile.d/zz-rocmcfg.sh", "etc/rocmcfg/env"):
        (root / path).unlink()
    assert "HSA_ENABLE_SDMA" in checks(root)["RC8102"].summary


def test_a_transaction_that_was_cut_off_is_said_and_nothing_of_what_it_wrote(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").code == 0
    (journal,) = (root / "var/lib/rocmcfg/transactions").glob("*/journal*")
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    assert list(checks(root)) == ["RC4021"]


def test_two_files_that_set_one_parameter_differently(tmp_path: Path) -> None:
    contest = {"a.conf": "options amdgpu runpm=1\n", "b.conf": "options amdgpu runpm=0\n"}
    found = checks(debian_grub_host(tmp_path, modprobe_d=contest))["RC8103"]
    assert found.location == "/etc/modprobe.d/b.conf:1"
    assert "/etc/modprobe.d/a.conf:1" in found.detail
    same = {"a.conf": "options amdgpu runpm=0\n", "b.conf": "options amdgpu runpm=0x0\n"}
    assert checks(debian_grub_host(tmp_path, modprobe_d=same, name="same")) == {}


@pytest.mark.parametrize(
    ("path", "text", "conflict"),
    [
        (
            "etc/tuned/bootcmdline",
            'TUNED_BOOT_CMDLINE="iommu=off isolcpus=2"\nTUNED_BOOT_X=\n',
            True,
        ),
        ("etc/tuned/bootcmdline", 'TUNED_BOOT_CMDLINE="iommu=pt isolcpus=2"\n', False),
        ("etc/tuned/bootcmdline", 'TUNED_BOOT_CMDLINE=""\n', False),
        ("etc/kernelstub/configuration", '{"user": {"kernel_options": ["quiet", "iommu=off"]}}', True),
        ("etc/kernelstub/configuration", '{"user": {"kernel_options": ["quiet", "splash"]}}', False),
    ],
)
def test_other_programs_conflict_only_where_they_write_the_same_argument(
    tmp_path: Path, path: str, text: str, conflict: bool
) -> None:
    root = debian_grub_host(tmp_path, extra={path: text})
    assert "RC8104" not in checks(root), "nothing of ours is there to be undone"
    assert rocmcfg("apply", "--set", "karg.iommu=pt", "--root", root, "--yes").code == 0
    found = checks(root)
    assert ("RC8104" in found) == conflict
    if conflict:
        assert found["RC8104"].location == f"/{path}"


def test_defaults_that_nobody_generated_a_menu_from(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    path = root / "etc/default/grub.d/gpu.cfg"
    path.parent.mkdir(parents=True, exist_ok=True)
    append = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {}"\n'
    path.write_text(append.format("amdgpu.runpm=0 iommu=pt splash"))
    found = checks(root)["RC8106"]
    assert found.summary.startswith("the boot menu does not have amdgpu.runpm=0 iommu=pt:")
    assert found.location.startswith("/etc/default/grub.d/gpu.cfg")
    assert "update-grub" in found.hint
    path.write_text(append.format("splash"))
    assert checks(root) == {}, "what does not concern the GPU"
    menu = root / "boot/grub/grub.cfg"
    menu.write_text(menu.read_text().replace(" quiet", " quiet amdgpu.dc=0"))
    assert "still has amdgpu.dc=0" in checks(root)["RC8106"].summary
    path.write_text(append.format("amdgpu.dc=0 $(true)"))
    assert "RC8106" not in checks(root), "shell code cannot be judged"


def test_dkms_and_rocm_of_other_releases(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, driver="dkms", rocm="6.4.3", extra=DKMS)
    assert "6.3.6 with ROCm 6.4.3" in checks(root)["RC8110"].summary
    assert checks(debian_grub_host(tmp_path, driver="dkms", rocm="6.1.0", extra=DKMS, name="near")) == {}
    assert checks(debian_grub_host(tmp_path, rocm="7.2.0", extra=DKMS, name="no dkms")) == {}


def test_bad_mes_firmware(tmp_path: Path) -> None:
    path = "sys/bus/pci/devices/0000:03:00.0/fw_version/mes_fw_version"
    root = debian_grub_host(tmp_path, gfx="gfx1151", extra={path: "0x00000083\n"})
    assert checks(root)["RC8111"].location == f"/{path}"
    for name, gfx, version in (("older", "gfx1151", "0x80"), ("another GPU", "gfx1100", "0x83")):
        assert checks(debian_grub_host(tmp_path, gfx=gfx, extra={path: f"{version}\n"}, name=name)) == {}


@pytest.mark.parametrize(
    ("gfx", "value", "id"),
    [
        (["gfx1010"], "10.3.0", "RC8121"),  # another generation
        (["gfx90a"], "10.3.0", "RC8121"),
        (["gfx1031"], "10.3.0", None),  # what it is for
        (["gfx1030"], "10.3.0", None),  # what it is; lint says that it does nothing
        (["gfx1100", "gfx1036"], "11.0.0", "RC8121"),  # the processor's GPU too
        (["gfx1031"], "gfx1030", "RC8120"),
        (["gfx1103"], "11.0.2", None),  # one generation, and nobody measured it
        ([], "10.3.0", None),
    ],
)
def test_a_stale_override(tmp_path: Path, gfx: list[str], value: str, id: str | None) -> None:
    root = debian_grub_host(tmp_path, gfx=gfx, rocm=None)
    found = checks(root, {"HSA_OVERRIDE_GFX_VERSION": value})
    assert set(found) == ({id} if id else set())
    if id:
        assert found[id].location == "the environment of this command"


def test_an_override_in_a_file_is_found_and_one_per_gpu_is_judged_by_that_gpu(tmp_path: Path) -> None:
    extra = {"etc/profile.d/rocm.sh": "export HSA_OVERRIDE_GFX_VERSION=11.0.0\n"}
    root = debian_grub_host(tmp_path, gfx=["gfx1101", "gfx1036"], rocm=None, extra=extra)
    found = checks(root)["RC8121"]
    assert found.location == "/etc/profile.d/rocm.sh:1"
    assert "HSA_OVERRIDE_GFX_VERSION_1=11.0.0" in found.hint
    extra = {"etc/profile.d/rocm.sh": "export HSA_OVERRIDE_GFX_VERSION_1=11.0.0\n"}
    root = debian_grub_host(tmp_path, gfx=["gfx1101", "gfx1036"], rocm=None, extra=extra, name="per node")
    assert checks(root) == {}


def test_what_a_script_decides_cannot_be_told_and_is_not_judged(tmp_path: Path) -> None:
    script = "export HSA_OVERRIDE_GFX_VERSION=10.3.0 # RX 6800\nexport HSA_XNACK=$(true)\nAMD_LOG_LEVEL=3\n"
    root = debian_grub_host(tmp_path, gfx=["gfx1030"], rocm=None, extra={"etc/profile.d/rocm.sh": script})
    found = checks(root)
    assert set(found) == {"RC3307"}
    assert found["RC3307"].location == "/etc/profile.d/rocm.sh:2"
    assert [one.name for one in for_everybody(LocalHost(str(root)))] == [
        "HSA_OVERRIDE_GFX_VERSION",
        "HSA_XNACK",
    ]


def test_what_profile_sets_behind_its_folder_comes_last(tmp_path: Path) -> None:
    profile = (
        "export AMD_LOG_LEVEL=1 HSA_XNACK=1\n"
        "if [ -d /etc/profile.d ]; then\n  for i in /etc/profile.d/*.sh; do\n    . $i\n  done\nfi\n"
        "export HSA_XNACK=3\n"
    )
    extra = {"etc/profile": profile, "etc/profile.d/a.sh": "export AMD_LOG_LEVEL=2 HSA_XNACK=2\n"}
    host = LocalHost(str(debian_grub_host(tmp_path, extra=extra)))
    last = {one.name: (one.value, one.source) for one in for_everybody(host)}
    assert last["AMD_LOG_LEVEL"] == ("2", "/etc/profile.d/a.sh:1")
    assert last["HSA_XNACK"] == ("3", "/etc/profile:7")


def test_a_variable_behind_a_link_is_found_in_the_file_that_holds_it(tmp_path: Path) -> None:
    """Debian's environment.d ends with a link to /etc/environment, which so comes last."""
    extra: dict[str, Any] = {
        "etc/environment": "HSA_OVERRIDE_GFX_VERSION=10.3.0\n",
        "etc/environment.d/50-x.conf": "HSA_OVERRIDE_GFX_VERSION=11.0.0\nROCR_VISIBLE_DEVICES=0\n",
        "usr/lib/environment.d/99-environment.conf": Link("../../../etc/environment"),
        "etc/profile.d/a.sh": "export HSA_ENABLE_SDMA=0\n",
    }
    host = LocalHost(str(debian_grub_host(tmp_path, gfx=["gfx90a"], rocm=None, extra=extra)))
    assert [(one.name, one.source) for one in for_everybody(host)] == [
        ("HSA_OVERRIDE_GFX_VERSION", "/etc/environment.d/50-x.conf:1"),
        ("ROCR_VISIBLE_DEVICES", "/etc/environment.d/50-x.conf:2"),
        ("HSA_OVERRIDE_GFX_VERSION", "/etc/environment:1"),
        ("HSA_ENABLE_SDMA", "/etc/profile.d/a.sh:1"),
    ]
    assert checks(Path(host.root))["RC8121"].location == "/etc/environment:1"


def test_an_integrated_gpu_beside_a_card(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx=["gfx1100", "gfx1036"])
    assert set(checks(root)) == {"RC8123"}
    assert checks(root, {"ROCR_VISIBLE_DEVICES": "0"}) == {}
    assert checks(debian_grub_host(tmp_path, gfx=["gfx1100", "gfx1036"], rocm=None, name="no ROCm")) == {}


def test_parameters_that_the_kernel_did_not_take(tmp_path: Path) -> None:
    log = tmp_path / "kernel.log"
    log.write_text(
        "[    4.8] amdgpu: unknown parameter 'gfxoff' ignored\n"
        "[    4.8] amdgpu: unknown parameter 'gfxoff' ignored\n"
        "[    9.1] amdgpu: 'foo' invalid for parameter 'cwsr_enable'\n"
    )
    root = debian_grub_host(tmp_path)
    found = diagnosing.diagnose(LocalHost(str(root)), [str(log)], Options(), {}).diagnostics
    assert [(d.id, d.location) for d in found] == [("RC8131", f"{log}:3"), ("RC8130", f"{log}:1")]
    assert "feature.gfxoff" in found[1].hint


def test_another_machines_log_says_nothing_of_this_host(tmp_path: Path) -> None:
    contest = {"a.conf": "options amdgpu runpm=1\n", "b.conf": "options amdgpu runpm=0\n"}
    root = debian_grub_host(tmp_path, gfx="gfx1201", modprobe_d=contest)
    log = tmp_path / "theirs.log"
    log.write_text("kfd kfd: amdgpu: added device 1002:744c\n")
    assert diagnosing.diagnose(LocalHost(str(root)), [str(log)], Options(), {}).diagnostics == ()
