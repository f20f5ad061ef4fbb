"""The real programs that tests hold the code against, and the Debian packages that bring them.

`require_tool` finds one, `require_library` a library, or skips the test loudly; with CI=true what is missing
is a failure, so that a test cannot go unnoticed. `python3 tests/support/tools.py --packages` prints what to
install, and needs nothing but Python for it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

PACKAGES = (
    "bash",
    "bash-completion",
    "binutils",
    "btrfs-progs",
    "busybox",
    "cloud-init",
    "cpio",
    "dash",
    "dmsetup",
    "dosfstools",
    "e2fsprogs",
    "fish",
    "groff-base",
    "grub-common",
    "grub-emu",
    "guile-3.0",
    "ignition",
    "initramfs-tools-core",
    "kmod",
    "libglib2.0-0",
    "libpam0g",
    "man-db",
    "mandoc",
    "mount",
    "mtools",
    "nix-bin",
    "openssh-client",
    "pacman-package-manager",
    "rpm",
    "shellcheck",
    "strace",
    "systemd",
    "systemd-boot",
    "systemd-boot-efi",
    "user-mode-linux",
    "xfsprogs",
    "zsh",
)
# Seconds after which a program hangs, on the slowest and busiest machine. No measure of anything.
HANG = 600
# Where programs live that a user's PATH often lacks.
_MORE = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def require_tool(name: str, package: str) -> str:
    """The path of a program, or `name` itself where it is the path of a file that is there; skips or fails
    the test without it."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_MORE))
    found = shutil.which(name, path=path)
    if found or (name.startswith("/") and os.path.isfile(name)):
        return found or name
    raise _unable(f"{name} is missing: apt-get install {package}")


def require_library(name: str, package: str) -> ctypes.CDLL:
    """A library by the name of its file, as `require_tool` finds a program."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        raise _unable(f"{name} is missing: apt-get install {package}") from None


def require_root() -> None:
    """Skips a test that only root can make; under CI=true, which is root, it fails."""
    if os.geteuid() != 0:
        raise _unable("only root can give files to others")


def _unable(reason: str) -> BaseException:
    """What ends a test that cannot be made here."""
    import pytest

    stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    return stop.Exception(reason)


def run(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, input: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a program with nothing of this environment but what `env` names. Line ends stay as they are."""
    done = subprocess.run(
        argv, env=dict(env or {}), input=input.encode(), capture_output=True, timeout=HANG, check=False
    )
    stdout, stderr = (output.decode("utf-8", "surrogateescape") for output in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr)


if __name__ == "__main__":
    if sys.argv[1:] != ["--packages"]:
        sys.exit("usage: python3 tests/support/tools.py --packages")
    print(*PACKAGES)
