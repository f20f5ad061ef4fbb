"""What `rocmcfg doctor --json` prints."""

from __future__ import annotations

from typing import Literal

from rocmcfg.cli.document_base import Document
from rocmcfg.cli.document_base import Model as _Model


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
