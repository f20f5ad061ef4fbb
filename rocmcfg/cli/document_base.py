"""What the models of all --json documents are made from."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Diagnostic(Model):
    id: str
    severity: Literal["error", "warning", "info"]
    summary: str
    detail: str
    location: str
    hint: str


class Document(Model):
    """What every document has, also that of a failure, which has nothing else."""

    schema_version: Literal[1]
    command: str
    diagnostics: list[Diagnostic]
