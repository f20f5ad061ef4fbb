"""docs/reference/faults.md: the fault classes, by layer."""

from __future__ import annotations

from collections.abc import Iterator

from generators.knowledge import GENERATED, anchor, links
from rocmcfg.judging.fault_words import ACTIONS, SEVERITIES, blamed, outlook
from rocmcfg.knowledge import faults
from rocmcfg.model.fault import Fault, Layer

_START = """\
# Fault classes

A fault class is a kind of failure that a log of an AMD GPU may show. Its number stays the same in every
release of rocmcfg, so that a script, an alert or a report can refer to it. `rocmcfg doctor` names the class,
and `rocmcfg explain AMD-501` shows its text. The hundreds of a number stand for the layer that failed. If a
[known issue](issues.md) explains a line, `doctor` names the issue instead, because the issue has a cure.

Every class says how severe the fault is, who is probably at fault, whether work goes on, and what to do next:

| severity | meaning |
|---|---|
{severities}

| action | meaning |
|---|---|
{actions}

A line marked "made" is built from a format string in the sources; all others are copied from logs.
"""


def page() -> str:
    severities = "\n".join(f"| {name} | {text} |" for name, text in SEVERITIES.items())
    actions = "\n".join(f"| {name} | {text} |" for name, text in ACTIONS.items())
    start = _START.format(severities=severities, actions=actions)
    every = faults.faults().values()
    lines = [*start.splitlines(), GENERATED.format(f"rocmcfg/{faults.FOLDER}"), ""]
    shown = [(layer, [f for f in every if f.layer == layer.name]) for layer in faults.layers().values()]
    lines += ["| layer | numbers | classes |", "|---|---|---|"]
    for layer, classes in shown:
        if classes:
            numbers = f"{classes[0].id} to {classes[-1].id}" if classes[1:] else classes[0].id
            lines += [f"| [{layer.title}](#{anchor(layer.title)}) | {numbers} | {len(classes)} |"]
    for layer, classes in shown:
        lines += _layer(layer, classes) if classes else []
    return "\n".join(lines) + "\n"


def _layer(layer: Layer, classes: list[Fault]) -> Iterator[str]:
    yield from ("", f"## {layer.title}", "")
    tracker = links([layer.tracker]) if layer.tracker.startswith("https:") else layer.tracker
    yield f"Reports go to: {tracker}"
    for fault in classes:
        yield from _fault(fault)


def _fault(fault: Fault) -> Iterator[str]:
    yield from ("", f"### {fault.id}", "", f"**{fault.title[0].upper()}{fault.title[1:]}**", "")
    yield from (fault.meaning, "")
    yield f"* Next: {fault.step}"
    yield f"* Severity: {fault.severity}; action: {fault.action}"
    yield f"* Probably at fault: {blamed(fault)}. {outlook(fault)}"
    if fault.after:
        yield f"* Can be a consequence of: {', '.join(f'[{id}](#{id.lower()})' for id in fault.after)}"
    if fault.issues:
        named = ", ".join(f"[{id}](issues.md#{id})" for id in fault.issues)
        yield f"* Known issues with such lines: {named}"
    if fault.collect:
        yield f"* A report needs: {'; '.join(faults.collectibles()[key].what for key in fault.collect)}"
    if fault.general:
        yield "* This is the general class of its layer, for lines that have no class of their own"
    yield from ("", "In a log, for example:", "", "```text")
    yield from (line.text for line in fault.lines)
    yield "```"
    addresses = [line.origin for line in fault.lines if line.origin.startswith("https:")]
    made = [line.origin for line in fault.lines if not line.origin.startswith("https:")]
    origins = [links(addresses)] if addresses else []
    origins += [f"`{origin}`" for origin in dict.fromkeys(made)]
    yield from ("", f"From: {', '.join(origins)}")
