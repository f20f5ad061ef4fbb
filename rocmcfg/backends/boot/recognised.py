"""Boot chains that are known by name and not configured yet.

A row says how to recognise one and what to add by hand. When a chain gets a backend of its own, its row
goes away. Marks are path patterns of which one per group must exist; sources: each project's manual, and
the procedures that distributions document.
"""

from __future__ import annotations

import fnmatch
from typing import NamedTuple

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.facts import Detection

_EFIVARS = "/sys/firmware/efi/efivars"
_LOADER_GUID = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"  # systemd Boot Loader Interface
_PARTITIONS = ("/boot", "/boot/efi", "/efi", "/esp")  # where the EFI system partition is mounted
_ENTRIES = tuple(f"{mounted}/loader/entries/*.conf" for mounted in _PARTITIONS)


class _Chain(NamedTuple):
    name: str
    title: str
    marks: tuple[tuple[str, ...], ...]
    manual: str


# Each of these excludes every other one, whatever files of another loader lie around.
_DECISIVE = (
    _Chain(
        "nixos",
        "NixOS",
        (("/etc/NIXOS",),),
        "in configuration.nix:\n  boot.kernelParams = [ {kargs} ];\nthen: sudo nixos-rebuild boot",
    ),
    _Chain(
        "guix",
        "Guix System",
        (("/run/current-system/profile",), ("/gnu/store",)),
        "in the operating-system declaration:\n"
        '  (kernel-arguments (cons* "{kargs}" %default-kernel-arguments))\n'
        "then: sudo guix system reconfigure",
    ),
    _Chain(
        "ubuntu-core",
        "Ubuntu Core",
        (("/usr/lib/snapd/snapd", "/var/lib/snapd/modeenv"), ("/var/lib/snapd/modeenv",)),
        'sudo snap set system system.kernel.cmdline-append="{kargs}"',
    ),
    _Chain(
        "bootc",
        "bootc (image mode)",
        (("/run/ostree-booted", "/sysroot/ostree"), ("/usr/bin/bootc",)),
        'sudo bootc loader-entries set-options-for-source --source rocmcfg --options "{kargs}"\n'
        "or, where that is missing: sudo rpm-ostree kargs --append-if-missing=ARGUMENT for each of: {kargs}",
    ),
    _Chain(
        "rpm-ostree",
        "rpm-ostree (Fedora Atomic, Bazzite, CoreOS)",
        (("/run/ostree-booted", "/sysroot/ostree"),),
        "sudo rpm-ostree kargs --append-if-missing=ARGUMENT   for each of: {kargs}",
    ),
    _Chain(
        "steamos",
        "SteamOS",
        (("/etc/steamos-release", "/usr/lib/steamos", "/etc/atomic-update.conf.d"),),
        "append to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub: {kargs}\nthen: sudo update-grub\n"
        "and list /etc/default/grub in /etc/atomic-update.conf.d/, or the next update drops it",
    ),
    _Chain(
        "proxmox-boot-tool",
        "Proxmox VE (proxmox-boot-tool)",
        (("/etc/kernel/proxmox-boot-uuids",),),
        "append to the one line of /etc/kernel/cmdline (systemd-boot) or to GRUB_CMDLINE_LINUX_DEFAULT in "
        "/etc/default/grub, as `proxmox-boot-tool status` reports: {kargs}\nthen: proxmox-boot-tool refresh",
    ),
    _Chain(
        "kernelstub",
        "kernelstub (Pop!_OS)",
        (("/etc/kernelstub/configuration",), ("/usr/bin/kernelstub",)),
        'sudo kernelstub -a "{kargs}"      (never -o: it replaces everything)',
    ),
    _Chain(
        "sdbootutil",
        "sdbootutil (openSUSE with BLS entries)",
        (("/usr/bin/sdbootutil",), _ENTRIES),
        "write to /etc/kernel/cmdline.d/90-rocmcfg.conf: {kargs}\nthen: sudo sdbootutil update-all-entries",
    ),
)


def decisive(view: HostView) -> Detection | None:
    """A chain that excludes every other one."""
    return next((found for chain in _DECISIVE if (found := _match(view, chain)) is not None), None)


def _match(view: HostView, chain: _Chain) -> Detection | None:
    marks = [_first(view, group) for group in chain.marks]
    if not all(marks):
        return None
    return Detection(chain.name, chain.title, tuple(dict.fromkeys(marks)), manual=chain.manual)


def handed_over(view: HostView, variable: str, loader: str) -> tuple[str, ...]:
    """The evidence of the firmware that this loader booted the host; empty where it says nothing of it."""
    told = variable_text(view, variable)
    return (f"the firmware was handed over by {told}",) if told.lower().startswith(loader) and told else ()


def variable_text(view: HostView, variable: str) -> str:
    """What a variable of the Boot Loader Interface says: four bytes of attributes, then UTF-16. Empty where
    there is none."""
    try:
        raw = view.read(f"{_EFIVARS}/{variable}-{_LOADER_GUID}")
    except Unreadable:
        raw = None
    return (raw or b"")[4:].decode("utf-16-le", "replace").rstrip("\0")


def _first(view: HostView, patterns: tuple[str, ...]) -> str:
    for pattern in patterns:
        folder, _, name = pattern.rpartition("/")
        if view.exists(pattern):
            return pattern
        matching = fnmatch.filter(view.names(folder), name) if "*" in name else ()
        if matching:
            return f"{folder}/{matching[0]}"
    return ""
