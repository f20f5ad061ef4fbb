"""The documents that --json prints, as models: `rocmcfg schema` prints their schema, and tests hold every
command's real output against them. They are a contract: a change here raises `SCHEMA_VERSION`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from rocmcfg.cli.doctor_document import DoctorDocument
from rocmcfg.cli.document_base import Document, FailureDocument
from rocmcfg.cli.document_base import Model as _Model
from rocmcfg.cli.document_models import Models
from rocmcfg.cli.explain_document import ExplainDocument
from rocmcfg.cli.lint_document import LintDocument
from rocmcfg.knowledge import profile_json_schema
from rocmcfg.knowledge.issue_schema import KnownIssueFile
from rocmcfg.knowledge.profile_schema import ProfileFile
from rocmcfg.model import state
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Facts, PyTorch
from rocmcfg.model.report import CheckStatus, VerificationReport
from rocmcfg.state.inventory import SetParameter
from rocmcfg.workflow.status import Status, Unnecessary
from rocmcfg.workflow.trying import Standing

_TITLES = {VerificationReport: "VerifyDocument", Status: "StatusDocument", Standing: "TrialOnRecord"}
_TEXTS = {
    VerificationReport: (
        "`trial` is the transaction of the trial that was checked; null where it was what is applied."
    ),
    PyTorch: """`rocm` is the release whose libraries it brings, `path` the file that says so.""",
    Facts: """`memory` in bytes.""",
    SetParameter: """`overridden`: the files whose value loses against that of `source`.""",
    Unnecessary: """`command` applies the same again, which asks every condition anew and drops it.""",
    Standing: """
    `until`: when it confirms itself (ISO 8601, UTC), if all is well then; null where it does not.
    `waits` is false where the boot loader lost it before its boot. `withheld` is why it did not confirm
    itself, and empty also where only root can tell.""",
}
_MODELS = Models(_TITLES, _TEXTS, (CheckStatus,))
_Skipped: Any = _MODELS.of(state.Skipped)


def _document(noun: type) -> type[BaseModel]:
    first = {"schema_version": Literal[1], "command": str, "diagnostics": _MODELS.json(list[Diagnostic])}
    return _MODELS.of(noun, first)


class Change(_Model):
    path: str
    kind: Literal["create", "modify", "remove"]
    before: str | None
    after: str | None
    diff: str
    reason: str


class ToolChange(_Model):
    """Something that a program changes and that is not a file of ours."""

    tool: str
    kind: Literal["modify"]
    before: str
    after: str
    diff: str
    reason: str


class TrialPlan(_Model):
    """`arguments` is all that the one boot carries, `confirm_after` in seconds after its begin."""

    arguments: list[str]
    confirm_after: int | None
    health_check: str


class Activation(_Model):
    tool: str
    argv: list[str]
    reason: str
    state: Literal["planned", "done", "left_to_user", "skipped"]


class Setting(_Model):
    setting: str
    value: str | None
    parameter: str
    target: Literal["cmdline", "modprobe", "environment"]
    outcome: Literal["applied", "adopted", "overridden"]
    current: str | None
    source: str
    because: str
    decision: str
    evidence: list[str]
    cost: str
    confidence: str
    location: str


class CommandLine(_Model):
    before: list[str]
    after: list[str]


class PlanDocument(Document):
    """Of `plan`, `apply` and `confirm`. `trial` is null where the plan is for good."""

    profiles: list[str]
    changes: list[Change | ToolChange]
    activations: list[Activation]
    settings: list[Setting]
    skipped: list[_Skipped]
    command_line: CommandLine | None
    boot_backend: str
    reboot_required: bool
    transaction: int | None
    trial: TrialPlan | None


class UndoneDocument(Document):
    """Of `rollback`, `recover` and `reject`."""

    transactions: list[int]
    changes: list[Change]
    activations: list[Activation]
    reboot_required: bool


class TrialEvidence(_Model):
    """What there is of a boot that was not confirmed: `text` says it in a sentence, `lines` are its last."""

    source: Literal["journal", "pstore", "none"]
    boot_id: str
    text: str
    lines: list[str]


class PastTrial(_Model):
    """`withheld`: why it did not confirm itself."""

    outcome: Literal["armed", "running", "over", "confirmed", "not_confirmed", "not_tried", "rejected"]
    evidence: TrialEvidence | None
    withheld: list[str]


class Transaction(_Model):
    transaction: int
    time: str
    user: str
    profiles: list[str]
    settings: list[str]
    files: list[str]
    state: Literal["committed", "rolled_back", "unfinished"]
    trial: PastTrial | None


class HistoryDocument(Document):
    transactions: list[Transaction]


class ProfileBrief(_Model):
    name: str
    summary: str
    gfx: list[str]
    extends: str
    use: Literal["auto", "named", "diagnosis"]
    location: str
    shipped: bool


class ProfileListDocument(Document):
    profiles: list[ProfileBrief]


class ProfileParameter(_Model):
    """What the user gives a profile; `within` is "memory" where the amount must fit into the host's, and
    "gpus" where it is a number of GPUs of the host."""

    name: str
    summary: str
    unit: str
    min: int
    max: int | None
    within: Literal["", "memory", "gpus"]


class ProfileShowDocument(Document):
    profile: ProfileBrief
    parameters: list[ProfileParameter]
    settings: list[Setting]
    skipped: list[_Skipped]
    notes: list[str]


class ProfileValidateDocument(Document):
    valid: bool


class ProfileNewDocument(Document):
    path: str


class ReportDocument(Document):
    """`report` is the Markdown, `bundle` the file that was packed besides."""

    report: str
    bundle: str | None


class EnvDocument(Document):
    """`text` where the variables were printed, `path` where they were written or removed."""

    variables: dict[str, str] | None = None
    text: str | None = None
    path: str | None = None
    removed: bool | None = None


DOCUMENTS: dict[str, type[BaseModel]] = {
    "failure": FailureDocument,
    "plan": PlanDocument,
    "apply": PlanDocument,
    "confirm": PlanDocument,
    "reject": UndoneDocument,
    "verify": _document(VerificationReport),
    "rollback": UndoneDocument,
    "recover": UndoneDocument,
    "history": HistoryDocument,
    "status": _document(Status),
    "profile list": ProfileListDocument,
    "profile show": ProfileShowDocument,
    "profile validate": ProfileValidateDocument,
    "profile new": ProfileNewDocument,
    "explain": ExplainDocument,
    "report": ReportDocument,
    "lint": LintDocument,
    "doctor": DoctorDocument,
    "env": EnvDocument,
    "check-kernel": Document,
    "watch-trial": Document,
    "profile-file": ProfileFile,
    "known-issue": KnownIssueFile,
}


def schemas() -> dict[str, Any]:
    known = {name: model.model_json_schema(by_alias=True) for name, model in DOCUMENTS.items()}
    return {**known, "profile-file": profile_json_schema.document()}
