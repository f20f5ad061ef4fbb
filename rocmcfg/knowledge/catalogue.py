"""Loads the catalogue. The files are ours and tests hold them right, so nothing is validated at run time."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

from rocmcfg.knowledge import toml
from rocmcfg.model.catalogue import (
    Catalogue,
    Epoch,
    Feature,
    Fix,
    GpuModel,
    Hardware,
    KernelArgument,
    Parameter,
    Trap,
    ValueTrap,
    Variable,
)
from rocmcfg.model.value import ParamType
from rocmcfg.model.version import KernelVersion, parse_kernel


@functools.cache
def load() -> Catalogue:
    return Catalogue(
        parameters=_parameters(_data("parameters")),
        features={
            name: Feature(
                name,
                row["parameter"],
                row["bit"],
                row["set_means"] == "on",
                row["summary"],
                _hardware(row),
                tuple(row.get("notes", ())),
            )
            for name, row in _data("features").items()
        },
        fixes={name: _fix(name, row) for name, row in _data("fixes").items()},
        gpus=gpu_models(),
        arguments={name: _argument(name, row) for name, row in _data("kernel_arguments").items()},
        variables={name: _variable(name, row) for name, row in _data("environment").items()},
        related_modules=tuple(_data("traps")["related_modules"]),
        traps={
            row["name"]: Trap(row["name"], row["instead"], row["summary"]) for row in _data("traps")["trap"]
        },
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
    builds = tuple(_version(text) for text in document.pop("builds"))
    found = {}
    for module, rows in document.items():
        for name, row in rows.items():
            epochs = tuple(
                Epoch(
                    _version(e["from"]),
                    _version(e["to"]),
                    ParamType(e["type"]),
                    e["default"],
                    e["permission"],
                    e.get("taints", False),
                )
                for e in row["epochs"]
            )
            found[f"{module}.{name}"] = Parameter(
                module,
                name,
                row["summary"],
                epochs,
                builds,
                rewritten=row.get("rewritten", False),
                mask=row.get("mask", False),
                since=row.get("since", ""),
                removed=row.get("removed", ""),
                deprecated=row.get("deprecated", ""),
                config=row.get("config", ""),
                bounds=tuple(row["range"]) if "range" in row else None,
                unit=row.get("unit", ""),
                **_described(row),
                acts_on=_hardware(row),
            )
    return found


def _described(row: dict[str, Any]) -> dict[str, Any]:
    """What parameters, kernel arguments and variables have in common."""
    return {
        "meanings": row.get("meanings", {}),
        "notes": tuple(row.get("notes", ())),
        "traps": tuple(_value_trap(trap) for trap in row.get("traps", ())),
        "sources": tuple(row.get("sources", ())),
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
        row.get("instead", ""),
        _hardware(row),
        row.get("kernel", ""),
    )


def _argument(name: str, row: dict[str, Any]) -> KernelArgument:
    return KernelArgument(
        name,
        row["summary"],
        tuple(row.get("values", ())),
        row.get("pattern", ""),
        row.get("words_join", False),
        row.get("flag", False),
        row.get("default", ""),
        since=row.get("since", ""),
        removed=row.get("removed", ""),
        deprecated=row.get("deprecated", ""),
        instead=row.get("instead", ""),
        **_described(row),
    )


def _variable(name: str, row: dict[str, Any]) -> Variable:
    return Variable(
        name,
        row["summary"],
        row.get("reader", ""),
        tuple(row.get("values", ())),
        row.get("presence_only", False),
        row.get("unknown", False),
        row.get("instead", ""),
        row.get("pattern", ""),
        row.get("default", ""),
        row.get("build_only", False),
        row.get("indexed", ""),
        row.get("since", ""),
        row.get("until", ""),
        row.get("deprecated", ""),
        acts_on=_hardware(row),
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
