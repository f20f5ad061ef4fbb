"""The document of `explain --json`."""

from __future__ import annotations

from typing import Literal

from rocmcfg.cli.document_base import Document, Model


class OnKernel(Model):
    """`present` is null where it depends on how the kernel was built or cannot be told."""

    kernel: str
    present: bool | None
    types: list[str]
    defaults: list[str]
    permission: str
    taints: bool
    asked: bool
    reads_back: str
    verdict: str


class Bit(Model):
    """`feature` is empty for a bit that no feature switches."""

    feature: str
    bit: int
    on: bool
    default: bool
    summary: str


class ProfileUse(Model):
    profile: str
    setting: str


class Meaning(Model):
    value: str
    text: str


class Caution(Model):
    """`here` is null where no GPU of the host is known."""

    values: list[str]
    kind: Literal["inverted", "default", "no_effect", "dangerous", "obsolete", "misread"]
    summary: str
    instead: str
    hardware: str
    kernel: str
    here: bool | None


class Mention(Model):
    issue: str
    title: str
    role: Literal["helps", "does_not_help", "unset"]
    setting: str
    confidence: Literal["confirmed", "reported", "unverified"]
    concerns: bool


class ExplainDocument(Document):
    """`meaning` and `verdict` are about the value that was asked about. `next_boot` of a variable is what the
    next login gets."""

    name: str
    kind: Literal["parameter", "feature", "argument", "variable", "misnomer", "new", "kernel"]
    summary: str
    remarks: list[str]
    instead: str
    values: list[str]
    unit: str
    unset: str
    meaning: str
    verdict: str
    meanings: list[Meaning]
    acts_on: str
    acts_here: bool | None
    gpus: list[str]
    traps: list[Caution]
    kernels: list[OnKernel]
    compared: int | None
    default: int | None
    bits: list[Bit]
    unnamed: int
    issues: list[Mention]
    sources: list[str]
    next_boot: str | None
    source: str
    running: str | None
    profiles: list[ProfileUse]
