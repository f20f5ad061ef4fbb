"""The format of a known-issue file, as pydantic models, for `rocmcfg schema known-issue`.

It must not be loaded where issues are used: `catalogue` reads the files without it. What a JSON Schema cannot
say of their texts is in `issue_rules`, which holds every file against both.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

Name = Annotated[StrictStr, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WorkaroundTable(_Model):
    settings: list[StrictStr] = []
    unset: list[StrictStr] = []
    steps: list[StrictStr] = []
    profile: Annotated[StrictStr, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$|^$")] = ""


class SignatureTable(_Model):
    pattern: StrictStr
    strength: Literal["specific", "typical", "generic"]
    samples: Annotated[list[StrictStr], Field(min_length=1)]
    name: Name | None = None
    verbatim: StrictBool = False
    beside: Name | None = None
    # the series of kernels that print it, of those that `make sources` read; none where other programs do
    printed_by: list[StrictStr] = []


class KnownIssueFile(_Model):
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
    stages: list[Name] = []
    does_not_help: list[StrictStr] = []
    cost: StrictStr | None = None
    fixed_in: StrictStr | None = None
    fixed_kernels: StrictStr | None = None
    fixed_rocm: StrictStr | None = None
    fixed_by: Literal["either", "both"] = "either"
    evidence: Annotated[list[StrictStr], Field(min_length=1)]
    confidence: Literal["confirmed", "reported", "unverified"]
    notes: list[StrictStr] = []
    several_gpus: StrictBool = False
    workaround: WorkaroundTable = WorkaroundTable()
    signature: list[SignatureTable] = []
