"""What a generator of initramfs images must offer, so that the engine can use it without knowing its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rocmcfg.backends.boot.menu import Entry, Role
from rocmcfg.host.view import Host, HostView

if TYPE_CHECKING:
    from rocmcfg.model.diagnostic import Diagnostic
    from rocmcfg.model.facts import Detection
    from rocmcfg.model.plan import Activation


class Image(NamedTuple):
    """`carries` is None where the image could not be looked into."""

    path: str
    release: str
    carries: bool | None


class Generator(Protocol):
    """`TOOL` is the program that rebuilds the images."""

    NAME: str
    TOOL: str

    def detect(self, view: HostView) -> Detection | None: ...

    def images(self, view: HostView, module: str, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
        """The images that it makes, and those that the entries boot, and whether each carries `module`."""
        ...

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        """What rebuilds the images of all kernels."""
        ...

    def check(
        self, host: Host, found: tuple[Image, ...], path: str, expected: bytes | None
    ) -> list[Diagnostic]:
        """Look into every image that carries the driver: it holds `path` with just these bytes, or not at
        all. An image that could not be looked into is a warning, one that is wrong an error."""
        ...


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
