"""Initramfs generators: which one a host uses, and whether its images carry the driver.

`initramfs_tools` is supported; the others are recognised by name. A backend is a module with `NAME`,
`TOOL`, `detect`, `images`, `activation` and `check`; name it in `backends`.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from rocmcfg.backends.initramfs import initramfs_tools
from rocmcfg.host.view import HostView
from rocmcfg.model.facts import Detection

# Generator, marks of which all must exist, and what a user runs by hand.
_RECOGNISED = (
    ("dracut", "dracut", ("/usr/bin/dracut",), "sudo dracut --regenerate-all --force"),
    ("mkinitcpio", "mkinitcpio", ("/usr/bin/mkinitcpio",), "sudo mkinitcpio -P"),
    ("booster", "booster", ("/usr/bin/booster",), "rebuild the images with booster"),
)


def backends() -> tuple[ModuleType, ...]:
    return (initramfs_tools,)


def backend(detected: Iterable[Detection]) -> ModuleType | None:
    """The backend of the generator that was detected; None where there is none that we can run."""
    names = {found.name for found in detected}
    return next((one for one in backends() if one.NAME in names), None)


def detect(view: HostView) -> tuple[Detection, ...]:
    found: list[Detection | None] = [one.detect(view) for one in backends()]
    for name, title, marks, manual in _RECOGNISED:
        if all(view.exists(mark) for mark in marks):
            found.append(Detection(name, title, marks, manual=manual))
    return tuple(d for d in found if d is not None)
