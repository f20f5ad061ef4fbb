"""Reads JSON into nouns by the types of their fields. A checksum proves that a record is whole, not that it
is one of ours: what has another shape is refused here, and nowhere later."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.named_tuple import NamedTuple

T = TypeVar("T")
N = TypeVar("N", bound=NamedTuple)

# Other fields of a table are ignored. Settings are planned and written again, so all of one must be known.
_CLOSED = (DesiredSetting,)


class Malformed(ValueError):
    """Says that something is not what the type of a field says."""


def read(noun: type[N], value: Any) -> N:
    """Return a table as a noun. Fields that have a default may be missing. Raises Malformed."""
    table = exactly(dict, value)
    fields = _fields(noun)
    missing = next((name for name in fields if name not in table and name not in noun._field_defaults), "")
    if missing:
        raise Malformed(f"{missing} is missing")
    unknown = next((name for name in table if name not in fields), "")
    if noun in _CLOSED and unknown:
        raise Malformed(f"{unknown} is not known")
    values = {}
    for name in (name for name in fields if name in table):
        try:
            values[name] = _value(fields[name], table[name])
        except Malformed as problem:
            raise Malformed(f"{name} {problem}") from problem
    make: Callable[..., N] = noun
    return make(**values)


@cache
def _fields(noun: type) -> dict[str, Any]:
    return get_type_hints(noun, include_extras=True)


def _value(kind: Any, value: Any) -> Any:
    """Return a value of this type; one that is annotated names the function that reads it. Raises
    Malformed."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return inner[1](value)
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    if origin in (Union, UnionType):  # with None alone
        return None if value is None else _value(inner[0], value)
    if origin is tuple:
        return tuple(_value(inner[0], item) for item in exactly(list, value))
    if origin is None and issubclass(kind, Enum):
        return _one_of({member.value: member for member in kind}, value)
    if origin is Literal:
        return _one_of({text: text for text in inner}, value)
    if inner:
        return {_value(inner[0], name): _value(inner[1], item) for name, item in exactly(dict, value).items()}
    return read(kind, value)


def _one_of(members: dict[str, T], value: Any) -> T:
    if not isinstance(value, str) or value not in members:
        raise Malformed(f"is {value!r}, which is none of those that there are")
    return members[value]


def exactly(wanted: type[T], value: Any) -> T:
    """Return the value if it is of this type and no other: true is no number. Raises Malformed."""
    if type(value) is not wanted:
        raise Malformed(f"is of type {type(value).__name__}, not {wanted.__name__}")
    return value


def _text(value: Any) -> str:
    text = exactly(str, value)
    try:
        text.encode("utf-8", "surrogateescape")  # a name becomes a path in /sys: half a character raises
    except UnicodeError as problem:
        raise Malformed("is no text") from problem
    if "\0" in text:
        raise Malformed("holds a NUL")
    return text


def _path(value: Any) -> str:
    path = _text(value)
    if not path.startswith("/") or not path.isprintable():
        raise Malformed(f"{path!r} is not a path")
    return path


def _only(read: Callable[[Any], T], where: Callable[[T], object], problem: str) -> Callable[[Any], T]:
    """Return a function that reads a value, and refuses one for which `where` is not true."""

    def checked(value: Any) -> T:
        noun = read(value)
        if not where(noun):
            raise Malformed(problem)
        return noun

    return checked


def _attribute(value: Any) -> tuple[str, str]:
    base64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
    parts = _value(tuple[str, ...], value)
    if len(parts) != 2 or re.fullmatch(base64, parts[1]) is None:
        raise Malformed("is no attribute")
    return parts[0], parts[1]


_integer = partial(exactly, int)
_number = _only(_integer, lambda number: number >= 0, "is negative")
_SCALARS: dict[Any, Callable[[Any], Any]] = {
    str: _text,
    int: _number,
    bool: partial(exactly, bool),
    bytes: lambda value: _text(value).encode("utf-8", "surrogateescape"),
}
Path = Annotated[str, _path]
Digest = Annotated[str, _only(_text, partial(re.fullmatch, "[0-9a-f]{64}"), "is no digest")]
Mode = Annotated[int, _only(_number, lambda mode: mode <= 0o7777, "is no mode")]
Time = Annotated[int, _only(_integer, lambda time: abs(time) < 1 << 63, "is no time")]  # nanoseconds
Attribute = Annotated[tuple[str, str], _attribute]  # name, and content in base64
