"""A profile as declared: settings with their reasons, before anything is known about a host."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from rocmcfg.model.desired import Channel, Kind
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.version import RocmRange, VersionRange


class Condition(NamedTuple):
    """One table of `when`: every specified part must hold.

    `pytorch`, `kernel` and `rocm` hold if any installed one is in the range; `gpus` counts the GPUs for
    computing, or those of `gfx` if that is specified too. `igpu` and `dkms` require presence or absence.
    """

    kernel: VersionRange | None = None
    rocm: RocmRange | None = None
    lacks_fix: str = ""
    gfx: tuple[str, ...] = ()
    pytorch: VersionRange | None = None
    igpu: bool | None = None
    dkms: bool | None = None
    gpus: VersionRange | None = None


class Multiple:
    """A value that the user specifies: a multiple of the profile's parameter of this name. It is not a tuple,
    since a tuple as a value is a list."""

    def __init__(self, parameter: str, times: int) -> None:
        self.parameter, self.times = parameter, times

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Multiple) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.parameter, self.times))

    def __str__(self) -> str:
        return f"{self.times} × profile.{self.parameter}"


@published("name", "summary", "unit", "min=low", "max=high", "within")
class ProfileParameter(NamedTuple):
    """A whole number that only the user can know, set with `--set profile.NAME=NUMBER`; it has no default.

    `unit` is shown, and is GiB or MiB if `within` is "memory": then the amount must fit into the memory of
    the host. With "gpus" it is a number of GPUs that the profile is for, and no more than the host has. `low`
    and `high` are inclusive; `high` is None if only `within` limits the number. `unset` is the value without
    the setting, where it is known: "half of memory".
    """

    name: str
    summary: str
    unit: str = ""
    low: int = 0
    high: int | None = None
    within: Literal["", "memory", "gpus"] = ""
    unset: str = ""
    location: str = ""


class Doubt(NamedTuple):
    """The reason why root must not trust a profile's file: another user may have written it. `why` is a
    sentence.

    `whole`: the whole file is refused; otherwise only settings that hand over the machine are, and root, who
    sees the plan, may accept the rest. `binds` is False if the caller is not root: then it is what root would
    be told.
    """

    place: str
    why: str
    whole: bool
    binds: bool


class Setting(NamedTuple):
    """One setting of a profile.

    `value` is the TOML value: a string, an integer or a truth value; for a kernel argument also a list. It
    must not be written anywhere before `planning.resolve` has checked it and turned it into text. `module` is
    set only for module parameters. `when` are alternatives, of which one must hold; empty: always. `doubt` is
    the doubt about the file of the setting.
    """

    kind: Kind
    name: str
    value: str | int | bool | tuple[str, ...] | Multiple
    module: str = ""
    because: str = ""
    evidence: tuple[str, ...] = ()
    cost: str = ""
    confidence: str = ""
    when: tuple[Condition, ...] = ()
    optional: bool = False
    via: Channel | None = None
    location: str = ""
    profile: str = ""
    doubt: Doubt | None = None

    @property
    def id(self) -> str:
        """Return the id, the same everywhere: `amdgpu.runpm`, `feature.gfxoff`, `karg.iommu`, `env.NAME`."""
        return f"{self.module or self.kind.value}.{self.name}"

    @property
    def multiple_of(self) -> str | None:
        """Return the profile's parameter of which the value is a multiple; None for a value of its own."""
        return self.value.parameter if isinstance(self.value, Multiple) else None


class Use(str, Enum):
    """How a profile is selected. A profile for diagnosis is for `rocmcfg run`, not for a whole host."""

    AUTO = "auto"
    NAMED = "named"
    DIAGNOSIS = "diagnosis"


@published("name", "summary", "gfx", "extends", "use", "location", "shipped")
class Profile(NamedTuple):
    """A profile. `apu` narrows `gfx` to GPUs that share the processor's package (True) or that do not
    (False). `doubts` are those of its own file and of all files that it extends."""

    name: str
    summary: str
    gfx: tuple[str, ...]
    settings: tuple[Setting, ...]
    location: str
    extends: str = ""
    notes: tuple[str, ...] = ()
    shipped: bool = True
    use: Use = Use.AUTO
    apu: bool | None = None
    parameters: tuple[ProfileParameter, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    def fits(self, gfx: str | None, integrated: bool) -> bool:
        """Return whether the profile is for a GPU."""
        return gfx in self.gfx and self.apu in (None, integrated)
