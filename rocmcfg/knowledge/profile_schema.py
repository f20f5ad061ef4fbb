"""The format of a profile file, as pydantic models. They stand at the border and go no further in."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from rocmcfg.knowledge import forms
from rocmcfg.knowledge.profile_document import Wrong, misdeclared, misused, rows
from rocmcfg.model.desired import Channel
from rocmcfg.model.profile import Use
from rocmcfg.model.spelling import SAFE_VALUE, unsafe_reason
from rocmcfg.model.version import parse_range, parse_rocm_range

_HINTS = {
    "extra_forbidden": "is it misspelt? `rocmcfg schema profile-file` has the keys there are",
    "missing": "add it",
    "path": "put that profile into /etc/rocmcfg/profiles and write its name",
}


def _sentence(text: str) -> str:
    """One line, no control characters: it is copied into the comments of files that a shell reads."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def _must(hold: Callable[[str], object], else_said: str) -> AfterValidator:
    """Return a check that `hold` holds of a text; `else_said` is read behind the text."""

    def checked(text: str) -> str:
        if not hold(text):
            raise ValueError(f"{text!r}{else_said}")
        return text

    return AfterValidator(checked)


def _is_count(text: str) -> bool:
    return all(len(bound) == 1 for _, bound in parse_range(text).conditions)


def _name(text: str) -> str:
    # a path would be one of the running host, also for a profile of another root
    if "/" in text or text.endswith(".toml"):
        raise PydanticCustomError("path", "takes a profile's name, not a path")
    return text


def _value(value: Any) -> Any:
    """A value as TOML gave it, if a setting can have it. Raises ValueError that says what is wrong, or which
    type it has."""
    if isinstance(value, dict):
        return value  # a multiple of a parameter; its own model looks into it
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str) and not SAFE_VALUE.match(item):
            raise ValueError(unsafe_reason(item))
        if isinstance(item, int) and not -(1 << 63) <= item < 1 << 64:
            raise ValueError("a whole number has at most 64 bits")
        if not isinstance(item, str | int | bool) or (isinstance(value, list) and not isinstance(item, str)):
            raise ValueError(f"a value is a text, a whole number or true/false, not {type(item).__name__}")
    if value == []:
        raise ValueError("the list is empty")
    return value


Sentence = Annotated[StrictStr, AfterValidator(_sentence)]
_TARGET = "gfx[0-9a-f]{3,5}"
Gfx = Annotated[StrictStr, _must(partial(re.fullmatch, _TARGET), " is not a gfx target such as gfx1201")]
Range = Annotated[StrictStr, _must(lambda text: parse_range(text).possible, " can never hold")]
RocmRange = Annotated[StrictStr, _must(lambda text: parse_rocm_range(text).possible, " can never hold")]
Number = Annotated[StrictInt, Field(ge=0, le=1 << 32)]
Count = Annotated[Range, _must(_is_count, ": GPUs are counted in whole numbers")]


class From(BaseModel, extra="forbid"):
    """`value = { from = "gtt_gib", times = 262144 }`: a multiple of one of the profile's parameters."""

    from_: StrictStr = Field(alias="from", description="The parameter's name.")
    times: Annotated[StrictInt, Field(ge=1, le=1 << 32)] = Field(
        1, description="What its number is multiplied with; 1 unless given."
    )


class ParameterRow(BaseModel, extra="forbid"):
    """A number that the user gives with `--set profile.NAME=NUMBER`. `min` and `max` are inclusive."""

    summary: Sentence = Field(description="What the user is asked for. Required.")
    unit: Sentence = Field("", description="Its unit, for the reader.")
    min: Number = Field(0, description="The smallest number; 0 unless given.")
    max: Number | None = Field(None, description="The largest number; without it there is no bound.")
    within: Literal["", "memory", "gpus"] = Field(
        "",
        description="memory: refused where the host has less memory (needs the unit GiB or MiB). gpus: "
        "refused where fewer GPUs are here.",
    )
    unset: Literal["", "half of memory"] = Field(
        "",
        description="What the system does without the setting, so that a number that lowers it is remarked "
        "on: half of memory.",
    )


class When(BaseModel, extra="forbid"):
    """A closed vocabulary; every key that is given must hold."""

    kernel: Range | None = Field(None, description="A range of kernel versions, for any installed kernel.")
    rocm: RocmRange | None = Field(
        None,
        description="A range of ROCm releases; the previews 7.9 and 7.10 lie between 7.1 and 7.2.",
    )
    lacks_fix: StrictStr = Field(
        "",
        alias="lacks-fix",
        description="The name of a fix in the catalogue. Holds while an installed kernel lacks it.",
    )
    gfx: Annotated[list[Gfx], Field(min_length=1)] = Field(
        [], description="A list of GPU targets, of which one must be here."
    )
    pytorch: Range | None = Field(None, description="A range of PyTorch releases.")
    igpu: StrictBool | None = Field(
        None, description="true where a GPU shares the processor's package, false where none does."
    )
    dkms: StrictBool | None = Field(
        None, description="true where an installed kernel has AMD's DKMS driver, false where one has its own."
    )
    gpus: Count | None = Field(
        None, description="A range of the number of GPUs; beside gfx, of GPUs of these targets."
    )


