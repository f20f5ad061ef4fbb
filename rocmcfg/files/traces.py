"""Describe what a shell needs to know to undo our changes without rocmcfg. Each loader and each initramfs
generator declares its own traces. Patterns are shell patterns: they are expanded when the undo runs, and so
match entries and kernels installed meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocmcfg.model.plan import Activation
from rocmcfg.model.shape import NamedTuple

_SPECIAL = re.compile(r"[*?[]")
# Placeholders in a command for each image: its path, the release of its kernel, and the package of that
# kernel.
IMAGE, RELEASE, PACKAGE = "{image}", "{release}", "{package}"


class Sealed(NamedTuple):
    """Programs that hold, after the text `behind`, a checksum of the files whose path ends with `suffix`.
    While a program holds one, such a file must not change. `cure` is the command that removes the
    checksum."""

    suffix: str
    behind: str
    cure: str
    programs: tuple[str, ...]


class Traces(NamedTuple):
    """Places where a loader may have something of ours, other than the files in a journal. All are patterns
    of paths: `entries` match foreign files that may hold our part, `own` files that are entirely ours,
    `images` images with a built-in command line. A path that `shown` matches exists while the partition is
    mounted. `mount_points` are the places where partitions in /etc/fstab must be mounted."""

    mount_points: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    sealed: Sealed | None = None


class Maker(NamedTuple):
    """A program that generates menus, entries or images from our files, by `commands`. `makes` are the files
    that it writes. `each` are commands for one image: for every image that the patterns `every` match, or for
    the first image of each kernel among those that `first` match. `signed_by` is the command that signs an
    image if the firmware requires it; None if no program on this host can, empty if no image is made."""

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
        """Return the program without which nothing is generated."""
        step = Activation(self.tool, (*self.commands, *self.each), "")
        return next(iter(step.programs), "")


def maker_of(step: Activation, package: str = "") -> Maker:
    """Return a derived step for a shell. By default the package has the name of its program."""
    maker = Maker(step.tool, package, step.commands, step.outputs)
    return maker._replace(package=package or maker.program)


def exactly(path: str) -> str:
    """Return the pattern that finds this path and no other."""
    return _SPECIAL.sub(lambda match: f"[{match[0]}]", path)


def on(partitions: Iterable[str], *below: str) -> tuple[str, ...]:
    """Return these patterns below each partition."""
    return tuple(f"{mounted}/{pattern}" for mounted in partitions for pattern in below)
