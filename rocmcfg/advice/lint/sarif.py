"""Write the findings of lint as SARIF 2.1.0, the format of code scanning. Pure.

A result has a fingerprint of the file, the class and the text, and the number of such results before it in
the file, so that a result keeps its identity when lines above it change.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from rocmcfg.advice.lint.remark import CLASSES, Finding
from rocmcfg.knowledge import catalogue
from rocmcfg.model.diagnostic import Diagnostic, Severity
from rocmcfg.model.regex import regex

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "note": "recommendation"}
_BASE = "%SRCROOT%"  # the name that code scanning gives to the root of the checkout
_PLACE = regex(r"(.+?):([1-9][0-9]*)(?::([1-9][0-9]*))?")  # of a diagnostic
_STDIN = "stdin"  # the path of a text without a file


def sarif(
    findings: Sequence[Finding],
    problems: Sequence[Diagnostic],
    *,
    folder: str,
    version: str,
    address: str,
) -> str:
    """Return the findings as a SARIF log. Paths below `folder` become relative. `address` is the page that
    explains the classes."""
    rules = [_rule(id, address) for id in CLASSES]
    driver = {
        "name": "rocmcfg",
        "version": version,
        "semanticVersion": version,
        "informationUri": address.partition("#")[0],
        "rules": rules,
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The folder in which rocmcfg ran."}}},
        "invocations": [_invocation(problems, folder)],
        "results": list(_results(findings, folder)),
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(id: str, address: str) -> dict[str, Any]:
    severity, summary, _ = catalogue.diagnostics()[id]
    level = _LEVELS[Severity(severity.partition(" ")[0])]
    name = CLASSES[id]
    explanation = summary.removeprefix(f"{name.replace('_', ' ')}: ")
    text = f"{explanation[0].upper()}{explanation[1:]}."
    help = f"{text} `rocmcfg explain NAME` says what a setting does, and `rocmcfg lint --fix FILE` proposes "
    help += f"what to write instead. A line that contains `rocmcfg: ignore` is skipped. See {address}."
    return {
        "id": id,
        "name": "".join(word.capitalize() for word in name.split("_")),
        "shortDescription": {"text": name.replace("_", " ").capitalize()},
        "fullDescription": {"text": text},
        "help": {"text": help.replace("`", '"'), "markdown": help},
        "helpUri": address,
        "defaultConfiguration": {"level": level},
        "properties": {"problem.severity": _PROBLEMS[level], "precision": "high", "tags": ["amdgpu", name]},
    }


def _results(findings: Iterable[Finding], folder: str) -> Iterable[dict[str, Any]]:
    indexes = {id: index for index, id in enumerate(CLASSES)}
    before: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        remark, identity = finding.remark, (finding.file, finding.remark.id, finding.text)
        before[identity] += 1
        digest = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        location = {"artifactLocation": _artifact(finding.file, folder), "region": _region(finding)}
        result: dict[str, Any] = {
            "ruleId": remark.id,
            "ruleIndex": indexes[remark.id],
            "level": _LEVELS[remark.severity],
            "message": {"text": _message(finding)},
            "locations": [{"physicalLocation": location}],
            "partialFingerprints": {"rocmcfg/v1": f"{digest}:{before[identity]}"},
        }
        if finding.spelt.text:
            replacement = {
                "deletedRegion": location["region"],
                "insertedContent": {"text": _printable(finding.spelt.text)},
            }
            change = {"artifactLocation": location["artifactLocation"], "replacements": [replacement]}
            result["fixes"] = [
                {
                    "description": {"text": f"Write {_printable(finding.spelt.text)}"},
                    "artifactChanges": [change],
                }
            ]
        yield result


def _message(finding: Finding) -> str:
    remark = finding.remark
    parts = [f"{remark.summary}.", remark.why]
    if finding.spelt.text is not None:
        parts.append(f"Write {finding.spelt.text}." if finding.spelt.text else "Remove it.")
    if remark.sources:
        parts.append(f"Source: {remark.source}")
    return _printable(" ".join(filter(None, parts)))


def _region(finding: Finding) -> dict[str, int]:
    """Return the place of the token; the end column is the one behind it."""
    lines = finding.text.split("\n")
    end = len(lines[-1]) + 1 if lines[1:] else finding.column + len(finding.text)
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.line + len(lines) - 1,
        "endColumn": end,
    }


def _artifact(file: str, folder: str) -> dict[str, str]:
    """Return the place of a file: below `folder` by a relative path, else by its absolute path."""
    if file == "-":
        return {"uri": _STDIN}
    path = os.path.normpath(os.path.join(folder, file))
    below = os.path.relpath(path, folder)
    if below.startswith(f"..{os.sep}"):
        return {"uri": f"file://{_quoted(path)}"}
    return {"uri": _quoted(below), "uriBaseId": _BASE}


def _quoted(path: str) -> str:
    return quote(os.fsencode(path))


def _invocation(problems: Iterable[Diagnostic], folder: str) -> dict[str, Any]:
    notifications = [
        {
            "descriptor": {"id": problem.id},
            "level": _LEVELS[problem.severity],
            "message": {"text": _printable(f"{problem.summary}.")},
            **_at(problem.location, folder),
        }
        for problem in problems
    ]
    failed = any(problem.severity is Severity.ERROR for problem in problems)
    return {"executionSuccessful": not failed, "toolExecutionNotifications": notifications}


def _at(location: str, folder: str) -> dict[str, Any]:
    if not location:
        return {}
    place = _PLACE.fullmatch(location)
    file, numbers = (place[1], (place[2], place[3])) if place else (location, ())
    region = dict(zip(("startLine", "startColumn"), map(int, filter(None, numbers)), strict=False))
    physical: dict[str, Any] = {"artifactLocation": _artifact(file, folder)}
    return {"locations": [{"physicalLocation": physical | ({"region": region} if region else {})}]}


def _printable(text: str) -> str:
    """Return a text without the halves of characters that a file of another encoding leaves."""
    return text.encode("utf-8", "replace").decode()
