"""Load the catalogue and the known issues. The files are ours and tests check them, so nothing is validated
at run time.

A file is read when its content is first needed: `plan` and `verify` need the parameters of kernels and little
else, `explain` and `lint` need everything.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from rocmcfg.host.files import read_own_file
from rocmcfg.knowledge import compiled, drop_ins
from rocmcfg.knowledge.compiled import kernel_version, noun
from rocmcfg.knowledge.cures import READY, cures_of
from rocmcfg.model.catalogue import (
    Catalogue,
    Feature,
    GpuModel,
    HandOver,
    KernelArgument,
    Namespace,
    Parameter,
    Trap,
    Variable,
)
from rocmcfg.model.fix import Fix
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.known_cure import KnownCure

T = TypeVar("T")
_ISSUES = "knowledge/data/issues"


class _OnDemand(Mapping[str, T], Generic[T]):
    """A table of the catalogue. It is read when it is first used, and a row becomes a noun when its name is
    first looked up: most commands need only a few of hundreds."""

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
        features=_OnDemand(
            lambda: _with_sources("features"),
            lambda name, row: noun(Feature, row, name=name, set_means_on=row["set_means"] == "on"),
        ),
        fixes=_OnDemand(lambda: _data("fixes"), _fix),
        gpus=gpu_models(),
        arguments=_OnDemand(
            lambda: _with_sources("kernel_arguments"), lambda name, row: noun(KernelArgument, row, name=name)
        ),
        variables=_OnDemand(
            lambda: drop_ins.added(
                "environment", _variables(_data("environment")), Variable, ("summary",), _variables
            ),
            lambda name, row: noun(Variable, row, name=name),
        ),
        traps=_OnDemand(
            lambda: {row["name"]: row for row in _data("traps")["trap"]}, lambda _, row: noun(Trap, row)
        ),
        cures=_OnDemand(_cures, lambda _, rows: tuple(noun(KnownCure, row) for row in rows)),
        hand_overs=_OnDemand(_hand_overs, lambda _, rows: tuple(noun(HandOver, row) for row in rows)),
    )


def read_all() -> None:
    """Read everything, so that all mistakes in the knowledge that a host adds are found."""
    knowledge = load()
    for table in (knowledge.parameters, knowledge.variables):
        tuple(table.values())
    _notes()
    known_issues()


def version() -> str:
    """Return the checksum of the knowledge shipped with the program, and those of the knowledge that the host
    adds."""
    sums = [compiled.checksum()]
    sums += (zlib.crc32(b"".join(layer.files[n] for n in sorted(layer.files))) for layer in drop_ins.layers())
    return "+".join(f"{checksum:08x}" for checksum in sums)


@functools.cache
def gpu_models() -> tuple[GpuModel, ...]:
    def rows(document: dict[str, Any]) -> dict[str, Any]:
        return {str(row): row for row in document.get("gpu", ())}  # no two are alike

    models = drop_ins.added("gpus", rows(_data("gpus")), GpuModel, ("gc_ip", "gfx", "family"), rows)
    return tuple(noun(GpuModel, row) for row in models.values())


@functools.cache
def namespaces() -> tuple[Namespace, ...]:
    document = _data("namespaces")
    return tuple(
        noun(
            Namespace,
            row,
            names=frozenset(row["prefix"] + name for name in row["names"].split()),
            others=tuple(row["prefix"] + name for name in row.get("others", "").split()),
            built=frozenset(document["built"]),
        )
        for row in document["namespace"]
    )


@functools.cache
def shared_prefixes() -> tuple[str, ...]:
    """Return the beginnings of ROCm's variables that other programs use as well."""
    return tuple(_data("namespaces")["shared"])


@functools.cache
def known_issues() -> tuple[KnownIssue, ...]:
    """Return the known issues in the order of their ids, which are the names of their files."""
    names = (n for n in os.listdir(f"{compiled.PACKAGE}/{_ISSUES}") if n.endswith(".toml"))
    issues = {name[:-5]: issue(name[:-5], compiled.packaged(f"{_ISSUES}/{name}")) for name in names}
    issues |= {made.id: made for made in _added_issues()}
    return tuple(issues[id] for id in sorted(issues))


