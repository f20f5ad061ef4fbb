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
    """What every document has."""

    schema_version: Literal[1]
    command: str
    diagnostics: list[Diagnostic]


class FailureDocument(Document):
    """Of a command that stopped. `outcome` is how the host is: untouched, back as it was, changed all the
    same, or left in the middle until `rocmcfg recover` has run."""

    outcome: Literal["nothing_changed", "rolled_back", "changed", "recovery_required"]
