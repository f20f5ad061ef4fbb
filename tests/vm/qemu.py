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


def patience(seconds: float) -> float:
    """Scale a time limit by ROCMCFG_VM_PATIENCE: the limits fit two idle cores, not every machine."""
    return seconds * float(os.environ.get("ROCMCFG_VM_PATIENCE", "1"))


def create_overlay(disk: Path, overlay: Path) -> None:
    """Create a qcow2 file that holds the differences from `disk`."""
    options = ["-f", "qcow2", "-F", "qcow2", "-b", str(disk.resolve())]
    subprocess.run(["qemu-img", "create", "-q", *options, str(overlay)], check=True)


def prepare_work_directory(work: Path, disk: Path) -> None:
    """Fill the directory of one guest: its overlay and its own firmware variables."""
    found = firmware()
    if found is None:
        raise FileNotFoundError("OVMF firmware, package ovmf")
    create_overlay(disk, work / "disk.qcow2")
    shutil.copyfile(found.variables, work / "vars.fd")


def command(
    work: Path,
    *,
    console: Path | None,
    agent_fd: int | None = None,
    memory_mib: int = 2048,
    extra_disk: Path | None = None,
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
    line += ["-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", str(memory_mib)]
    # A reset ends QEMU and the guest is switched on anew: a warm reset was seen to hang between the firmware
    # and GRUB (QEMU 7.2 with OVMF), and a cold start never.
    line += ["-no-reboot"]
    line += ["-drive", f"if=pflash,format=raw,readonly=on,file={_escaped(found.code)}"]
    line += ["-drive", f"if=pflash,format=raw,file={_escaped(work / 'vars.fd')}"]
    line += _disk("root", work / "disk.qcow2", boot_index=1)
    if extra_disk is not None:
        line += _disk("extra", extra_disk, boot_index=2)
    line += ["-device", "virtio-rng-pci"]
    if console is None:
        line += ["-serial", "mon:stdio"]
    else:
        line += ["-chardev", f"file,id=console,append=on,path={_escaped(console)}"]
        line += ["-serial", "chardev:console"]
    if agent_fd is not None:
        line += ["-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,fd={agent_fd}"]
        line += ["-device", f"virtserialport,chardev=agent,name={AGENT_PORT}"]
    return [*line, *extra_args]


def forwarded_ssh(port: int) -> list[str]:
    """Return arguments for a network card that reaches nothing and is reached on this loopback port alone."""
    forward = f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"
    return ["-netdev", forward, "-device", "virtio-net-pci,netdev=net"]


def _disk(name: str, file: Path, boot_index: int) -> list[str]:
    # writethrough: the guest sees a disk without a volatile cache, so what it was told is written is still
    # there after QEMU has been killed, and what it had not yet sent is not.
    image_format = "qcow2" if file.suffix == ".qcow2" else "raw"
    drive = f"if=none,id={name},format={image_format},cache=writethrough,discard=unmap,file={_escaped(file)}"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={name},serial={name},bootindex={boot_index}"]


def _escaped(path: Path) -> str:
    return str(path).replace(",", ",,")  # QEMU's option parser splits at single commas
