"""What a shell must know to take our part back without rocmcfg. Each loader and each initramfs generator
declares its own. Patterns are those of a shell, which looks for them on the host as it is then: entries and
kernels that came meanwhile are met too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.plan import Activation

_SPECIAL = re.compile(r"[*?[]")
IMAGE, RELEASE, PACKAGE = (
    "{image}",
    "{release}",
    "{package}",
)  # what stands for those of the host as it is then


class Sealed(NamedTuple):
    """Programs that hold the checksum of the files whose path ends with `suffix`, `behind` this text; while
    one does, such a file must not change. `cure` is the command that takes the checksum out."""

    suffix: str
    behind: str
    cure: str
    programs: tuple[str, ...]


class Traces(NamedTuple):
    """What a loader has of ours beside the files that a journal names. `entries` are patterns of the files of
    others that may hold our part, `shown` those of which one must be there where the partition is mounted,
    `own` those of files that are ours as a whole, `images` those with a command line built into them.
    `mount_points`: where a partition that /etc/fstab names must be mounted."""

    mount_points: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    sealed: Sealed | None = None


class Maker(NamedTuple):
    """A program that makes menus, entries or images of our files, in `commands`. `makes` are files that it
    writes. `each` are commands for one image: for every one that the patterns in `every` find, or for the
    first one of each kernel that those in `first` find. `signed_by` signs an image that it made, where the
    firmware asks for that; None where nothing here would, empty where it makes none."""

    tool: str
    package: str
    commands: tuple[tuple[str, ...], ...] = ()
    makes: tuple[str, ...] = ()
    every: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    each: tuple[tuple[str, ...], ...] = ()
    signed_by: tuple[str, ...] | None = ()

    @property
    def program(self) -> str:
        """The one without which nothing is made."""
        step = Activation(self.tool, (*self.commands, *self.each), "")
        return next(iter(step.programs), "")


def maker_of(step: Activation, package: str = "") -> Maker:
    """A derived step as a shell runs it; by itself, the program's package has its name."""
    found = Maker(step.tool, package, step.commands, step.outputs)
    return found._replace(package=package or found.program)


def exactly(path: str) -> str:
    """The pattern that finds this path and no other one."""
    return _SPECIAL.sub(lambda found: f"[{found[0]}]", path)


def on(partitions: Iterable[str], *below: str) -> tuple[str, ...]:
    """These patterns below each partition."""
    return tuple(f"{mounted}/{pattern}" for mounted in partitions for pattern in below)
