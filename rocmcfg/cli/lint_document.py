"""The document of `lint --json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocmcfg.cli.document_base import Document, Model


class LintFinding(Model):
    """`text` stands at `line` and `column`, which count from 1, the latter in characters. `replacement`
    stands in for it: null where there is none, empty where the token should go. `setting` is for `--set`."""

    file: str
    line: int
    column: int
    text: str
    id: str
    kind: str = Field(alias="class")
    severity: Literal["error", "warning", "info"]
    summary: str
    why: str
    replacement: str | None
    setting: str
    source: str


class LintProposal(Model):
    file: str
    diff: str


class LintDocument(Document):
    """`proposals` and `apply_with`, the command that would make the settings, are filled with --fix alone."""

    findings: list[LintFinding]
    proposals: list[LintProposal]
    apply_with: str
