"""How a guest's machine is put together: the QEMU command line, the firmware, the disks."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

AGENT_PORT = "org.rocmcfg.agent"


class Firmware(NamedTuple):
    """OVMF's code, shared and read-only, and the template of its variables, copied for every guest."""

    code: Path
    variables: Path


_FIRMWARES = (
    Firmware(Path("/usr/share/OVMF/OVMF_CODE_4M.fd"), Path("/usr/share/OVMF/OVMF_VARS_4M.fd")),
    Firmware(Path("/usr/share/OVMF/OVMF_CODE.fd"), Path("/usr/share/OVMF/OVMF_VARS.fd")),
)


def firmware() -> Firmware | None:
    """Return the installed OVMF without Secure Boot, or None."""
    return next((found for found in _FIRMWARES if found.code.exists() and found.variables.exists()), None)


def version() -> str:
    """Return what QEMU calls itself, with its package's version."""
    said = subprocess.run(["qemu-system-x86_64", "--version"], stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.splitlines()[0]


def patience(seconds: float) -> float:
    """Scale a time limit by ROCMCFG_VM_PATIENCE, and by how many processes each core has: the limits
    fit two idle cores, not every machine at every hour."""
    crowd = os.getloadavg()[0] / (os.cpu_count() or 1)
    return seconds * float(os.environ.get("ROCMCFG_VM_PATIENCE", "1")) * max(1, crowd)


def create_overlay(disk: Path, overlay: Path) -> None:
    """Create a qcow2 file that holds the differences from `disk`."""
    options = ["-f", "qcow2", "-F", "qcow2", "-b", str(disk.resolve())]
    subprocess.run(["qemu-img", "create", "-q", *options, str(overlay)], check=True)


def prepare_work_directory(work: Path, disk: Path, variables: Path | None = None) -> None:
    """Fill the directory of one guest: its overlay and its own firmware variables, new or a copy."""
    found = firmware()
    if found is None:
        raise FileNotFoundError("OVMF firmware, package ovmf")
    create_overlay(disk, work / "disk.qcow2")
    shutil.copyfile(variables or found.variables, work / "vars.fd")


def command(
    work: Path,
    *,
    console: Path | None,
    agent_fd: int | None = None,
    monitor_fd: int | None = None,
    extra_args: Sequence[str] = (),
) -> list[str]:
    """Return the command line of the machine whose files are in `work`.

    The serial console is appended to the file `console`; None makes it this terminal (leave with Ctrl-A X).
    A reset of the guest ends QEMU with status 0.
    """
    found = firmware()
    assert found is not None, "prepare_work_directory has checked it"
    line = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none"]
    # One processor: with two under tcg,thread=multi the kernel was seen to trip over code that it was just
    # patching ("Oops: int3" in sched_clock_cpu), about once in fifty starts.
    line += ["-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "2048"]
    # A reset ends QEMU and the guest is switched on anew: a warm reset was seen to hang between the firmware
    # and GRUB (QEMU 7.2 with OVMF), and a cold start never.
    line += ["-no-reboot"]
    line += ["-drive", f"if=pflash,format=raw,readonly=on,file={_escaped(found.code)}"]
    line += ["-drive", f"if=pflash,format=raw,file={_escaped(work / 'vars.fd')}"]
    # writethrough: the guest sees a disk without a volatile cache, so what it was told is written is still
    # there after QEMU has been killed, and what it had not yet sent is not.
    drive = (
        f"if=none,id=root,format=qcow2,cache=writethrough,discard=unmap,file={_escaped(work / 'disk.qcow2')}"
    )
    line += ["-drive", drive, "-device", "virtio-blk-pci,drive=root,serial=root,bootindex=1"]
    line += ["-device", "virtio-rng-pci"]
    if console is None:
        line += ["-serial", "mon:stdio"]
    else:
        line += ["-chardev", f"file,id=console,append=on,path={_escaped(console)}"]
        line += ["-serial", "chardev:console"]
    if agent_fd is not None:
        line += ["-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,fd={agent_fd}"]
        line += ["-device", f"virtserialport,chardev=agent,name={AGENT_PORT}"]
    if monitor_fd is not None:
        line += ["-chardev", f"socket,id=monitor,fd={monitor_fd}", "-mon", "chardev=monitor,mode=control"]
    return [*line, *extra_args]


def network(port: int) -> list[str]:
    """Return arguments for a network card that reaches nothing and is reached on this loopback port alone."""
    network = f"user,id=network,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"
    return ["-netdev", network, "-device", "virtio-net-pci,id=card,netdev=network"]


def _escaped(path: Path) -> str:
    return str(path).replace(",", ",,")  # QEMU's option parser splits at single commas
