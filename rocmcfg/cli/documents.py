"""The documents that --json prints. `rocmcfg schema` prints their schemas, and tests compare the output of
every command with them. They are a contract: a change here raises `SCHEMA_VERSION`.

This module maps each command to the noun that its document describes. The fields of a document are listed
next to the noun (`rocmcfg.model.shape.published`), and its description is the docstring of the noun's class.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

from pydantic import BaseModel, ConfigDict, create_model

from rocmcfg.advice.fleet.host import Fleet
from rocmcfg.change.transaction.undo import Undo
from rocmcfg.cli import profile
from rocmcfg.cli.crashes import CrashDocument
from rocmcfg.cli.issues import ExportDocument
from rocmcfg.cli.report import ReportDocument
from rocmcfg.cli.rollback import HistoryDocument
from rocmcfg.host.files import read_own_file
from rocmcfg.knowledge.compiled import PACKAGE
from rocmcfg.knowledge.issue_schema import KnownIssueFile
from rocmcfg.knowledge.profile_schema import ProfileFile
from rocmcfg.model.checks import CheckStatus, VerificationReport
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.host_facts import HostFacts
from rocmcfg.model.shape import NamedTuple, entries, is_text, shape, type_of
from rocmcfg.workflow import crashes, sharing
from rocmcfg.workflow.aftermath import HostAfter
from rocmcfg.workflow.diagnosing import Diagnosis, IssuesHere
from rocmcfg.workflow.drafting import Drafted
from rocmcfg.workflow.explaining import Explained
from rocmcfg.workflow.linting import Linted
from rocmcfg.workflow.planning import Planned
from rocmcfg.workflow.rendering import Rendered
from rocmcfg.workflow.running import RunReport
from rocmcfg.workflow.status import Status
from rocmcfg.workflow.taking_over import TakenOver
from rocmcfg.workflow.try_report import ForgottenDocument, TryListDocument, TryReport


class Document(NamedTuple):
    """The fields that every document has."""


class FailureDocument(NamedTuple):
    """A command that failed. `outcome` is the state of the host: untouched, restored, changed anyway, or
    unfinished until `rocmcfg recover` has run."""

    outcome: HostAfter


_NOUNS: dict[str, type] = {
    "failure": FailureDocument,
    "plan": Planned,
    "apply": Planned,
    "take-over": TakenOver,
    "confirm": Planned,
    "reject": Undo,
    "verify": VerificationReport,
    "run": RunReport,
    "try": TryReport,
    "tries list": TryListDocument,
    "tries show": TryReport,
    "tries resume": TryReport,
    "tries forget": ForgottenDocument,
    "rollback": Undo,
    "recover": Undo,
    "history": HistoryDocument,
    "status": Status,
    "profile list": profile.ProfileListDocument,
    "profile show": profile.ProfileShowDocument,
    "profile validate": profile.ProfileValidateDocument,
    "profile new": profile.ProfileNewDocument,
    "explain": Explained,
    "report": ReportDocument,
    "lint": Linted,
    "doctor": Diagnosis,
    "issues": IssuesHere,
    "issues --export": ExportDocument,
    "knowledge check": sharing.Checked,
    "knowledge new": Drafted,
    "knowledge export": sharing.Exported,
    "knowledge install": sharing.Installed,
    "knowledge remove": sharing.Removed,
    "crashes on": crashes.Switched,
    "crashes off": crashes.Switched,
    "crashes list": crashes.Crashes,
    "crashes show": CrashDocument,
    "crashes report": crashes.CrashReport,
    "crashes forget": crashes.Forgotten,
    "facts": HostFacts,
    "fleet": Fleet,
    "env": profile.EnvDocument,
    "render": Rendered,
    "check-kernel": Document,
    "watch-trial": Document,
    "continue-try": Document,
}
# The fields of every document; they come before those of its noun.
_FIRST: dict[str, Any] = {"schema_version": Literal[1], "command": str, "diagnostics": tuple[Diagnostic, ...]}
# With --name-host: the name of the host, and the time in UTC.
_IDENTITY = ("host", "written")
_NAMED = ("failure", "verify", "status", "doctor", "facts")


def schemas() -> dict[str, Any]:
    schemas_by_name = {name: model.model_json_schema(by_alias=True) for name, model in DOCUMENTS.items()}
    return {
        **schemas_by_name,
        "profile-file": json.loads(read_own_file(f"{PACKAGE}/knowledge/profile.schema.json")),
    }


_MADE: dict[type, type[BaseModel]] = {}


def _model(
    noun: type, first: Mapping[str, Any] | None = None, optional: Sequence[str] = ()
) -> type[BaseModel]:
    """Return the model of the fields that a noun publishes; it is made once. `first` are the types of the
    fields before its own, `optional` the names of texts that may be missing."""
    if noun not in _MADE:
        fields: dict[str, Any] = {name: (_json(kind), ...) for name, kind in (first or {}).items()}
        fields |= dict.fromkeys(optional, (str, None))
        fields |= _fields(noun)
        closed = ConfigDict(extra="forbid")
        _MADE[noun] = create_model(noun.__name__, __config__=closed, __doc__=_description(noun), **fields)
    return _MADE[noun]


def _description(noun: type) -> str | None:
    """Return the description of a noun: the docstring of its class, without sentences on fields that are not
    published; None for a docstring that Python generated."""
    description = " ".join((noun.__doc__ or "").split())
    if description.startswith(f"{noun.__name__}("):
        return None
    here = {entry.name for entry in entries(noun) or ()}
    kept = [s for s in re.split(r"(?<=[.;]) ", description) if {*re.findall(r"`(\w+)`", s)} <= here]
    description = " ".join(kept).rstrip(";")
    return description.replace("None", "null").replace("True", "true").replace("False", "false") or None


def _fields(noun: type) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, path, optional in entries(noun) or ():
        kind = _type_at(noun, path)
        fields |= {name: (_json(kind), None if optional else ...)} if name else _fields(kind)
    return fields


def _json(kind: Any) -> Any:
    """Return the type that a value of this type has in a document."""
    described = shape(kind)
    inner = tuple(_json(each) for each in described.inner)
    if described.form == "union":
        return Union[(*inner, None)] if described.optional else Union[inner]  # noqa: UP007  # a computed list
    if described.form == "list":
        return list[inner[0]]  # type: ignore[valid-type]  # mypy takes it for an annotation
    if described.form == "table":
        return dict[str, inner[1]]  # type: ignore[valid-type]
    if described.form == "checked":
        return inner[0]
    if described.form == "choice" and kind is not CheckStatus:  # which the schema defines once and refers to
        return Literal[tuple(described.choices)]
    if described.form == "noun":
        return str if is_text(kind) else _model(kind)
    return kind


def _type_at(kind: Any, path: Sequence[str]) -> Any:
    """Return the type of the value that `encode` finds at the path."""
    if not path:
        return kind
    described = shape(kind)
    if described.form == "list":
        return tuple[_type_at(described.inner[0], path), ...]  # type: ignore[misc]
    if described.optional:
        (part,) = described.inner
        inner = _type_at(part, path)
        return inner if shape(inner).optional else inner | None
    return _type_at(type_of(kind, path[0]), path[1:])


DOCUMENTS: dict[str, type[BaseModel]] = {
    **{name: _model(noun, _FIRST, _IDENTITY if name in _NAMED else ()) for name, noun in _NOUNS.items()},
    "profile-file": ProfileFile,
    "known-issue": KnownIssueFile,
}
