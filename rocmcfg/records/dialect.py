"""Read nouns from the records of the host, and write them, as JSON in which every value is checked.

A checksum proves that a record is complete, not that rocmcfg wrote it. A record that does not have the shape
of its noun is refused here; later code does not check it again.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.shape import Dialect, Malformed, NamedTuple, encode, exactly, reader, types

T = TypeVar("T")
N = TypeVar("N", bound=NamedTuple)

# Other fields of a table are ignored. Settings are planned and written again, so every field must be known.
_CLOSED = (DesiredSetting,)
_BYTES = ("utf-8", "surrogateescape")  # so that a text can hold any bytes


def read(noun: type[N], value: Any) -> N:
    """Return a table as a noun. Fields that have a default may be missing. Raises Malformed."""
    table = exactly(dict, value)
    readers = _readers(noun)
    missing = next((name for name in readers if name not in table and name not in noun._field_defaults), "")
    if missing:
        raise Malformed(f"{missing} is missing")
    unknown = next((name for name in table if name not in readers), "")
    if noun in _CLOSED and unknown:
        raise Malformed(f"{unknown} is unknown")
    values = {}
    for name in (name for name in readers if name in table):
        try:
            values[name] = readers[name](table[name])
        except Malformed as problem:
            raise Malformed(f"{name} {problem}") from problem
    make: Callable[..., N] = noun
    return make(**values)


def write(value: object) -> Any:
    """Return a noun, or the value of a field, in the form that `json.dumps` takes and `read` reads."""
    return encode(value, lambda content: content.decode(*_BYTES))


def _text(value: Any) -> str:
    text: str = exactly(str, value)
    try:
        text.encode(*_BYTES)  # a name becomes a path in /sys, so half a character is an error
    except UnicodeError as problem:
        raise Malformed("is not a text") from problem
    if "\0" in text:
        raise Malformed("holds a NUL")
    return text


def _path(value: Any) -> str:
    path = _text(value)
    if not path.startswith("/") or not path.isprintable():
        raise Malformed(f"{path!r} is not a path")
    return path


def _only(read: Callable[[Any], T], holds: Callable[[T], object], problem: str) -> Callable[[Any], T]:
    """Return a function that reads a value, and refuses one for which `holds` is not true."""

    def checked(value: Any) -> T:
        if not holds(result := read(value)):
            raise Malformed(problem)
        return result

    return checked


def _attribute(value: Any) -> tuple[str, str]:
    base64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
    pair = tuple(map(_text, exactly(list, value)))
    if len(pair) != 2 or re.fullmatch(base64, pair[1]) is None:
        raise Malformed("is not an attribute")
    return pair[0], pair[1]


_integer: Callable[[Any], int] = partial(exactly, int)
# 64 bits, as a size of the kernel's or the arm of 64 settings: a number of any length fits no float
_number = _only(_integer, lambda number: 0 <= number < 1 << 64, "is negative or has more than 64 bits")
_DIALECT = Dialect(
    plain={
        str: _text,
        int: _number,
        bool: partial(exactly, bool),
        bytes: lambda value: _text(value).encode(*_BYTES),
    },
    noun=read,
    strict=True,
)
Path = Annotated[str, _path]
Digest = Annotated[str, _only(_text, partial(re.fullmatch, "[0-9a-f]{64}"), "is not a digest")]
Mode = Annotated[int, _only(_number, lambda mode: mode <= 0o7777, "is not a mode")]
Time = Annotated[int, _only(_integer, lambda time: abs(time) < 1 << 63, "is not a time")]  # nanoseconds
Attribute = Annotated[tuple[str, str], _attribute]  # name, and content in base64


@functools.cache
def _readers(noun: type) -> dict[str, Any]:
    return {name: reader(kind, _DIALECT) for name, kind in types(noun).items()}
