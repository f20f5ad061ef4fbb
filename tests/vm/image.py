"""The cached Debian image that guests start from, built without loop devices from the machine's own mirror.

mmdebstrap makes the root, mke2fs and mtools put it on a GPT disk, and the guest's first boot then does what
an installer does: grub-install, update-initramfs, update-grub. So every scenario begins on a normal Debian
whose grub.cfg update-grub has written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.shared import fetched

from . import cache
from .guest import Guest

SUITES = ("trixie", "forky")  # the first is what a guest is where nothing else is asked for
DEFAULT_MIRROR = "http://deb.debian.org/debian"
PACKAGES = (
    *("linux-image-amd64", "initramfs-tools", "zstd", "kmod", "grub-efi-amd64"),
    "systemd-boot",  # for a guest that changes its loader
    *("systemd-sysv", "udev", "dbus", "e2fsprogs", "login", "passwd", "procps"),
    *("python3", "python3-venv"),
    "openssh-server",  # disabled; for scenarios over a forwarded port
    "libpam-systemd",  # a login is a session, as on any Debian that was not made by hand
    *("btrfs-progs", "lvm2"),  # for a /boot on which GRUB cannot write
)
# Lie in /srv/packages of a guest, with all that they need, for one that changes a part of its boot chain: by
# the name of the folder, the suite they come from, where that is another, and their names.
STORED: dict[str, dict[str, tuple[str, ...]]] = {
    "trixie": {
        "dracut": ("", "dracut", "binutils"),  # its objcopy puts a UKI together
        "ukify": ("", "systemd-ukify", "systemd-boot-efi", "sbsigntool"),
        "kernel": ("trixie-backports", "linux-image-amd64"),
    },
    "forky": {"ukify": ("", "systemd-ukify", "systemd-boot-efi")},
}
# What builds the module of devices that crash on demand; the suite whose guests have it, below /srv/modules.
BUILDER = ("linux-headers-amd64", "gcc", "make")
WITH_MODULE = SUITES[0]
EXCLUDED = (
    # Nothing on the guest reads them, and they are a third of the files.
    *("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*"),
    # The root file system is neither, and each boot and each image would pay for them.
    *("/usr/share/initramfs-tools/*/btrfs", "/usr/share/initramfs-tools/*/lvm2"),
    "/usr/lib/udev/rules.d/*btrfs*",
)

ROOT_UUID = "0e5a3f5c-7d1b-4b0e-9a53-2f6c1d0a7b11"  # also in root/etc/fstab
ESP_VOLUME_ID = "52434647"  # also in root/etc/fstab
_MIB = 1024 * 1024
_ESP_START, _ESP_SIZE = 1, 256  # MiB; two kernels with their initramfs, below systemd-boot
_ROOT_START, _ROOT_SIZE = 257, 4096  # MiB
_SPARE_START, _SPARE_SIZE = 4353, 1024  # MiB; empty, for a /boot of its own
_HERE = Path(__file__).parent


def base(suite: str = SUITES[0]) -> Path:
    """Return the disk of a normal Debian, amdgpu loaded from the root file system; builds it if needed."""
    return cache.directory(f"{suite}-{_key(suite)}", lambda work: _build(work, suite)) / "disk.qcow2"


def is_built(suite: str = SUITES[0]) -> bool:
    """Say whether `base()` returns at once."""
    return (cache.root() / f"{suite}-{_key(suite)}").is_dir()


def _key(suite: str) -> str:
    tree = [file for file in (_HERE / "root").rglob("*") if file.is_file()]
    scripts = [_HERE / "agent.py", _HERE / "customize.sh", _HERE / "store.sh"]
    if suite == WITH_MODULE:
        scripts += [_HERE / "build_module.sh", *(_HERE / "crash_module").iterdir()]
    return cache.key_of([Path(__file__), *scripts, *tree], suite, *PACKAGES)


def _build(work: Path, suite: str) -> None:
    if os.geteuid() != 0:
        raise PermissionError("the guest image can only be built as root (mmdebstrap, mke2fs -d)")
    root, raw, first = work / "root", work / "disk.raw", work / "first.qcow2"
    _bootstrap(root, suite, PACKAGES, _hooks_of_guest(suite))
    if suite == WITH_MODULE:
        builder = work / "builder"
        _bootstrap(builder, suite, BUILDER, (f'{_HERE / "build_module.sh"} "$1" {root / "srv/modules"}',))
        shutil.rmtree(builder)
    _write_disk(root, raw, work)
    shutil.rmtree(root)
    _quietly(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(first)])
    raw.unlink()
    baked = work / "baked.qcow2"
    with Guest(first) as guest:
        _first_boot(guest)
        guest.save_disk(baked)
    # One flat file: the overlay names its backing file by a path that this directory is about to lose.
    _quietly(["qemu-img", "convert", "-O", "qcow2", str(baked), str(work / "disk.qcow2")])
    baked.unlink()
    first.unlink()


def _hooks_of_guest(suite: str) -> tuple[str, ...]:
    """Return the commands that make a guest's root of a fresh Debian."""
    stored = (
        f"{folder} {other or suite} {' '.join(names)}" for folder, (other, *names) in STORED[suite].items()
    )
    return (str(_HERE / "customize.sh"), *(f'{_HERE / "store.sh"} "$1" {words}' for words in stored))