@functools.cache
def _added_issues() -> tuple[KnownIssue, ...]:
    """Return the known issues of this host, each with its file as the first evidence."""
    made = ((path, issue(id, document)) for id, path, document in drop_ins.issues(load().fixes))
    return tuple(each._replace(evidence=(path, *each.evidence)) for path, each in made)


def _cures() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of `cures` by setting."""
    ready = compiled.known(READY, b"")
    added = _added_issues()
    if ready is None or added:  # an issue of this host is one among all
        return {id: [cure._asdict() for cure in listed] for id, listed in cures_of(known_issues()).items()}
    return ready


@functools.cache
def diagnostics() -> dict[str, tuple[str, ...]]:
    """Return severity, summary and hint by id; docs/generate.py extracts them from the calls."""
    content = read_own_file(f"{compiled.PACKAGE}/knowledge/diagnostics.tsv").decode()
    return {id: tuple(row) for id, *row in (line.split("\t") for line in content.splitlines())}


def status_codes() -> dict[str, Any]:
    """Return the codes that ROCr and HIP return, by name: `number`, and where known `prints`, the printed
    text, and `means`, its meaning."""
    return _data("status_codes")


def issue(id: str, row: dict[str, Any]) -> KnownIssue:
    return noun(KnownIssue, row, id=id)


def _data(name: str) -> dict[str, Any]:
    document = compiled.packaged(f"knowledge/data/{name}.toml")
    document.pop("schema")
    return document


def _parameters() -> Mapping[str, Parameter]:
    document = functools.cache(lambda: _data("parameters"))

    def make(id: str, row: dict[str, Any]) -> Parameter:
        return _parameter(id, row, document()["builds"])

    def rows() -> Mapping[str, Any]:
        return drop_ins.added("parameters", _of_modules(document()), Parameter, ("summary",), _of_modules)

    return _OnDemand(rows, make)


def _of_modules(document: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of a file with a table for each module, by `module.parameter`."""
    tables = {module: rows for module, rows in document.items() if module != "builds"}
    return {f"{module}.{name}": row for module, rows in tables.items() for name, row in rows.items()}


def _parameter(id: str, row: dict[str, Any], read: Iterable[str]) -> Parameter:
    module, _, name = id.partition(".")
    common, notes = _notes()
    note = notes.get(id, {})
    of_module = () if row.get("dkms_only", False) else common.get(module, ())  # of the kernel's own driver
    sources = (*note.get("sources", ()), *row.get("sources", ()), *of_module)
    row = {"epochs": [], **row, **note}
    made = noun(Parameter, row, module=module, name=name, builds=(), sources=sources)
    # A kernel that only one parameter names was read for that parameter: it says nothing about the others.
    ends = (end for epoch in made.epochs for end in (epoch.first, epoch.last))
    return made._replace(builds=tuple(sorted({*map(kernel_version, read), *ends, *made.lacks})))


@functools.cache
def _notes() -> tuple[dict[str, Any], Mapping[str, Any]]:
    document = _data("parameter_notes")
    common = document.pop("sources")

    return common, drop_ins.added("parameter_notes", _of_modules(document), Parameter, (), _of_modules)


def _with_sources(file: str) -> dict[str, Any]:
    """Return the rows of a file whose own `sources` apply to each of them."""
    document = _data(file)
    common = document.pop("sources", ())
    return {name: {**row, "sources": [*row.get("sources", ()), *common]} for name, row in document.items()}


def _variables(document: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of variables. `[[family]]` stands for variables of one kind: `names` maps each name to
    its summary, `defaults` some of them to their default, and the other keys of the family apply to each."""
    rows: dict[str, Any] = {}
    for family in document.pop("family", ()):
        names, defaults = family.pop("names"), family.pop("defaults", {})
        for name, summary in names.items():
            default = {"default": defaults[name]} if name in defaults else {}
            rows[name] = {**family, **default, "summary": summary}
    rows |= document
    return dict(sorted(rows.items()))


def _hand_overs() -> dict[str, Any]:
    document = _data("hand_overs")
    system = {"folders": document.pop("folders")}
    return {
        kind: [{**row, **(system if row.get("system", False) else {})} for row in rows]
        for kind, rows in document.items()
    }


def _fix(name: str, row: dict[str, Any]) -> Fix:
    return noun(Fix, row, name=name, kfd_property=row.get("probe", {}).get("kfd_property", ""))
