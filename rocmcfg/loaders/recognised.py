"""Recognise boot chains that rocmcfg does not configure, and say what the user adds by hand in each.

At least one path of each group in `marks` must exist. Sources: the manuals of projects and distributions.
"""

from __future__ import annotations

from rocmcfg.files.keep_list import FOLDER as KEPT_BY_UPDATES
from rocmcfg.host.view import HostView
from rocmcfg.loaders.grub import STEAMOS
from rocmcfg.model.facts import Detection
from rocmcfg.model.shape import NamedTuple


class Row(NamedTuple):
    name: str
    title: str
    marks: tuple[tuple[str, ...], ...]
    manual: str
    unless: tuple[str, ...] = ()  # where these paths exist too, a backend configures it
    renders: str = ""  # the format of `rocmcfg render` for this system
    alone: bool = False  # everything but kernel arguments is configured as on other hosts


# Each of these excludes all others, even where files of another loader exist.
CHAINS = (
    Row(
        "nixos",
        "NixOS",
        (("/etc/NIXOS",),),
        "in configuration.nix:\n  boot.kernelParams = [ {strings} ];\nthen: sudo nixos-rebuild boot",
        renders="nixos",
    ),
    Row(
        "guix",
        "Guix System",
        (("/run/current-system/profile",), ("/gnu/store",)),
        "in the operating-system declaration:\n"
        "  (kernel-arguments (cons* {strings} %default-kernel-arguments))\n"
        "then: sudo guix system reconfigure",
        renders="guix",
    ),
    Row(
        "ubuntu-core",
        "Ubuntu Core",
        (("/usr/lib/snapd/snapd", "/var/lib/snapd/modeenv"), ("/var/lib/snapd/modeenv",)),
        'sudo snap set system system.kernel.cmdline-append="{kargs}"\n'
        "where kernel-cmdline in its gadget.yaml allows these arguments",
        renders="ubuntu-core",
    ),
    Row(
        "ostree",
        "ostree without rpm-ostree or bootc",
        (("/run/ostree-booted",),),
        "sudo ostree admin kargs edit-in-place --append-if-missing=ARGUMENT   for each of: {kargs}",
        alone=True,
    ),
    Row(
        "steamos",
        "SteamOS before 3.6 or without /efi",
        (("/etc/steamos-release", "/usr/lib/steamos", KEPT_BY_UPDATES),),
        "mount /efi; before SteamOS 3.6, whose updates keep nothing in /etc, do this after each update:\n"
        "append to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub: {kargs}\nthen: sudo update-grub",
        unless=(STEAMOS, KEPT_BY_UPDATES),
    ),
)


def decisive(view: HostView) -> Detection | None:
    """Return the detection of a chain that excludes all others; None where there is none."""
    for name, title, groups, manual, unless, renders, alone in CHAINS:
        marks = [next(filter(view.exists, group), "") for group in groups]
        if all(marks) and not (unless and all(map(view.exists, unless))):
            seen = (*dict.fromkeys(marks),)
            return Detection(name, title, seen, False, False, manual, renders, alone=alone)
    return None
