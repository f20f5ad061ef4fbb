"""The real programs that tests hold the code against, and the packages that bring them.

`require_tool` finds one, `require_library` a library, or skips the test; with CI=true what is missing is a
failure, so that a test cannot go unnoticed. What was skipped is summed up at the end of a run, by
`summary_of_skips`. `python3 tests/support/tools.py --packages` prints what to install on Debian, and needs
nothing but Python for it.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Elsewhere(NamedTuple):
    """What a package of Debian's is called by dnf and by pacman; None where that distribution has none."""

    dnf: str | None
    pacman: str | None


# By Debian's name; None stands for the same name everywhere.
_TABLE: Mapping[str, Elsewhere | None] = {
    "bash": None,
    "bash-completion": None,
    "binutils": None,
    "btrfs-progs": None,
    "busybox": None,
    "chromium": None,
    "cloud-init": None,
    "cpio": None,
    "dash": None,
    "dmsetup": Elsewhere("device-mapper", "device-mapper"),
    "dosfstools": None,
    "e2fsprogs": None,
    "fish": None,
    "groff-base": Elsewhere("groff-base", "groff"),
    "grub-common": Elsewhere("grub2-tools", "grub"),
    "grub-emu": Elsewhere("grub2-emu", None),
    "guile-3.0": Elsewhere("guile30", "guile"),
    "ignition": Elsewhere("ignition", None),
    "initramfs-tools-core": Elsewhere(None, None),
    "jq": None,
    "kmod": None,
    "libglib2.0-0": Elsewhere("glib2", "glib2"),
    "libpam0g": Elsewhere("pam-libs", "pam"),
    "man-db": None,
    "mandoc": None,
    "mount": Elsewhere("util-linux", "util-linux"),
    "mtools": None,
    "nix-bin": Elsewhere("nix", "nix"),
    "openssh-client": Elsewhere("openssh", "openssh"),
    "pacman-package-manager": Elsewhere("pacman", "pacman"),
    "patch": None,
    "prometheus": Elsewhere("golang-github-prometheus", "prometheus"),
    "prometheus-node-exporter": Elsewhere("node-exporter", "prometheus-node-exporter"),
    "rpm": Elsewhere("rpm", "rpm-tools"),
    "shellcheck": Elsewhere("ShellCheck", "shellcheck"),
    "strace": None,
    "systemd": None,
    "systemd-boot": Elsewhere("systemd-udev", "systemd"),
    "systemd-boot-efi": Elsewhere("systemd-boot-unsigned", "systemd"),
    "tuned": None,
    "user-mode-linux": Elsewhere(None, None),
    "xfsprogs": None,
    "zsh": None,
}
PACKAGES = tuple(_TABLE)
# What installs packages, by the ID or ID_LIKE of os-release(5).
_INSTALLERS = {
    "debian": "apt install",
    "ubuntu": "apt install",
    "fedora": "dnf install",
    "rhel": "dnf install",
    "arch": "pacman -S --needed",
}
# Seconds after which a program hangs, on the slowest and busiest machine. No measure of anything.
HANG = 600
# Where programs live that a user's PATH often lacks.
_MORE = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_MISSING = re.compile(r" is missing: apt-get install (\S+)$")
# How the reasons begin of tests that are root's.
_OF_ROOT = ("only root ", "needs root")


def require_tool(name: str, package: str) -> str:
    """The path of a program, or `name` itself where it is the path of a file that is there; skips or fails
    the test without it. `package` is Debian's."""
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


def summary_of_skips(reasons: Iterable[str], os_release: str) -> list[str]:
    """At most three lines about the skipped tests of a run, of which each gave its reason: those for which a
    program is missing, with the command that installs it on the system that the text of os-release(5) names;
    those of root; and all others."""
    missing: list[str] = []
    root = other = 0
    for reason in reasons:
        if found := _MISSING.search(reason):
            missing.append(found[1])
        elif reason.startswith(_OF_ROOT):
            root += 1
        else:
            other += 1
    lines = []
    if missing:
        lines.append(
            f"{_tests(len(missing))} skipped for missing programs; "
            f"to run them: {_installing(sorted(set(missing)), os_release)}"
        )
    if root:
        lines.append(f"{_tests(root)} skipped for want of root; to run them: sudo make fast")
    if other:
        lines.append(f"{_tests(other)} skipped for other reasons, which `pytest -rs` tells")
    return lines


def _tests(number: int) -> str:
    return "1 test was" if number == 1 else f"{number} tests were"


def _installing(packages: Sequence[str], os_release: str) -> str:
    """The command that installs packages, which are given by Debian's names."""
    ids = " ".join(re.findall(r"""^ID(?:_LIKE)?=["']?([^"'\n]*)""", os_release, re.MULTILINE)).split()
    installer = next((_INSTALLERS[id] for id in ids if id in _INSTALLERS), None)
    if installer is None:
        return f"install what Debian calls {' '.join(packages)}"
    column = {"dnf": 0, "pacman": 1}.get(installer.split()[0])
    if column is not None:
        there = [other[column] if (other := _TABLE.get(name)) else name for name in packages]
        packages = sorted({name for name in there if name})
    return f"sudo {installer} {' '.join(packages)}"


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
