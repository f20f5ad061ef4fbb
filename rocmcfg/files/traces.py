"""What a shell must know to take our part back without rocmcfg. Each loader and each initramfs generator
declares its own. Patterns are those of a shell. It expands them when it runs, and so finds entries and
kernels that were installed meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocmcfg.model.plan import Activation
from rocmcfg.model.shape import NamedTuple

_SPECIAL = re.compile(r"[*?[]")
# In a command for each image: its path, the release of its kernel, and the package of that kernel.
IMAGE, RELEASE, PACKAGE = "{image}", "{release}", "{package}"


class Sealed(NamedTuple):
    """Programs that hold, behind the text `behind`, a checksum of the files whose path ends with `suffix`.
    While a program holds one, such a file must not change. `cure` is the command that takes it out."""

    suffix: str
    behind: str
    cure: str
    programs: tuple[str, ...]


class Traces(NamedTuple):
    """Where a loader has something of ours besides the files that a journal names. All are patterns of paths:
    `entries` of files of others that may hold our part, `own` of files that are ours as a whole, `images` of
    images with a command line built into them. A path that `shown` matches exists while the partition is
    mounted. `mount_points` are where partitions that /etc/fstab names must be mounted."""

    mount_points: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    sealed: Sealed | None = None


class Maker(NamedTuple):
    """A program that makes menus, entries or images of our files, by `commands`. `makes` are files that it
    writes. `each` are commands for one image: for every image that the patterns `every` match, or for the
    first image of each kernel among those that `first` match. `signed_by` is the command that signs an image
    where the firmware requires it; None where nothing on this host would, empty where no image is made."""

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
        """Return the program without which nothing is made."""
        step = Activation(self.tool, (*self.commands, *self.each), "")
        return next(iter(step.programs), "")


def maker_of(step: Activation, package: str = "") -> Maker:
    """Return a derived step as a shell runs it. A package that is not named is called as its program."""
    maker = Maker(step.tool, package, step.commands, step.outputs)
    return maker._replace(package=package or maker.program)


def exactly(path: str) -> str:
    """Return the pattern that finds this path and no other."""
    return _SPECIAL.sub(lambda match: f"[{match[0]}]", path)


def on(partitions: Iterable[str], *below: str) -> tuple[str, ...]:
    """Return these patterns below each partition."""
    return tuple(f"{mounted}/{pattern}" for mounted in partitions for pattern in below)