# The names of the kinds stand in an error's path, and are taken out of it again by `_wrong`.
Alternatives = Annotated[
    Annotated[When, Tag("union-one")] | Annotated[list[When], Field(min_length=1), Tag("union-several")],
    Discriminator(lambda value: "union-one" if isinstance(value, dict | When) else "union-several"),
    AfterValidator(lambda alternatives: alternatives if isinstance(alternatives, list) else [alternatives]),
]
Plain = Annotated[StrictBool | StrictInt | StrictStr | list[StrictStr], Tag("union-plain")]
Value = Annotated[
    Plain | Annotated[From, Tag("union-multiple")],
    Discriminator(lambda value: "union-multiple" if isinstance(value, dict | From) else "union-plain"),
    BeforeValidator(_value),
]


class SettingTable(BaseModel, extra="forbid"):
    value: Value = Field(description="The value; required in the long form.")
    because: Sentence = Field(
        "", description="Why, in one sentence: what it does about which fault. `rocmcfg plan` shows it."
    )
    evidence: list[Sentence] = Field([], description="Links that a reader can check.")
    cost: Sentence = Field("", description="What it costs; there always is something.")
    confidence: Literal["", "confirmed", "reported", "asked for"] = Field(
        "",
        description="Whether it helps. confirmed: the evidence establishes cause and cure. reported: users "
        "say so. asked for: often advised, proven by nobody.",
    )
    # one table, or several of which one must hold
    when: Alternatives = Field(
        [], description="The setting is applied only where this holds; see CONDITIONS. Without it: always."
    )
    optional: StrictBool = Field(False, description="true: left out unless `--with NAME` asks for it.")
    via: Channel | None = Field(
        None,
        description="cmdline or modprobe: where this one goes, for module parameters and features. Without "
        "it the command line option `--via` decides.",
    )


Row = Annotated[SettingTable, BeforeValidator(lambda row: row if isinstance(row, dict) else {"value": row})]


class ProfileFile(BaseModel, extra="forbid"):
    """One profile file, schema 1."""

    schema_: Literal[1] = Field(alias="schema", description="The version of the format, always 1. Required.")
    summary: Sentence = Field(description="One line for `profile list`. Required.")
    gfx: list[Gfx] = Field(
        [],
        description="The GPU targets it is for. Without it, and without one that is inherited, it is for "
        "any GPU. A profile whose GPU is not here is refused unless `--any-gpu` is given.",
    )
    apu: StrictBool | None = Field(
        None,
        description="Narrows gfx: true for GPUs in one package with the processor, false for graphics cards.",
    )
    use: Use = Field(
        Use.AUTO,
        description="How a profile comes to be used. auto (the default): by name, and by `--profile auto` "
        "for its GPUs. named: only by name. diagnosis: by name, and with a warning where it is "
        "applied to a host; it is meant for `rocmcfg run`.",
    )
    extends: Annotated[StrictStr, AfterValidator(_name)] = Field(
        "",
        description="The name of a profile that this one adds to. It inherits settings, parameters, notes "
        "and gfx. What both set must be equal: to change a value, copy the profile.",
    )
    notes: list[Sentence] = Field([], description="Sentences that `profile show` prints below the settings.")
    parameters: dict[str, ParameterRow] = Field(
        {}, description="Numbers that only the user knows, one table each; see PARAMETERS."
    )
    module: dict[str, dict[str, Row]] = Field(
        {},
        description="Module parameters, by module: [module.amdgpu], [module.ttm], [module.amdttm]. They go "
        "to the kernel command line, or to modprobe.d with `--via modprobe`.",
    )
    features: dict[str, Row] = Field(
        {},
        description="Bits of amdgpu's feature masks by name, true or false. They are composed onto the mask "
        "that the host would otherwise have. `rocmcfg explain ppfeaturemask` lists them.",
    )
    cmdline: dict[str, Row] = Field(
        {},
        description="Other kernel arguments. true is a flag without a value, a list an argument that is "
        "given several times. A name with a dot is quoted.",
    )
    env: dict[str, Row] = Field({}, description="Environment variables. The value is a text.")


# How deep what can be left out alone lies; other keys go as a whole.
_DEPTH = {"module": 3, "features": 2, "cmdline": 2, "env": 2, "parameters": 2}
# What stands in for a key that cannot be left out.
_REQUIRED: dict[str, Any] = {"schema": 1, "summary": ""}


def validate(document: dict[str, Any]) -> tuple[dict[str, Any] | None, list[Wrong]]:
    """The document with every key that may be left out and without what is wrong, so that the rest can be
    looked into in the same pass; and all that is wrong."""
    wrong: list[Wrong] = []
    model: ProfileFile | None = None
    try:
        model = ProfileFile.model_validate(document)
    except ValidationError as problem:
        wrong = [(path, phrase, _HINTS.get(kind, "")) for path, phrase, kind in forms.wrong(problem)]
        document = _without(document, [path for path, _, _ in wrong])
        with contextlib.suppress(ValidationError):
            model = ProfileFile.model_validate(document)
    if model is None:
        return None, wrong
    complete = model.model_dump(mode="json", by_alias=True)
    unusable: list[Wrong] = []
    for name, row in complete["parameters"].items():
        unusable += misdeclared(name, row)
    for kind, _, name, row, path in rows(complete):
        unusable += misused(kind, name, row, path)
    return _without(complete, [path for path, _, _ in unusable]), wrong + unusable


def _without(document: dict[str, Any], paths: Iterable[tuple[str | int, ...]]) -> dict[str, Any]:
    """A document with the settings, parameters and other keys taken away in which something is wrong."""
    kept = dict(document)
    for path in paths:
        *tables, last = path[: _DEPTH.get(str(path[0]), 1)]
        at: Any = kept
        for name in tables:  # copied: the caller's stays as it is
            at[name] = dict(at.get(name, {}))
            at = at[name]
        at.pop(last, None)
    return {**_REQUIRED, **kept}
