"""Every command knows the loader of the recipe, whose files are put into a copy of the program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocmcfg.loaders import registry
from tests.cases.case import lay_out, read
from tests.recipes.recipe import FOLDER, follow
from tests.support.program import SOURCE
from tests.support.tools import require_tool
from tests.support.trees import tree

RECIPE = FOLDER / "boot-loader.md"
SET = ("--set", "amdgpu.runpm=0")
LATER = "6.16.3+deb13-amd64"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project with the files of the recipe."""
    return follow(RECIPE, tmp_path, commands=False)


def host_of(copy: Path, folder: Path) -> Path:
    case = read(copy / "tests/cases/fox-boot/by-hand")
    folder.mkdir()
    lay_out(case, folder)
    return folder / "host"


def run(copy: Path, *arguments: str | Path, code: int = 0) -> str:
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "rocmcfg", *map(str, arguments)],
        cwd=copy, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def entries(root: Path) -> list[str]:
    return [line for line in (root / "boot/fox.conf").read_text().split("\n") if line.startswith("args ")]


def test_every_command_knows_a_loader_that_the_recipe_added(copy: Path, tmp_path: Path) -> None:
    root = host_of(copy, tmp_path / "place")
    before = tree(root, state=False, times=False)
    assert "Fox Boot" in run(copy, "plan", *SET, "--root", root)
    run(copy, "apply", *SET, "--yes", "--root", root)
    usual, rescue = entries(root)
    assert "amdgpu.runpm=0" in usual
    assert "amdgpu" not in rescue
    assert "pending reboot" in run(copy, "verify", "--root", root, code=6)
    assert "how it boots something once" in " ".join(
        run(copy, "apply", "--set", "amdgpu.gfxoff=0", "--trial", "--yes", "--root", root, code=1).split()
    )
    run(copy, "rollback", "--yes", "--root", root)
    assert tree(root, state=False, times=False) == before


def test_the_hook_of_a_later_kernel_gives_its_entry_the_arguments(copy: Path, tmp_path: Path) -> None:
    root = host_of(copy, tmp_path / "place")
    run(copy, "apply", *SET, "--yes", "--root", root)
    menu = root / "boot/fox.conf"
    shutil.copytree(root / "lib/modules/6.12.107+deb13-amd64", root / "lib/modules" / LATER, symlinks=True)
    menu.write_text(f"[Debian, later]\nkernel /vmlinuz-{LATER}\nargs root=/dev/sda2\n\n" + menu.read_text())
    run(copy, "check-kernel", LATER, "--root", root)
    assert "amdgpu.runpm=0" in entries(root)[0]


def test_the_script_of_a_transaction_takes_it_back(copy: Path, tmp_path: Path) -> None:
    root = host_of(copy, tmp_path / "place")
    run(copy, "apply", *SET, "--yes", "--root", root)
    later = f"[Debian, later]\nkernel /vmlinuz-{LATER}\nargs root=/dev/sda2"
    menu = root / "boot/fox.conf"
    menu.write_text(f"{later} rocmcfg.begin amdgpu.runpm=0 rocmcfg.end\n\n" + menu.read_text())
    script: list[str | Path] = [require_tool("dash", "dash"), copy / "packaging/undo.sh", "--root", root]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "amdgpu" not in menu.read_text()
    assert menu.read_text().startswith(f"{later}\n")
    assert not [path for path in (root / "etc").rglob("*rocmcfg*") if path.is_file()]


def test_the_recipe_is_all_that_names_a_loader() -> None:
    """What a loader needs besides its folder and its cases would be forgotten by whoever adds the next."""
    named = re.compile("|".join(f'"{name}"' for name in registry.NAMES))
    modules = (SOURCE / "rocmcfg").rglob("*.py")
    rooms = [path for path in modules if path.relative_to(SOURCE / "rocmcfg").parts[0] != "loaders"]
    assert len(rooms) > 100
    naming = {path.name: named.findall(path.read_text()) for path in rooms}
    # the format that `rocmcfg render` writes for bootc is no loader
    assert {name: words for name, words in naming.items() if words} == {"formats.py": ['"bootc"']}
