"""The documents that --json prints, as models: `rocmcfg schema` prints their schema, and tests hold every
command's real output against them. They are a contract: a change here raises `SCHEMA_VERSION`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from rocmcfg.cli.doctor_document import DoctorDocument
from rocmcfg.cli.document_base import Document, FailureDocument
from rocmcfg.cli.document_base import Model as _Model
from rocmcfg.cli.explain_document import ExplainDocument
from rocmcfg.cli.lint_document import LintDocument
from rocmcfg.knowledge import profile_json_schema
from rocmcfg.knowledge.issue_schema import KnownIssueFile
from rocmcfg.knowledge.profile_schema import ProfileFile
from rocmcfg.model.report import CheckStatus


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


class Skipped(_Model):
    setting: str
    reason: str


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
    skipped: list[Skipped]
    command_line: CommandLine | None
    boot_backend: str
    reboot_required: bool
    transaction: int | None
    trial: TrialPlan | None


class Check(_Model):
    name: str
    target: str
    desired: str | None
    configured: str | None
    running: str | None
    status: CheckStatus
    source: str
    detail: str


class VerifyDocument(Document):
    """`trial` is the transaction of the trial that was checked; null where it was what is applied."""

    status: Literal["in_effect", "pending", "differences", "nothing_applied"]
    profiles: list[str]
    transaction: int | None
    trial: int | None
    checks: list[Check]


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


class Os(_Model):
    id: str
    name: str
    version: str


class Kernel(_Model):
    release: str
    version: str
    driver: Literal["module", "builtin", "absent"]
    dkms: bool
    running: bool


class Gpu(_Model):
    gfx: str | None
    name: str
    source: Literal["kfd", "ip_discovery", "pci"]
    pci_id: str
    address: str
    node: int | None
    integrated: bool


class BootChain(_Model):
    loader: str | None
    supported: bool
    evidence: list[str]
    candidates: list[str]
    initramfs: list[str]


class PyTorch(_Model):
    """`rocm` is the release whose libraries it brings, `path` the file that says so."""

    version: str
    rocm: str | None
    path: str


class Facts(_Model):
    """`memory` in bytes."""

    os: Os
    running_kernel: str
    kernels: list[Kernel]
    gpus: list[Gpu]
    rocm: str | None
    pytorch: list[PyTorch]
    memory: int | None
    boot_chain: BootChain
    container: str


class SetParameter(_Model):
    """`overridden`: the files whose value loses against that of `source`."""

    name: str
    next_boot: str | None
    source: str
    running: str | None
    overridden: list[str]


class Unnecessary(_Model):
    """`command` applies the same again, which asks every condition anew and drops it."""

    setting: str
    reason: str
    command: str


class TrialOnRecord(_Model):
    """`until`: when it confirms itself (ISO 8601, UTC), if all is well then; null where it does not.
    `waits` is false where the boot loader lost it before its boot. `withheld` is why it did not confirm
    itself, and empty also where only root can tell."""

    transaction: int
    stage: Literal["armed", "running", "over"]
    profiles: list[str]
    settings: list[str]
    arguments: list[str]
    confirm_after: int | None
    health_check: str
    until: str | None
    waits: bool
    withheld: list[str]


class StatusDocument(Document):
    facts: Facts
    profiles: list[str]
    transaction: int | None
    status: Literal["in_effect", "pending", "differences", "nothing_applied"]
    reboot_required: bool
    suggested_profiles: list[str]
    parameters: list[SetParameter]
    issues: list[str]
    unnecessary: list[Unnecessary]
    trial: TrialOnRecord | None


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
    skipped: list[Skipped]
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
    "verify": VerifyDocument,
    "rollback": UndoneDocument,
    "recover": UndoneDocument,
    "history": HistoryDocument,
    "status": StatusDocument,
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
