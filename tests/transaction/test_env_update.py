"""What env-update makes, where somebody else ran it, or wrote to /etc/env.d, since the apply."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocmcfg.files import env_update
from tests.crash.chains import CHAINS
from tests.support.program import Result, rocmcfg

CHAIN = next(chain for chain in CHAINS if chain.name == "env-update")
APPLY = ("apply", *CHAIN.settings)
ROLLBACK = ("rollback", "--yes")
NAME = "HSA_ENABLE_SDMA"  # which the host sets to 1 itself, and the apply to 0
OTHERS = 'EDITOR="/bin/nano"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = CHAIN.make(tmp_path)
    assert run(root, *APPLY).code == 0
    return root


def run(root: Path, *arguments: str, tools: Path = CHAIN.tools) -> Result:
    return rocmcfg(*arguments, "--root", root, tools=tools)


def env_update_by_hand(root: Path) -> None:
    subprocess.run([CHAIN.tools / env_update.TOOL, root, "--no-ldconfig"], check=True)


def program(folder: Path, script: str) -> Path:
    """An env-update of that script, which has the host in $1."""
    (folder / "tools").mkdir()
    path = folder / "tools" / env_update.TOOL
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path.parent


def made(root: Path) -> dict[str, str]:
    return {path: (root / path.lstrip("/")).read_text() for path in env_update.MADE}


def said(result: Result) -> str:
    return " ".join((result.out + result.err).split())


def assert_of_others_alone(root: Path) -> None:
    for text in made(root).values():
        assert "EDITOR" in text
        assert f"{NAME}=1" in text.replace(" '", "=").replace("'", "")


def test_a_variable_of_others_that_was_added_meanwhile_stays(root: Path) -> None:
    """Its files are not as the apply found them, and right all the same."""
    (root / "etc/env.d/50editor").write_text(OTHERS)
    result = run(root, *ROLLBACK)
    assert result.code == 0, result
    assert "RC4034" not in said(result)
    assert_of_others_alone(root)


@pytest.mark.parametrize(
    ("kept", "why"), [("", "no longer sets"), (f'{NAME}="1"\n', "sets to another value")]
)
def test_ours_in_files_that_somebody_made_anew_is_no_undo(
    root: Path, tmp_path: Path, kept: str, why: str
) -> None:
    (root / "etc/env.d/50user").write_text(kept)
    (root / "etc/env.d/50editor").write_text(OTHERS)
    env_update_by_hand(root)
    before = made(root)
    result = run(root, *ROLLBACK, tools=program(tmp_path, "exit 0"))
    assert result.code == 5, result
    assert f"it has {NAME}, which /etc/env.d {why}" in said(result)
    assert made(root) == before
    assert run(root, "recover").code == 0
    assert all("EDITOR" in text and (NAME in text) == bool(kept) for text in made(root).values())


@pytest.mark.parametrize("path", env_update.MADE)
@pytest.mark.parametrize("act", [("apply", *CHAIN.later), ROLLBACK], ids=["apply", "rollback"])
def test_a_variable_of_others_that_is_lost_is_put_back(
    root: Path, tmp_path: Path, act: tuple[str, ...], path: str
) -> None:
    honest = CHAIN.tools / env_update.TOOL
    before = made(root)
    tools = program(tmp_path, f'{honest} "$@"; sed -i /PAGER/d "$1{path}"')
    assert "PAGER" in before[path]
    result = run(root, *act, tools=tools)
    assert "PAGER" in made(root)[path], result
    if act == ROLLBACK:
        assert result.code == 0, result
        assert "RC4034" in said(result)
    else:
        assert (result.code, made(root)) == (4, before), result
        assert (
            f"{path} is not the output of env-update: it does not have PAGER, which /etc/env.d sets"
            in said(result)
        )
