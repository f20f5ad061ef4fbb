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
_ENTRIES = (
    "/boot/loader/entries/*.conf",
    "/boot/efi/loader/entries/*.conf",
    "/efi/loader/entries/*.conf",
    "/esp/loader/entries/*.conf",
)
_SDBOOT = (
    "/boot/EFI/systemd/systemd-boot*.efi",
    "/boot/efi/EFI/systemd/systemd-boot*.efi",
    "/efi/EFI/systemd/systemd-boot*.efi",
    "/esp/EFI/systemd/systemd-boot*.efi",
)


class _Chain(NamedTuple):
    name: str
    title: str
    marks: tuple[tuple[str, ...], ...]
    manual: str
    decisive: bool = False
    loader_info: str = ""
    stub_info: str = ""


_CHAINS = (
    _Chain(
        "nixos",
        "NixOS",
        (("/etc/NIXOS",),),
        "in configuration.nix:\n  boot.kernelParams = [ {kargs} ];\nthen: sudo nixos-rebuild boot",
        decisive=True,
    ),
    _Chain(
        "guix",
        "Guix System",
        (("/run/current-system/profile",), ("/gnu/store",)),
        "in the operating-system declaration:\n"
        '  (kernel-arguments (cons* "{kargs}" %default-kernel-arguments))\n'
        "then: sudo guix system reconfigure",
        decisive=True,
    ),
    _Chain(
        "ubuntu-core",
        "Ubuntu Core",
        (("/usr/lib/snapd/snapd", "/var/lib/snapd/modeenv"), ("/var/lib/snapd/modeenv",)),
        'sudo snap set system system.kernel.cmdline-append="{kargs}"',
        decisive=True,
    ),
    _Chain(
        "bootc",
        "bootc (image mode)",
        (("/run/ostree-booted", "/sysroot/ostree"), ("/usr/bin/bootc",)),
        'sudo bootc loader-entries set-options-for-source --source rocmcfg --options "{kargs}"\n'
        "or, where that is missing: sudo rpm-ostree kargs --append-if-missing=ARGUMENT for each of: {kargs}",
        decisive=True,
    ),
    _Chain(
        "rpm-ostree",
        "rpm-ostree (Fedora Atomic, Bazzite, CoreOS)",
        (("/run/ostree-booted", "/sysroot/ostree"),),
        "sudo rpm-ostree kargs --append-if-missing=ARGUMENT   for each of: {kargs}",
        decisive=True,
    ),
    _Chain(
        "steamos",
        "SteamOS",
        (("/etc/steamos-release", "/usr/lib/steamos", "/etc/atomic-update.conf.d"),),
        "append to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub: {kargs}\nthen: sudo update-grub\n"
        "and list /etc/default/grub in /etc/atomic-update.conf.d/, or the next update drops it",
        decisive=True,
    ),
    _Chain(
        "proxmox-boot-tool",
        "Proxmox VE (proxmox-boot-tool)",
        (("/etc/kernel/proxmox-boot-uuids",),),
        "append to the one line of /etc/kernel/cmdline (systemd-boot) or to GRUB_CMDLINE_LINUX_DEFAULT in "
        "/etc/default/grub, as `proxmox-boot-tool status` reports: {kargs}\nthen: proxmox-boot-tool refresh",
        decisive=True,
    ),
    _Chain(
        "kernelstub",
        "kernelstub (Pop!_OS)",
        (("/etc/kernelstub/configuration",), ("/usr/bin/kernelstub",)),
        'sudo kernelstub -a "{kargs}"      (never -o: it replaces everything)',
        decisive=True,
    ),
    _Chain(
        "sdbootutil",
        "sdbootutil (openSUSE with BLS entries)",
        (("/usr/bin/sdbootutil",), _ENTRIES),
        "write to /etc/kernel/cmdline.d/90-rocmcfg.conf: {kargs}\nthen: sudo sdbootutil update-all-entries",
        decisive=True,
    ),
    _Chain(
        "limine",
        "Limine",
        (
            (
                "/boot/limine.conf",
                "/boot/limine/limine.conf",
                "/boot/EFI/limine/limine.conf",
                "/etc/default/limine",
                "/etc/limine-entry-tool.conf",
                "/etc/limine-entry-tool.d",
            ),
        ),
        'write to /etc/limine-entry-tool.d/90-rocmcfg.conf: KERNEL_CMDLINE[default]+=" {kargs}"\n'
        "then: sudo limine-mkinitcpio",
        loader_info="limine",
    ),
    _Chain(
        "uki",
        "unified kernel images",
        (
            (
                "/boot/EFI/Linux/*.efi",
                "/boot/efi/EFI/Linux/*.efi",
                "/efi/EFI/Linux/*.efi",
                "/esp/EFI/Linux/*.efi",
            ),
        ),
        "append to /etc/kernel/cmdline (which must also hold root=…), or with dracut to kernel_cmdline in\n"
        "/etc/dracut.conf.d/: {kargs}\n"
        "then rebuild the image: mkinitcpio -P, dracut --regenerate-all or kernel-install add-all",
        stub_info="systemd-stub",  # also below systemd-boot, which then shows images and no entries
    ),
    _Chain(
        "systemd-boot",
        "systemd-boot",
        (_ENTRIES, _SDBOOT),
        "append to /etc/kernel/cmdline (which must also hold root=…), then kernel-install add-all;\n"
        "hand-written entries: append to the options line of each. Arguments: {kargs}",
        loader_info="systemd-boot",
    ),
    _Chain(
        "grub-bls",
        "GRUB with BLS entries (Fedora, RHEL)",
        (
            ("/boot/grub2/grub.cfg", "/etc/grub2.cfg", "/etc/grub2-efi.cfg"),
            ("/usr/sbin/grubby", "/usr/bin/grubby"),
        ),
        'sudo grubby --update-kernel=ALL --args="{kargs}"\n'
        "and append the same to GRUB_CMDLINE_LINUX in /etc/default/grub, so that it lasts",
    ),
    _Chain(
        "refind",
        "rEFInd",
        (("/boot/refind_linux.conf",),),
        "append inside the quotes of each line of /boot/refind_linux.conf: {kargs}",
    ),
)
# Chains whose marks every host of a more specific kind has too: the specific one stands for them.
_SUPERSEDED = {
    "systemd-boot": ("grub-bls",),
}


