"""The whole job on a real Debian: apply, verify, reboot, verify, roll back, reboot, everything as before.

`--any-gpu --unconditional`: the guest has no GPU and its kernel already carries the fix; what is shown is
that the values arrive at the real amdgpu module and leave again. That a GPU works with them is not shown.
"""

from __future__ import annotations

import json
from typing import Any

from .guest import Guest

APPLY = "rocmcfg apply --any-gpu --unconditional --yes"
# Everything that an apply may touch, with what an undo must bring back: kind, mode, owner, time, content.
SNAPSHOT = (
    "for f in /etc /boot/grub; do find $f -xdev ! -type d -printf '%p %y %m %u %g %T@ %l\\n'; done | sort; "
    "find /etc /boot/grub -xdev -type f ! -name grub.cfg ! -name grubenv -exec sha256sum {} + | sort; "
    "sha256sum /boot/grub/grub.cfg"
)
# update-grub writes the menu anew: the same bytes at another time. Every boot writes grubenv.
GENERATED = ("/boot/grub/grub.cfg ", "/boot/grub/grubenv ")


def snapshot(guest: Guest) -> list[str]:
    lines = guest.run(SNAPSHOT, check=True).stdout.splitlines()
    return [line for line in lines if not line.startswith(GENERATED)]


def parameters(guest: Guest) -> str:
    return guest.run("cd /sys/module/amdgpu/parameters && grep -H . *", check=False).stdout


def verify(guest: Guest, user: str = "root") -> tuple[int, dict[str, Any]]:
    result = guest.run("rocmcfg verify --json", user=user)
    document: dict[str, Any] = json.loads(result.stdout)
    return result.rc, {check["name"]: check for check in document["checks"]}


def test_gfx1201_through_the_kernel_command_line(guest: Guest) -> None:
    files, values = snapshot(guest), parameters(guest)
    guest.run("rocmcfg plan --profile gfx1201 --any-gpu --unconditional", user="nobody", check=True)
    assert snapshot(guest) == files, "plan changed something"

    applied = json.loads(guest.run(f"{APPLY} --profile gfx1201 --json", check=True).stdout)
    assert applied["reboot_required"]
    assert [(a["tool"], a["state"]) for a in applied["activations"]] == [("update-grub", "done")]
    code, checks = verify(guest)
    assert (code, checks["amdgpu.cwsr_enable"]["status"]) == (6, "pending_reboot")
    again = guest.run(f"{APPLY} --profile gfx1201", check=True)
    assert "nothing was changed" in again.stdout
    assert "committed by root: profile gfx1201" in guest.run("journalctl -t rocmcfg", check=True).stdout

    guest.reboot()
    code, checks = verify(guest)
    assert code == 0, checks
    assert guest.parameter("cwsr_enable") == "0"
    assert checks["amdgpu.cwsr_enable"]["running"] == "0"
    assert verify(guest, user="nobody")[0] == 0, "verify needs no root"
    login = guest.run("bash -lc 'echo $ROCBLAS_USE_HIPBLASLT'", check=True)
    assert login.stdout == "0\n"

    guest.run("rocmcfg rollback --yes", check=True)
    assert snapshot(guest) == files
    assert guest.parameter("cwsr_enable") == "0", "the running kernel keeps its value until the reboot"
    guest.reboot()
    assert snapshot(guest) == files
    assert parameters(guest) == values


def test_rdna3_composes_the_mask_onto_what_users_wrote(guest: Guest) -> None:
    """A user's own lines, in conflict and in agreement, stay and are told of; ours win where they can."""
    guest.write(
        "/etc/default/grub.d/user.cfg",
        'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.runpm=1 iommu=pt"\n',
    )
    guest.write("/etc/modprobe.d/user.conf", "options amdgpu tmz=1 dcdebugmask=0x10\n")
    guest.run("update-grub", check=True, timeout=300)
    files = snapshot(guest)

    plan = json.loads(guest.run("rocmcfg plan --profile rdna3 --any-gpu --json", check=True).stdout)
    rows = {row["setting"]: row for row in plan["settings"]}
    assert rows["karg.iommu"]["outcome"] == "adopted"
    assert rows["karg.iommu"]["source"] == "/etc/default/grub.d/user.cfg:1"
    assert (rows["amdgpu.runpm"]["current"], rows["amdgpu.runpm"]["value"]) == ("1", "0")
    assert (rows["amdgpu.tmz"]["current"], rows["amdgpu.tmz"]["value"]) == ("1", "0")

    guest.run(f"{APPLY} --profile rdna3", check=True, timeout=300)
    guest.reboot()
    code, checks = verify(guest)
    assert code == 0, checks
    assert guest.parameter("ppfeaturemask") == "0xfff73fff"
    assert guest.parameter("runpm") == "0"
    assert guest.parameter("tmz") == "0"
    assert guest.parameter("dcdebugmask") == "16", "the user's own parameter is left alone"
    assert guest.run("cat /proc/cmdline").stdout.split().count("iommu=pt") == 1

    guest.run("rocmcfg rollback --yes", check=True, timeout=300)
    assert snapshot(guest) == files
    guest.reboot()
    assert (guest.parameter("runpm"), guest.parameter("tmz")) == ("1", "1")
    assert guest.parameter("ppfeaturemask") == "0xfff7bfff"


def test_modprobe_d_without_amdgpu_in_the_initramfs(guest: Guest) -> None:
    """The image is not rebuilt, which is said; a user's command line wins over us, which is said too."""
    files = snapshot(guest)
    applied = json.loads(
        guest.run(f"{APPLY} --profile gfx1201 --via modprobe --json", check=True, timeout=300).stdout
    )
    assert [(a["tool"], a["state"]) for a in applied["activations"]] == [("update-initramfs", "skipped")]
    assert verify(guest)[0] == 6
    guest.reboot()
    assert verify(guest)[0] == 0
    assert guest.parameter("cwsr_enable") == "0"

    guest.write(
        "/etc/default/grub.d/user.cfg",
        'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.cwsr_enable=1"\n',
    )
    guest.run("update-grub", check=True, timeout=300)
    code, checks = verify(guest)
    assert (code, checks["amdgpu.cwsr_enable"]["status"]) == (3, "overridden")
    assert checks["amdgpu.cwsr_enable"]["source"] == "/etc/default/grub.d/user.cfg:1"
    guest.run("rm /etc/default/grub.d/user.cfg && update-grub", check=True, timeout=300)

    guest.run("rocmcfg rollback --yes", check=True, timeout=300)
    assert snapshot(guest) == files
    guest.reboot()
    assert guest.parameter("cwsr_enable") == "1"


def test_modprobe_d_with_amdgpu_in_the_initramfs(guest: Guest) -> None:
    """The image carries the driver and a copy of modprobe.d of its own, so it is rebuilt and looked into."""
    guest.run("echo amdgpu >> /etc/initramfs-tools/modules", check=True)
    guest.run("update-initramfs -u -k all", check=True, timeout=1200)
    files = snapshot(guest)
    applied = json.loads(
        guest.run(f"{APPLY} --profile gfx1201 --via modprobe --json", check=True, timeout=1200).stdout
    )
    assert [(a["tool"], a["state"]) for a in applied["activations"]] == [("update-initramfs", "done")]
    assert verify(guest)[0] == 6
    guest.reboot()
    assert guest.parameter("cwsr_enable") == "0"
    assert verify(guest)[0] == 0

    guest.run("rocmcfg rollback --yes", check=True, timeout=1200)
    assert snapshot(guest) == files
    guest.reboot()
    assert guest.parameter("cwsr_enable") == "1", "the old image would still hold our option"
