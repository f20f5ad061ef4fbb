"""Initramfs generators: which one a host uses, and whether its images carry the driver.

`initramfs_tools` is supported; the others are recognised by name. A backend is a module with `NAME`,
`detect`, `images`, `carriers`, `activation` and `check`.
"""

from __future__ import annotations

from rocmcfg.backends.initramfs import initramfs_tools
from rocmcfg.host.view import HostView
from rocmcfg.model.facts import Detection

# Generator, marks of which all must exist, and what a user runs by hand.
_RECOGNISED = (
    ("dracut", "dracut", ("/usr/bin/dracut", "/usr/lib/dracut"), "sudo dracut --regenerate-all --force"),
    ("mkinitcpio", "mkinitcpio", ("/usr/bin/mkinitcpio", "/etc/mkinitcpio.conf"), "sudo mkinitcpio -P"),
    ("booster", "booster", ("/usr/bin/booster",), "rebuild the images with booster"),
)


def detect(view: HostView) -> tuple[Detection, ...]:
    found = [initramfs_tools.detect(view)]
    for name, title, marks, manual in _RECOGNISED:
        if all(view.exists(mark) for mark in marks):
            found.append(Detection(name, title, marks, manual=manual))
    return tuple(d for d in found if d is not None)
