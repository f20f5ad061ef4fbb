"""Loads the catalogue. The files are ours and tests hold them right, so nothing is validated at run time.

A file is read when something of it is first asked for: `plan` and `verify` need the parameters of kernels and
little else, `explain` and `lint` need everything.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from typing import Any, Generic, TypeVar

from rocmcfg.knowledge import toml
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
    """A table of the catalogue that is read when it is first looked into."""

    def __init__(self, read: Callable[[], dict[str, T]]) -> None:
        self._read = functools.cache(read)

    def __getitem__(self, name: str) -> T:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


@functools.cache
def load() -> Catalogue:
    return Catalogue(
        parameters=_parameters(_data("parameters")),
        features=_OnDemand(_features),
        fixes=_OnDemand(lambda: {name: _fix(name, row) for name, row in _data("fixes").items()}),
        gpus=gpu_models(),
        arguments=_OnDemand(_arguments),
        variables=_OnDemand(_variables),
        traps=_OnDemand(_traps),
        hand_overs=_OnDemand(_hand_overs),
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
    text = resources.files("rocmcfg.knowledge").joinpath(f"data/{name}.toml").read_text("utf-8")
    document = toml.loads(text)
    document.pop("schema")
    return document


def _version(text: str) -> KernelVersion:
    version = parse_kernel(text)
    if version is None:
        raise ValueError(f"the catalogue names a kernel that is none: {text!r}")
    return version


def _parameters(document: dict[str, Any]) -> dict[str, Parameter]:
    read = {text: _version(text) for text in document.pop("builds")}
    found = {}
    for module, rows in document.items():
        for name, row in rows.items():
            # A kernel that one parameter alone names was read for that one: it says nothing of the others.
            builds = dict(read)
            for epoch in row.get("epochs", ()):
                builds |= {text: _version(text) for text in (epoch["from"], epoch["to"]) if text not in read}
            epochs = tuple(
                Epoch(
                    builds[e["from"]],
                    builds[e["to"]],
                    ParamType(e["type"]),
                    e["default"],
                    e["permission"],
                    e.get("taints", False),
                )
                for e in row.get("epochs", ())
            )
            found[f"{module}.{name}"] = Parameter(
                module,
                name,
                row["summary"],
                epochs,
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
    return found


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


def _features() -> dict[str, Feature]:
    document = _data("features")
    common = tuple(document.pop("sources", ()))
    return {
        name: Feature(
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
        for name, row in document.items()
    }


def _arguments() -> dict[str, KernelArgument]:
    document = _data("kernel_arguments")
    common = tuple(document.pop("sources", ()))
    return {name: _argument(name, row, common) for name, row in document.items()}


def _variables() -> dict[str, Variable]:
    """`[[family]]` stands for variables of one kind: `names` goes from a name to its summary, and what the
    family says holds for each."""
    document = _data("environment")
    rows: dict[str, Any] = {}
    for family in document.pop("family", ()):
        rows |= {name: {**family, "summary": summary} for name, summary in family["names"].items()}
    rows |= document
    return {name: _variable(name, rows[name]) for name in sorted(rows)}


def _traps() -> dict[str, Trap]:
    return {
        row["name"]: Trap(row["name"], split(row["instead"]), row["summary"], row.get("times", 1))
        for row in _data("traps")["trap"]
    }


def _hand_overs() -> dict[str, tuple[HandOver, ...]]:
    document = _data("hand_overs")
    folders = tuple(document.pop("folders"))
    return {
        kind: tuple(
            HandOver(
                tuple(row["names"]),
                row["gives"],
                tuple(row["sources"]),
                tuple(row.get("but", ())),
                folders if row.get("system", False) else (),
                row.get("bare", False),
            )
            for row in rows
        )
        for kind, rows in document.items()
    }


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
