"""A profile's document, as `profile_schema` checked it and filled it in, as nouns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rocmcfg.model.profile import Condition, Doubt, Multiple, Profile, ProfileParameter, Setting, Use
from rocmcfg.model.state import Channel, Kind
from rocmcfg.model.version import VersionRange, parse_range

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
    document: dict[str, Any],
    name: str,
    place: str,
    located: Callable[[Sequence[str]], str],
    shipped: bool,
    doubts: tuple[Doubt, ...],
) -> Profile:
    """`located` tells where a key path stands."""
    doubt = doubts[0] if doubts else None
    return Profile(
        name,
        document["summary"],
        tuple(document["gfx"]),
        tuple(
            _setting(kind, module, key, row, located(path), name, doubt)
            for kind, module, key, row, path in rows(document)
        ),
        place,
        document["extends"],
        tuple(document["notes"]),
        shipped,
        Use(document["use"]),
        document["apu"],
        tuple(
            ProfileParameter(
                key,
                row["summary"],
                row["unit"],
                row["min"],
                row["max"],
                row["within"],
                row["unset"],
                located(("parameters", key)),
            )
            for key, row in document["parameters"].items()
        ),
        doubts,
    )


def _setting(
    kind: Kind, module: str, name: str, row: dict[str, Any], location: str, profile: str, doubt: Doubt | None
) -> Setting:
    value = row["value"]
    if isinstance(value, list):
        value = tuple(value)
    elif isinstance(value, dict):
        value = Multiple(value["from"], value["times"])
    return Setting(
        kind,
        name.replace("-", "_") if kind is Kind.PARAMETER else name,
        value,
        module,
        row["because"],
        tuple(row["evidence"]),
        row["cost"],
        row["confidence"],
        tuple(_condition(table) for table in row["when"]),
        row["optional"],
        Channel(row["via"]) if row["via"] else None,
        location,
        profile,
        doubt,
    )


def _condition(table: dict[str, Any]) -> Condition:
    def versions(text: str | None) -> VersionRange | None:
        return parse_range(text) if text else None

    return Condition(
        kernel=versions(table["kernel"]),
        rocm=versions(table["rocm"]),
        lacks_fix=table["lacks-fix"],
        gfx=tuple(table["gfx"]),
        pytorch=versions(table["pytorch"]),
        igpu=table["igpu"],
        dkms=table["dkms"],
        gpus=versions(table["gpus"]),
    )
