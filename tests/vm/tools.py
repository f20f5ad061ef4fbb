"""What the harness needs from the machine: the programs, their Debian packages, and how to get them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from . import image, qemu

_PACKAGE_OF = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "setpriv": "util-linux",
    "dpkg-buildpackage": "dpkg-dev",
    "dh": "debhelper",
    "dh_python3": "dh-python",
    "ssh": "openssh-client",
}
_PACKAGE_OF_BUILDER = {
    "mmdebstrap": "mmdebstrap",
    "mkfs.vfat": "dosfstools",
    "mcopy": "mtools",
    "mke2fs": "e2fsprogs",
    "sfdisk": "fdisk",
}
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def missing_packages() -> list[str]:
    """Return the Debian packages without which no guest can be built or started here."""
    needed = dict(_PACKAGE_OF)
    if not image.is_built():
        needed |= _PACKAGE_OF_BUILDER
    missing = [package for program, package in needed.items() if shutil.which(program) is None]
    if qemu.firmware() is None:
        missing.append("ovmf")
    if not image.is_built() and not _KEYRING.exists():
        missing.append("debian-archive-keyring")
    return missing


def install_command(packages: list[str]) -> list[str]:
    return ["apt-get", "install", "--yes", "--no-install-recommends", *packages]


def can_install() -> bool:
    """Say whether this is root on a Debian-like machine."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: list[str]) -> None:
    """Install Debian packages without asking; raises RuntimeError with apt's output."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], install_command(packages)):
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    if done.returncode != 0:
        # Only the install counts: one broken foreign source must not stop an install from the others.
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}")


def why_not() -> str | None:
    """Return why no guest can run here, or None; installs nothing."""
    if missing := missing_packages():
        return f"missing {', '.join(missing)}: {' '.join(install_command(missing))}"
    if not image.is_built() and os.geteuid() != 0:
        return "the guest image is not built and building it takes root: sudo python -m tests.vm image"
    return None
