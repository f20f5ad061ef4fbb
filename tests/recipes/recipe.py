"""A recipe of docs/recipes, followed to the letter in a copy of the project.

Each fenced block of the page that has one of these forms is a step; steps are taken from the top to the end.

    ```KIND PATH     a new file with this content
    ```diff PATH     a change of a file: the lines that begin with a blank or `-` are there once, in this
                     order; `-` removes a line and `+` adds one; a line `@@` parts two changes
    ```console       commands, each after `$ `, and what they print; a line `[…]` stands for any lines,
                     and `[…]` within a line for any text

A comment `<!-- exit 3 -->` in the line before a block `console` names the exit code of its commands.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.program import SOURCE

FOLDER = SOURCE / "docs/recipes"
ANY = "[…]"
_COPIED = ("rocmcfg", "profiles", "docs", "packaging", "tests")
_FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "pyproject.toml", "Makefile")
_STEP = re.compile(
    r"(?:^<!-- exit (?P<code>\d+) -->\n)?^```(?P<kind>\w+)(?: (?P<path>\S+))?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Step(NamedTuple):
    """A block of a recipe. `path` is empty for commands, whose exit code is `code`."""

    kind: str
    path: str
    body: str
    code: int


def steps(recipe: Path) -> list[Step]:
    """Read the steps of a recipe."""
    blocks = _STEP.finditer(recipe.read_text())
    every = [Step(one["kind"], one["path"] or "", one["body"], int(one["code"] or 0)) for one in blocks]
    return [step for step in every if step.path or step.kind == "console"]


def copy_of_project(folder: Path) -> Path:
    """Copy what a recipe may change, with a `.venv/bin` whose programs run the copy."""
    copy = folder / "copy"
    left = shutil.ignore_patterns("__pycache__")
    for name in _COPIED:
        shutil.copytree(SOURCE / name, copy / name, symlinks=True, ignore=left)
    for name in _FILES:
        shutil.copy(SOURCE / name, copy / name)
    programs = copy / ".venv/bin"
    programs.mkdir(parents=True)
    for name, arguments in (("python", ""), ("rocmcfg", "-m rocmcfg ")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {arguments}"$@"\n')
        (programs / name).chmod(0o755)
    return copy


def follow(recipe: Path, folder: Path, *, commands: bool = True) -> Path:
    """Take every step of a recipe in a copy of the project, or those that change files alone; return the
    copy."""
    copy = copy_of_project(folder)
    for step in steps(recipe):
        if step.kind == "console" and not commands:
            continue
        if step.kind == "console":
            _run(copy, step)
        elif step.kind == "diff":
            _change(copy / step.path, step.body)
        else:
            path = copy / step.path
            assert not path.exists(), f"{step.path} is there already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.body)
    return copy


def _change(path: Path, body: str) -> None:
    text = path.read_text()
    for part in body.split("@@\n"):
        lines = [line for line in part.splitlines(keepends=True) if line]
        before = "".join(line[1:] or "\n" for line in lines if line[0] != "+")
        after = "".join(line[1:] or "\n" for line in lines if line[0] != "-")
        start = f"\n{text}".count(f"\n{before}")
        assert start == 1, f"{path.name} has these lines {start} times, not once:\n{before}"
        text = f"\n{text}".replace(f"\n{before}", f"\n{after}")[1:]
    path.write_text(text)


def _run(copy: Path, step: Step) -> None:
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100"}
    shown = re.split(r"^\$ (.*)\n", step.body, flags=re.MULTILINE)[1:]
    for command, expected in zip(shown[::2], shown[1::2], strict=True):
        done = subprocess.run(
            ["bash", "-c", command], cwd=copy, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == step.code, f"$ {command}\nexits with {done.returncode}\n{done.stdout}"
        pattern = (
            re.escape(expected).replace(re.escape(f"{ANY}\n"), "(?:.*\n)*").replace(re.escape(ANY), ".*")
        )
        assert re.fullmatch(pattern, done.stdout), f"$ {command}\n{done.stdout}"
