"""A shell on a copy of the sample host, in which the commands of the documentation are run as they stand.

`rocmcfg` is the real program on that copy (docs/demo/played.py); `sudo` does nothing, `reboot` and what reads
the kernel's log are played. In the folder where the commands run lie a log of a crash, advice from a blog
and a program.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "demo"
COLUMNS = 80
CLOCK = "2026-11-22T10:00:00+00:00"

_PROGRAMS = {
    "rocmcfg": f'exec {sys.executable} {DEMO}/played.py "$PLAYED_HOST" "$@"',
    "sudo": 'exec "$@"',
    "reboot": f'{sys.executable} {DEMO}/reboot.py --boot "$PLAYED_HOST" >/dev/null',
    # what a page writes to /etc is the copy's
    "mkdir": 'exec /bin/mkdir "$1" "$PLAYED_HOST$2"',
    "tee": 'exec cat >"$PLAYED_HOST$1"',
    "journalctl": f"exec cat {DEMO}/fault.log",
    "dmesg": f"exec cat {DEMO}/fault.log",
    "uname": '[ "$1" = -r ] && exec cat "$PLAYED_HOST/proc/sys/kernel/osrelease"\nexec /bin/uname "$@"',
    "python3": f'exec {sys.executable} "$@"',
    # A container would start where the file with its variables is there.
    "docker": '[ "$2" = --env-file ] && exec cat "$PLAYED_HOST$3" >/dev/null',
}
_FILES = {
    "crash.log": (DEMO / "fault.log").read_text(),
    "advice.md": (DEMO / "advice.md").read_text(),
    "advice.sh": """\
export HSA_OVERRIDE_GFX_VERSION=11.0.0
export TORCH_USE_HIPBLASLT=0
export PYTORCH_NO_HIP_MEMORY_CACHING=0
export ROCBLAS_USE_HIPBLASLT=0
""",
    "train.py": "",
}


class Shell:
    def __init__(self, folder: Path) -> None:
        self.work, programs, self.host = (folder / name for name in ("work", "bin", "host"))
        self.work.mkdir()
        programs.mkdir()
        for name, text in _FILES.items():
            (self.work / name).write_text(text)
        for name, line in _PROGRAMS.items():
            (programs / name).write_text(f"#!/bin/sh\n{line}\n")
            (programs / name).chmod(0o755)
        shutil.copytree(DEMO / "sample-host", self.host, symlinks=True)
        colours = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")
        left_out = ("VIRTUAL_ENV", "CONDA_PREFIX", "SUDO_USER", "COLUMNS", *colours)
        self.environment = {name: text for name, text in os.environ.items() if name not in left_out} | {
            "PATH": f"{programs}:/usr/bin:/bin",
            "HOME": str(self.work),
            "PLAYED_HOST": str(self.host),
            "PLAYED_CLOCK": CLOCK,
            "PYTHONIOENCODING": "utf-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def becomes(self, variant: str) -> None:
        """The sample host with other hardware: `strix` is a Ryzen AI Max with 128 GiB, `instinct` a server
        with an MI300X."""
        {"strix": _strix, "instinct": _instinct}[variant](self.host)

    def run(self, command: str, **how: int) -> tuple[int, str]:
        """Its exit code and what it printed, both streams; without a terminal, so in 80 columns."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=how.get("stdout", subprocess.PIPE),
            stderr=how.get("stderr", subprocess.STDOUT),
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout or ""


@contextmanager
def shell() -> Iterator[Shell]:
    with tempfile.TemporaryDirectory(prefix="rocmcfg-docs-") as folder:
        yield Shell(Path(folder))


def _strix(host: Path) -> None:
    """A Radeon 8060S in place of the card: what amdgpu and KFD show of gfx1151, and the memory."""
    _card(host, (11, 5, 1), 110501, "0x1586")
    (host / "proc/meminfo").write_text(f"MemTotal:       {125 << 20} kB\n")


def _card(host: Path, gc_ip: tuple[int, int, int], target: int, id: str) -> Path:
    """Make the card another one, and return the folder of its device."""
    device = next((host / "sys/devices").rglob("0000:03:00.0"))
    gc = device / "ip_discovery/die/0/GC/0"
    for name, value in zip(("major", "minor", "revision"), gc_ip, strict=True):
        (gc / name).write_text(f"{value}\n")
    (device / "device").write_text(f"{id}\n")
    node = host / "sys/devices/virtual/kfd/kfd/topology/nodes/1/properties"
    node.write_text(re.sub(r"gfx_target_version \d+", f"gfx_target_version {target}", node.read_text()))
    return device


def _instinct(host: Path) -> None:
    """An MI300X, and the state at run time that AMD's guides ask for."""
    device = _card(host, (9, 4, 3), 90402, "0x74a1")
    node = host / "sys/devices/virtual/kfd/kfd/topology/nodes/1/properties"
    node.write_text(re.sub(r"device_id \d+", f"device_id {0x74A1}", node.read_text()))
    attributes = {
        "class": "0x120000",
        "current_link_width": 16,
        "current_link_speed": "32.0 GT/s PCIe",
        "current_compute_partition": "SPX",
        "current_memory_partition": "NPS1",
        "mem_info_vram_total": 196592 << 20,
        "mem_info_vis_vram_total": 196592 << 20,
        "iommu_group/type": "identity",
    }
    cpuidle = "sys/devices/system/cpu/cpu0/cpuidle"
    files = {f"{device.relative_to(host)}/{name}": value for name, value in attributes.items()} | {
        "proc/sys/kernel/numa_balancing": 0,
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        "proc/sys/vm/compaction_proactiveness": 20,
        "proc/meminfo": "MemTotal:       1584000000 kB",
        "proc/cpuinfo": "model name\t: AMD EPYC 9654 96-Core Processor",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
        "sys/class/dmi/id/bios_version": "1.4",
        "sys/class/dmi/id/board_name": "Server board",
        "var/lib/dpkg/status": "Package: rocm-core\nStatus: install ok installed\nVersion: 7.1.0\n",
        **{f"{cpuidle}/state{at}/name": name for at, name in enumerate(("POLL", "C1", "C2"))},
        **{f"{cpuidle}/state{at}/disable": at // 2 for at in range(3)},
    }
    for name, value in files.items():
        (host / name).parent.mkdir(parents=True, exist_ok=True)
        (host / name).write_text(f"{value}\n")
