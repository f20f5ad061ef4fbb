"""Draft a known issue for a fault that doctor does not know, as a file for this host or for others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.advice.report.redact import Redactor, redactor_of
from rocmcfg.host.files import read_own_file
from rocmcfg.host.view import HostView
from rocmcfg.knowledge import catalogue
from rocmcfg.knowledge.compiled import PACKAGE
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, fail, info
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import parse
from rocmcfg.records.receipt import load_quietly
from rocmcfg.workflow.diagnosing import Diagnosis, diagnose

HEALTHY = ("noise", "passing-states", "rdna3-desktop", "rocm-tools", "strix-apu")  # logs of healthy machines
_MOST = 8  # signatures; more of them would not identify the fault any better
_DEVICE = regex(r"^(?:\[drm[^] ]*(?: \[\w+\])?\] |amdgpu(?: [0-9a-f:.]+)?: |kfd(?: [0-9a-f:.]+)?: )+")
_SPECIAL = regex(r"[][\\(){}.*+?^$|]")
# Parts of an escaped text that differ each time: addresses, names of processes and files, numbers; and text
# that a redaction inserted, or that is not ASCII.
_VARYING = (
    (re.compile(r"<[a-z]+-[0-9]+>|[^ -~]"), ".*"),
    (re.compile(r"\b(process|thread|task) [^ ]+"), r"\1 [^ ]+"),
    (re.compile(r"0x[0-9a-fA-F]+"), "0x[0-9a-fA-F]+"),
    (re.compile(r"\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\\.[0-7]\b"), "[0-9a-f:.]+"),
    (re.compile(r"(?<!\w)[0-9]+\b(?!-9a)"), "[0-9]+"),
)


class Drafted(NamedTuple):
    """A draft of a known issue. `text` is the content of the file, `patterns` are those in it."""

    text: str
    patterns: tuple[str, ...]


def draft(
    view: HostView,
    paths: Sequence[str],
    options: Options,
    cure: Sequence[str],
    environment: Mapping[str, str],
    progress: Callable[[str], None],
) -> tuple[Drafted, tuple[Diagnostic, ...]]:
    """Draft a known issue from what no issue explains in these logs. `cure` is in the spelling of --set; if
    it is empty, the applied settings are used. Raise RocmcfgError if the logs hold nothing unknown."""
    for wrong in map(parse, cure):
        if isinstance(wrong, Diagnostic):
            raise RocmcfgError(wrong)
    diagnosis = diagnose(view, paths, options, environment, progress)
    redact = redactor_of(view, environment)
    for line in diagnosis.unknown:
        redact.learn(line.text)
    healthy = b"\n".join(read_own_file(f"{PACKAGE}/knowledge/data/healthy/{name}.log") for name in HEALTHY)
    remarks: list[Diagnostic] = []
    signatures: dict[str, str] = {}
    for line in diagnosis.unknown:
        sample = " ".join(redact(line.text).split())
        pattern = pattern_of(sample)
        if re.search(pattern, healthy.decode()):
            summary = f"healthy machines print this too, so it proves nothing: {sample}"
            remarks.append(info("RC8008", summary, hint="use a log that contains only the fault"))
        elif len(signatures) < _MOST:
            signatures.setdefault(pattern, sample)
    if not signatures:
        named = [finding.match.issue.id for finding in diagnosis.candidates if finding.match.told]
        summary = "these logs contain no unknown error"
        detail = f"their errors are explained by {', '.join(named)}" if named else ""
        raise fail(
            "RC8009", summary, detail=detail, hint="use a log that contains the fault: --from-log FILE"
        )
    cures = list(cure) or _applied(view)
    return Drafted(_file(diagnosis, signatures, cures, redact), tuple(signatures)), tuple(remarks)


def pattern_of(sample: str) -> str:
    """Return a pattern that finds the line again if times, numbers, names and devices differ. Python and
    `grep -E` both understand it."""
    text = _SPECIAL.sub(r"\\\g<0>", _DEVICE.sub("", sample))
    for form, instead in _VARYING:
        text = form.sub(instead, text)
    return re.sub(r"(?:\.\*)+", ".*", text)


def _applied(view: HostView) -> list[str]:
    receipt = load_quietly(view)
    return [setting.spelled for setting in receipt.settings] if receipt else []


def _file(diagnosis: Diagnosis, signatures: Mapping[str, str], cure: Sequence[str], redact: Redactor) -> str:
    where, (first, *_) = diagnosis.machine, signatures.values()
    title = f"{', '.join(where.gfx) or 'Any GPU'}: {_DEVICE.sub('', first)}"[:100].strip()
    versions = {"kernel": where.kernel, "ROCm": where.rocm}
    seen = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    rows = [
        f"# Seen with {redact(seen) or 'an unknown kernel and ROCm'}. Replace the text in <> with your own.",
        "schema = 1",
        'kind = "fault"',
        f"title = {_text(title)}",
        'summary = "<What goes wrong and why, in your own words.>"',
        f"gfx = {_text(where.gfx)}",
        'cost = "<What the cure costs.>"',
        'fixed_in = "Open."',
        'evidence = ["https://<where-it-is-reported>"]',
        f'confidence = "{"reported" if cure else "unverified"}"',
        "",
        "[workaround]",
        f"settings = {_text(cure)}",
    ]
    for pattern, sample in signatures.items():
        every = ((issue.id, of.samples) for issue in catalogue.known_issues() for of in issue.signatures)
        sharing = sorted({id for id, samples in every if any(re.search(pattern, each) for each in samples)})
        rows += ["", *(f"# also a signature of {issue}" for issue in sharing), "[[signature]]"]
        rows += [f"pattern = {_text(pattern)}", f'strength = "{"generic" if sharing else "typical"}"']
        rows += [f"samples = {_text([sample])}"]
    return "\n".join([*rows, ""])


def _text(value: str | Sequence[str]) -> str:
    """Return a value in TOML, whose basic strings and arrays of strings are those of JSON (toml.io,
    v1.0.0)."""
    return json.dumps(value, ensure_ascii=False)
