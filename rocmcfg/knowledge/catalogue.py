"""Loads the catalogue and the known issues. The files are ours and tests hold them right, so nothing is
validated at run time.

A file is read when something of it is first asked for: `plan` and `verify` need the parameters of kernels and
little else, `explain` and `lint` need everything.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rocmcfg.host.files import read_own_file
from rocmcfg.knowledge import compiled, drop_ins
from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.catalogue import (
    Catalogue,
    Epoch,
    Feature,
    Fix,
    GpuModel,
    HandOver,
    Hardware,
    KernelArgument,
    Namespace,
    Parameter,
    Trap,
    ValueTrap,
    Variable,
)
from rocmcfg.model.spelling import ParamType, split
from rocmcfg.model.version import KernelVersion, parse_kernel, parse_range

if TYPE_CHECKING:
    from rocmcfg.model.issue import KnownIssue

T = TypeVar("T")
_ISSUES = "knowledge/data/issues"
_RANGES = ("kernel", "rocm", "fixed_kernels", "fixed_rocm")  # of a known issue


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
        features=_with_sources("features", _feature),
        fixes=_OnDemand(lambda: _data("fixes"), _fix),
        gpus=gpu_models(),
        arguments=_with_sources(
            "kernel_arguments",
            lambda name, row, common: _described(KernelArgument, row, common, name=name),
        ),
        variables=_OnDemand(lambda: drop_ins.added("environment", _variables(), _variable), _variable),
        traps=_OnDemand(
            lambda: {row["name"]: row for row in _data("traps")["trap"]},
            lambda _, row: _described(Trap, row),
        ),
        hand_overs=_hand_overs(),
    )


def read_all() -> None:
    """So that all that is wrong in what a host adds has been found."""
    known = load()
    for table in (known.parameters, known.variables):
        for name in table:
            table[name]
    _notes()
    known_issues()


def version() -> str:
    """Of what came with the program, as a checksum, and of what the host adds."""
    sums = [compiled.checksum()]
    sums += (zlib.crc32(b"".join(layer.files[n] for n in sorted(layer.files))) for layer in drop_ins.layers())
    return "+".join(f"{one:08x}" for one in sums)


@functools.cache
def gpu_models() -> tuple[GpuModel, ...]:
    def rows(document: dict[str, Any]) -> dict[str, Any]:
        return {str(row): row for row in document.get("gpu", ())}  # no two are alike

    found = drop_ins.added("gpus", rows(_data("gpus")), lambda _, row: noun(GpuModel, row), rows)
    return tuple(noun(GpuModel, row) for row in found.values())


@functools.cache
def namespaces() -> tuple[Namespace, ...]:
    document = _data("namespaces")
    return tuple(
        Namespace(
            row["prefix"],
            row["reader"],
            row["release"],
            frozenset(row["prefix"] + name for name in row["names"].split()),
            tuple(row["prefix"] + name for name in row.get("others", "").split()),
            frozenset(document["built"]),
            row.get("closed", True),
        )
        for row in document["namespace"]
    )


@functools.cache
def known_issues() -> tuple[KnownIssue, ...]:
    """In the order of their ids, which are the names of their files."""
    names = (n for n in os.listdir(f"{compiled.PACKAGE}/{_ISSUES}") if n.endswith(".toml"))
    found = {name[:-5]: issue(name[:-5], compiled.packaged(f"{_ISSUES}/{name}")) for name in names}
    for id, path, document in drop_ins.issues():
        made = issue(id, document)
        found[id] = made._replace(evidence=(path, *made.evidence))
    return tuple(found[id] for id in sorted(found))


@functools.cache
def diagnostics() -> dict[str, tuple[str, ...]]:
    """Severity, summary and what to do, by id; docs/generate.py writes them from the calls."""
    content = read_own_file(f"{compiled.PACKAGE}/knowledge/diagnostics.tsv").decode()
    return {id: tuple(row) for id, *row in (line.split("\t") for line in content.splitlines())}


def status_codes() -> dict[str, Any]:
    """What ROCr and HIP return, by name: `number`, and what it `prints` and `means` where that is known."""
    return _data("status_codes")


def issue(id: str, row: dict[str, Any]) -> KnownIssue:
    from rocmcfg.model.issue import KnownIssue, Signature, Workaround

    cure = row.get("workaround", {})
    return noun(
        KnownIssue,
        row,
        id=id,
        signatures=tuple(noun(Signature, signature) for signature in row.get("signature", ())),
        workaround=noun(Workaround, cure, settings=tuple(map(split, cure.get("settings", ())))),
        **{key: parse_range(row[key]) for key in _RANGES if key in row},
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

    def make(id: str, row: dict[str, Any]) -> Parameter:
        return _parameter(id, row, builds())

    def rows() -> Mapping[str, Any]:
        return drop_ins.added("parameters", _of_modules(document()), make, _of_modules)

    return _OnDemand(rows, make)


def _of_modules(document: dict[str, Any]) -> dict[str, Any]:
    """The rows of a file with a table for each module, by `module.parameter`."""
    tables = {module: rows for module, rows in document.items() if module != "builds"}
    return {f"{module}.{name}": row for module, rows in tables.items() for name, row in rows.items()}


def _parameter(id: str, row: dict[str, Any], read: Mapping[str, KernelVersion]) -> Parameter:
    module, _, name = id.partition(".")
    # A kernel that one parameter alone names was read for that one: it says nothing of the others.
    builds, epochs = dict(read), row.get("epochs", ())
    for epoch in epochs:
        builds |= {text: _version(text) for text in (epoch["from"], epoch["to"]) if text not in read}
    builds |= {text: _version(text) for text in row.get("lacks", ())}
    common, notes = _notes()
    note = notes.get(id, {})
    of_module = () if row.get("dkms_only", False) else common.get(module, ())  # of the kernel's own driver
    return noun(
        Parameter,
        {**row, **note},
        module=module,
        name=name,
        epochs=tuple(
            noun(Epoch, e, first=builds[e["from"]], last=builds[e["to"]], type=ParamType(e["type"]))
            for e in epochs
        ),
        builds=tuple(sorted(builds.values())),
        bounds=tuple(row["range"]) if "range" in row else None,
        dkms_type=ParamType(row["type"]) if "type" in row else None,
        taints_since=_version(row["taints_since"]) if "taints_since" in row else None,
        sources=(*note.get("sources", ()), *row.get("sources", ()), *of_module),
        **_noted(note),
    )


def _noted(row: dict[str, Any]) -> dict[str, Any]:
    """What a row of the notes has in another form than a parameter."""
    bits = {int(bit, 0): text for bit, text in row.get("bits", {}).items()}
    copied = {int(mask, 0): tuple(names) for mask, names in row.get("copied", {}).items()}
    return {**_parts(row), "bits": bits, "copied": copied}


@functools.cache
def _notes() -> tuple[dict[str, Any], Mapping[str, Any]]:
    document = _data("parameter_notes")
    common = document.pop("sources")
    rows = _of_modules(document)
    return common, drop_ins.added("parameter_notes", rows, lambda _, row: _noted(row), _of_modules)


def _with_sources(file: str, make: Callable[[str, dict[str, Any], Sequence[str]], T]) -> Mapping[str, T]:
    """A file whose own `sources` hold for each of its rows."""

    def rows() -> dict[str, Any]:
        document = _data(file)
        common = document.pop("sources", ())
        return {name: (row, common) for name, row in document.items()}

    return _OnDemand(rows, lambda name, found: make(name, *found))


def _variable(name: str, row: dict[str, Any]) -> Variable:
    return _described(Variable, row, name=name)


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
        folders = document()["folders"] if row.get("system", False) else ()
        return noun(HandOver, row, folders=tuple(folders))

    def kinds() -> dict[str, Any]:
        return {kind: rows for kind, rows in document().items() if kind != "folders"}

    return _OnDemand(kinds, lambda _, rows: tuple(made(row) for row in rows))


def _described(kind: Callable[..., T], row: dict[str, Any], common: Sequence[str] = (), **given: Any) -> T:
    """With the parts that rows of several files have. `common` are the file's own sources."""
    sources = {"sources": (*row.get("sources", ()), *common)} if common else {}
    return noun(kind, row, **_parts(row), **sources, **given)


def _parts(row: dict[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if "acts_on" in row:
        parts["acts_on"] = noun(Hardware, row["acts_on"])
    if "instead" in row:
        parts["instead"] = split(row["instead"])
    if "traps" in row:
        parts["traps"] = tuple(_described(ValueTrap, trap) for trap in row["traps"])
    return parts


def _feature(name: str, row: dict[str, Any], common: Sequence[str]) -> Feature:
    return _described(Feature, row, common, name=name, set_means_on=row["set_means"] == "on")


def _fix(name: str, row: dict[str, Any]) -> Fix:
    return noun(
        Fix,
        row,
        name=name,
        mainline=_version(row["mainline"]),
        stable=tuple(map(_version, row["stable"])),
        kfd_property=row.get("probe", {}).get("kfd_property", ""),
    )
