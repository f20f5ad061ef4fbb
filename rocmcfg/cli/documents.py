"""The documents that --json prints: `rocmcfg schema` prints their schemas, and tests hold every command's
real output against them. They are a contract: a change here raises `SCHEMA_VERSION`.

What a document holds is listed beside its noun (`rocmcfg.model.published`). Here stands which noun is which
document, and what the schemas call and say of those that are not clear by themselves.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from rocmcfg.cli import profile
from rocmcfg.cli.doctor import ReportDocument
from rocmcfg.cli.rollback import HistoryDocument
from rocmcfg.doctor.reading.segments import LogRead
from rocmcfg.host.files import read_own_file
from rocmcfg.knowledge.compiled import PACKAGE
from rocmcfg.knowledge.issue_schema import KnownIssueFile
from rocmcfg.knowledge.profile_schema import ProfileFile
from rocmcfg.lint.remark import Finding
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.plan import FileChange, SettingRow
from rocmcfg.model.profile import Profile
from rocmcfg.model.published import entries, is_text
from rocmcfg.model.state import CheckStatus, VerificationReport
from rocmcfg.records.steps import Evidence
from rocmcfg.transaction.undo import Undo
from rocmcfg.workflow import sharing
from rocmcfg.workflow.aftermath import HostAfter
from rocmcfg.workflow.diagnosing import Diagnosis, Found, IssuesHere
from rocmcfg.workflow.drafting import Drafted
from rocmcfg.workflow.explaining import Explained
from rocmcfg.workflow.linting import Linted, Proposal
from rocmcfg.workflow.planning import Planned
from rocmcfg.workflow.rendering import Rendered
from rocmcfg.workflow.status import Status


class Document(NamedTuple):
    """What every document has."""


class FailureDocument(NamedTuple):
    """Of a command that stopped. `outcome` is how the host is: untouched, back as it was, changed all the
    same, or left in the middle until `rocmcfg recover` has run."""

    outcome: HostAfter


_TITLES: dict[type, str] = {
    sharing.Added: "KnowledgeAdded",
    sharing.Checked: "KnowledgeCheckDocument",
    Drafted: "KnowledgeNewDocument",
    sharing.Exported: "KnowledgeExportDocument",
    sharing.Installed: "KnowledgeInstallDocument",
    Evidence: "TrialEvidence",
    Diagnosis: "DoctorDocument",
    Explained: "ExplainDocument",
    Finding: "LintFinding",
    FileChange: "Change",
    Found: "Match",
    IssuesHere: "IssuesDocument",
    Linted: "LintDocument",
    Planned: "PlanDocument",
    LogRead: "ReadLog",
    Profile: "ProfileBrief",
    Proposal: "LintProposal",
    SettingRow: "Setting",
    Rendered: "RenderDocument",
    Status: "StatusDocument",
    Undo: "UndoneDocument",
    VerificationReport: "VerifyDocument",
}
_TEXTS: dict[str, str | None] = {
    **{
        noun.__name__: noun.__doc__
        for noun in (Document, profile.EnvDocument, FailureDocument, ReportDocument)
    },
    "AppliedSetting": "In force now, or applied for the next boot. What the log says of it is in `state`.",
    "Bit": "`feature` is empty for a bit that no feature switches.",
    "Caution": "`here` is null where no GPU of the host is known.",
    "Cure": "`settings` in the spelling of --set, without those that are in force already.",
    "ExplainDocument": """
    `meaning` and `verdict` are about the value that was asked about. `next_boot` of a variable is what the
    next login gets.""",
    "Facts": "`memory` in bytes.",
    "LintDocument": """
    `proposals` and `apply_with`, the command that would make the settings, are filled with --fix alone.""",
    "LintFinding": """
    `text` stands at `line` and `column`, which count from 1, the latter in characters. `replacement`
    stands in for it: null where there is none, empty where the token should go. `setting` is for `--set`.""",
    "LogLines": "Lines that differ in numbers only. `more`: counted to `count` and no further.",
    "LogMachine": "On which machine it happened; each `…_source` says who says so.",
    "Match": """
    `score` is 0 to 1; from 0.5 we would tell the user so. `workaround` is null where nothing helps, or
    what helps is in force.""",
    "OnKernel": "`present` is null where it depends on how the kernel was built or cannot be told.",
    "PastTrial": "`withheld`: why it did not confirm itself.",
    "ProfileParameter": """
    What the user gives a profile; `within` is "memory" where the amount must fit into the host's, and
    "gpus" where it is a number of GPUs of the host.""",
    "PlanDocument": "Of `plan`, `apply` and `confirm`. `trial` is null where the plan is for good.",
    "PyTorch": "`rocm` is the release whose libraries it brings, `path` the file that says so.",
    "ReadLog": "`size` in bytes, unpacked.",
    "Reason": "`met` is null where it cannot be told.",
    "SetParameter": "`overridden`: the files whose value loses against that of `source`.",
    "ToolChange": "Something that a program changes and that is not a file of rocmcfg.",
    "TrialEvidence": (
        "What there is of a boot that was not confirmed: `text` says it in a sentence, `lines` are its last."
    ),
    "TrialOnRecord": """
    `until`: when it confirms itself (ISO 8601, UTC), if all is well then; null where it does not.
    `waits` is false where the boot loader lost it before its boot. `withheld` is why it did not confirm
    itself, and empty also where only root can tell.""",
    "TrialPlan": "`arguments` is all that the one boot carries, `confirm_after` in seconds after its begin.",
    "UndoneDocument": "Of `rollback`, `recover` and `reject`.",
    "Unnecessary": "`command` applies the same again, which asks every condition anew and drops it.",
    "VerifyDocument": (
        "`trial` is the transaction of the trial that was checked; null where it was what is applied."
    ),
}


_NOUNS: dict[str, type] = {
    "failure": FailureDocument,
    "plan": Planned,
    "apply": Planned,
    "confirm": Planned,
    "reject": Undo,
    "verify": VerificationReport,
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
    "knowledge check": sharing.Checked,
    "knowledge new": Drafted,
    "knowledge export": sharing.Exported,
    "knowledge install": sharing.Installed,
    "env": profile.EnvDocument,
    "render": Rendered,
    "check-kernel": Document,
    "watch-trial": Document,
}
# The fields that every document has before those of its noun.
_FIRST: dict[str, Any] = {"schema_version": Literal[1], "command": str, "diagnostics": tuple[Diagnostic, ...]}


def schemas() -> dict[str, Any]:
    known = {name: model.model_json_schema(by_alias=True) for name, model in DOCUMENTS.items()}
    return {**known, "profile-file": json.loads(read_own_file(f"{PACKAGE}/knowledge/profile.schema.json"))}


_MADE: dict[type, type[BaseModel]] = {}


def _model(noun: type, first: Mapping[str, Any] | None = None) -> type[BaseModel]:
    """The model of what a noun publishes, made once. `first`: the types of fields before its own."""
    if noun not in _MADE:
        title = _TITLES.get(noun, noun.__name__)
        fields: dict[str, Any] = {name: (_json(kind), ...) for name, kind in (first or {}).items()}
        fields |= _fields(noun)
        _MADE[noun] = create_model(
            title, __config__=ConfigDict(extra="forbid"), __doc__=_TEXTS.get(title), **fields
        )
    return _MADE[noun]


def _fields(noun: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, path, optional in entries(noun) or ():
        kind = _type_at(noun, path)
        found |= {name: (_json(kind), None if optional else ...)} if name else _fields(kind)
    return found


def _json(kind: Any) -> Any:
    """The type that a value of this type has in a document."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return Union[tuple(_json(one) for one in arguments)]  # noqa: UP007  # of a computed list
    if origin in (tuple, list, Sequence):
        return list[_json(arguments[0])]  # type: ignore[misc]  # mypy takes it for an annotation
    if origin in (dict, Mapping):
        return dict[str, _json(arguments[1])]  # type: ignore[misc]
    if not isinstance(kind, type) or kind is CheckStatus:  # which the schema defines once and refers to
        return kind
    if issubclass(kind, Enum):
        return Literal[tuple(member.value for member in kind)]
    if is_text(kind):
        return str
    return kind if entries(kind) is None else _model(kind)


def _type_at(kind: Any, path: Sequence[str]) -> Any:
    """The type of what `encode` finds at the path."""
    if not path:
        return kind
    arguments = get_args(kind)
    if get_origin(kind) is tuple:
        return tuple[_type_at(arguments[0], path), ...]  # type: ignore[misc]
    if type(None) in arguments:
        (given,) = (one for one in arguments if one is not type(None))
        found = _type_at(given, path)
        return found if type(None) in get_args(found) else found | None
    attribute = getattr(kind, path[0], None)
    if isinstance(attribute, property):
        return _type_at(get_type_hints(attribute.fget)["return"], path[1:])
    return _type_at(get_type_hints(kind)[path[0]], path[1:])


DOCUMENTS: dict[str, type[BaseModel]] = {
    **{name: _model(noun, _FIRST) for name, noun in _NOUNS.items()},
    "profile-file": ProfileFile,
    "known-issue": KnownIssueFile,
}
