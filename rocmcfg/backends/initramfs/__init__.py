"""Initramfs generators: which one a host uses, and whether its images carry the driver.

`initramfs_tools` is supported; the others are recognised by name. To add one: write a module that fulfils
`Generator`, name it in `_MODULES`, drop its row from `_RECOGNISED`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, cast

from rocmcfg.backends.boot.menu import Entry, Role
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation

_MODULES = ("initramfs_tools",)
# Generator, the program that shows it, and what a user runs by hand.
_RECOGNISED = (
    ("dracut", "/usr/bin/dracut", "sudo dracut --regenerate-all --force"),
    ("mkinitcpio", "/usr/bin/mkinitcpio", "sudo mkinitcpio -P"),
    ("booster", "/usr/bin/booster", "rebuild the images with booster"),
)
# On a host of deployments the images come with the system; files of /etc get into them by an overlay alone
# (rpm-ostree 2026.2, man/rpm-ostree.xml, initramfs-etc).
_OSTREE = "/run/ostree-booted"
_TRACKED = (
    "sudo rpm-ostree initramfs-etc --track=/etc/modprobe.d/FILE\n"
    "or keep to the kernel command line: --via cmdline"
)


class Image(NamedTuple):
    """`carries` is None where the image could not be looked into."""

    path: str
    release: str
    carries: bool | None


class Generator(Protocol):
    """What the engine uses a generator of images by. `TOOL` is the program that rebuilds them."""

    NAME: str
    TOOL: str

    def detect(self, view: HostView) -> Detection | None: ...

    def images(self, view: HostView, module: str, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
        """The images that it makes, and those that the entries boot, and whether each carries `module`."""

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        """What rebuilds the images of all kernels."""

    def check(
        self, host: Host, found: tuple[Image, ...], path: str, expected: bytes | None
    ) -> list[Diagnostic]:
        """Look into every image that carries the driver: it holds `path` with just these bytes, or not at
        all. An image that could not be looked into is a warning, one that is wrong an error."""


def backends() -> tuple[Generator, ...]:
    return tuple(cast(Generator, importlib.import_module(f"{__name__}.{name}")) for name in _MODULES)


def backend(detected: Iterable[Detection]) -> Generator | None:
    """The backend of the generator that was detected; None where there is none that we can run."""
    names = {found.name for found in detected}
    return next((one for one in backends() if one.NAME in names), None)


def detect(view: HostView) -> tuple[Detection, ...]:
    if view.exists(_OSTREE):
        return (Detection("ostree", "an initramfs built with the image", (_OSTREE,), manual=_TRACKED),)
    supported = [found for one in backends() if (found := one.detect(view)) is not None]
    known = [
        Detection(name, name, (mark,), manual=by_hand)
        for name, mark, by_hand in _RECOGNISED
        if view.exists(mark)
    ]
    return (*supported, *known)


def booted(view: HostView, entries: Sequence[Entry]) -> dict[str, str]:
    """The images that the entries of this system boot, by path, with the kernel's release. Some loaders boot
    copies, and name them from the root of the file system that these lie on."""
    found: dict[str, str] = {}
    for entry in entries:
        for initrd in entry.initrds if entry.role is not Role.FOREIGN else ():
            named = re.sub(r"^\([^)]*\)", "", initrd)  # GRUB's name of the disk
            for path in (f"/boot{named}", named):
                if named.startswith("/") and view.exists(path):
                    found.setdefault(view.real_path(path), entry.release)
                    break
    return found
