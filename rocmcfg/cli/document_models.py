"""Pydantic models of what nouns publish (`rocmcfg.model.published`), for schemas and for tests that hold
documents against them. Only `rocmcfg schema` loads this: no other command pays for pydantic."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from rocmcfg.model.published import entries, is_text


class Models:
    """One model per noun. `titles` and `texts` are what the schema calls a noun and says of it, where that is
    not the name of its class and nothing; an enum of `named` is defined once and referred to."""

    def __init__(
        self, titles: Mapping[type, str], texts: Mapping[str, str], named: Sequence[type[Enum]] = ()
    ) -> None:
        self._titles, self._texts, self._named = titles, texts, named
        self._made: dict[type, type[BaseModel]] = {}

    def of(self, noun: type, first: Mapping[str, Any] | None = None) -> type[BaseModel]:
        """`first` are fields that come before those of the noun: name and type."""
        if noun not in self._made:
            title = self._titles.get(noun, noun.__name__)
            fields: dict[str, Any] = {name: (kind, ...) for name, kind in (first or {}).items()}
            self._made[noun] = create_model(
                title,
                __config__=ConfigDict(extra="forbid"),
                __doc__=self._texts.get(title),
                **fields,
                **self._fields(noun),
            )
        return self._made[noun]

    def _fields(self, noun: type) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, path, optional in entries(noun) or ():
            kind = _type_at(noun, path)
            if name:
                found[name] = (self.json(kind), None if optional else ...)
            else:
                found.update(self._fields(kind))
        return found

    def json(self, kind: Any) -> Any:
        """The type that a value of this type has in a document."""
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, types.UnionType):
            return Union[tuple(self.json(one) for one in arguments)]  # noqa: UP007  # of a computed list
        if origin in (tuple, list, Sequence):
            return list[self.json(arguments[0])]  # type: ignore[misc]  # mypy takes it for an annotation
        if origin in (dict, Mapping):
            return dict[str, self.json(arguments[1])]  # type: ignore[misc]
        if isinstance(kind, type) and issubclass(kind, Enum) and kind not in self._named:
            return Literal[tuple(member.value for member in kind)]
        if isinstance(kind, type) and is_text(kind):
            return str
        if isinstance(kind, type) and entries(kind) is not None:
            return self.of(kind)
        return kind


def _type_at(kind: Any, path: Sequence[str]) -> Any:
    """The type of what `encode` finds at the path."""
    if not path:
        return kind
    arguments = get_args(kind)
    if get_origin(kind) is tuple:
        return tuple[_type_at(arguments[0], path), ...]  # type: ignore[misc]
    if type(None) in arguments:
        (given,) = (one for one in arguments if one is not type(None))
        found = _type_at(given, path)
        return found if type(None) in get_args(found) else found | None
    attribute = getattr(kind, path[0], None)
    if isinstance(attribute, property):
        return _type_at(get_type_hints(attribute.fget)["return"], path[1:])
    return _type_at(get_type_hints(kind)[path[0]], path[1:])
