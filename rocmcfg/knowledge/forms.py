"""Report pydantic's errors in our own words, and make models of the rows that a host adds to a table.

Such a model is made from the noun that the row becomes, so a row must fulfil everything that the program
expects of the noun. The module loads pydantic, so no code that reads shipped knowledge may import it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
)

from rocmcfg.knowledge import compiled
from rocmcfg.model.shape import shape, types

Wrong = tuple[tuple[str | int, ...], str, str]  # key path, message, kind
_KEYS = {field: key for key, field in compiled.KEYS.items()}
_NUMBER = Annotated[StrictStr, Field(pattern="^(0x[0-9a-fA-F]+|0|[1-9][0-9]*)$")]  # in a key
_of: Any = GenericAlias
_STRICT: Mapping[Any, Any] = {str: StrictStr, int: StrictInt, bool: StrictBool}


def wrong(problem: ValidationError) -> list[Wrong]:
    return [_wrong(failure["loc"], failure["type"], failure["msg"]) for failure in problem.errors()]


def _wrong(loc: tuple[str | int, ...], kind: str, message: str) -> Wrong:
    phrase = {
        "extra_forbidden": "unknown key",
        "missing": "is missing",
        "dict_type": "must be a table",
        "model_type": "must be a table",
        "string_type": "must be a text in quotes",
        "bool_type": "must be true or false",
        "int_type": "must be a whole number",
        "list_type": "must be a list",
        "too_short": "the list is empty",
    }.get(
        kind,
        message.removeprefix("Value error, ").replace("Input should be", "must be").replace("be '', ", "be "),
    )
    # pydantic names the branch of a union in the path, but users know only the file's own keys
    named = (p for p in loc if not (isinstance(p, str) and p.startswith(("function-", "list[", "union"))))
    return tuple(named), phrase, kind


def mistakes(model: type[BaseModel], document: Any) -> list[str]:
    """Return all mistakes in a document or a row, each with its key."""
    try:
        model.model_validate(document)
    except ValidationError as problem:
        return [f"{'.'.join(map(str, path)) or 'file'}: {phrase}" for path, phrase, _ in wrong(problem)]
    return []


@functools.cache
def of_noun(kind: type, *, whole: bool = True) -> type[BaseModel]:
    """Return the model of a row that becomes a noun of the class `kind`. `whole`: the row must have every
    field without a default."""
    fields: dict[str, Any] = {}
    for name, hint in types(kind).items():
        default = ... if whole and name not in kind._field_defaults else None  # type: ignore[attr-defined]
        fields[name] = (_form(hint), Field(default, alias=_KEYS.get(name, name)))
    return create_model(kind.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _form(kind: Any) -> Any:
    """Return the type that represents a value of this type in a file."""
    if kind in compiled.READERS:
        return _readable(compiled.READERS[kind])
    described = shape(kind)
    if described.check:
        return _readable(described.check)
    if described.form == "union":
        return _form(described.inner[0])  # a file has no None
    if described.form == "list":
        length = described.length
        return Annotated[_of(list, _form(described.inner[0])), Field(min_length=length, max_length=length)]
    if described.form == "table":
        name, value = described.inner
        return _of(dict, (_NUMBER if name is int else StrictStr, _form(value)))
    if described.form == "noun":
        return of_noun(kind)
    if described.form == "choice":
        return Literal[tuple(described.choices)]
    return _STRICT.get(kind, kind)


def _readable(read: Callable[[str], object]) -> Any:
    """Return the type of a text that `read` accepts; it raises ValueError for any other text."""

    def check(text: str) -> str:
        read(text)
        return text

    return Annotated[StrictStr, AfterValidator(check)]
