"""Figures of what rocmcfg knows, and of how often doctor is right, for docs/explanation/knowledge.md.

What patterns were made from is told apart from what they were not."""

from __future__ import annotations

import io
import re
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rocmcfg.knowledge import catalogue, toml
from rocmcfg.model.catalogue import matches
from rocmcfg.model.issue import KnownIssue
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "rocmcfg/knowledge/data"
PAGE = REPOSITORY / "docs/explanation/knowledge.md"
DKMS = REPOSITORY / "tests/catalogue/sources/dkms.toml"
HELD_OUT = REPOSITORY / "tests/doctor/held_out.toml"
TOLD = 0.5  # from this score on doctor says so


Case = tuple[str, Sequence[str], str]  # the text of a log, options that name its machine, and the issue
_PAGE = """\
# What rocmcfg knows, in figures

This page is for readers who want to know how far they can trust the data and `doctor`. `make knowledge`
writes it from the shipped data, and from `doctor`'s answers about the logs below, on a host that has none of
these logs. `make sources` automatically checks kernel parameters (against `modinfo` of each build), texts of
the kernel, ids of GPUs, and names of variables. Only people check summaries, cures and costs.

| what | how many | |
|---|---|---|
{rows}

## Doctor

`doctor` names an issue if its score is 0.5 or higher. The public threads are too few to show a rate; they
show where `doctor` fails. If a wrong answer about a thread changed the data, the thread is no longer held out
and moves to another row, so the remaining threads are the easier ones. A better estimate for future logs is
the result before any of the 68 threads changed the data: `doctor` was right on 26 of 35, silent on 29 of 33,
and named a wrong issue 7 times.

| logs | how many | first issue is right | no issue named where none is known | wrong issue named |
|---|---|---|---|---|
{logs}

## AMD's DKMS driver

No package of Debian or Ubuntu contains this driver. {wordings} of its texts, for {issues} known issues, come
from the copies below; a test compares the issues' patterns with them (`tests/catalogue/sources/dkms.toml`).

| driver | read | copy |
|---|---|---|
{drivers}

Not read: {unread}
"""


def page() -> str:
    documents = [toml.loads(path.read_text()) for path in sorted((DATA / "issues").glob("*.toml"))]
    faults = [one for one in documents if one["kind"] == "fault"]
    wordings = [one for document in faults for one in document.get("signature", [])]
    held = sum(bool(one.get("printed_by")) for one in wordings)
    real = sum(any(one.get("verbatim") for one in document.get("signature", [])) for document in faults)
    sure = ", ".join(f"{n} {word}" for word, n in sorted(Counter(f["confidence"] for f in faults).items()))
    known = catalogue.load()
    epochs = sum(len(one.epochs) for one in known.parameters.values())
    rows = [
        f"| known issues | {len(documents)} | each with links as evidence |",
        f"| of these, faults | {len(faults)} | {real} with lines copied from a log; {sure} |",
        f"| faults that settings cure | {sum(map(_settings, faults))} | the others have steps, or no cure |",
        f"| signatures of faults (patterns of log lines) | {len(wordings)} "
        f"| {held} found in kernels or ROCm's libraries, by release |",
        f"| kernel parameters | {len(known.parameters)} | in {epochs} forms over the kernels |",
        f"| environment variables | {len(known.variables)} | |",
        f"| GPU models | {len(known.gpus)} | |",
    ]
    logs: dict[str, list[Case]] = {
        "samples of faults from which the patterns were made": [*samples_of(catalogue.known_issues())],
        "public threads from which no data was made (tests/doctor/held_out.toml)": [*_held_out()],
        "threads of that file that have changed the data since": [*_held_out(taught=True)],
        "healthy machines": [(path.read_text(), (), "") for path in sorted((DATA / "healthy").iterdir())],
    }
    told = []
    with tempfile.TemporaryDirectory() as folder:
        host = debian_grub_host(Path(folder), gfx=None)
        for name, cases in logs.items():
            right, silent, wrong = _judged(host, Path(folder) / "a.log", cases)
            asked = sum(bool(issue) for *_, issue in cases)
            counts = f"{right} of {asked} | {silent} of {len(cases) - asked} | {wrong}"
            told.append(f"| {name} | {len(cases)} | {counts} |")
    return _PAGE.format(rows="\n".join(rows), logs="\n".join(told), **_of_amd())


def _of_amd() -> dict[str, Any]:
    """What was read of AMD's DKMS driver, and what was not."""
    noted = toml.loads(DKMS.read_text())
    rows = []
    for driver in noted["driver"]:
        files, commit = driver.get("files"), driver.get("commit", "")
        parts = sum(one["read"] != "all" for one in files or ())
        whole = "whole, by the reader of `make sources`"
        read = f"{len(files)} files ({parts} of them in part), by hand" if files else whole
        url = f"https://github.com/{driver['repository']}" + (f"/tree/{commit}" if commit else "")
        rows.append(f"| {driver['what']} | {read} | [{driver['repository']}]({url}) |")
    unread = noted["unread"].replace("\n", " ")
    return {
        "wordings": len(noted["message"]),
        "issues": len({id for message in noted["message"] for id in message["lines"]}),
        "drivers": "\n".join(rows),
        "unread": textwrap.fill(unread, 112, initial_indent=" " * 10, break_on_hyphens=False).strip(),
    }


def _settings(document: dict[str, Any]) -> bool:
    cure = document.get("workaround", {})
    return bool(cure.get("settings") or cure.get("unset"))


def samples_of(known: Sequence[KnownIssue]) -> Iterable[Case]:
    for issue in known:
        lines = [sample for one in issue.signatures for sample in one.samples[:1]]
        first = (gpu.gfx for name in issue.gfx for gpu in catalogue.gpu_models() if matches(gpu.gfx, (name,)))
        target = next(first, "")
        machine = ["--gfx", target] if target else []
        for option, versions in (("--kernel", issue.kernel), ("--rocm", issue.rocm)):
            oldest = re.search(r">=([0-9.]+)", versions.text) if versions else None
            machine += [option, oldest[1]] if oldest else []
        if issue.kind == "fault" and lines:
            yield "\n".join(lines), machine, issue.id


def _held_out(taught: bool = False) -> Iterable[Case]:
    for log in toml.loads(HELD_OUT.read_text())["log"]:
        if ("taught" in log) == taught:
            yield log["text"].strip(), log["machine"], log["issue"]


def _judged(host: Path, log: Path, cases: Iterable[Case]) -> tuple[int, int, int]:
    """How often the first one told is right, nothing is told where nothing is known, another is told."""
    right = silent = wrong = 0
    for text, machine, issue in cases:
        log.write_text(f"{text}\n")
        found = rocmcfg("doctor", log, *machine, "--root", host, "--json").document["matches"]
        told = found[0]["issue"] if found and found[0]["score"] >= TOLD else ""
        right += bool(issue) and told == issue
        silent += not issue and not told
        wrong += bool(told) and told != issue
    return right, silent, wrong


if __name__ == "__main__":
    with redirect_stdout(io.StringIO()):
        text = page()
    PAGE.write_text(text)
    print(text)
