"""Describes the shape of a record once, for everything that reads or writes it.

A noun is a class of named fields, for example:

    @published("path=source", "kernel: release")
    class Driver(NamedTuple):
        source: str
        kernel: Kernel | None
        tools: tuple[str, ...] = ()

`NamedTuple` makes the class: the fields, their order and their defaults. `types` and `shape` say what a
value of each field looks like in a file. `published` chooses the fields that a JSON document shows.

| what                                        | uses                                                     |
| ------------------------------------------- | -------------------------------------------------------- |
| nouns to JSON: documents, journals, receipt | `encode`                                                 |
| records of the host to nouns                | `reader` with the dialect of `rocmcfg.records.dialect`   |
| rows of knowledge and profiles to nouns     | `reader` with the dialect of `rocmcfg.knowledge.compiled` |
| models of the rows that a host adds         | `shape`, in `rocmcfg.knowledge.forms`                    |
| JSON Schemas of the documents               | `shape` and `entries`, in `rocmcfg.cli.documents`        |
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

__all__ = [
    "Dialect",
    "Entry",
    "Malformed",
    "NamedTuple",
    "Reader",
    "Shape",
    "encode",
    "entries",
    "exactly",
    "is_text",
    "published",
    "reader",
    "shape",
    "type_of",
    "types",
]

Noun = TypeVar("Noun", bound=type)
_LIST = "__published__"

# -- the class of a noun --------------------------------------------------------------------------------

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from operator import itemgetter

    class _Tuple(tuple):
        __slots__ = ()

        def __new__(cls, /, *values, **named):
            """Make the first tuple of a class, and give the class a constructor of its own for the others."""
            names = ", ".join(cls._fields) + ("," if len(cls._fields) == 1 else "")
            scope = {"_new": tuple.__new__, "__builtins__": {}, "__name__": cls.__module__}
            new = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", scope)
            new.__defaults__ = tuple(cls._field_defaults.values())
            new.__name__, new.__qualname__ = "__new__", f"{cls.__qualname__}.__new__"
            cls.__new__ = new
            return cls(*values, **named)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **named):
            return type(self)(**{**self._asdict(), **named})

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({fields})"

    class _Maker(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            if len(bases) > 1:
                raise TypeError(f"{name} is a NamedTuple and can have no other base")
            annotations = body.get("__annotations__")
            if annotations is None:
                # From Python 3.14 on the body of a class has them only in a module that imports `annotations`
                # from `__future__`. The finished class has them on every version.
                own = {key: value for key, value in body.items() if key != "__classcell__"}
                annotations = type(name, (), own).__annotations__
            fields = (*annotations,)
            defaults = {field: body[field] for field in fields if field in body}
            body |= {field: property(itemgetter(at)) for at, field in enumerate(fields)}
            return type(
                name, (_Tuple,), {**body, "__slots__": (), "_fields": fields, "_field_defaults": defaults}
            )

    class NamedTuple(metaclass=_Maker):
        """Makes what `typing.NamedTuple` makes, in a fraction of the time.

        Python's compiles every annotation to check it, which mypy has done already, and a constructor, which
        most classes never need: a command makes 140 classes before it does anything else.
        """


# -- the form of a value in a file ------------------------------------------------------------------


class Shape(NamedTuple):
    """Describes what values of a type look like in a file.

    `form` is one of:

    - "plain": a text, a number, a truth value, or a value of another class, `kind`.
    - "choice": one of `choices`, which map what the file holds to the value.
    - "noun": a table with the fields of `kind`.
    - "list": values of the type `inner[0]`, `length` of them or any number.
    - "table": names of the type `inner[0]`, each with a value of the type `inner[1]`.
    - "union": a value of one of the types `inner`, or null where it is `optional`.
    - "checked": a value of the type `inner[0]` that `check` accepts.
    """

    form: Literal["plain", "choice", "noun", "list", "table", "union", "checked"]
    kind: Any
    inner: tuple[Any, ...] = ()
    choices: Mapping[Any, Any] = {}
    length: int | None = None
    optional: bool = False
    check: Callable[[Any], Any] | None = None


def types(noun: type) -> dict[str, Any]:
    """Return the types of the fields of a noun by their names."""
    return {name: type_of(noun, name) for name in noun.__annotations__}


@functools.cache
def type_of(noun: type, name: str) -> Any:
    """Return the type of one field, or of a property.

    Most rows have few of the fields, and most fields one of a few types: `typing.get_type_hints` would
    compile the type of every field, and each of them again.
    """
    hint, home = noun.__annotations__.get(name), noun.__module__
    if hint is None:
        method = getattr(noun, name).fget
        hint, home = method.__annotations__["return"], method.__module__
    return _evaluated(hint, home) if isinstance(hint, str) else hint


@functools.cache
def _evaluated(text: str, module: str) -> Any:
    return eval(text, vars(sys.modules[module]))


@functools.cache
def shape(kind: Any) -> Shape:
    """Return the form of values of a type in a file."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Shape("checked", kind, inner[:1], check=inner[1])
    if origin in (Union, UnionType):
        some = tuple(each for each in inner if each is not type(None))
        return Shape("union", kind, some, optional=len(some) < len(inner))
    if origin in (tuple, list, Sequence):
        several = origin is tuple and inner[-1] is not Ellipsis
        return Shape("list", kind, inner[:1], length=len(inner) if several else None)
    if origin in (dict, Mapping):
        return Shape("table", kind, inner)
    if origin is Literal:
        return Shape("choice", kind, choices={value: value for value in inner})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Shape("choice", kind, choices={member.value: member for member in kind})
    return Shape("noun" if entries(kind) is not None else "plain", kind)


# -- from a file ----------------------------------------------------------------------------------------


