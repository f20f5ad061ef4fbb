"""The classes of nouns with Python 3.14, where the body of a class no longer has its annotations."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import shared
from tests.support.program import SOURCE
from tests.support.tools import HANG
from tests.vm import tools

from .test_editor import NPM

FOLDER = Path(__file__).parent / "python_3_14"


@pytest.fixture(scope="module")
def python() -> Path:
    """Return the folder of Node's packages that holds CPython 3.14 for WebAssembly."""
    tools.require({"npm": "npm", "node": "nodejs"})
    files = (FOLDER / "package.json", FOLDER / "package-lock.json")
    key = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]

    def make(work: Path) -> None:
        for file in files:
            shutil.copy(file, work)
        shared.fetched([*NPM, "--prefix", work], "pyodide")

    return shared.made_once(shared.cache("packages") / f"pyodide-{key}", make) / "node_modules"


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
