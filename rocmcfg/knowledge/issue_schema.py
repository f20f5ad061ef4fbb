"""The format of a known issue's file: pydantic models, for `rocmcfg schema known-issue`, and rules for its
texts that JSON Schema cannot express. Tests check the shipped files, `drop_ins` those of a host.

It must not be loaded where issues are used: `catalogue` reads the files without it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool, StrictStr

from rocmcfg.knowledge import forms, pattern_rules
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.regex import regex
from rocmcfg.model.spelling import SAFE_VARIABLE, Spelling, parse
from rocmcfg.model.version import parse_range, parse_rocm_range

_GFX = regex(r"gfx[0-9a-f]{1,5}\*|gfx[0-9a-f]{3,5}")
_LINK = regex(r"https://\S+")

Name = Annotated[StrictStr, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class WorkaroundTable(BaseModel, extra="forbid"):
    settings: list[StrictStr] = []
    unset: list[StrictStr] = []
    steps: list[StrictStr] = []
    profile: Annotated[StrictStr, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$|^$")] = ""


class SignatureTable(BaseModel, extra="forbid"):
    pattern: StrictStr
    strength: Literal["specific", "typical", "generic"]
    samples: Annotated[list[StrictStr], Field(min_length=1)]
    name: Name | None = None
    verbatim: StrictBool = False
    beside: Name | None = None
    # the kernel series that print it, of those that `make sources` read; empty where another program prints
    # it
    printed_by: list[StrictStr] = []


class KnownIssueFile(BaseModel, extra="forbid"):
    """One known issue, schema 1. The file's name is the issue's id."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["fault", "advice", "spelling"]
    title: Annotated[StrictStr, Field(max_length=100)]
    summary: StrictStr
    gfx: list[StrictStr] = []
    kernel: StrictStr | None = None
    rocm: StrictStr | None = None
    firmware: StrictStr | None = None
    lacks_fix: Name | None = None
    has_fix: Name | None = None
    pair: StrictBool = False
    stages: list[Name] = []
    does_not_help: list[StrictStr] = []
    cost: StrictStr | None = None
    fixed_in: StrictStr | None = None
    fixed_kernels: StrictStr | None = None
    fixed_rocm: StrictStr | None = None
    fixed_elsewhere: StrictBool = False
    fixed_by: Literal["either", "both"] = "either"
    evidence: Annotated[list[StrictStr], Field(min_length=1)]
    confidence: Literal["confirmed", "reported", "unverified"]
    notes: list[StrictStr] = []
    several_gpus: StrictBool = False
    dkms: StrictBool = False
    workaround: WorkaroundTable = WorkaroundTable()
    signature: list[SignatureTable] = []


def mistakes(document: dict[str, Any], fixes: Container[str]) -> list[str]:
    """Return the mistakes in a document, each as a phrase. `fixes` are the names of the kernels' fixes."""
    if wrong := forms.mistakes(KnownIssueFile, document):
        return wrong
    file = KnownIssueFile.model_validate(document)
    problems = [*_texts(file), *_names(file, fixes), *_cure(file)]
    return problems + [wrong for signature in file.signature for wrong in _signature(signature)]


def _texts(file: KnownIssueFile) -> Iterator[str]:
    lines = (file.title, file.summary, file.firmware, file.cost, file.fixed_in)
    for text in (*lines, *file.does_not_help, *file.notes, *file.workaround.steps):
        if text is not None and (not text or text != " ".join(text.split()) or not text.isprintable()):
            yield f"{text!r} is not one line without blanks at its ends, double blanks or control characters"
    kernels, rocms = (file.kernel, file.fixed_kernels), (file.rocm, file.fixed_rocm)
    for read, ranges in ((parse_range, kernels), (parse_rocm_range, rocms)):
        for text in filter(None, ranges):
            try:
                read(text)
            except ValueError as problem:
                yield str(problem)
    for form, texts, what in (
        (_GFX, file.gfx, "a gfx target such as gfx1201, or a pattern such as gfx12*"),
        (SAFE_VARIABLE, file.workaround.unset, "a name of an environment variable"),
        (_LINK, file.evidence, "a link that a reader can open"),
    ):
        yield from (f"{text!r} is not {what}" for text in texts if not form.fullmatch(text))


def _names(file: KnownIssueFile, fixes: Container[str]) -> Iterator[str]:
    names = [s.name for s in file.signature if s.name]
    yield from (f"two signatures have the name {name}" for name in set(names) if names.count(name) > 1)
    wanted = {*file.stages, *(s.beside for s in file.signature if s.beside)}
    yield from (f"no signature has the name {name}" for name in sorted(wanted - set(names)))
    wanted_fixes = (name for name in (file.lacks_fix, file.has_fix) if name)
    yield from (f"no fix has the name {name}" for name in wanted_fixes if name not in fixes)
    if file.pair and not (file.rocm and (file.kernel or file.lacks_fix or file.has_fix)):
        yield "a pair must say which kernels and which ROCm do not work together"
    if any(s.beside == s.name and s.beside for s in file.signature):
        yield "a signature cannot name itself in `beside`"


def _cure(file: KnownIssueFile) -> Iterator[str]:
    for text in file.workaround.settings:
        spelling = parse(text)
        if not isinstance(spelling, Spelling):
            why = spelling.summary if isinstance(spelling, Diagnostic) else "only profiles have these"
            yield f"{text!r} is not in the spelling of --set, such as amdgpu.runpm=0: {why}"
    if (file.workaround.settings or file.workaround.steps) and not file.cost and file.kind == "fault":
        yield "a workaround has a cost; write None. if there really is none"
    if file.fixed_by == "both" and not (file.fixed_rocm and (file.fixed_kernels or file.lacks_fix)):
        yield "fixed_by = both needs the kernels and the ROCm releases that have their part of the fix"


def _signature(signature: SignatureTable) -> Iterator[str]:
    return pattern_rules.mistakes(signature.pattern, signature.samples)
