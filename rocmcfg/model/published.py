"""How a noun becomes JSON: the one encoder behind every document of `--json`.

A noun is a NamedTuple, or another class of fields. It is published with all fields of the tuple, or with
those that the decorator `published` lists, in that order, one or more in a text:

    "release version"       the attributes of these names, which may be properties
    "path=source"           the same under another name
    "loader=loader.name"    an attribute of a part: null where the part is None; of a tuple, that of each
    "plan: changes tools"   the same for several, as "changes=plan.changes tools=plan.tools"
    "text?"                 left out of the document where it is None
    "*terms"                everything that the part `terms` publishes

`cli.documents` makes the schemas from the same lists and from the types of the attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, TypeVar

from rocmcfg.model.named_tuple import NamedTuple

Noun = TypeVar("Noun", bound=type)
_LIST = "__published__"


class Entry(NamedTuple):
    """One line of what a noun publishes. `name` is empty where the whole part at `path` is put in."""

    name: str
    path: tuple[str, ...]
    optional: bool = False


def published(*names: str) -> Callable[[Noun], Noun]:
    """Stands above the class of a noun."""

    def listed(noun: Noun) -> Noun:
        setattr(noun, _LIST, names)
        return noun

    return listed


def is_text(noun: type) -> bool:
    """Say whether a document has the `str` of a noun: where its class says how it is spelled."""
    return "__str__" in vars(noun)


def entries(noun: type) -> tuple[Entry, ...] | None:
    """Return what a noun publishes; None for a class that is no noun."""
    names = getattr(noun, _LIST, None) or getattr(noun, "_fields", None)
    return None if names is None else tuple(entry for text in names for entry in _entries(text))


def _entries(text: str) -> Iterator[Entry]:
    part, colon, words = text.rpartition(": ")
    for word in words.split():
        name, _, path = ("", "", word[1:]) if word.startswith("*") else word.partition("=")
        whole = (part + colon).replace(": ", ".") + (path or name.rstrip("?"))
        yield Entry(name.rstrip("?"), tuple(whole.split(".")), name.endswith("?"))


def encode(value: object) -> Any:
    """A noun, and whatever it holds, as `json.dumps` takes it. Raises TypeError for what is not published."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    listed = entries(type(value))
    if listed is not None:
        return str(value) if is_text(type(value)) else _encoded(value, listed)
    if isinstance(value, (tuple, list)):
        return [encode(part) for part in value]
    raise TypeError(f"{type(value).__name__} has no place in a JSON document")


def _encoded(noun: object, listed: tuple[Entry, ...]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, path, optional in listed:
        value = _at(noun, path)
        if not name:
            document.update(encode(value))
        elif value is not None or not optional:
            document[name] = encode(value)
    return document


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if value is None:
            return None
        value = (
            tuple(getattr(element, name) for element in value)
            if type(value) is tuple
            else getattr(value, name)
        )
    return value
