"""The classes of nouns with Python 3.14, where the body of a class no longer has its annotations."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.packages.npm import npm_packages
from tests.support.program import SOURCE
from tests.support.tools import HANG

FOLDER = Path(__file__).parent / "python_3_14"


@pytest.fixture(scope="module")
def python() -> Path:
    """Return the folder of Node's packages that holds CPython 3.14 for WebAssembly."""
    return npm_packages(FOLDER)


def test_a_class_has_its_fields_in_a_module_without_the_future_import(python: Path) -> None:
    command = ["node", str(FOLDER / "run.mjs"), str(SOURCE), str(FOLDER / "classes.py")]
    env = {**os.environ, "NODE_PATH": str(python)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "version": [3, 14],
        "fields": ["part", "names"],
        "defaults": {"names": []},
        "types": ["<class '__main__.Part'>", "tuple[str, ...]"],
        "document": {"part": {"size": 1}, "names": ["a"]},
        "late": "name 'Unknown' is not defined",
    }
