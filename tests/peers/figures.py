"""The figures of the last comparison, in figures.tsv, from which docs/reference/boot-chains.md is made."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from tests.support.shared import locked

TABLE = Path(__file__).with_name("figures.tsv")
COLUMNS = (
    "kind",
    "name",
    "reads",
    "version",
    "cases",
    "agree",
    "refused",
    "ours",
    "theirs",
    "scope",
    "not expressible",
)
_COUNTED = {"refused or cannot be told": "refused"}


def write(kind: str, name: str, version: str, counted: Mapping[str, int], reads: str = "") -> None:
    """Put a row in the place of the one of this kind and name; other processes may do so at once."""
    row = {"kind": kind, "name": name, "reads": reads, "version": version}
    row["cases"] = str(sum(counted.values()))
    row |= {_COUNTED.get(outcome, outcome): str(number) for outcome, number in counted.items()}
    with locked(TABLE):
        rows = {(one["kind"], one["name"]): one for one in read()}
        rows[kind, name] = {column: row.get(column, "0") for column in COLUMNS}
        with TABLE.open("w", newline="") as file:
            out = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
            out.writeheader()
            out.writerows(rows[key] for key in sorted(rows))
    TABLE.with_name(f"{TABLE.name}.lock").unlink(missing_ok=True)


def read() -> list[dict[str, str]]:
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
