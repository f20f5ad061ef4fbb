"""The format of a profile file, as pydantic models. They check the file, and are used nowhere else."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
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

from rocmcfg.knowledge import forms, profile_hints
from rocmcfg.knowledge.profile_document import Wrong, misdeclared, misused, rows
from rocmcfg.model.desired import Channel
from rocmcfg.model.profile import Use
from rocmcfg.model.spelling import SAFE_VALUE, unsafe_reason
from rocmcfg.model.version import parse_range, parse_rocm_range


def _sentence(text: str) -> str:
    """Return a text as one line without control characters: it is copied into comments of files that a shell
    reads."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def _must(hold: Callable[[str], object], problem: str) -> AfterValidator:
    """Return a check that `hold` is true of a text; `problem` follows the text in the error."""

    def checked(text: str) -> str:
        if not hold(text):
            raise ValueError(f"{text!r}{problem}")
        return text

    return AfterValidator(checked)


def _is_count(text: str) -> bool:
    return all(len(bound) == 1 for _, bound in parse_range(text).conditions)


def _name(text: str) -> str:
    # a path would be one of the running host, even for a profile of another root
    if "/" in text or text.endswith(".toml"):
        raise PydanticCustomError("path", "must be a profile's name, not a path")
    return text


def _value(value: Any) -> Any:
    """Return a TOML value if a setting can have it. Raises ValueError with the reason, or with the type of
    the value."""
    if isinstance(value, dict):
        return value  # a multiple of a parameter, which has a model of its own
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
        1, description="The factor of its number; 1 by default."
    )


class ParameterRow(BaseModel, extra="forbid"):
    """A number that the user sets with `--set profile.NAME=NUMBER`. `min` and `max` are inclusive."""

    summary: Sentence = Field(description="The number that the user must specify. Required.")
    unit: Sentence = Field("", description="Its unit, for the reader.")
    min: Number = Field(0, description="The smallest number; 0 by default.")
    max: Number | None = Field(None, description="The largest number; without it there is no limit.")
    within: Literal["", "memory", "gpus"] = Field(
        "",
        description="memory: at most the memory of the host (needs the unit GiB or MiB). gpus: at most "
        "the number of GPUs of the host.",
    )
    unset: Literal["", "half of memory"] = Field(
        "",
        description="The system's own value without the setting: half of memory. A lower number gets a "
        "remark.",
    )


class When(BaseModel, extra="forbid"):
    """The conditions of a setting; every specified key must hold."""

    kernel: Range | None = Field(None, description="A range of kernel versions, for any installed kernel.")
    rocm: RocmRange | None = Field(
        None,
        description="A range of ROCm releases; the previews 7.9 and 7.10 lie between 7.1 and 7.2.",
    )
    lacks_fix: StrictStr = Field(
        "",
        alias="lacks-fix",
        description="The name of a fix in the catalogue. True while an installed kernel lacks it.",
    )
    gfx: Annotated[list[Gfx], Field(min_length=1)] = Field(
        [], description="A list of GPU targets; the host must have one of them."
    )
    pytorch: Range | None = Field(None, description="A range of PyTorch releases.")
    igpu: StrictBool | None = Field(
        None, description="true if a GPU shares the processor's package, false if none does."
    )
    dkms: StrictBool | None = Field(
        None,
        description="true if an installed kernel has AMD's DKMS driver, false if one has its own driver.",
    )
    gpus: Count | None = Field(
        None, description="A range of the number of GPUs; together with gfx, of GPUs of these targets."
    )


# The names of the kinds are part of an error's path; `_wrong` removes them.
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
        "",
        description="The reason, in one sentence: the fault, and the effect on it. `rocmcfg plan` shows it.",
    )
    evidence: list[Sentence] = Field([], description="Links that a reader can check.")
    cost: Sentence = Field("", description="The cost of the setting; there is always a cost.")
    confidence: Literal["", "confirmed", "reported", "asked for"] = Field(
        "",
        description="Whether it helps. confirmed: the evidence establishes cause and cure. reported: users "
        "say that it helps. asked for: often recommended, but not proven.",
    )
    # one table, or several of which one must hold
    when: Alternatives = Field(
        [],
        description="The condition for the setting; see CONDITIONS. Without it, the setting always applies.",
    )
    optional: StrictBool = Field(False, description="true: the setting applies only with `--with NAME`.")
    via: Channel | None = Field(
        None,
        description="cmdline or modprobe: the place of this setting, for module parameters and features. By "
        "default the command line option `--via` decides.",
    )


