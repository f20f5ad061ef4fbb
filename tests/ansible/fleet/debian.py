"""The Debian that the hosts have in common: made once, cached by its inputs, never written to again."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.support.modules import install_kernel
from tests.support.shared import fetched
from tests.vm import cache
from tests.vm.image import mirror

SUITE = "trixie"
KERNEL = "6.14.0-37-generic"  # of the sample host
USER = "admin"
PACKAGES = (
    *("openssh-server", "sudo", "python3", "python3-venv", "systemd"),
    *("grub2-common", "initramfs-tools", "zstd", "kmod", "procps"),
)
REPOSITORY = Path(__file__).resolve().parents[3]
SAMPLE = REPOSITORY / "docs/demo/sample-host"
_HERE = Path(__file__).parent
_EXCLUDED = ("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*")

# A namespace has no disk for it to find; the answers are those of the sample host.
_GRUB_PROBE = """#!/bin/sh
for argument; do
    case $argument in
        --target=device) echo /dev/nvme0n1p2 ;;
        --target=fs_uuid) echo 3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3 ;;
        --target=partuuid) echo 9a2d6e10-02 ;;
        --target=fs) echo ext2 ;;
        --target=partmap) echo gpt ;;
        --target=compatibility_hint) echo hd0,gpt2 ;;
        --target=hints_string) echo --hint-bios=hd0,gpt2 ;;
        --target=abstraction | --target=drive | --target=cryptodisk_uuid) ;;
    esac
done
"""
# The init of a host is its sshd, which ends with this signal. As with systemd, the call returns first.
_SHUTDOWN = """#!/bin/sh
setsid sh -c 'sleep 0.2; kill -TERM 1' >/dev/null 2>&1 </dev/null &
"""


def base() -> Path:
    """The root of a Debian with sshd, sudo, GRUB's generator and the sample host's kernel."""
    return cache.directory(f"fleet-{_key()}", _build) / "root"


def is_built() -> bool:
    return (cache.root() / f"fleet-{_key()}").is_dir()


def simulation() -> ModuleType:
    """docs/demo/reboot.py: how GRUB, kmod and the kernel make a boot of the files."""
    spec = importlib.util.spec_from_file_location("rocmcfg_demo_reboot", REPOSITORY / "docs/demo/reboot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _key() -> str:
    sample = [file for file in SAMPLE.rglob("*") if file.is_file() and not file.is_symlink()]
    return cache.key_of([Path(__file__), *sample], SUITE, *PACKAGES)


def _build(work: Path) -> None:
    root = work / "root"
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}"]
    command += [f"--dpkgopt=path-exclude={pattern}" for pattern in _EXCLUDED]
    fetched(
        [*command, SUITE, root, mirror()],
        f"Debian {SUITE}",
        again=lambda: quietly(["rm", "-rf", "--one-file-system", str(root)]),
    )
    root.chmod(0o755)
    _add_accounts(root)
    _add_sample(root)
    _add_stand_ins(root)
    quietly(["chroot", str(root), "update-initramfs", "-c", "-k", KERNEL])
    quietly(["chroot", str(root), "update-grub"])
    (root / "boot/grub/grubenv").unlink(missing_ok=True)


def _add_accounts(root: Path) -> None:
    """A user that may become root, and one that may not; keys are given to each host."""
    for name in (USER, "guest"):
        quietly(["chroot", str(root), "useradd", "--create-home", "--shell=/bin/sh", "--password=*", name])
    sudoers = root / "etc/sudoers.d/fleet"
    sudoers.write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
    sudoers.chmod(0o440)
    (root / "etc/ssh/sshd_config.d/fleet.conf").write_text(
        "UseDNS no\nMaxStartups 100\nPerSourcePenalties no\nPrintLastLog no\n"
        "AuthorizedKeysFile /etc/ssh/authorized_keys\n"
    )


def _add_sample(root: Path) -> None:
    for name in ("etc/default/grub", "etc/fstab", f"boot/vmlinuz-{KERNEL}"):
        shutil.copy2(SAMPLE / name, root / name)
    # mkinitramfs asks it how it may compress
    (root / f"boot/config-{KERNEL}").write_text("CONFIG_MODULES=y\nCONFIG_RD_ZSTD=y\nCONFIG_RD_GZIP=y\n")
    shutil.copytree(SAMPLE / "opt", root / "opt", symlinks=True, dirs_exist_ok=True)
    types = simulation().catalogue_types(KERNEL)
    install_kernel(root, KERNEL, types)


def _add_stand_ins(root: Path) -> None:
    (root / "boot/grub").mkdir(exist_ok=True)
    for path, text in (("usr/sbin/grub-probe", _GRUB_PROBE), ("usr/sbin/shutdown", _SHUTDOWN)):
        (root / path).write_text(text)
        (root / path).chmod(0o755)


def quietly(command: list[str], **environment: str) -> str:
    """Run a program that prepares something; an error shows all that it said."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **environment},
    )
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {' '.join(command)}\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("the hosts' Debian can only be built as root")
    print(base())
