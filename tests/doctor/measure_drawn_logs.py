"""Measures `rocmcfg doctor` on logs drawn from public threads, against answers written before any run.

A script, no test: `python3 -m tests.doctor.measure_drawn_logs` prints the first answer to each log of
drawn.toml, or of the collection that is named after it (drawn2.toml), and the counts that need no
judgement: the first answer's layer, the known issue that is told first, silence, and healthy logs accused.
Whether a step helps, only a person can judge: DRAWN-FIRST-RUN.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import tomllib

_HERE = Path(__file__).parent
_TOLD = 0.5  # the score from which an issue is told as the cause

Row = dict[str, Any]


class Answer(NamedTuple):
    """What is told first of a log. `layer` is empty for an issue: its first fault class has it."""

    name: str
    layer: str
    text: str
    accuses: bool


def _doctor(log: Row, directory: Path) -> Row:
    file = directory / f"{log['id']}.log"
    file.write_text(log["text"], "utf-8")
    root = directory / "root"
    (root / "etc").mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "rocmcfg", "doctor", "--log", str(file), "--root", str(root), "--json"]
    ran = subprocess.run([*command, *log.get("machine", [])], capture_output=True, text=True, check=False)
    document: Row = json.loads(ran.stdout)
    return document


def _first(document: Row) -> Answer | None:
    told = [match for match in document["matches"] if match["score"] >= _TOLD]
    faults: list[Row] = document["faults"]
    layer = faults[0]["layer"] if faults else ""
    if told:
        issue = told[0]
        workaround = issue["workaround"] or {"settings": [], "steps": []}
        steps = [*workaround["settings"], *workaround["steps"]]
        text = f"{issue['title']} ({issue['score']})\n    step: {' / '.join(steps)}"
        return Answer(issue["issue"], layer, text, accuses=True)
    if faults:
        fault = faults[0]
        accuses = any(each["severity"] != "note" for each in faults)
        return Answer(fault["id"], layer, f"{fault['title']}\n    step: {fault['step']}", accuses)
    return None


def _verdicts(log: Row, answer: Answer | None) -> list[str]:
    if log["kind"] == "healthy":
        return ["healthy", *(["healthy accused"] if answer is not None and answer.accuses else [])]
    verdicts = ["fault"]
    if answer is None:
        verdicts.append("silent")
    elif answer.layer in log["layers"]:
        verdicts.append("layer right")
    if log.get("issue"):
        verdicts.append("issue expected")
        if answer is not None and answer.name == log["issue"]:
            verdicts.append("issue first")
    return verdicts


def main() -> None:
    """Print the first answer to each log of a collection, and the counts."""
    parser = argparse.ArgumentParser(description="Measure rocmcfg doctor on a collection of drawn logs.")
    parser.add_argument("collection", nargs="?", default="drawn.toml", help="a file of this directory")
    collection: Path = _HERE / parser.parse_args().collection
    logs: list[Row] = tomllib.loads(collection.read_text("utf-8"))["log"]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        for log in logs:
            answer = _first(_doctor(log, Path(directory)))
            verdicts = _verdicts(log, answer)
            counts.update(verdicts)
            shown = "nothing" if answer is None else f"{answer.name} [{answer.layer}] {answer.text}"
            print(f"{log['id']}: {', '.join(verdicts)}\n  {shown}")
    print()
    for verdict, count in sorted(counts.items()):
        print(f"{count:4}  {verdict}")


if __name__ == "__main__":
    main()
