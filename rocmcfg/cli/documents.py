"""The documents that --json prints, as models: `rocmcfg schema` prints their schema, and tests hold every
command's real output against them. They are a contract: a change here raises `SCHEMA_VERSION`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

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
    """Of `plan` and `apply`."""

    profiles: list[str]
    changes: list[Change]
    activations: list[Activation]
    settings: list[Setting]
    skipped: list[Skipped]
    command_line: CommandLine | None
    boot_backend: str
    reboot_required: bool
    transaction: int | None


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
    status: Literal["in_effect", "pending", "differences", "nothing_applied"]
    profiles: list[str]
    transaction: int | None
    checks: list[Check]


class UndoneDocument(Document):
    """Of `rollback` and `recover`."""

    transactions: list[int]
    changes: list[Change]
    activations: list[Activation]
    reboot_required: bool


class Transaction(_Model):
    transaction: int
    time: str
    user: str
    profiles: list[str]
    settings: list[str]
    files: list[str]
    state: Literal["committed", "rolled_back", "unfinished"]


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


class ReadLog(_Model):
    """`size` in bytes, unpacked."""

    name: str
    size: int
    complete: bool


class LogMachine(_Model):
    """On which machine it happened; each `…_source` says who says so."""

    gfx: list[str]
    gfx_source: str
    possible_gfx: list[str]
    kernel: str
    kernel_source: str
    rocm: str | None
    rocm_source: str
    dkms: str


class Reason(_Model):
    """`met` is null where it cannot be told."""

    what: str
    met: bool | None
    text: str


class Stages(_Model):
    wanted: list[str]
    seen: list[str]
    in_order: list[str]


class LogLines(_Model):
    """Lines that differ in numbers only. `more`: counted to `count` and no further."""

    log: str
    line: int
    last_line: int
    count: int
    more: bool
    text: str
    strength: Literal["specific", "typical", "generic", ""]


class KernelPart(_Model):
    name: str
    text: str


class KernelName(_Model):
    name: str
    parts: list[KernelPart]


class Cure(_Model):
    """`settings` in the spelling of --set, without those that are in force already."""

    settings: list[str]
    unset: list[str]
    steps: list[str]
    profile: str
    command: str


class InForce(_Model):
    setting: str
    where: str


class AppliedSetting(_Model):
    """Applied by rocmcfg, and not in force when the log was written."""

    setting: str
    state: str


class Match(_Model):
    """`score` is 0 to 1; from 0.5 we would tell the user so. `workaround` is null where nothing helps, or
    what helps is in force."""

    issue: str
    title: str
    kind: Literal["fault", "advice", "spelling"]
    summary: str
    score: float
    confidence: Literal["confirmed", "reported", "unverified"]
    reasons: list[Reason]
    stages: Stages | None
    evidence: list[LogLines]
    kernel_names: list[KernelName]
    workaround: Cure | None
    in_force: list[InForce]
    applied: list[AppliedSetting]
    cost: str
    fixed_in: str
    does_not_help: list[str]
    notes: list[str]
    sources: list[str]


class DoctorDocument(Document):
    logs: list[ReadLog]
    facts: LogMachine
    matches: list[Match]
    unknown: list[LogLines]
    collect: list[str]


DOCUMENTS: dict[str, type[BaseModel]] = {
    "failure": FailureDocument,
    "plan": PlanDocument,
    "apply": PlanDocument,
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
    "profile-file": ProfileFile,
    "known-issue": KnownIssueFile,
}


def schemas() -> dict[str, Any]:
    known = {name: model.model_json_schema(by_alias=True) for name, model in DOCUMENTS.items()}
    return {**known, "profile-file": profile_json_schema.document()}
