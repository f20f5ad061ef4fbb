"""What pydantic finds wrong in a file, in our words; and the models of the rows that a host adds to a table.

Such a model is made of the noun that becomes of the row: what the program takes for granted of the noun is
what is asked of the row. Loads pydantic, so nothing that reads what came with the program may import it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from enum import Enum
from types import GenericAlias, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

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

Wrong = tuple[tuple[str | int, ...], str, str]  # key path, message, kind
_KEYS = {field: key for key, field in compiled.KEYS.items()}
_NUMBER = Annotated[StrictStr, Field(pattern="^(0x[0-9a-fA-F]+|0|[1-9][0-9]*)$")]  # of a key
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
    }.get(kind, message.removeprefix("Value error, ").replace("Input should be", "must be"))
    # pydantic names the branch of a union in the path; the reader knows only the file's own keys
    named = (p for p in loc if not (isinstance(p, str) and p.startswith(("function-", "list[", "union"))))
    return tuple(named), phrase, kind


def mistakes(model: type[BaseModel], document: Any) -> list[str]:
    """All that is wrong with a document or a row, each with the key where it is."""
    try:
        model.model_validate(document)
    except ValidationError as problem:
        return [f"{'.'.join(map(str, path)) or 'file'}: {phrase}" for path, phrase, _ in wrong(problem)]
    return []


@functools.cache
def of_noun(kind: type, *, whole: bool = True) -> type[BaseModel]:
    """`whole`: it must have every field that the noun has no default for."""
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        default = ... if whole and name not in kind._field_defaults else None  # type: ignore[attr-defined]
        fields[name] = (_form(hint), Field(default, alias=_KEYS.get(name, name)))
    return create_model(kind.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _form(hint: Any) -> Any:
    """The type of what stands in a file for a value of this type."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _readable(inside[1])
    if origin in (Union, UnionType):
        return _form(inside[0])  # a file has no None
    if origin is tuple:
        many = None if inside[-1] is Ellipsis else len(inside)
        return Annotated[_of(list, _form(inside[0])), Field(min_length=many, max_length=many)]
    if origin is Mapping:
        return _of(dict, (_NUMBER if inside[0] is int else StrictStr, _form(inside[1])))
    if read := compiled.READERS.get(getattr(hint, "__name__", "")):
        return _readable(read)
    if hasattr(hint, "_fields"):
        return of_noun(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Literal[tuple(member.value for member in hint)]
    return _STRICT.get(hint, hint)


def _readable(read: Callable[[str], object]) -> Any:
    """A text that `read` takes; else it raises ValueError."""

    def check(text: str) -> str:
        read(text)
        return text

    return Annotated[StrictStr, AfterValidator(check)]