def _bootstrap(root: Path, suite: str, packages: Sequence[str], hooks: Sequence[str]) -> None:
    # mmdebstrap mounts /proc, /sys and devices of this machine below the root. In namespaces of its own they
    # are gone with it however it ends, so that who clears away a killed build finds nothing but files.
    command = [
        "setpriv",
        "--pdeathsig=KILL",
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    command += ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}"]
    command += [f"--dpkgopt=path-exclude={pattern}" for pattern in EXCLUDED]
    command += [f"--aptopt={setting}" for setting in _settings_of_apt()]
    command += [f"--customize-hook={hook}" for hook in hooks]
    others = {other for other, *_ in STORED[suite].values()} - {""}
    command += [suite, str(root), mirror(), *(f"deb {mirror()} {other} main" for other in sorted(others))]
    fetched(command, f"Debian {suite}", again=lambda: _quietly(["rm", "-rf", "--one-file-system", str(root)]))


def mirror() -> str:
    """Return the Debian mirror that this machine's apt uses, or the default where that is not Debian."""
    site = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"]
    found = subprocess.run(site, stdout=subprocess.PIPE, text=True, check=False).stdout
    return next((line.split()[0] for line in found.splitlines() if line.endswith(" Debian")), DEFAULT_MIRROR)


def _settings_of_apt() -> list[str]:
    """How this machine reaches its mirror, and whether that may be an old copy."""
    settings = ["Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Valid-Until"]
    dump = ["apt-config", "dump", "--no-empty", "--format", '%f "%v"%n', *settings]
    return subprocess.run(dump, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()


def _write_disk(root: Path, disk: Path, work: Path) -> None:
    esp, ext4 = work / "esp.img", work / "root.img"
    _quietly(["mkfs.vfat", "-C", "-i", ESP_VOLUME_ID, str(esp), str(_ESP_SIZE * 1024)])
    _quietly(["mmd", "-i", str(esp), "::/EFI", "::/EFI/BOOT"])
    _quietly(["mcopy", "-i", str(esp), str(root / "boot/first-boot.efi"), "::/EFI/BOOT/BOOTX64.EFI"])
    (root / "boot/first-boot.efi").unlink()
    label = ["-L", "root", "-U", ROOT_UUID]
    _quietly(["mke2fs", "-q", "-t", "ext4", *label, "-d", str(root), str(ext4), f"{_ROOT_SIZE}M"])
    with disk.open("wb") as file:
        file.truncate((_SPARE_START + _SPARE_SIZE + 1) * _MIB)  # 1 MiB for the second partition table
    _quietly(["sfdisk", "--quiet", str(disk)], stdin=_partitions())
    for part, start in ((esp, _ESP_START), (ext4, _ROOT_START)):
        copy = ["dd", "status=none", "bs=1M", "conv=sparse,notrunc", f"seek={start}"]
        _quietly([*copy, f"if={part}", f"of={disk}"])
        part.unlink()


def _partitions() -> str:
    return (
        "label: gpt\n"
        f"start={_ESP_START}MiB, size={_ESP_SIZE}MiB, type=uefi, name=esp\n"
        f"start={_ROOT_START}MiB, size={_ROOT_SIZE}MiB, type=linux, name=root\n"
        f"start={_SPARE_START}MiB, size={_SPARE_SIZE}MiB, type=linux, name=spare\n"
    )


def _first_boot(guest: Guest) -> None:
    efi = "--target=x86_64-efi --efi-directory=/boot/efi --removable --no-nvram"
    for command in (f"grub-install {efi}", "update-initramfs -u -k all", "update-grub"):
        guest.run(command, 900, check=True)


def _quietly(command: list[str], stdin: str = "") -> None:
    """Run a program of the build; an error shows all that it said."""
    done = subprocess.run(
        command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {' '.join(command)}\n{done.stdout}")
