"""The catalogue's nouns: parameters over kernels, features, arguments, variables, fixes, GPUs, traps."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from rocmcfg.model.desired import Kind
from rocmcfg.model.fix import Fix
from rocmcfg.model.known_cure import KnownCure
from rocmcfg.model.regex import Expression, fullmatch, is_stopped
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import ParamType, Spelling, as_number, feature, truth
from rocmcfg.model.version import KernelVersion, RangeText, Release


class Hardware(NamedTuple):
    """Where a name or value has an effect; an empty part does not restrict.

    `gfx` and `not_gfx` are names or patterns such as "gfx12*". `apu`: integrated GPUs only (True) or
    graphics cards only (False). `panel`: needs a built-in panel (eDP), so laptops and handhelds only.
    """

    gfx: tuple[str, ...] = ()
    not_gfx: tuple[str, ...] = ()
    apu: bool | None = None
    panel: bool = False

    def covers(self, gfx: str, integrated: bool) -> bool:
        """Return whether one GPU is among the hardware. No panel is detected: a graphics card is assumed to
        have none."""
        if self.apu is not None and self.apu != integrated:
            return False
        if (self.panel and not integrated) or matches(gfx, self.not_gfx):
            return False
        return not self.gfx or matches(gfx, self.gfx)

    def words(self) -> str:
        """Return a phrase that follows "on", such as `integrated GPUs (APUs) other than gfx1103`."""
        phrase = ", ".join(self.gfx)
        if self.apu is not None:
            kind = "integrated GPUs (APUs)" if self.apu else "graphics cards"
            phrase = f"{kind} of {phrase}" if phrase else kind
        phrase = phrase or "GPUs"
        if self.not_gfx:
            phrase += " other than " + ", ".join(self.not_gfx)
        return phrase + (" with a built-in panel" if self.panel else "")


_NOTHING: Mapping[Any, Any] = MappingProxyType({})


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(_matches(name, pattern) for pattern in patterns)


def _matches(name: str, pattern: str) -> bool:
    start, star, rest = pattern.partition("*")
    if rest or "?" in pattern or "[" in pattern:
        return fnmatch.fnmatchcase(name, pattern)
    # nearly all patterns are of this form, so hundreds of regular expressions need not be compiled
    return name.startswith(start) if star else name == pattern


TrapKind = Literal[
    "inverted",
    "default",
    "no_effect",
    "dangerous",
    "obsolete",
    "misread",
    "limited",
    "costly",
    "debugging",
]


class ValueTrap(NamedTuple):
    """A legal value that does not do what people expect.

    `values` are texts as written (numbers are compared as numbers), ranges such as "4..9", or "*" for any.
    `kind`: inverted (has the opposite effect, `does`), default (changes nothing), no_effect, dangerous,
    obsolete, misread (means something else), limited (correct, but only partly effective), costly (does what
    people set it for, at a price), debugging (of use to whoever looks for a fault, and to nobody else).
    `acts_on` restricts it to hardware, `kernel` to a range such as ">=6.19". `asked`: shown only to users who
    ask about the name; lint does not report the value in a file. `intended`: a regular expression for words
    near a setting, or for the title of its boot entry, that show that its author intends this value.
    """

    values: tuple[str, ...]
    kind: TrapKind
    summary: str
    instead: Spelling | None = None
    acts_on: Hardware | None = None
    kernel: RangeText = ""
    asked: bool = False
    intended: Expression = ""
    does: str = ""


class Epoch(NamedTuple):
    """A run of builds, first to last inclusive, that agree on a parameter. `default` is sysfs text."""

    first: KernelVersion
    last: KernelVersion
    type: ParamType
    default: str
    permission: str
    taints: bool = False


class Standing(NamedTuple):
    """The catalogue's knowledge of a parameter on one kernel.

    `variants` are the epochs that may apply: one where the neighbouring builds agree, two where they do not,
    none where the parameter is certainly absent. `certain` is False where its presence is disputed or depends
    on the kernel's configuration; `typed` is False where a neighbour does not have it, so that its type is a
    guess.
    """

    variants: tuple[Epoch, ...]
    certain: bool
    typed: bool


class Parameter(NamedTuple):
    """A module parameter over kernel versions.

    `builds` are the kernels that were read, `epochs` their declarations; `lacks` are kernels that were read
    only for this parameter and do not have it. `dkms_only`: only AMD's DKMS driver has it, not the kernel's
    own, and `dkms_type` is its type where that is known. `taints_since`: for kernels that were not read, the
    release from which setting it taints the kernel.

    `meanings` maps a value, or a range such as "4-9", to its effect; `bits` maps a bit of a mask that is not
    a feature to its effect. `notes` are sentences, `sources` are the origins of the facts. `copied`: masks
    that are copied from post to post, with the features that they switch by accident. `pattern`: a regular
    expression for the whole value of a text parameter; empty where its grammar is not known. `must_be`: the
    words for what it matches, if the driver starts no GPU with another text. `instead` is the parameter that
    replaces a deprecated one, and `times` the factor of the value in its unit. `limit`: it is a limit, so
    that a larger value also does what a smaller one is set for.
    """

    module: str
    name: str
    summary: str
    epochs: tuple[Epoch, ...]
    builds: tuple[KernelVersion, ...]
    rewritten: bool = False
    computed: bool = False
    mask: bool = False
    since: Release = ""
    removed: Release = ""
    deprecated: str = ""
    instead: Spelling | None = None
    times: int = 1
    limit: bool = False
    config: str = ""
    bounds: tuple[int, int] | None = None
    dkms_only: bool = False
    dkms_type: ParamType | None = None
    taints_since: KernelVersion | None = None
    unit: str = ""
    meanings: Mapping[str, str] = _NOTHING
    bits: Mapping[int, str] = _NOTHING
    acts_on: Hardware | None = None
    notes: tuple[str, ...] = ()
    traps: tuple[ValueTrap, ...] = ()
    sources: tuple[str, ...] = ()
    copied: Mapping[int, tuple[str, ...]] = _NOTHING
    lacks: tuple[KernelVersion, ...] = ()
    pattern: str = ""
    must_be: str = ""

    @property
    def id(self) -> str:
        return f"{self.module}.{self.name}"

    def on(self, version: KernelVersion) -> Standing:
        """Return the standing on a kernel. A kernel that was not read has what its two neighbours agree on.
        If one of them does not have the parameter, the release of its addition or removal decides: an added
        parameter stays, and a removed one does not come back."""
        below = [b for b in self.builds if b <= version]
        above = [b for b in self.builds if b >= version]
        neighbours = ([max(below)] if below else []) + ([min(above)] if above else [])
        epochs = [next((e for e in self.epochs if e.first <= b <= e.last), None) for b in neighbours]
        if self.taints_since is not None and version not in self.builds:
            tainted = version.numbers[:2] >= self.taints_since.numbers[:2]
            epochs = [e and e._replace(taints=tainted) for e in epochs]
        typed = present = None not in epochs
        if not present and version.reached(self.removed):
            epochs, typed = [], True
        elif not present:
            present = version.reached(self.since)
        variants = tuple(dict.fromkeys(epoch for epoch in epochs if epoch is not None))
        return Standing(variants, (present or not variants) and not self.config, typed)


class Feature(NamedTuple):
    """A named bit of a feature mask. `set_means_on` is False for bits that switch something off. `taints` is
    the range of kernels that become tainted if the feature is on. `needed_for` is the function that does not
    work on the hardware of `needed_on` if the feature is off. `traded`: people turn the feature off against a
    fault and pay with that function."""

    name: str
    parameter: str
    bit: int
    set_means_on: bool
    summary: str
    acts_on: Hardware | None = None
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    taints: str = ""
    needed_for: str = ""
    needed_on: tuple[Hardware, ...] = ()
    traded: bool = False

    def is_on(self, mask: int | None) -> bool | None:
        return None if mask is None else bool(mask & self.bit) == self.set_means_on

    def compose(self, mask: int, enabled: bool) -> int:
        return mask | self.bit if enabled == self.set_means_on else mask & ~self.bit


class GpuModel(NamedTuple):
    gc_ip: str
    gfx: str
    family: str
    codename: str = ""
    products: str = ""
    pci: tuple[str, ...] = ()
    apu: bool = False
    also: str = ""
    sources: tuple[str, ...] = ()


class KernelArgument(NamedTuple):
    """An argument of the kernel, or of a driver other than amdgpu, that people set for a Radeon.

    `values` are the legal words (empty: see `pattern`, a regular expression for the whole value; both empty:
    any text). `words_join`: several words may be joined by commas. `flag`: also legal without a value.
    `distinct`: a plain word, without a dot or an underscore, that is an argument of the kernel and nothing
    else. `meanings` explains single words.
    """

    name: str
    summary: str
    values: tuple[str, ...] = ()
    pattern: str = ""
    words_join: bool = False
    flag: bool = False
    distinct: bool = False
    default: str = ""
    meanings: Mapping[str, str] = _NOTHING
    notes: tuple[str, ...] = ()
    traps: tuple[ValueTrap, ...] = ()
    sources: tuple[str, ...] = ()


class Namespace(NamedTuple):
    """A prefix of variables that `reader` reads: those in `names`, according to its `release`. It is `closed`
    if no other program reads variables with this prefix; even then a name that begins or ends with a word of
    `built`, or that matches `others`, may belong to another program."""

    prefix: str
    reader: str
    release: str
    names: frozenset[str]
    others: tuple[str, ...] = ()
    built: frozenset[str] = frozenset()
    closed: bool = True


class Variable(NamedTuple):
    """An environment variable.

    `values` are the legal words, compared without case (empty: see `pattern`; both empty: any text).
    `unknown`: nothing reads it. `build_only`: read when software is compiled, never when it runs.
    `presence_before`: its reader's releases before this one count any value, including 0, as set. `indexed`:
    `NAME_<n>` exists as well, and `indexed` is the meaning of n. `since`, `until` and `deprecated` are
    sentences with the reader's version, for example "PyTorch 2.9". `strict`: the reader stops at any other
    value, or drops it with an error; otherwise readers may accept more.
    """

    name: str
    summary: str
    reader: str = ""
    values: tuple[str, ...] = ()
    presence_before: Release = ""
    unknown: bool = False
    instead: Spelling | None = None
    pattern: Expression = ""
    default: str = ""
    build_only: bool = False
    indexed: str = ""
    since: str = ""
    until: str = ""
    deprecated: str = ""
    meanings: Mapping[str, str] = _NOTHING
    acts_on: Hardware | None = None
    notes: tuple[str, ...] = ()
    traps: tuple[ValueTrap, ...] = ()
    sources: tuple[str, ...] = ()
    strict: bool = False

    def takes(self, text: str) -> bool:
        """Return whether a value is documented. An empty value unsets the variable."""
        if not text or text.lower() in (word.lower() for word in self.values):
            return True
        if not self.pattern:
            return not self.values
        return fullmatch(self.pattern, text, re.DOTALL) is not None or is_stopped(self.pattern)


# Nouns with their own values and traps.
Named: TypeAlias = "Parameter | KernelArgument | Variable"


class Trap(NamedTuple):
    """A name that people write although it does not mean what they expect. `times`: the factor of the value
    if the right name uses another unit."""

    name: str
    instead: Spelling
    summary: str
    times: int = 1

    def spelt(self, value: str | None) -> Spelling:
        """Return the spelling to write instead; without a value where the value cannot be converted."""
        if value is None or self.instead.value is not None:
            return self.instead
        if self.instead.kind is Kind.FEATURE:
            on = truth(value)
            return self.instead if on is None else feature(self.instead.name, on)
        return in_its_unit(self.instead, value, self.times)


def in_its_unit(instead: Spelling, value: str | None, times: int) -> Spelling:
    """Return a setting with a value that counts `times` as much in its unit; without a value where that is
    not possible."""
    if times == 1:
        return instead._replace(value=value)
    number = as_number(value)
    return instead._replace(value=str(number * times) if number and number > 0 else None)


class HandOver(NamedTuple):
    """Settings that hand over the machine: whoever chooses the value controls what runs as root or as every
    user.

    `names` and `but` are patterns of the settings and of their harmless exceptions. `folders`: the value is
    harmless if all of it is in one of these folders (empty: never). `bare`: a name without a slash is
    harmless as well. `gives` ends the sentence "… gives control of the machine: ".
    """

    names: tuple[str, ...]
    gives: str
    sources: tuple[str, ...]
    but: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    bare: bool = False

    def meets(self, name: str, text: str | None) -> bool:
        if not matches(name, self.names) or matches(name, self.but):
            return False
        # ld.so(8): LD_LIBRARY_PATH has both separators, and an empty part is the working directory
        return not all(self._harmless(part) for part in re.split("[:;,]", text or ""))

    def _harmless(self, part: str) -> bool:
        if "/" not in part:
            return self.bare and part != ""
        lies = part.split("/")
        return ".." not in lies and any(
            matches("/".join(lies[: len(folder.split("/"))]), (folder,)) for folder in self.folders
        )


class Catalogue(NamedTuple):
    """The catalogue. `hand_overs` holds those of kernel arguments under "argument", of variables under
    "variable". `cures` holds those of a setting under its id, as `Spelling.id` writes it."""

    parameters: Mapping[str, Parameter]
    features: Mapping[str, Feature]
    fixes: Mapping[str, Fix]
    gpus: tuple[GpuModel, ...]
    arguments: Mapping[str, KernelArgument]
    variables: Mapping[str, Variable]
    traps: Mapping[str, Trap]
    hand_overs: Mapping[str, tuple[HandOver, ...]]
    cures: Mapping[str, tuple[KnownCure, ...]] = {}

    def modules(self) -> tuple[str, ...]:
        """Return the modules whose parameters people set for a Radeon, in the order of the data."""
        return tuple(dict.fromkeys(id.partition(".")[0] for id in self.parameters))
