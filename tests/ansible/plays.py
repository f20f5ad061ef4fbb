"""Tasks of the installed collection, run by ansible-playbook here against the tree of another host."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.program import SOURCE

from . import support

Task = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Play:
    """`output` as a user reads it; one of `results` for each task, as `register` gets it."""

    output: str
    results: Sequence[Mapping[str, Any]]


def play(
    collections: Path,
    work: Path,
    tasks: Sequence[Task],
    *options: str,
    root: Path,
    executable: Path = support.ROCMCFG,
    release: str = support.NEWEST,
    python: str = sys.executable,
) -> Play:
    """Each task is one module of the collection with its options: {"profile": {…}, "check_mode": true}."""
    work.mkdir(parents=True, exist_ok=True)
    told = work / "results.json"
    steps: list[Mapping[str, Any]] = []
    for number, task in enumerate(tasks):
        named = {k if k in ("check_mode", "diff") else f"rocmcfg.amdgpu.{k}": v for k, v in task.items()}
        steps.append({**named, "register": f"r{number}", "ignore_errors": True})
    every = ", ".join(f"r{number}" for number in range(len(tasks)))
    content = {"content": f"{{{{ [{every}] | to_json }}}}", "dest": str(told), "mode": "0600"}
    # a task of a play in check mode would not write what this test reads
    steps.append({"ansible.builtin.copy": content, "check_mode": False, "diff": False})
    book = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {"ansible_connection": "local", "ansible_python_interpreter": python},
        "module_defaults": {
            "group/rocmcfg.amdgpu.rocmcfg": {"root": str(root), "executable": str(executable)}
        },
        "tasks": steps,
    }
    (work / "play.json").write_text(json.dumps([book]))
    programs = support.core(release)
    ran = support.run(
        [programs / "ansible-playbook", "--inventory", "localhost,", *options, work / "play.json"],
        cwd=work,
        home=work / "home",
        programs=programs,
        ANSIBLE_COLLECTIONS_PATH=str(collections),
        ANSIBLE_NOCOLOR="1",
    )
    output = ran.succeeded()
    return Play(output, json.loads(told.read_text()))


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


def with_tools(work: Path, *, own: Path | None = None, **tools: str) -> Path:
    """A rocmcfg that runs stand-ins of the host's tools; `update_grub="exit 1"` replaces one by a script, and
    `own` is a directory of others."""
    for name, text in tools.items():
        script(work / "tools" / name.replace("_", "-"), text)
    (work / "tools").mkdir(parents=True, exist_ok=True)
    command = f"exec {sys.executable} -m tests.support.tool_host {own or work / 'tools'}"
    return script(work / "rocmcfg", f'cd {SOURCE} && {command} "$@"')
