"""The JSON Schema of profiles, with the TOML tools that editors use: it completes, explains and refuses."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.knowledge import catalogue
from tests.packages.npm import npm_packages
from tests.packaging.test_man import generator
from tests.support.program import rocmcfg
from tests.support.tools import HANG

REPOSITORY = Path(__file__).parents[2]
SCHEMA = REPOSITORY / "rocmcfg/knowledge/profile.schema.json"
EDITOR = Path(__file__).parent / "editor"
HEAD = 'schema = 1\nsummary = "x"\n'


@pytest.fixture(scope="module")
def editor() -> Path:
    """taplo and its language server, by the versions and digests of the lock file."""
    return npm_packages(EDITOR)


def lint(editor: Path, *files: Path) -> str:
    """What taplo says of the files by our schema; empty where all is well."""
    command = [
        str(editor / ".bin/taplo"),
        "lint",
        "--colors=never",
        "--schema",
        f"file://{SCHEMA}",
        *map(str, files),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def ask(editor: Path, folder: Path, text: str, *places: str) -> dict[str, Any]:
    """What the language server says; a place is LINE:COLUMN of `text`, counted from 0."""
    file = folder / "asked.toml"
    file.write_text(text)
    command = ["node", str(EDITOR / "ask.js"), str(file), *places]
    env = {**os.environ, "NODE_PATH": str(editor)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, env=env, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_shipped_profile_and_every_example_of_the_manual_is_taken(editor: Path, tmp_path: Path) -> None:
    files = sorted((REPOSITORY / "profiles").glob("*.toml"))
    assert len(files) > 10
    for number, (_, text) in enumerate(generator("profile_keys").documents()):
        files.append(tmp_path / f"{number}.toml")
        files[-1].write_text(text)
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    assert (
        rocmcfg("profile", "new", "mine", "--extends", "rdna4", "--gfx", "gfx1201", "--root", root).code == 0
    )
    files.append(root / "etc/rocmcfg/profiles/mine.toml")
    assert lint(editor, *files) == ""


WRONG = {
    "unknown key": 'summry = "x"',
    "number for text": "notes = [1]",
    "no gfx target": 'gfx = ["navi48"]',
    "a path": 'extends = "/tmp/x.toml"',
    "no such use": 'use = "always"',
    "blank in a value": '[module.amdgpu]\nrunpm = "0 1"',
    "list for a parameter": '[module.amdgpu]\nrunpm = ["0"]',
    "float": "[module.amdgpu]\nrunpm = 0.5",
    "no value": '[module.amdgpu.runpm]\nbecause = "x"',
    "unknown key of a setting": '[module.amdgpu.runpm]\nvalue = 0\nreason = "x"',
    "number for a feature": "[features]\ngfxoff = 0",
    "misspelt feature": "[features]\ngfxof = false",
    "false for an argument": "[cmdline]\nnomodeset = false",
    "empty list": "[cmdline]\npci = []",
    "via of an argument": '[cmdline.iommu]\nvalue = "pt"\nvia = "cmdline"',
    "truth for a variable": "[env]\nHSA_XNACK = true",
    "no name of a variable": '[env]\n"1X" = "1"',
    "no range": '[module.amdgpu.runpm]\nvalue = 0\nwhen = { kernel = "6.12" }',
    "half a gpu": '[module.amdgpu.runpm]\nvalue = 0\nwhen = { gpus = ">=1.5" }',
    "unknown condition": '[module.amdgpu.runpm]\nvalue = 0\nwhen = { distro = "debian" }',
    "unknown fix": '[module.amdgpu.runpm]\nvalue = 0\nwhen = { lacks-fix = "x" }',
    "confidence": '[module.amdgpu.runpm]\nvalue = 0\nconfidence = "sure"',
    "multiple in the short form": '[module.ttm]\npages_limit = { from = "x" }',
    "times nothing": '[module.ttm]\npages_limit.value = { from = "x", times = 0 }',
    "within": '[parameters.x]\nsummary = "x"\nwithin = "disk"',
}


def test_what_the_program_refuses_for_its_form_the_schema_refuses(editor: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"{number}.toml" for number, name in enumerate(WRONG)}
    for name, file in files.items():
        file.write_text(f"{HEAD}{WRONG[name]}\n")
        assert rocmcfg("profile", "validate", file).code == 1, f"the program takes it: {name}"
    said = lint(editor, *files.values())
    assert [name for name, file in files.items() if f'path="{file}"' not in said] == []


def test_what_the_catalogue_does_not_know_stays_possible(editor: Path, tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    file.write_text(
        f'{HEAD}gfx = ["gfx1999"]\n[module.amdgpu]\nbrand_new = 1\n[module.nouveau]\nmodeset = 0\n'
        '[cmdline]\nbrandnew = true\n[env]\nBRAND_NEW = "1"\n'
    )
    assert lint(editor, file) == ""


def test_an_editor_completes_names_and_values_and_explains_them(editor: Path, tmp_path: Path) -> None:
    text = (
        f"#:schema file://{SCHEMA}\n{HEAD}\n[module.amdgpu]\ncwsr_enable = 0\n\n[features]\ngfxoff = 3\n"
        '\n[env]\nHSA_XNACK = "1"\n\n[cmdline]\niommu = ""\n\n[module.amdgpu.runpm]\nvalue = 0\n\n'
    )
    lines = text.splitlines()
    at = {line.split(" ")[0]: number for number, line in enumerate(lines) if line}
    places = [
        f"{at['cwsr_enable']}:2",
        f"{at['gfxoff']}:2",
        f"{at['HSA_XNACK']}:2",
        f"{at['iommu']}:9",
        f"{len(lines) - 1}:0",
        "3:0",
    ]
    found = ask(editor, tmp_path, text, *places)
    assert len(found["diagnostics"]) == 2, found["diagnostics"]  # gfxoff = 3, and the empty text
    parameter, feature, variable, value, setting, top = found["places"]
    known = catalogue.load()
    assert {p.name for p in known.parameters.values() if p.module == "amdgpu"} <= set(
        parameter["completions"]
    )
    assert known.parameters["amdgpu.cwsr_enable"].summary in parameter["hover"]
    assert set(known.features) <= set(feature["completions"])
    assert known.features["gfxoff"].summary in feature["hover"]
    assert {"HSA_XNACK", "MIOPEN_DEBUG_CONV_GEMM"} <= set(variable["completions"])
    assert '"pt"' in value["completions"]
    assert {"because", "evidence", "cost", "confidence", "when", "via"} <= set(setting["completions"])
    assert {"gfx", "extends", "notes"} <= set(top["completions"])
