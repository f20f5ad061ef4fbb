"""What is known to be so of a setting on a machine. `plan`, `lint`, `explain` and `doctor` only word it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from rocmcfg.model.catalogue import ValueTrap
from rocmcfg.model.spelling import Spelling


class About(Enum):
    """What a verdict says. Of the name: whether anything has or reads it. Of the value: what comes of it."""

    UNKNOWN_MODULE = "no such module"
    UNKNOWN = "nothing that is known has or reads the name"
    MISNAMED = "it is known what is written in place of the name"
    ABSENT = "kernels of the machine lack it"
    BUILD_ONLY = "read when software is compiled, never when it runs"
    DEPRECATED = "deprecated"
    ILLEGAL = "its reader refuses the value, or passes over it"
    OUT_OF_RANGE = "the reader takes the value, which has no meaning"
    OCTAL = "a leading 0 makes it another number"
    PRESENCE_ONLY = "meant as off, and any value switches it on"
    TRAP = "the value does not do what people think"
    NO_EFFECT = "nothing on this hardware heeds it"
    TAINTS = "setting it taints the kernel"
    FEATURE_TAINTS = "it switches a feature on that taints the kernel"
    SIDE_EFFECT = "a mask that changes more than it is copied for"
    DEFAULT = "what happens anyway"
    FIXED = "a workaround whose fix every kernel has"


OF_THE_NAME = frozenset(list(About)[: list(About).index(About.ILLEGAL)])
# With one of these there is nothing else to say of a value.
REFUSED = frozenset({About.ILLEGAL, About.OUT_OF_RANGE})


class Verdict(NamedTuple):
    """`holds` is True where it is so on the machine, None where that cannot be told; what is not so is no
    verdict. `why` is a sentence or a reason of the catalogue.

    `instead` is what to write, without a value where that is the writer's; `names`
    are what it is about: names that look alike, the ends of a range, a feature, what a mask changes.
    `kernels` are the releases that it is true of, `others` the rest of those that have the parameter.
    `strict`: the reader stops on an illegal value, others may pass over it.
    """

    about: About
    holds: bool | None = True
    why: str = ""
    instead: Spelling | None = None
    names: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    trap: ValueTrap | None = None
    sources: tuple[str, ...] = ()
    strict: bool = True
