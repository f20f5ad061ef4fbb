"""What the harness needs from the machine: the programs, their Debian packages, and how to get them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from tests.support import shared

from . import image, qemu

_PACKAGE_OF = {
    "qemu-system-x86_64": "qemu-system-x86",
    "openssl": "openssl",
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
    builds = not all(map(image.is_built, image.SUITES))
    if builds:
        needed |= _PACKAGE_OF_BUILDER
    missing = [package for program, package in needed.items() if shutil.which(program) is None]
    if qemu.firmware() is None:
        missing.append("ovmf")
    if builds and not _KEYRING.exists():
        missing.append("debian-archive-keyring")
    return missing


def install_command(packages: list[str]) -> list[str]:
    return ["apt-get", "install", "--yes", "--no-install-recommends", *packages]


def can_install() -> bool:
    """Say whether this is root on a Debian-like machine."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: list[str]) -> None:
    """Install Debian packages without asking; raises with apt's output."""
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    # Only the install counts: one broken foreign source must not stop an install from the others.
    subprocess.run(["apt-get", "update"], env={**os.environ, **environment}, capture_output=True, check=False)
    shared.fetched(install_command(packages), ", ".join(packages), env=environment)


def install_missing(
    missing: Callable[[], list[str]], say: Callable[[list[str]], object] = lambda _: None
) -> list[str]:
    """Install what is missing where that is possible; what is missing still.

    Workers want the same at the same time, and apt serves one."""
    if missing() and can_install():
        with shared.locked(shared.cache("apt")):
            if packages := missing():
                say(packages)
                install(packages)
    return missing()


def require(needed: Mapping[str, str]) -> None:
    """Have these programs, each with its Debian package; skips the test without, or fails it with CI=true."""
    missing = install_missing(
        lambda: [package for program, package in needed.items() if shutil.which(program) is None]
    )
    if missing:
        refuse(f"missing: {' '.join(install_command(missing))}")


def refuse(why: str) -> NoReturn:
    """Skip the test, loudly; with CI=true fail it, so that it cannot go unnoticed."""
    import pytest

    stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    raise stop.Exception(why)


def why_not() -> str | None:
    """Return why no guest can run here, or None; installs nothing."""
    if missing := missing_packages():
        return f"missing {', '.join(missing)}: {' '.join(install_command(missing))}"
    if not image.is_built() and os.geteuid() != 0:
        return "the guest image is not built and building it takes root: sudo python -m tests.vm image"
    return None
