"""Prints what pip is to install for `make fast LIBRARIES=oldest` or newest: each library of pyproject.toml in
the oldest or the newest version of its range, and the tests' own tools in their locked version.

Needs nothing but Python 3.10, which has no parser of TOML.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def libraries(pyproject: str, lock: str, end: str) -> list[str]:
    """Requirements of PEP 508 for one `end` of the ranges, "oldest" or "newest"."""
    wanted = _array(pyproject, "dependencies")
    if end == "oldest":
        wanted = [re.sub(r"^([\w-]+)>=([\w.]+)[^;]*", r"\1==\2", one) for one in wanted]
    locked = re.findall(r"^(([\w.-]+)==[^\\\n]*)", lock, re.MULTILINE)
    tools = {re.split(r"[<>=]", one)[0] for one in _array(pyproject, "dev")}
    return [*wanted, *(pin.strip() for pin, name in locked if name in tools)]


def _array(pyproject: str, name: str) -> list[str]:
    found = re.search(rf"^{name} = \[\n(.*?)^\]", pyproject, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"pyproject.toml has no array {name}")
    return re.findall(r'^\s*"([^"]*)"', found[1], re.MULTILINE)


if __name__ == "__main__":
    if sys.argv[1:] not in (["oldest"], ["newest"]):
        sys.exit("usage: .ci/libraries.py oldest|newest")
    texts = [(REPOSITORY / name).read_text() for name in ("pyproject.toml", "requirements-dev.lock")]
    print(*libraries(*texts, sys.argv[1]), sep="\n")
