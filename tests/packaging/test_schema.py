"""The JSON Schema of profiles as a file: it is the program's, explains all, and stays small.

What the TOML tools of editors make of it, which takes npm, is in tests/packages/test_editor.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rocmcfg.knowledge import catalogue
from tests.packaging.test_man import generator
from tests.support.program import rocmcfg

SCHEMA = Path(__file__).parents[2] / "rocmcfg/knowledge/profile.schema.json"


def test_the_file_is_what_the_program_prints() -> None:
    assert SCHEMA.read_text() == rocmcfg("schema", "profile-file").out == generator("schema").page()


def test_nobody_is_offered_what_nothing_reads() -> None:
    offered = json.loads(SCHEMA.read_text())["properties"]["env"]["properties"]
    known = catalogue.load().variables
    assert [name for name in offered if known[name].unknown or known[name].build_only] == []


def test_every_key_is_explained_and_the_file_stays_small() -> None:
    def keys(schema: Any, path: str = "") -> list[str]:
        if not isinstance(schema, dict):
            return []
        unsaid = []
        for name, one in schema.get("properties", {}).items():
            if name not in ("amdgpu", "ttm", "amdttm") and not one.get("description"):
                unsaid.append(f"{path}.{name}")
        for name, one in schema.items():
            if isinstance(one, dict):
                unsaid += keys(one, f"{path}.{name}")
        return unsaid

    assert keys(json.loads(SCHEMA.read_text())) == []
    assert SCHEMA.stat().st_size < 200_000
    assert not re.search(r"see [A-Z]{4}", SCHEMA.read_text()), "an editor has no sections"


def test_a_new_profile_names_the_schema_where_that_is_installed(tmp_path: Path) -> None:
    path = tmp_path / "etc/rocmcfg/profiles/mine.toml"
    (tmp_path / "etc").mkdir()
    assert rocmcfg("profile", "new", "mine", "--root", tmp_path).code == 0
    assert path.read_text().startswith("# Every key: man 5 rocmcfg-profile\nschema = 1\n")
    path.unlink()
    (tmp_path / "usr/share/rocmcfg").mkdir(parents=True)
    (tmp_path / "usr/share/rocmcfg/profile.schema.json").write_bytes(SCHEMA.read_bytes())
    assert rocmcfg("profile", "new", "mine", "--root", tmp_path).code == 0
    assert path.read_text().startswith("#:schema file:///usr/share/rocmcfg/profile.schema.json\n")
    assert rocmcfg("profile", "validate", "mine", "--root", tmp_path).code == 0
