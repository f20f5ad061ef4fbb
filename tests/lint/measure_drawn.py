"""Measures `rocmcfg lint` on settings drawn from public files, against answers written before any run.

A script, no test: `python3 -m tests.lint.measure_drawn [DRAWING]` prints the figures, and each miss.
DRAWING is a directory of `tests/lint/data`, `drawn` by default. The texts of `drawn2` stay out of the
repository (its RULE.md says why): each has to lie in its directory `text`, with the SHA-256 of the answers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import tomllib

from tests.support.hosts import debian_grub_host

DATA = Path(__file__).parent / "data"
_ACCUSED = ("take_out", "change")
_SPARED = ("keep", "not_needed")
_PREFIXES = ("amdgpu.", "ttm.", "amdttm.")
_ARGUMENTS = ("iommu", "amd_iommu")

Row = dict[str, Any]


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rocmcfg", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _lint(file: Path, gpu: str) -> Row:
    ran = _run("lint", "--fix", "--json", *(["--gfx", gpu] if gpu else []), file)
    try:
        document: Row = json.loads(ran.stdout)
    except json.JSONDecodeError:
        document = {"verdicts": [], "failed": ran.stderr.strip()[-300:]}
    return document


def _halves(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip("\"' "), value.strip("\"' ")


def _named(row: Row, name: str) -> bool:
    written = re.split(r"[=:,\s]", row["text"].strip("\"'"), maxsplit=1)[0]
    return written == name or (name.startswith(_PREFIXES) and written == name.split(".", 1)[1])


def _rows(document: Row, name: str, value: str) -> list[Row]:
    named = [row for row in document["verdicts"] if _named(row, name)]
    return [row for row in named if _halves(row["text"])[1] == value] or [
        row for row in named if value not in ("", _halves(row["text"])[1]) and value in row["text"]
    ]


def _key(name: str, value: str) -> str:
    if name.startswith(_PREFIXES):
        return f"{name}={value}"
    return f"{'karg' if name in _ARGUMENTS else 'env'}.{name}={value}"


def _kind(fate: str, right: list[str]) -> str:
    if not right or fate in right:
        return "right" if right else "seen, no right known"
    if fate in _ACCUSED and any(r in _SPARED for r in right):
        return "wrong accusation"
    if fate in _SPARED and any(r in _ACCUSED for r in right):
        return "missed"
    return "near"


def _planned(kept: dict[tuple[str, str], list[str]], room: Path) -> list[str]:
    """What `plan --set` refuses, or warns of, although lint keeps it."""
    out: list[str] = []
    hosts: dict[str, Path | None] = {}
    for (gpu, setting), places in sorted(kept.items()):
        if gpu not in hosts:
            try:
                hosts[gpu] = debian_grub_host(room / (gpu or "none"), gfx=gpu or None)
            except (KeyError, ValueError, OSError) as error:
                print(f"no host with {gpu}: {error!r}")
                hosts[gpu] = None
        host = hosts[gpu]
        if host is None or "$" in setting:
            continue
        ran = _run("plan", "--set", setting, "--root", host)
        words = " ".join(ran.stderr.split())
        if ran.returncode:
            out.append(f"refused: plan --set {setting} on {gpu or 'no GPU'} ({places[0]}): {words[:260]}")
        elif re.search(r"warning\[", ran.stderr):
            out.append(f"warned: plan --set {setting} on {gpu or 'no GPU'} ({places[0]}): {words[:260]}")
    return out


def _drawn(drawing: str) -> list[tuple[Row, Path]]:
    """Return each entry of the answers with the file of its text; exit where a text is missing or changed."""
    room = DATA / drawing
    drawn = []
    for entry in tomllib.loads((room / "answers.toml").read_text())["file"]:
        file = room / ("text" if "sha256" in entry else "") / entry["file"]
        if not file.is_file():
            sys.exit(f"{file} is missing; {room / 'answers.toml'} says from where it was drawn")
        if entry.get("sha256") not in (None, hashlib.sha256(file.read_bytes()).hexdigest()):
            sys.exit(f"{file} is not the text that was answered: its SHA-256 is another")
        drawn.append((entry, file))
    return drawn


def _proposed(file: Path, gpu: str, document: Row, room: Path) -> list[str]:
    """What lint accuses of its own proposals, and whether the printed `| patch FILE` works."""
    out: list[str] = []
    for proposal in document.get("proposals", []):
        copy = room / file.name
        shutil.copy(file, copy)
        patch = ["patch", "-s", "-p0", str(copy)]
        done = subprocess.run(patch, input=proposal["diff"], capture_output=True, text=True, check=False)
        if done.returncode:
            out.append(f"{file.name}: patch fails: {done.stdout.strip()[:200]}")
            continue
        after = _lint(copy, gpu)
        written = [row["replacement"] for row in document["verdicts"] if row["replacement"]]
        for row in after["verdicts"]:
            fate = row["verdict"].replace(" ", "_")
            if fate in _ACCUSED and not row["by_hand"]:
                own = " (its own proposal)" if any(row["text"] in w for w in written) else ""
                out.append(f"{file.name}: after the patch, {fate} {row['text']}{own}: {row['summary']}")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure lint on a drawing.")
    parser.add_argument("drawing", nargs="?", default="drawn", help="a directory of tests/lint/data")
    drawn = _drawn(parser.parse_args().drawing)
    count: Counter[str] = Counter()
    told: dict[str, list[str]] = defaultdict(list)
    fates: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    kept: dict[tuple[str, str], list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        room = Path(temporary)
        for entry, file in drawn:
            gpu = entry["gpu"]
            document = _lint(file, gpu)
            if "failed" in document:
                told["failed"].append(f"{file.name}: {document['failed']}")
            matched: set[int] = set()
            for setting in entry["setting"]:
                name, value, right = setting["name"], setting["value"], setting["verdicts"]
                rows = _rows(document, name, value)
                matched.update(map(id, rows))
                count["drawn"] += 1
                place = f"{file.name} {gpu or 'no GPU'}: {name}={value}"
                if not setting["seen"]:
                    count["must not be seen"] += 1
                    if rows:
                        count["falsely seen"] += 1
                        count["falsely accused"] += rows[0]["verdict"].replace(" ", "_") in _ACCUSED
                        told["falsely seen"].append(f"{place} line {rows[0]['line']} -> {rows[0]['verdict']}")
                    continue
                count["must be seen"] += 1
                if not rows:
                    count["unseen"] += 1
                    told["unseen"].append(place)
                    continue
                for row in rows:
                    fate = row["verdict"].replace(" ", "_")
                    fates[gpu, name, value][fate].append(f"{file.name}:{row['line']}")
                verdicts = {row["verdict"].replace(" ", "_") for row in rows}
                kinds = {_kind(fate, right) for fate in verdicts}
                kind = next(
                    k
                    for k in ("wrong accusation", "missed", "near", "right", "seen, no right known")
                    if k in kinds
                )
                count[kind] += 1
                if kind != "right":
                    said = "/".join(sorted(verdicts))
                    told[kind].append(f"{place} -> {said}, right {'|'.join(right)}; {rows[0]['summary']}")
                if "keep" in verdicts:
                    kept[gpu, _key(name, value)].append(place)
            for row in document["verdicts"]:
                if id(row) not in matched:
                    told["seen beside"].append(f"{file.name}:{row['line']} {row['text']} -> {row['verdict']}")
            count["patches tried"] += len(document.get("proposals", []))
            told["proposal"] += _proposed(file, gpu, document, room)
        for (gpu, name, value), by_fate in fates.items():
            if "keep" in by_fate and "take_out" in by_fate:
                told["opposite"].append(f"{name}={value} on {gpu or 'no GPU'}: {dict(by_fate)}")
        told["plan"] = _planned(kept, room)
    count["opposite"] = len(told["opposite"])
    count["kept, refused by plan"] = sum(t.startswith("refused") for t in told["plan"])
    count["kept, warned of by plan"] = sum(t.startswith("warned") for t in told["plan"])
    count["kept, planned"] = len(kept)
    count["patches or proposals at fault"] = len(told["proposal"])
    for figure, number in count.items():
        print(f"{figure:32} {number}")
    seen = count["must be seen"]
    for figure in ("unseen", "wrong accusation"):
        print(f"{figure}: {count[figure] / seen:.1%} of {seen}")
    for part, lines in told.items():
        if lines:
            print(f"\n== {part}: {len(lines)}")
            for line in lines:
                print(f"- {line}")


if __name__ == "__main__":
    main()
