"""The format of a known-issue file, as pydantic models.

`rocmcfg schema known-issue` prints it, and the tests hold every shipped file against it. It must not be
loaded where issues are used: `issues` reads the files without it.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    ValidationError,
    model_validator,
)

from rocmcfg.knowledge.profile_schema import like
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.spelling import Spelling, parse
from rocmcfg.model.value import SAFE_VARIABLE
from rocmcfg.model.version import parse_range

# What Python and `grep -E` in the C locale read differently. It is looked for in the pattern without its
# escaped punctuation and its bracket expressions.
_PUNCTUATION = re.compile(r"\\[][\\(){}.*+?^$|]")
_BRACKETS = re.compile(r"\[\^?\]?[^]]*\]")
_NOT_FOR_BOTH = (
    (re.compile(r"[^ -~]"), "characters beyond ASCII"),
    (re.compile(r"\(\?"), "a group that starts with (?"),
    (re.compile(r"[*+?}][*+?{]"), "a repeat of a repeat, or a lazy one"),
    (re.compile(r"\\[0-9]"), "a back-reference"),
    (re.compile(r"\\[^wWbB]"), r"an escape other than \w, \W, \b and \B: write [0-9] for a digit"),
    (re.compile(r"^\||\|\||\|$|\(\||\|\)|\(\)"), "an empty alternative"),
)


def _sentence(text: str) -> str:
    if not text or text != " ".join(text.split()) or not text.isprintable():
        raise ValueError("one line, without blanks at its ends, double blanks or control characters")
    return text


def _range(text: str) -> str:
    parse_range(text)
    return text


def _pattern(text: str) -> str:
    if re.search(r"\[\[[:.=]", text):
        raise ValueError(f"{text!r} uses a POSIX class, which Python reads as letters")
    rest = _BRACKETS.sub("_", _PUNCTUATION.sub("_", text))
    for wrong, name in _NOT_FOR_BOTH:
        if wrong.search(rest):
            raise ValueError(f"{text!r} uses {name}")
    try:
        re.compile(text)
    except re.error as problem:
        raise ValueError(f"{text!r} is not a regular expression: {problem}") from None
    return text


def _setting(text: str) -> str:
    found = parse(text)
    if not isinstance(found, Spelling):
        why = found.summary if isinstance(found, Diagnostic) else "profiles alone have these"
        raise ValueError(f"{text!r} is not in the spelling of --set, such as amdgpu.runpm=0: {why}")
    return text


Sentence = Annotated[StrictStr, AfterValidator(_sentence)]
Range = Annotated[StrictStr, AfterValidator(_range)]
Name = Annotated[StrictStr, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
GfxPattern = Annotated[
    StrictStr,
    like(
        r"gfx[0-9a-f]{1,5}\*|gfx[0-9a-f]{3,5}",
        "a gfx target such as gfx1201, or a pattern such as gfx12*",
    ),
]
Variable = Annotated[StrictStr, like(SAFE_VARIABLE.pattern, "a name of an environment variable")]
Link = Annotated[StrictStr, like(r"https://\S+", "a link that a reader can open")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WorkaroundTable(_Model):
    settings: list[Annotated[StrictStr, AfterValidator(_setting)]] = []
    unset: list[Variable] = []
    steps: list[Sentence] = []
    profile: Annotated[StrictStr, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$|^$")] = ""


class SignatureTable(_Model):
    pattern: Annotated[StrictStr, AfterValidator(_pattern)]
    strength: Literal["specific", "typical", "generic"]
    samples: Annotated[list[StrictStr], Field(min_length=1)]
    name: Name | None = None
    verbatim: StrictBool = False
    beside: Name | None = None

    @model_validator(mode="after")
    def _matches_its_samples(self) -> SignatureTable:
        for sample in self.samples:
            if "\n" in sample or not re.search(self.pattern, sample):
                raise ValueError(f"{self.pattern!r} does not match its sample {sample!r}")
        return self


class KnownIssueFile(_Model):
    """One known issue, schema 1. The file's name is the issue's id."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["fault", "advice", "spelling"]
    title: Annotated[Sentence, Field(max_length=100)]
    summary: Sentence
    gfx: list[GfxPattern] = []
    kernel: Range | None = None
    rocm: Range | None = None
    firmware: Sentence | None = None
    lacks_fix: Name | None = None
    stages: list[Name] = []
    does_not_help: list[Sentence] = []
    cost: Sentence | None = None
    fixed_in: Sentence | None = None
    fixed_kernels: Range | None = None
    fixed_rocm: Range | None = None
    fixed_by: Literal["either", "both"] = "either"
    evidence: Annotated[list[Link], Field(min_length=1)]
    confidence: Literal["confirmed", "reported", "unverified"]
    notes: list[Sentence] = []
    several_gpus: StrictBool = False
    workaround: WorkaroundTable = WorkaroundTable()
    signature: list[SignatureTable] = []

    @model_validator(mode="after")
    def _names_lead_somewhere(self) -> KnownIssueFile:
        names = [s.name for s in self.signature if s.name]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two signatures are called {', '.join(sorted(twice))}")
        wanted = [*self.stages, *(s.beside for s in self.signature if s.beside)]
        unknown = sorted(set(wanted) - set(names))
        if unknown:
            raise ValueError(f"no signature is called {', '.join(unknown)}")
        if any(s.beside == s.name and s.beside for s in self.signature):
            raise ValueError("a signature cannot stand beside itself")
        return self

    @model_validator(mode="after")
    def _a_cure_has_its_price(self) -> KnownIssueFile:
        if (self.workaround.settings or self.workaround.steps) and not self.cost and self.kind == "fault":
            raise ValueError("a workaround has a cost; write None. where there really is none")
        if self.fixed_by == "both" and not (self.fixed_rocm and (self.fixed_kernels or self.lacks_fix)):
            raise ValueError("fixed_by = both needs to say which kernels and which ROCm carry their half")
        return self


def mistakes(document: dict[str, Any]) -> list[str]:
    """All that is wrong with a file, as `key: what`; empty where nothing is."""
    try:
        KnownIssueFile.model_validate(document)
    except ValidationError as problem:
        return [f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in problem.errors()]
    return []
