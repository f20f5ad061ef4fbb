"""The format of a file of fault classes: pydantic models, and rules that a JSON Schema cannot express. Tests
check the shipped files.

It must not be loaded where fault classes are used: `faults` reads the files without it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool, StrictStr

from rocmcfg.knowledge import forms, pattern_rules
from rocmcfg.model.fault import Action, Continues, Layer, Party, Severity
from rocmcfg.model.regex import UnshippedPattern, regex, search

GENERAL = 99  # the last two digits of the id of a layer's general class
_ORIGIN = regex(r"https://\S+|made: \S+")
_TITLE = 90


class PatternTable(BaseModel, extra="forbid"):
    pattern: StrictStr
    needs: list[StrictStr] = []
    shared: StrictBool = False


class LineTable(BaseModel, extra="forbid"):
    text: StrictStr
    origin: StrictStr = Field(alias="from")


class FaultTable(BaseModel, extra="forbid"):
    id: Annotated[StrictStr, Field(pattern=r"^AMD-[1-9][0-9]{2,3}$")]
    title: Annotated[StrictStr, Field(max_length=_TITLE)]
    severity: Severity
    blame: Annotated[list[Party], Field(min_length=1)]
    continues: Continues
    action: Action
    meaning: StrictStr
    step: StrictStr
    collect: list[StrictStr] = []
    general: StrictBool = False
    after: list[StrictStr] = []
    issues: list[StrictStr] = []
    pattern: Annotated[list[PatternTable], Field(min_length=1)]
    line: Annotated[list[LineTable], Field(min_length=1)]


class FaultFile(BaseModel, extra="forbid"):
    """The fault classes of one layer, schema 1. The file's name is the layer's."""

    schema_: Literal[1] = Field(alias="schema")
    layer: StrictStr
    fault: Annotated[list[FaultTable], Field(min_length=1)]


def mistakes(
    document: dict[str, Any], layer: Layer, ids: Container[str], keys: Container[str], issues: Container[str]
) -> list[str]:
    """Return the mistakes in the file of a layer, each as a phrase. `ids` are those of all fault classes,
    `keys` those of what a report needs, `issues` the ids of the known issues."""
    if wrong := forms.mistakes(FaultFile, document):
        return wrong
    file = FaultFile.model_validate(document)
    problems = [f"layer is {file.layer}, not {layer.name}"] if file.layer != layer.name else []
    numbers = [fault.id for fault in file.fault]
    problems += [f"{id} is there twice" for id in dict.fromkeys(numbers) if numbers.count(id) > 1]
    for fault in file.fault:
        references = ((fault.after, ids), (fault.collect, keys), (fault.issues, issues))
        problems += [f"{fault.id}: {text}" for text in (*_fault(fault, layer), *_references(references))]
    return problems


def _references(references: tuple[tuple[list[str], Container[str]], ...]) -> Iterator[str]:
    yield from (
        f"{name} does not exist" for names, every in references for name in names if name not in every
    )


def _fault(fault: FaultTable, layer: Layer) -> Iterator[str]:
    number = int(fault.id[4:])
    if number // 100 != layer.number:
        yield f"its hundreds are not those of the layer {layer.name}, {layer.number}"
    if (number % 100 == GENERAL) != fault.general:
        yield f"the number {GENERAL} is for the general class of a layer, and only for it"
    for text in (fault.title, fault.meaning, fault.step):
        if not text or text != " ".join(text.split()) or not text.isprintable():
            yield f"{text!r} is not one line without blanks at its ends, double blanks or control characters"
    if fault.title.endswith(".") or not fault.meaning.endswith(".") or not fault.step.endswith("."):
        yield "a title is a phrase, meaning and step are sentences"
    yield from (f"{line.origin!r} is no origin" for line in fault.line if not _ORIGIN.fullmatch(line.origin))
    for table in fault.pattern:
        yield from pattern_rules.mistakes(table.pattern, ())
        if not any(_matches(table, line.text) for line in fault.line):
            yield f"no line of the class shows the pattern {table.pattern!r}"
    for line in fault.line:
        if not any(_matches(table, line.text) for table in fault.pattern):
            yield f"no pattern matches the line {line.text!r}"


def _matches(table: PatternTable, line: str) -> bool:
    if table.needs and not any(text in line for text in table.needs):
        return False
    return bool(search(UnshippedPattern(table.pattern), line))
