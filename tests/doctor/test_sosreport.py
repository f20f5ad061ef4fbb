"""The extracted tree of a sosreport is a root: what it has as the output of programs is read from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.facts import sosreport
from rocmcfg.host.local_view import LocalView
from rocmcfg.workflow.planning import collect_facts
from tests.support.hosts import File, make_root, os_release
from tests.support.program import rocmcfg

KERNEL = "6.17.0-14-generic"
LSPCI = """\
00:02.0 VGA compatible controller [0300]: ASPEED Technology, Inc. ASPEED Graphics Family [1a03:2000] (rev 41)
\tKernel driver in use: ast

c5:00.0 Display controller [0380]: Advanced Micro Devices, Inc. [AMD/ATI] Strix Halo [1002:1586] (rev c1)
\tSubsystem: Device [1f4c:b024]
\tKernel driver in use: amdgpu
\tKernel modules: amdgpu

0001:05:00.0 Processing accelerators [1200]: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [1002:74a1]
\tKernel modules: amdgpu
"""
LOG = "Nov 20 10:00:00 node kernel: amdgpu 0000:c5:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE\n"
TREE: dict[str, File] = {
    **os_release("Ubuntu", "ubuntu", "24.04"),
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=f ro quiet amdgpu.noretry=0\n",
    "proc/meminfo": "MemTotal:       131072000 kB\n",
    "lib/modules/6.17.0-14-generic/modules.dep": "",
    "sos_commands/kernel/uname_-a": f"Linux node {KERNEL} #14-Ubuntu SMP x86_64 GNU/Linux\n",
    "sos_commands/kernel/dmesg": f"[    0.000000] Linux version {KERNEL} (x) #14\n",
    "sos_commands/pci/lspci_-nnvv": LSPCI,
    "sos_commands/logs/journalctl_--disk-usage": "Archived and active journals take up 8M.\n",
    "sos_commands/logs/journalctl_--no-pager_--catalog_--boot": LOG,
    "sos_commands/logs/journalctl_--no-pager_--catalog_--boot_-1": "Nov 19 10:00:00 node kernel: before\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path, TREE)


def test_kernel_gpus_and_drivers_come_from_the_outputs_of_programs(root: Path) -> None:
    facts = collect_facts(LocalView(str(root)))
    assert facts.running == KERNEL
    assert [(kernel.release, kernel.running, kernel.dkms) for kernel in facts.kernels] == [
        (KERNEL, True, False)
    ]
    assert [(gpu.address, gpu.gfx) for gpu in facts.gpus] == [
        ("0000:c5:00.0", "gfx1151"),
        ("0001:05:00.0", "gfx942"),
    ]


def test_a_driver_of_dkms_is_seen(tmp_path: Path) -> None:
    status = f"amdgpu/6.16.13-2278356.24.04, {KERNEL}, x86_64: installed\n"
    root = make_root(tmp_path, {**TREE, "sos_commands/kernel/dkms_status": status})
    assert collect_facts(LocalView(str(root))).kernels[0].dkms


def test_the_journals_are_read_in_the_order_of_the_boots(root: Path) -> None:
    saved = [path.rpartition("/")[2] for path in sosreport.logs(LocalView(str(root)))]
    assert saved == [
        "journalctl_--no-pager_--catalog_--boot_-1",
        "journalctl_--no-pager_--catalog_--boot",
    ]


def test_without_journals_the_kernels_log_is_read(tmp_path: Path) -> None:
    without = {path: text for path, text in TREE.items() if "/logs/" not in path}
    root = make_root(tmp_path, without)
    assert sosreport.logs(LocalView(str(root))) == ("/sos_commands/kernel/dmesg",)


def test_doctor_answers_a_sosreport(root: Path) -> None:
    document = rocmcfg("doctor", "--root", root, "--json").document
    assert document["facts"]["kernel"] == KERNEL
    assert [log["name"].rpartition("/")[2] for log in document["logs"]][-1].endswith("--boot")
    assert document["matches"][0]["issue"].startswith("strix-")
    states = {layer["id"]: layer["status"] for layer in document["access"]["layers"]}
    assert (states["pci"], states["driver"], states["kfd"]) == ("passed", "passed", "unknown")


def test_status_and_lint_know_the_kernel_and_the_gpu_of_a_sosreport(root: Path) -> None:
    facts = rocmcfg("status", "--root", root, "--json").document["facts"]
    assert facts["running_kernel"] == KERNEL
    assert facts["gpus"][0]["gfx"] == "gfx1151"


def test_a_host_is_not_taken_for_a_sosreport(tmp_path: Path) -> None:
    other = {"sos_commands/pci/lspci": "no device\n", "sos_commands/kernel/uname_-a": "uname: not found\n"}
    view = LocalView(str(make_root(tmp_path, other)))
    assert sosreport.devices(view) == ()
    assert sosreport.release(view) == ""
    assert sosreport.logs(view) == ()
