"""The format of a profile file, as pydantic models. They stand at the border and go no further in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from rocmcfg.model.state import Channel, Kind
from rocmcfg.model.value import SAFE_MODULE, SAFE_NAME, SAFE_VALUE, SAFE_VARIABLE, unsafe_reason
from rocmcfg.model.version import parse_range

_HINTS = {
    "extra_forbidden": "is it misspelt? `rocmcfg schema profile-file` has the keys there are",
    "missing": "add it",
    "path": "put that profile into /etc/rocmcfg/profiles and write its name",
}


def _sentence(text: str) -> str:
    """One line, no control characters: it is copied into the comments of files that a shell reads."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def _range(text: str) -> str:
    parse_range(text)
    return text


def _gfx(text: str) -> str:
    if not re.fullmatch(r"gfx[0-9a-f]{3,5}", text):
        raise ValueError(f"{text!r} is not a gfx target such as gfx1201")
    return text


def _name(text: str) -> str:
    # a path would be one of the running host, also for a profile of another root
    if "/" in text or text.endswith(".toml"):
        raise PydanticCustomError("path", "takes a profile's name, not a path")
    return text


def _value(value: Any) -> Any:
    """What may stand as a value. Anything else is told apart by type, so that the message can say which."""
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
Gfx = Annotated[StrictStr, AfterValidator(_gfx)]
Value = Annotated[StrictBool | StrictInt | StrictStr | list[StrictStr], BeforeValidator(_value)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class When(_Model):
    """A closed vocabulary; every key that is given must hold."""

    kernel: Annotated[StrictStr, AfterValidator(_range)] | None = None
    rocm: Annotated[StrictStr, AfterValidator(_range)] | None = None
    lacks_fix: StrictStr = Field("", alias="lacks-fix")
    gfx: list[Gfx] = []


class SettingRow(_Model):
    value: Value
    because: Sentence = ""
    evidence: list[Sentence] = []
    cost: Sentence = ""
    confidence: Literal["", "confirmed", "reported", "asked for"] = ""
    when: When | None = None
    optional: StrictBool = False
    via: Channel | None = None


def _long_form(row: Any) -> Any:
    return row if isinstance(row, dict) else {"value": row}


Row = Annotated[SettingRow, BeforeValidator(_long_form)]


class ProfileFile(_Model):
    """One profile file, schema 1."""

    schema_: Literal[1] = Field(alias="schema")
    summary: Sentence
    gfx: list[Gfx] = []
    extends: Annotated[StrictStr, AfterValidator(_name)] = ""
    notes: list[Sentence] = []
    module: dict[str, dict[str, Row]] = {}
    features: dict[str, Row] = {}
    cmdline: dict[str, Row] = {}
    env: dict[str, Row] = {}

    def rows(self) -> Iterator[tuple[Kind, str, str, SettingRow, tuple[str, ...]]]:
        """Every setting: kind, module, name, row, key path."""
        for module, rows in self.module.items():
            for name, row in rows.items():
                yield Kind.PARAMETER, module, name, row, ("module", module, name)
        for kind, table, section in (
            (Kind.FEATURE, self.features, "features"),
            (Kind.KARG, self.cmdline, "cmdline"),
            (Kind.ENV, self.env, "env"),
        ):
            for name, row in table.items():
                yield kind, "", name, row, (section, name)


Wrong = tuple[tuple[str | int, ...], str, str]


def validate(document: dict[str, Any]) -> tuple[ProfileFile | None, list[Wrong]]:
    """The model, or all that is wrong as (key path, message, hint)."""
    try:
        model = ProfileFile.model_validate(document)
    except ValidationError as problem:
        return None, [_wrong(e["loc"], e["type"], e["msg"]) for e in problem.errors()]
    wrong = [found for kind, _, name, row, path in model.rows() for found in _misuse(kind, name, row, path)]
    return (None if wrong else model), wrong


def _wrong(loc: tuple[str | int, ...], kind: str, message: str) -> Wrong:
    said = {
        "extra_forbidden": "unknown key",
        "missing": "is missing",
        "dict_type": "must be a table",
        "string_type": "must be a text in quotes",
        "bool_type": "must be true or false",
        "list_type": "must be a list",
    }.get(kind, message.removeprefix("Value error, ").replace("Input should be", "must be"))
    # pydantic names the branch of a union in the path; the reader knows only the file's own keys
    path = tuple(p for p in loc if not (isinstance(p, str) and p.startswith(("function-", "list[", "union"))))
    return path, said, _HINTS.get(kind, "")


def _misuse(kind: Kind, name: str, row: SettingRow, path: tuple[str, ...]) -> Iterator[Wrong]:
    if kind is Kind.ENV:
        if not SAFE_VARIABLE.match(name):
            yield path, "not a name of an environment variable", "letters, digits and _, no digit first"
        if isinstance(row.value, list | bool):
            yield path, "the value of a variable is a text", 'put it in quotes: "1"'
    elif not SAFE_NAME.match(name):
        yield path, "not a name: letters, digits, _ - and . only", ""
    if kind is Kind.PARAMETER and not SAFE_MODULE.match(path[1]):
        yield path[:2], "not a name of a kernel module", ""
    if kind is Kind.FEATURE and not isinstance(row.value, bool):
        yield path, "a feature is true or false", ""
    if kind is Kind.KARG and (row.value is False):
        yield (
            path,
            "an argument cannot be taken away with false",
            "true is a bare flag; leave it out otherwise",
        )
    if kind is Kind.PARAMETER and isinstance(row.value, list):
        yield path, "a parameter has one value; join the parts with commas in one text", ""
    if row.via is Channel.ENVIRONMENT or (row.via is not None and kind in (Kind.KARG, Kind.ENV)):
        yield path, "`via` is cmdline or modprobe, for module parameters and features", ""
