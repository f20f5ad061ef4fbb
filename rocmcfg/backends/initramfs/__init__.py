"""Initramfs generators: which one a host uses, and whether its images carry the driver.

`initramfs_tools` is supported; the others are recognised by name. To add one: write a module that fulfils
`contract.Generator`, name it in `_MODULES`, drop its row from `_RECOGNISED`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import cast

from rocmcfg.backends.initramfs.contract import Generator
from rocmcfg.host.view import HostView
from rocmcfg.model.facts import Detection

_MODULES = ("initramfs_tools",)
# Generator, marks of which all must exist, and what a user runs by hand.
_RECOGNISED = (
    ("dracut", "dracut", ("/usr/bin/dracut",), "sudo dracut --regenerate-all --force"),
    ("mkinitcpio", "mkinitcpio", ("/usr/bin/mkinitcpio",), "sudo mkinitcpio -P"),
    ("booster", "booster", ("/usr/bin/booster",), "rebuild the images with booster"),
)


def backends() -> tuple[Generator, ...]:
    return tuple(cast(Generator, importlib.import_module(f"{__name__}.{name}")) for name in _MODULES)


def backend(detected: Iterable[Detection]) -> Generator | None:
    """The backend of the generator that was detected; None where there is none that we can run."""
    names = {found.name for found in detected}
    return next((one for one in backends() if one.NAME in names), None)


def detect(view: HostView) -> tuple[Detection, ...]:
    found: list[Detection | None] = [one.detect(view) for one in backends()]
    for name, title, marks, manual in _RECOGNISED:
        if all(view.exists(mark) for mark in marks):
            found.append(Detection(name, title, marks, manual=manual))
    return tuple(d for d in found if d is not None)