Row = Annotated[SettingTable, BeforeValidator(lambda row: row if isinstance(row, dict) else {"value": row})]


class ProfileFile(BaseModel, extra="forbid"):
    """One profile file, schema 1."""

    schema_: Literal[1] = Field(alias="schema", description="The version of the format, always 1. Required.")
    summary: Sentence = Field(description="One line for `profile list`. Required.")
    gfx: list[Gfx] = Field(
        [],
        description="The GPU targets of the profile. Without it, and without an inherited list, the profile "
        "is for any GPU. rocmcfg refuses a profile for a GPU that the host does not have, except with "
        "`--any-gpu`.",
    )
    apu: StrictBool | None = Field(
        None,
        description="Narrows gfx: true for GPUs in one package with the processor, false for graphics cards.",
    )
    use: Use = Field(
        Use.AUTO,
        description="How a profile is selected. auto (the default): by name, and by `--profile auto` for its "
        "GPUs. named: only by name. diagnosis: by name, and with a warning if it is applied to a host; it "
        "is meant for `rocmcfg run`.",
    )
    extends: Annotated[StrictStr, AfterValidator(_name)] = Field(
        "",
        description="The name of a profile that this one adds to. It inherits settings, parameters, notes "
        "and gfx. A setting in both must have the same value: to change a value, copy the profile.",
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
        description="Bits of amdgpu's feature masks by name, true or false. They are applied to the mask "
        "that the host would otherwise have. `rocmcfg explain ppfeaturemask` lists them.",
    )
    cmdline: dict[str, Row] = Field(
        {},
        description="Other kernel arguments. true is a flag without a value, a list is an argument that is "
        "repeated. A name with a dot must be quoted.",
    )
    env: dict[str, Row] = Field({}, description="Environment variables. The value is a text.")


# The depth of the parts that can be left out alone; other keys are left out as a whole.
_DEPTH = {"module": 3, "features": 2, "cmdline": 2, "env": 2, "parameters": 2}
# Replacements for keys that cannot be left out.
_REQUIRED: dict[str, Any] = {"schema": 1, "summary": ""}


def validate(document: dict[str, Any]) -> tuple[dict[str, Any] | None, list[Wrong]]:
    """Return the document with all optional keys and without its mistakes, so that the rest can be checked in
    the same pass, and all mistakes."""
    wrong: list[Wrong] = []
    model: ProfileFile | None = None
    try:
        model = ProfileFile.model_validate(document)
    except ValidationError as problem:
        wrong = list(_explained(document, forms.wrong(problem)))
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


def _explained(document: dict[str, Any], wrong: list[Wrong]) -> Iterator[Wrong]:
    """Yield the mistakes with hints in place of their kinds."""
    yield from profile_hints.misplaced_parameters(document, wrong)
    for path, phrase, kind in profile_hints.outside(document, wrong):
        yield path, phrase, profile_hints.hint(path, kind, document, _keys(path))


def _keys(path: Sequence[str | int]) -> list[str]:
    """Return the keys that the table around the end of a path may have."""
    section, inside = str(path[0]), path[_DEPTH.get(str(path[0]), 1) : -1]
    below: dict[str, type[BaseModel]] = {"when": When, "value": From}
    model: type[BaseModel] = ParameterRow if section == "parameters" else SettingTable
    if len(path) == 1:
        model = ProfileFile
    elif inside:
        model = below.get(str(inside[0]), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _without(document: dict[str, Any], paths: Iterable[tuple[str | int, ...]]) -> dict[str, Any]:
    """Return a document without the settings, parameters and other keys at these paths."""
    kept = dict(document)
    for path in paths:
        *tables, last = path[: _DEPTH.get(str(path[0]), 1)]
        at: Any = kept
        for name in tables:  # copied, so that the caller's document is not changed
            at[name] = dict(at.get(name, {}))
            at = at[name]
        at.pop(last, None)
    return {**_REQUIRED, **kept}
