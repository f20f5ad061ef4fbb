"""Kernel and ROCm versions: parsing, order, ranges."""

from __future__ import annotations

import operator
import re
from typing import Annotated

from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

Version = tuple[int, ...]

_KERNEL = regex(r"^([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?![0-9])(?:[-~]?(rc[0-9]+))?(.*)$")
_BUILD = regex(r"([0-9.]+)-([0-9]{1,9})-(.+)")  # 6.17.0-19-generic: base, build, flavour
_LAST = 1 << 30  # stands for a number that a version does not contain
# TheRock's previews, numbered ahead of the releases: they came between ROCm 7.1 and 7.2, and lack the fixes
# of 7.2. From 7.11 on, which came after 7.2, the numbers are in order of time.
# https://rocm.docs.amd.com/en/latest/reference/system-optimization/rdna3-5.html (the table of kernels)
_PREVIEWS = ((7, 9), (7, 10))
_HOLDS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}
_CONDITION = regex(r"^(>=|<=|==|>|<)\s*([0-9]{1,9}(?:\.[0-9]{1,9})*)$")


class KernelVersion(NamedTuple):
    """A kernel version. `numbers` is (major, minor, sublevel, rc); rc is -1 for a release candidate, else 0.
    Without a known sublevel the version does not show which stable fixes the kernel has."""

    numbers: tuple[int, int, int, int]
    sublevel_known: bool = True

    @property
    def series(self) -> tuple[int, int]:
        return self.numbers[:2]

    @property
    def span(self) -> tuple[Version, Version]:
        """Return the oldest and the newest release that it may be, which are equal if all numbers are
        known."""
        low = self.numbers[:3]
        return low, low if self.sublevel_known else (*self.series, _LAST)

    def reached(self, release: str) -> bool:
        """Return whether the version is of a mainline release, such as "6.7", or of a later one; False for an
        empty one."""
        return bool(release) and self.series >= mainline(release)

    def __str__(self) -> str:
        major, minor, sublevel, _ = self.numbers
        return f"{major}.{minor}.{sublevel}" if self.sublevel_known else f"{major}.{minor}"


def parse_kernel(release: str) -> KernelVersion | None:
    """Return the version of `uname -r`; None if it does not start with a version.

    Debian up to 12 (`6.1.0-47-amd64`), Ubuntu (`6.8.0-90-generic`) and RHEL (`5.14.0-427.el9`) print
    sublevel 0 and count builds in the number after the dash.
    """
    match = _KERNEL.match(release)
    if match is None:
        return None
    major, minor, sublevel, rc, rest = match.groups()
    hidden = sublevel == "0" and rc is None and re.match(r"-\d", rest) is not None
    return KernelVersion((int(major), int(minor), int(sublevel or 0), -1 if rc else 0), not hidden)


def is_from_build(release: str, first: str) -> bool:
    """Say whether a release is a distribution's build `first`, or a later one of its series and flavour."""
    ours, theirs = _BUILD.fullmatch(release), _BUILD.fullmatch(first)
    if ours is None or theirs is None:
        return False
    return ours.group(1, 3) == theirs.group(1, 3) and int(ours[2]) >= int(theirs[2])


def mainline(release: str) -> Version:
    """Return the version of a mainline release such as `6.7`. Raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,9}\.[0-9]{1,9}", release, re.ASCII):
        raise ValueError(f"{release!r} is not a mainline release such as 6.7")
    return tuple(int(number) for number in release.split("."))


def parse_version(text: str) -> Version | None:
    """Return `7.1.0-38` or `7.2` as a tuple of numbers; None if there is no leading number."""
    match = re.match(r"^\s*([0-9]{1,9}(?:\.[0-9]{1,9})*)", text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def format_version(version: Version) -> str:
    return ".".join(str(part) for part in version)


def comparable(version: Version) -> Version:
    """Return a version without zeros at its end: 7.2 and 7.2.0 are the same version."""
    while version and version[-1] == 0:
        version = version[:-1]
    return version


def rocm_order(version: Version) -> Version:
    """Return what ROCm releases are compared by: their numbers, but for previews that were numbered ahead."""
    parts = comparable(version)
    return (7, 1, _LAST, *parts[1:]) if parts[:2] in _PREVIEWS else parts


class VersionRange(NamedTuple):
    """A conjunction of comparisons, as in `>=7.0,<7.2`. Versions are compared by their numbers."""

    text: str
    conditions: tuple[tuple[str, Version], ...]

    @staticmethod
    def order(version: Version) -> Version:
        """Return what a version is compared by."""
        return comparable(version)

    def contains(self, version: Version) -> bool:
        parts = self.order(version)
        return all(_HOLDS[sign](parts, self.order(bound)) for sign, bound in self.conditions)

    def between(self, low: Version, high: Version) -> bool | None:
        """Return whether the range contains the versions from `low` to `high`, both included; None if it
        contains only some of them. The answer changes only at the bounds, so each bound is tested, and the
        release after it."""
        probes = [low, high]
        for _, bound in self.conditions:
            padded = bound + (0,) * (3 - len(bound))
            probes += [bound, (*padded[:-1], padded[-1] + 1)]
        within = (probe for probe in probes if self.order(low) <= self.order(probe) <= self.order(high))
        answers = {self.contains(version) for version in within}
        return answers.pop() if len(answers) == 1 else None

    @property
    def possible(self) -> bool:
        """Return whether any version can be in the range."""
        return self.between((0,), (_LAST,)) is not False


class RocmRange(VersionRange):
    """A range of ROCm releases, which `rocm_order` compares."""

    @staticmethod
    def order(version: Version) -> Version:
        return rocm_order(version)


def span(version: Version) -> tuple[Version, Version]:
    """Return the oldest and newest release of a version: `7.2` of a PyTorch wheel may be any patch level of
    7.2; three numbers are exact."""
    return version, version if len(version) > 2 else (*version, _LAST)


def parse_range(text: str) -> VersionRange:
    """Return the range of a text. Raises ValueError with the part that is not a comparison."""
    conditions: list[tuple[str, Version]] = []
    for part in text.split(","):
        match = _CONDITION.match(part.strip())
        if match is None:
            raise ValueError(f"{part.strip()!r} is not a comparison such as '>=7.0'")
        conditions.append((match.group(1), tuple(int(n) for n in match.group(2).split("."))))
    return VersionRange(text, tuple(conditions))


def parse_rocm_range(text: str) -> RocmRange:
    """Raises as `parse_range`."""
    return RocmRange(*parse_range(text))


# Texts that the catalogue keeps as written, with their readers.
RangeText = Annotated[str, parse_range]
Release = Annotated[str, mainline]