class Malformed(ValueError):
    """Says that a value does not have the type of its field. The message names the field and the reason."""


Reader = Callable[[Any], Any]


class Dialect(NamedTuple):
    """Describes how one kind of file holds values.

    `plain` has the functions that read values of single types. `noun` reads a table as a noun of the class.
    `strict`: anyone may have written the file, so every value is checked; otherwise the file was checked
    before.
    """

    plain: Mapping[Any, Reader]
    noun: Callable[[type, Any], Any]
    strict: bool


def reader(kind: Any, dialect: Dialect) -> Reader | None:
    """Return the function that reads values of a type from a file; None where a file that was checked holds
    the value itself. In a strict dialect the function raises Malformed."""
    if kind in dialect.plain:
        return dialect.plain[kind]
    described = shape(kind)
    inner = tuple(reader(each, dialect) for each in described.inner)
    if described.form == "noun":
        return functools.partial(dialect.noun, kind)
    if described.form == "checked":
        return described.check if dialect.strict else inner[0]
    if described.form == "union":
        return _optional(inner[0]) if len(inner) == 1 else None
    if described.form == "choice":
        return functools.partial(_choice, described.choices) if dialect.strict else described.choices.get
    if described.form == "list":
        return _list(inner[0], dialect.strict)
    if described.form == "table":
        # JSON and TOML have no numbers as names
        name = inner[0] if described.inner[0] is not int else functools.partial(int, base=0)
        return _table(name, inner[1], dialect.strict)
    if dialect.strict:
        raise TypeError(f"{kind} has no place in a record")
    return None


def exactly(wanted: type, value: Any) -> Any:
    """Return the value if it is of this type and no other: true is not a number. Raises Malformed."""
    if type(value) is not wanted:
        raise Malformed(f"is of type {type(value).__name__}, not {wanted.__name__}")
    return value


def _choice(choices: Mapping[Any, Any], value: Any) -> Any:
    if not isinstance(value, str) or value not in choices:
        raise Malformed(f"is {value!r}, which is not one of the allowed values")
    return choices[value]


def _optional(inner: Reader | None) -> Reader | None:
    return inner and (lambda value: None if value is None else inner(value))


def _list(inner: Reader | None, strict: bool) -> Reader:
    if inner is None:
        return tuple
    return lambda value: tuple(map(inner, exactly(list, value) if strict else value))


def _table(name: Reader | None, inner: Reader | None, strict: bool) -> Reader:
    def read(value: Any) -> dict[Any, Any]:
        rows = exactly(dict, value) if strict else value
        return {name(key) if name else key: inner(row) if inner else row for key, row in rows.items()}

    return read


# -- to a file ------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """Names one attribute that a noun publishes. `name` is empty if everything that the part at `path`
    publishes is included."""

    name: str
    path: tuple[str, ...]
    optional: bool = False


def published(*names: str) -> Callable[[Noun], Noun]:
    """Decorate the class of a noun with what a document shows of it, in that order. An undecorated noun shows
    every field. A text holds one or more of these:

        "release version"       the attributes of these names, which may be properties
        "path=source"           the same under another name
        "loader=loader.name"    an attribute of a part: null where the part is None; of a tuple, that of each
        "plan: changes tools"   the same for several, as "changes=plan.changes tools=plan.tools"
        "text?"                 left out of the document where it is None
        "*terms"                everything that the part `terms` publishes
    """

    def listed(noun: Noun) -> Noun:
        setattr(noun, _LIST, names)
        return noun

    return listed


def is_text(noun: type) -> bool:
    """Return whether a document shows a noun as its `str`: its class then defines `__str__`."""
    return "__str__" in vars(noun)


def entries(noun: type) -> tuple[Entry, ...] | None:
    """Return the entries that a noun publishes; None for a class that is not a noun."""
    names = getattr(noun, _LIST, None) or getattr(noun, "_fields", None)
    return None if names is None else _entries(tuple(names))


@functools.cache
def _entries(names: tuple[str, ...]) -> tuple[Entry, ...]:
    return tuple(entry for text in names for entry in _entries_of(text))


def _entries_of(text: str) -> Iterator[Entry]:
    part, colon, words = text.rpartition(": ")
    for word in words.split():
        name, _, path = ("", "", word[1:]) if word.startswith("*") else word.partition("=")
        whole = (part + colon).replace(": ", ".") + (path or name.rstrip("?"))
        yield Entry(name.rstrip("?"), tuple(whole.split(".")), name.endswith("?"))


def encode(value: object, of_bytes: Callable[[bytes], str] | None = None) -> Any:
    """Return a noun, and everything in it, as `json.dumps` takes it. Raises TypeError for a value that is not
    published, and for bytes unless `of_bytes` turns them into text."""
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind is tuple or kind is list:
        return [encode(item, of_bytes) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: encode(item, of_bytes) for key, item in value.items()}
    listed = entries(kind)
    if listed is not None:
        return str(value) if is_text(kind) else _encoded(value, listed, of_bytes)
    if isinstance(value, (tuple, list)):
        return [encode(item, of_bytes) for item in value]
    if isinstance(value, bytes) and of_bytes:
        return of_bytes(value)
    raise TypeError(f"{type(value).__name__} has no place in a JSON document")


def _encoded(noun: object, listed: tuple[Entry, ...], of_bytes: Callable[[bytes], str] | None) -> Any:
    document: dict[str, Any] = {}
    for name, path, optional in listed:
        value = _at(noun, path)
        if not name:
            document.update(encode(value, of_bytes))
        elif value is not None or not optional:
            document[name] = encode(value, of_bytes)
    return document


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if value is None:
            return None
        value = tuple(getattr(item, name) for item in value) if type(value) is tuple else getattr(value, name)
    return value
