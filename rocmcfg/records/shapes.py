"""Reads values of JSON into nouns. A checksum proves that a record is whole, not that it is one of ours: what
has another shape is refused here, and nowhere later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")
Shape = Callable[[Any], T]


class Malformed(ValueError):
    """`field` is the outermost field that is wrong; empty where the value itself is."""

    def __init__(self, problem: str, field: str = "") -> None:
        self.field = field
        super().__init__(f"{field}: {problem}" if field and ":" in problem else f"{field} {problem}".strip())


def exactly(wanted: type[T]) -> Shape[T]:
    """Of this type and no other: true is no number."""

    def read(value: Any) -> T:
        if type(value) is not wanted:
            raise Malformed(f"is of type {type(value).__name__}, not {wanted.__name__}")
        return value

    return read


def text(value: Any) -> str:
    found = exactly(str)(value)
    try:
        found.encode("utf-8", "surrogateescape")  # a name becomes a path in /sys: half a character raises
    except UnicodeError as problem:
        raise Malformed("is no text") from problem
    if "\0" in found:
        raise Malformed("holds a NUL")
    return found


def path(value: Any) -> str:
    found = text(value)
    if not found.startswith("/") or not found.isprintable():
        raise Malformed(f"{found!r} is not a path")
    return found


def number(value: Any) -> int:
    found = exactly(int)(value)
    if found < 0:
        raise Malformed("is negative")
    return found


def listed(of: Shape[T]) -> Shape[tuple[T, ...]]:
    return lambda value: tuple(of(item) for item in exactly(list)(value))


def table(of: Shape[T], keys: Shape[str] = text) -> Shape[dict[str, T]]:
    return lambda value: {keys(name): of(item) for name, item in exactly(dict)(value).items()}


def optional(of: Shape[T]) -> Shape[T | None]:
    return lambda value: None if value is None else of(value)


def one_of(wanted: Callable[[Any], T]) -> Shape[T]:
    """A member of a closed enum."""

    def read(value: Any) -> T:
        try:
            return wanted(value)
        except ValueError as problem:
            raise Malformed(f"is {value!r}, which is none of those that there are") from problem

    return read


def noun(
    make: Callable[..., T],
    fields: Mapping[str, Shape[Any]],
    *,
    may_lack: Collection[str] = (),
    closed: bool = False,
) -> Shape[T]:
    """A table with these fields. Others are left alone, unless it is `closed`."""

    def read(value: Any) -> T:
        found = exactly(dict)(value)
        missing = next((name for name in fields if name not in found and name not in may_lack), "")
        if missing:
            raise Malformed("is missing", missing)
        unknown = next((name for name in found if name not in fields), "")
        if closed and unknown:
            raise Malformed("is not known", unknown)
        return make(**{name: _field(name, fields[name], found[name]) for name in fields if name in found})

    return read


def _field(name: str, shape: Shape[T], value: Any) -> T:
    try:
        return shape(value)
    except Malformed as problem:
        raise Malformed(str(problem), name) from problem


def plain(value: Any) -> Any:
    """The way back: what JSON can say of a noun."""
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        fields = getattr(value, "_asdict", None)
        return plain(fields()) if fields else [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, Enum):
        return value.value
    return plain(asdict(value)) if is_dataclass(value) and not isinstance(value, type) else value
