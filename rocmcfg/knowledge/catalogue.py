"""Loads the catalogue. The files are ours and tests hold them right, so nothing is validated at run time.

A file is read when something of it is first asked for: `plan` and `verify` need the parameters of kernels and
little else, `explain` and `lint` need everything.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from rocmcfg.knowledge import compiled
from rocmcfg.model.catalogue import (
    Catalogue,
    Description,
    Epoch,
    Feature,
    Fix,
    GpuModel,
    HandOver,
    Hardware,
    KernelArgument,
    Parameter,
    Trap,
    ValueTrap,
    Variable,
)
from rocmcfg.model.spelling import Spelling, split
from rocmcfg.model.state import Kind
from rocmcfg.model.value import ParamType
from rocmcfg.model.version import KernelVersion, parse_kernel

T = TypeVar("T")


class _OnDemand(Mapping[str, T], Generic[T]):
    """A table of the catalogue. It is read when it is first looked into, and what it says of a name is made
    into a noun when that name is first asked for: most commands ask for few of hundreds."""

    def __init__(self, read: Callable[[], Mapping[str, Any]], make: Callable[[str, Any], T]) -> None:
        self._read = functools.cache(read)
        self._make = functools.cache(lambda name: make(name, self._read()[name]))

    def __getitem__(self, name: str) -> T:
        return self._make(name)

    def __contains__(self, name: object) -> bool:
        return name in self._read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


@functools.cache
def load() -> Catalogue:
    return Catalogue(
        parameters=_parameters(),
        features=_features(),
        fixes=_OnDemand(lambda: _data("fixes"), _fix),
        gpus=gpu_models(),
        arguments=_arguments(),
        variables=_OnDemand(_variables, _variable),
        traps=_OnDemand(lambda: {row["name"]: row for row in _data("traps")["trap"]}, _trap),
        hand_overs=_hand_overs(),
    )


@functools.cache
def gpu_models() -> tuple[GpuModel, ...]:
    return tuple(
        GpuModel(
            row["gc_ip"],
            row["gfx"],
            row["family"],
            row.get("codename", ""),
            row.get("products", ""),
            tuple(row.get("pci", ())),
            row.get("apu", False),
        )
        for row in _data("gpus")["gpu"]
    )


def _data(name: str) -> dict[str, Any]:
    document = compiled.packaged(f"knowledge/data/{name}.toml")
    document.pop("schema")
    return document


def _version(text: str) -> KernelVersion:
    version = parse_kernel(text)
    if version is None:
        raise ValueError(f"the catalogue names a kernel that is none: {text!r}")
    return version


def _parameters() -> Mapping[str, Parameter]:
    document = functools.cache(lambda: _data("parameters"))
    builds = functools.cache(lambda: {text: _version(text) for text in document()["builds"]})

    def rows() -> dict[str, Any]:
        modules = {module: rows for module, rows in document().items() if module != "builds"}
        return {f"{module}.{name}": row for module, rows in modules.items() for name, row in rows.items()}

    return _OnDemand(rows, lambda id, row: _parameter(id, row, builds()))


def _parameter(id: str, row: dict[str, Any], read: Mapping[str, KernelVersion]) -> Parameter:
    module, _, name = id.partition(".")
    # A kernel that one parameter alone names was read for that one: it says nothing of the others.
    builds = dict(read)
    for epoch in row.get("epochs", ()):
        builds |= {text: _version(text) for text in (epoch["from"], epoch["to"]) if text not in read}
    return Parameter(
        module,
        name,
        row["summary"],
        tuple(
            Epoch(
                builds[e["from"]],
                builds[e["to"]],
                ParamType(e["type"]),
                e["default"],
                e["permission"],
                e.get("taints", False),
            )
            for e in row.get("epochs", ())
        ),
        tuple(sorted(builds.values())),
        rewritten=row.get("rewritten", False),
        computed=row.get("computed", False),
        mask=row.get("mask", False),
        since=row.get("since", ""),
        removed=row.get("removed", ""),
        deprecated=row.get("deprecated", ""),
        config=row.get("config", ""),
        bounds=tuple(row["range"]) if "range" in row else None,
        dkms_only=row.get("dkms_only", False),
        dkms_type=ParamType(row["type"]) if "type" in row else None,
        taints_since=_version(row["taints_since"]) if "taints_since" in row else None,
        describe=functools.partial(_describe, module, name, row.get("dkms_only", False)),
    )


def _describe(module: str, name: str, dkms_only: bool) -> Description:
    """What the notes say; the sources of a module are those of the kernel's own driver."""
    common, rows = _notes()
    row = rows.get(module, {}).get(name, {})
    return Description(
        unit=row.get("unit", ""),
        bits={int(bit, 0): text for bit, text in row.get("bits", {}).items()},
        acts_on=_hardware(row),
        copied={int(mask, 0): tuple(names) for mask, names in row.get("copied", {}).items()},
        **_described(row, () if dkms_only else tuple(common.get(module, ()))),
    )


