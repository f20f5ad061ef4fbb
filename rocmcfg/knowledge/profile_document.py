"""A profile's document, as `profile_schema` checked it and filled it in, as nouns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.profile import Condition, Doubt, Multiple, Profile, ProfileParameter, Setting, Use
from rocmcfg.model.state import Channel, Kind
from rocmcfg.model.version import parse_range

Row = tuple[Kind, str, str, dict[str, Any], tuple[str, ...]]
_SECTIONS = ((Kind.FEATURE, "features"), (Kind.KARG, "cmdline"), (Kind.ENV, "env"))


def rows(document: dict[str, Any]) -> Iterator[Row]:
    """Every setting: kind, module, name, row, key path."""
    for module, table in document["module"].items():
        for name, row in table.items():
            yield Kind.PARAMETER, module, name, row, ("module", module, name)
    for kind, section in _SECTIONS:
        for name, row in document[section].items():
            yield kind, "", name, row, (section, name)


def profile(
    document: dict[str, Any], located: Callable[[Sequence[str]], str], name: str, doubt: Doubt | None
) -> Profile:
    """`located` tells where a key path stands. Where the file lies, the caller says."""
    settings = (
        noun(
            Setting,
            row,
            kind=kind,
            module=module,
            name=key.replace("-", "_") if kind is Kind.PARAMETER else key,
            value=_value(row["value"]),
            when=tuple(map(_condition, row["when"])),
            via=Channel(row["via"]) if row["via"] else None,
            location=located(path),
            profile=name,
            doubt=doubt,
        )
        for kind, module, key, row, path in rows(document)
    )
    parameters = (
        noun(
            ProfileParameter,
            row,
            name=key,
            low=row["min"],
            high=row["max"],
            location=located(("parameters", key)),
        )
        for key, row in document["parameters"].items()
    )
    return noun(
        Profile,
        document,
        name=name,
        settings=tuple(settings),
        location="",
        use=Use(document["use"]),
        parameters=tuple(parameters),
        doubts=(doubt,) if doubt else (),
    )


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return Multiple(value["from"], value["times"])
    return tuple(value) if isinstance(value, list) else value


def _condition(table: dict[str, Any]) -> Condition:
    ranges = {key: table[key] and parse_range(table[key]) for key in ("kernel", "rocm", "pytorch", "gpus")}
    return noun(Condition, table, lacks_fix=table["lacks-fix"], **ranges)