def decisive(view: HostView) -> Detection | None:
    """A chain that excludes every other one, whatever files of another loader lie around."""
    for chain in _CHAINS:
        if chain.decisive:
            found = _match(view, chain)
            if found is not None:
                return found
    return None


def detect(view: HostView) -> tuple[Detection, ...]:
    """All other chains whose marks are complete."""
    found = {}
    for chain in _CHAINS:
        if chain.decisive:
            continue
        match = _match(view, chain)
        if match is not None:
            found[chain.name] = match
    for general, specific in _SUPERSEDED.items():
        if any(name in found and not found.get(general, found[name]).proof for name in specific):
            found.pop(general, None)
    return tuple(found.values())


def _match(view: HostView, chain: _Chain) -> Detection | None:
    evidence = tuple(_first(view, group) for group in chain.marks)
    wanted, variable = (chain.stub_info, "StubInfo") if chain.stub_info else (chain.loader_info, "LoaderInfo")
    told = _efi_variable(view, variable) if wanted else ""
    proof = bool(wanted) and told.lower().startswith(wanted)
    if not all(evidence) and not proof:
        return None
    shown = tuple(path for path in dict.fromkeys(evidence) if path)
    if proof:
        shown = (*shown, f"the firmware was handed over by {told}")
    return Detection(chain.name, chain.title, shown, proof=proof, manual=chain.manual)


def loader_info(view: HostView) -> str:
    """What booted, in its own words."""
    return _efi_variable(view, "LoaderInfo")


def _efi_variable(view: HostView, name: str) -> str:
    """Of the Boot Loader Interface: four bytes of attributes, then UTF-16."""
    try:
        raw = view.read(f"{_EFIVARS}/{name}-{_LOADER_GUID}")
    except Unreadable:
        return ""
    return (raw or b"")[4:].decode("utf-16-le", "replace").rstrip("\0")


def _first(view: HostView, patterns: tuple[str, ...]) -> str:
    for pattern in patterns:
        folder, _, name = pattern.rpartition("/")
        if "*" not in name:
            if view.exists(pattern):
                return pattern
            continue
        for candidate in view.names(folder):
            if fnmatch.fnmatchcase(candidate, name):
                return f"{folder}/{candidate}"
    return ""
