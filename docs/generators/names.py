"""docs/reference/parameters.md and environment.md: a heading for each name, first the twelve
that one meets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from generators.knowledge import GENERATED, all_profiles, anchor, table
from rocmcfg.knowledge import catalogue
from rocmcfg.model.catalogue import Epoch, Parameter, ValueTrap
from rocmcfg.model.desired import Kind

_MOST = 12


def parameters() -> str:
    known = catalogue.load()
    lines = [
        "# Module parameters",
        "",
        "This page describes the parameters of the kernels that the catalogue covers; a distribution may",
        "backport changes. For your installed kernels, run `rocmcfg explain NAME`. "
        + GENERATED.format("rocmcfg/knowledge/data"),
        "",
        *_met({name: parameter.summary for name, parameter in known.parameters.items()}),
    ]
    for module in known.modules():
        lines += ["", f"## {module}"]
        for name, parameter in known.parameters.items():
            if parameter.module == module:
                lines += ["", f"### {name}", "", parameter.summary, "", *_parameter(parameter)]
    lines += ["", "## Bits of the masks", ""]
    bits = [
        (f"`{f.name}`", f"`{f.parameter}`", f"`{f.bit:#x}`", "on" if f.set_means_on else "off", f.summary)
        for f in known.features.values()
    ]
    return "\n".join(lines + table(("feature", "parameter", "bit", "set means", "meaning"), bits)) + "\n"


def environment() -> str:
    known = catalogue.load()
    summaries = {a.name: a.summary for a in known.arguments.values()}
    summaries |= {v.name: v.summary for v in known.variables.values()}
    lines = [
        "# Kernel arguments and environment variables",
        "",
        "This page describes the kernel arguments and the variables that matter for ROCm. `rocmcfg explain",
        "NAME` shows the same for your host. " + GENERATED.format("rocmcfg/knowledge/data"),
        "",
        *_met(summaries),
        "",
        "## Kernel arguments",
    ]
    for argument in known.arguments.values():
        values = _legal(argument.values, argument.pattern, argument.flag)
        lines += ["", f"### {argument.name}", "", argument.summary, "", f"* Values: {values}"]
        lines += _said(argument.meanings, argument.traps, argument.notes)
    lines += ["", "## Environment variables"]
    for v in known.variables.values():
        lines += ["", f"### {v.name}", "", v.summary, ""]
        lines += [f"* Read by: {v.reader}"] if v.reader else []
        lines += ["* Nothing reads it."] if v.unknown else []
        lines += ["* Read at build time only."] if v.build_only else []
        before = f"{v.reader} before {v.presence_before}"
        lines += [f"* In {before} any value turns it on, even 0."] if v.presence_before else []
        lines += [f"* Values: {_legal(v.values, v.pattern, False)}"] if v.values or v.pattern else []
        span = [f"since {v.since}"] if v.since else []
        span += [f"until {v.until}"] if v.until else []
        lines += [f"* Exists {' '.join(span)}"] if span else []
        lines += [f"* Deprecated: {v.deprecated}"] if v.deprecated else []
        lines += [f"* Instead: `{v.instead.name}`"] if v.instead else []
        lines += _said(v.meanings, v.traps, v.notes)
    return "\n".join(lines) + "\n"


def _met(summaries: Mapping[str, str]) -> list[str]:
    """The names that most profiles and known issues set, or warn of."""
    counted = _mentions()
    names = sorted((name for name in summaries if counted[name]), key=lambda name: (-counted[name], name))
    listed = [f"* [{name}](#{anchor(name)}): {summaries[name]}" for name in names[:_MOST]]
    return [
        "## The twelve most frequent names",
        "",
        "Most profiles and known issues mention these names.",
        "",
        *listed,
    ]


def _mentions() -> Counter[str]:
    known = catalogue.load()
    said: Counter[str] = Counter()
    for profile in all_profiles():
        said.update({_name(s.kind, s.id, s.name) for s in profile.settings if s.kind is not Kind.FEATURE})
    every = [*known.parameters, *known.arguments, *known.variables]
    for issue in catalogue.known_issues():
        told = " ".join((*map(str, issue.workaround.settings), *issue.workaround.unset, *issue.does_not_help))
        words = {word.partition("=")[0] for word in told.replace("env.", "").replace("karg.", "").split()}
        said.update(name for name in every if name in words)
    return said


def _name(kind: Kind, id: str, name: str) -> str:
    return id if kind is Kind.PARAMETER else name


# -- parameters -----------------------------------------------------------------------------------------


def _parameter(parameter: Parameter) -> Iterator[str]:
    yield f"* Kernels: {_kernels(parameter)}"
    yield f"* Type: {_types(parameter)}; default: {_defaults(parameter)}"
    unit = parameter.unit
    if unit:
        yield f"* Unit: {unit}"
    if parameter.acts_on:
        yield f"* Acts on {parameter.acts_on.words()}"
    marks = ["taints the kernel"] if any(e.taints for e in parameter.epochs) else []
    marks += ["the driver may replace the value"] if parameter.rewritten else []
    marks += ["root only"] if any(e.permission == "0600" for e in parameter.epochs) else []
    marks += ["can change at run time"] if any(e.permission == "0644" for e in parameter.epochs) else []
    marks += [f"needs {parameter.config}"] if parameter.config else []
    if marks:
        text = "; ".join(marks)
        yield f"* {text[:1].upper()}{text[1:]}"
    if parameter.deprecated:
        yield f"* Deprecated: {parameter.deprecated}"
    yield from _said(parameter.meanings, parameter.traps, ())


def _kernels(parameter: Parameter) -> str:
    spans: list[tuple[Epoch, Epoch]] = []
    for epoch in parameter.epochs:
        if spans and _adjacent(parameter, spans[-1], epoch):
            spans[-1] = (spans[-1][0], epoch)
        else:
            spans.append((epoch, epoch))
    newest = max(parameter.builds, default=None)
    return ", ".join(
        f"{first.first} on" if last.last == newest else f"{first.first} to {last.last}"
        for first, last in spans
    )


def _adjacent(parameter: Parameter, span: tuple[Epoch, Epoch], epoch: Epoch) -> bool:
    return not any(span[1].last < build < epoch.first for build in parameter.builds)


def _types(parameter: Parameter) -> str:
    return _eras([(e.first, e.type.value) for e in parameter.epochs])


def _defaults(parameter: Parameter) -> str:
    return _eras([(e.first, e.default or "empty") for e in parameter.epochs])


def _eras(values: Sequence[tuple[Any, str]]) -> str:
    """`10`, or `10`; `20` from 6.17.8 where it changed."""
    said: list[str] = []
    last = None
    for first, value in values:
        if value != last:
            said.append(f"`{value}` from {first}" if said else f"`{value}`")
        last = value
    return "; ".join(said)


# -- what all of them have ------------------------------------------------------------------------------


def _said(meanings: Mapping[str, str], traps: Iterable[ValueTrap], notes: Iterable[str]) -> Iterator[str]:
    yield from (f"* `{value}`: {text}" for value, text in meanings.items())
    for trap in traps:
        yield f"* **{trap.kind.replace('_', ' ')}** `{' '.join(trap.values)}`: {trap.summary}"
    yield from (f"* {note}" for note in notes)


def _legal(values: Sequence[str], pattern: str, flag: bool) -> str:
    said = [f"`{value}`" for value in values] or ([f"as `{pattern}`"] if pattern else [])
    return ", ".join([*said, *(["no value"] if flag else [])]) or "any text"
