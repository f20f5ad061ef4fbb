"""Hosts of other boot chains and distributions: recorded trees over the Debian that the hosts have in common.

Of a recorded tree a host has the boot files, and on request the system and its kernel. Programs, sshd and
Python stay Debian's."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from tests.support.hosts import File, el9_bls, fedora_bls, make_root
from tests.support.modules import install_kernel

from .debian import KERNEL, simulation
from .host import Host

# Recorded trees, by what their os-release says.
TREES = {"fedora": fedora_bls, "rhel": el9_bls}
# What of a recorded host its boot chain is.
_ITS_CHAIN = (
    *("boot/", "etc/machine-id", "etc/kernel/cmdline", "etc/kernel/install", "etc/default/"),
    *("usr/lib/systemd/boot/", "usr/bin/grubby", "usr/bin/limine-", "usr/bin/bootctl"),
    *("usr/bin/kernel-install", "etc/limine-"),
)
_ITS_SYSTEM = ("usr/lib/os-release", "usr/sbin/grubby")
_ITS_KERNEL = ("proc/version", "proc/sys/kernel/osrelease")


def give_boot_chain(host: Host, files: Mapping[str, File]) -> None:
    """Give a host the boot files of a recorded one, in place of GRUB's menu; before it is started."""
    host.hide("/boot/grub/grub.cfg")
    _lay(host, files, _ITS_CHAIN, "upper")
    of_firmware = {p.removeprefix("sys/"): f for p, f in files.items() if p.startswith("sys/firmware/")}
    make_root(host.work, of_firmware, name=".")


def give_distribution(host: Host, files: Mapping[str, File]) -> None:
    """Give a host the system, the boot files and the kernel of a recorded one; before it is started."""
    give_boot_chain(host, files)
    _lay(host, files, _ITS_SYSTEM, "upper")
    _lay(host, files, _ITS_KERNEL, "kernel")
    release = (host.work / "kernel/proc/sys/kernel/osrelease").read_text().strip()
    host.hide(f"/usr/lib/modules/{KERNEL}")
    kernels = host.work / "kernels"
    (kernels / "usr/lib").mkdir(parents=True)
    (kernels / "lib").symlink_to("usr/lib")  # where depmod looks
    for kernel in sorted({path.split("/")[3] for path in files if path.startswith("usr/lib/modules/")}):
        install_kernel(kernels, kernel, simulation().catalogue_types(kernel))
    shutil.copytree(kernels / "usr/lib/modules", host.upper / "usr/lib/modules", dirs_exist_ok=True)
    assert (host.upper / f"usr/lib/modules/{release}").is_dir()


def _lay(host: Host, files: Mapping[str, File], prefixes: tuple[str, ...], name: str) -> None:
    make_root(host.work, {path: file for path, file in files.items() if path.startswith(prefixes)}, name=name)