@functools.cache
def _notes() -> tuple[dict[str, Any], dict[str, Any]]:
    document = _data("parameter_notes")
    return document.pop("sources"), document


def _features() -> Mapping[str, Feature]:
    return _with_sources("features", _feature)


def _arguments() -> Mapping[str, KernelArgument]:
    return _with_sources("kernel_arguments", _argument)


def _with_sources(file: str, make: Callable[[str, Any, tuple[str, ...]], T]) -> Mapping[str, T]:
    """A file whose own `sources` hold for each of its rows."""

    def rows() -> dict[str, Any]:
        document = _data(file)
        common = tuple(document.pop("sources", ()))
        return {name: (row, common) for name, row in document.items()}

    return _OnDemand(rows, lambda name, found: make(name, *found))


def _variables() -> dict[str, Any]:
    """`[[family]]` stands for variables of one kind: `names` goes from a name to its summary, and what the
    family says holds for each."""
    document = _data("environment")
    rows: dict[str, Any] = {}
    for family in document.pop("family", ()):
        rows |= {name: {**family, "summary": summary} for name, summary in family["names"].items()}
    rows |= document
    return dict(sorted(rows.items()))


def _hand_overs() -> Mapping[str, tuple[HandOver, ...]]:
    document = functools.cache(lambda: _data("hand_overs"))

    def made(row: dict[str, Any]) -> HandOver:
        return HandOver(
            tuple(row["names"]),
            row["gives"],
            tuple(row["sources"]),
            tuple(row.get("but", ())),
            tuple(document()["folders"]) if row.get("system", False) else (),
            row.get("bare", False),
        )

    def kinds() -> dict[str, Any]:
        return {kind: rows for kind, rows in document().items() if kind != "folders"}

    return _OnDemand(kinds, lambda _, rows: tuple(made(row) for row in rows))


def _described(row: dict[str, Any], common: tuple[str, ...] = ()) -> dict[str, Any]:
    """What parameters, kernel arguments and variables have in common. `common` are the file's own sources."""
    return {
        "meanings": row.get("meanings", {}),
        "notes": tuple(row.get("notes", ())),
        "traps": tuple(_value_trap(trap) for trap in row.get("traps", ())),
        "sources": (*row.get("sources", ()), *common),
    }


def _hardware(row: dict[str, Any]) -> Hardware | None:
    given = row.get("acts_on")
    if given is None:
        return None
    return Hardware(
        tuple(given.get("gfx", ())),
        tuple(given.get("not_gfx", ())),
        given.get("apu"),
        given.get("panel", False),
    )


def _value_trap(row: dict[str, Any]) -> ValueTrap:
    return ValueTrap(
        tuple(row["values"]),
        row["kind"],
        row["summary"],
        split(row["instead"]) if "instead" in row else None,
        _hardware(row),
        row.get("kernel", ""),
        row.get("asked", False),
        row.get("intended", ""),
    )


def _feature(name: str, row: dict[str, Any], common: tuple[str, ...]) -> Feature:
    return Feature(
        name,
        row["parameter"],
        row["bit"],
        row["set_means"] == "on",
        row["summary"],
        _hardware(row),
        tuple(row.get("notes", ())),
        (*row.get("sources", ()), *common),
        row.get("taints", ""),
    )


def _trap(name: str, row: dict[str, Any]) -> Trap:
    return Trap(name, split(row["instead"]), row["summary"], row.get("times", 1))


def _argument(name: str, row: dict[str, Any], common: tuple[str, ...]) -> KernelArgument:
    return KernelArgument(
        name,
        row["summary"],
        tuple(row.get("values", ())),
        row.get("pattern", ""),
        row.get("words_join", False),
        row.get("flag", False),
        row.get("default", ""),
        **_described(row, common),
    )


def _variable(name: str, row: dict[str, Any]) -> Variable:
    return Variable(
        name,
        row["summary"],
        row.get("reader", ""),
        tuple(row.get("values", ())),
        row.get("presence_only", False),
        row.get("unknown", False),
        Spelling(Kind.ENV, row["instead"]) if "instead" in row else None,
        row.get("pattern", ""),
        row.get("default", ""),
        row.get("build_only", False),
        row.get("indexed", ""),
        row.get("since", ""),
        row.get("until", ""),
        row.get("deprecated", ""),
        acts_on=_hardware(row),
        beside=row.get("beside", {}),
        strict=row.get("strict", False),
        **_described(row),
    )


def _fix(name: str, row: dict[str, Any]) -> Fix:
    return Fix(
        name,
        row["summary"],
        _version(row["mainline"]),
        tuple(_version(text) for text in row["stable"]),
        row.get("probe", {}).get("kfd_property", ""),
        tuple(row["evidence"]),
    )
