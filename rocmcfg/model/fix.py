"""Describes a fix of the kernel, and which kernels carry it."""

from __future__ import annotations

from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.version import KernelVersion, is_from_build


class Fix(NamedTuple):
    """Which kernels carry a fix. A series below mainline and not in `stable` never got it from there.

    `builds` are the first releases of distributions that took it by themselves, as `uname -r` prints them:
    `6.17.0-19-generic` stands for the later builds of its series and flavour too.
    """

    name: str
    summary: str
    mainline: KernelVersion
    stable: tuple[KernelVersion, ...]
    kfd_property: str
    evidence: tuple[str, ...]
    builds: tuple[str, ...] = ()

    @property
    def releases(self) -> str:
        """`6.12.64, 6.18.4 and 6.19`: the first of each series that has it."""
        *stable, mainline = [*map(str, self.stable), "{}.{}".format(*self.mainline.series)]
        return f"{', '.join(stable)} and {mainline}" if stable else mainline

    @property
    def history(self) -> str:
        """Return the releases that have it, and the series that never get it."""
        below = "{}.{}".format(*self.mainline.series)
        builds = f"; also {', '.join(self.builds)} and later builds" if self.builds else ""
        return f"{self.releases}{builds}; other series below {below} never got it"

    def present_in(self, version: KernelVersion, release: str = "") -> bool | None:
        """None where the release hides its stable level and the series got the fix at some level. `release`
        is what `uname -r` prints, for the builds of distributions."""
        if any(is_from_build(release, build) for build in self.builds):
            return True
        if version.numbers[:2] >= self.mainline.numbers[:2]:
            return True
        for first in self.stable:
            if first.series == version.series:
                return version >= first if version.sublevel_known else None
        return False
