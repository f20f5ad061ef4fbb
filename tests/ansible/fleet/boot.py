"""The boot of one host, in fresh namespaces: mounts its tree, plays GRUB and the kernel, becomes sshd.

`python -m tests.ansible.fleet.boot WORK`, where WORK is a directory that `host.Host` has made.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import uuid
from pathlib import Path

from . import grub
from .debian import REPOSITORY, SAMPLE, simulation

# What the kernel of the host says of itself; the rest of /proc is real.
_PROC = (
    *("cmdline", "modules", "version"),
    *("sys/kernel/osrelease", "sys/kernel/tainted", "sys/kernel/random/boot_id"),
)
_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
_DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}


def main(work: Path) -> None:
    told = json.loads((work / "host.json").read_text())
    root = work / "root"
    mount("-t", "overlay", "-o", told["overlay"], "overlay", root)
    quirks = {name: told[name] for name in ("gpu", "deaf", "panics") if name in told}
    while (machine := simulate(work, root, **quirks)) is None:
        with (work / "panics").open("a") as noted:
            noted.write("Kernel panic - not syncing\n")
    mount("-t", "proc", "proc", root / "proc")
    for name in _PROC:
        if (root / "proc" / name).exists():  # a kernel without loadable modules has no /proc/modules
            mount("--bind", machine / "proc" / name, root / "proc" / name)
    mount("--bind", machine / "sys", root / "sys")
    mount("-o", "remount,bind,ro", root / "sys")
    for name, mode in (("dev", "0755"), ("run", "0755"), ("tmp", "1777")):
        mount("-t", "tmpfs", "-o", f"mode={mode}", "tmpfs", root / name)
    fill_dev(root / "dev")
    (root / "run/sshd").mkdir()
    (root / "run/lock").mkdir(mode=0o1777)
    socket.sethostname(told["name"])
    (work / "booted").touch()
    os.chdir(root)
    # the old root is stacked on the new one and then let go, so that nothing in the host leads out of it
    subprocess.run(["pivot_root", ".", "."], check=True)
    subprocess.run(["umount", "--lazy", "."], check=True)
    os.chdir("/")
    recover()
    os.execve("/usr/sbin/sshd", ["/usr/sbin/sshd", "-D", "-e"], _ENVIRONMENT)


def recover() -> None:
    """What systemd does before it lets anybody log in: run our unit, if it is installed. Its failure stops no
    boot."""
    unit = Path("/etc/systemd/system/multi-user.target.wants/rocmcfg-recover.service")
    if unit.exists() and any(Path("/var/lib/rocmcfg/transactions").glob("*")):
        command = re.search(r"^ExecStart=(.+)$", unit.read_text(), re.M)
        assert command is not None
        subprocess.run(shlex.split(command.group(1)), env=_ENVIRONMENT, check=False)


def mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def simulate(
    work: Path, root: Path, *, gpu: bool = True, deaf: bool = False, panics: bool = False
) -> Path | None:
    """Make proc and sys of the next boot: the first entry of the menu, and what modprobe.d adds.

    A `deaf` one boots from another menu than the one that is generated. One that `panics` does so with any
    setting of amdgpu; None stands for a panic that the kernel has answered with a reboot.
    """
    machine = work / "machine"
    shutil.rmtree(machine, ignore_errors=True)
    machine.mkdir()
    for name in ("proc", "sys"):
        shutil.copytree(SAMPLE / name, machine / name, symlinks=True)
    for name in ("etc", "usr", "lib", "run", "boot"):
        (machine / name).symlink_to(root / name)
    boots = simulation()
    if (work / "kernel").is_dir():
        shutil.copytree(work / "kernel", machine, dirs_exist_ok=True)
    if (work / "firmware").is_dir():
        shutil.copytree(work / "firmware", machine / "sys/firmware", dirs_exist_ok=True)
    cmdline = grub.boot_line(work, root) if (root / "boot/grub/grub.cfg").exists() else _entry_line(root)
    if deaf:
        cmdline = " ".join(word for word in cmdline.split() if not word.startswith("amdgpu."))
    if panics and " amdgpu." in cmdline:
        # Documentation/admin-guide/kernel-parameters.txt: without panic= it stays where it is for ever
        if not re.search(r" panic=[1-9]", cmdline):
            raise SystemExit("Kernel panic - not syncing, and nothing reboots this machine")
        return None
    (machine / "proc/cmdline").write_text(cmdline + "\n")
    (machine / "proc/sys/kernel/random/boot_id").write_text(f"{uuid.uuid4()}\n")
    if gpu:
        with contextlib.redirect_stdout(io.StringIO()):
            boots.load_amdgpu(machine, cmdline)
    else:
        for name in (
            "bus/pci/devices",
            "bus/pci/drivers",
            "class/kfd",
            "class/drm",
            "devices",
            "module/amdgpu",
        ):
            shutil.rmtree(machine / "sys" / name)
    return machine


def _entry_line(root: Path) -> str:
    """The command line where the menu is no generated one: of the first entry that is for everyday use."""
    for loader, mark in (("uki", "boot/efi/EFI/Linux"), ("limine", "boot/limine.conf")):
        if (root / mark).exists():
            reboot = REPOSITORY / f"tests/cases/{loader}/tools/reboot"
            return subprocess.run(
                [reboot, root], stdout=subprocess.PIPE, text=True, check=True
            ).stdout.strip()
    found = sorted(path for path in root.glob("boot/**/loader/entries/*.conf") if "rescue" not in path.name)
    words = (line.split(maxsplit=1) for line in found[0].read_text().splitlines() if line.strip())
    return " ".join(value for key, value in words if key == "options")


def fill_dev(dev: Path) -> None:
    for name, number in _DEVICES.items():
        os.mknod(dev / name, 0o020666, os.makedev(*number))
        (dev / name).chmod(0o666)
    (dev / "pts").mkdir()
    (dev / "shm").mkdir(mode=0o1777)
    mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=0620", "devpts", dev / "pts")
    for name, target in (
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ):
        (dev / name).symlink_to(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
