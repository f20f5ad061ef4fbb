"""The shape of the code, as far as `make lint` does not hold it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rocmcfg as rocmcfg_map
from rocmcfg.knowledge import toml
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, rocmcfg

PACKAGE = SOURCE / "rocmcfg"
GROUPS = {"advice", "change"}  # rooms of rooms
MODULES = sorted(PACKAGE.rglob("*.py"))
TOP = {"rocmcfg", "profiles", "tests", "packaging", "docs", ".ci", ".github"} | {
    *[
        "pyproject.toml",
        "requirements.lock",
        "requirements-dev.lock",
        "requirements-release.lock",
        "Makefile",
    ],
    *["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "LICENSE"],
    *[".gitignore", ".pre-commit-hooks.yaml"],
}


def test_no_file_was_left_in_the_checkout() -> None:
    """A file that a test or a program left beside the project, and that was then committed."""
    if not (SOURCE / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, capture_output=True, check=True).stdout
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    assert {name.partition("/")[0] for name in names} == TOP
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9._/:+@-]+", name)] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if p.relative_to(PACKAGE).parts[0] != "host"],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_only_host_touches_the_system_and_only_the_printer_prints(path: Path) -> None:
    inside = str(path.relative_to(PACKAGE))
    text = path.read_text()
    assert not re.search(r"^\s*(import|from) (subprocess|sh)\b", text, re.M)
    assert not re.search(r"(?<![\w.])open\(", text)
    assert not re.search(
        r"\.(write_text|write_bytes)\(|os\.(unlink|remove|rename|mkdir|makedirs|rmdir)\(", text
    )
    if inside != "cli/printer.py":
        assert not re.search(r"(?<![\w.])print\(", text)


def _loaded(*arguments: str | Path) -> set[str]:
    """The modules that the program has loaded when the command ends."""
    script = (
        "import sys\nfrom rocmcfg.cli import app\nsys.argv[0] = 'rocmcfg'\n"
        "try:\n    app.main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write('LOADED ' + ' '.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=SOURCE,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, _, loaded = done.stderr.rpartition("LOADED ")
    assert "error" not in before, before
    return set(loaded.split())


def test_the_map_names_each_room_and_what_prints_and_the_order_of_imports() -> None:
    text = rocmcfg_map.__doc__ or ""
    rooms = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("*/__init__.py")}
    rooms |= {path.parent.name for path in PACKAGE.glob("*/*/__init__.py") if path.parts[-3] in GROUPS}
    rooms |= GROUPS
    assert {*re.findall(r"^ {4,6}([a-z]+) ", text, re.M)} == rooms
    printing = re.compile(r"sys\.(?:stdout|stderr)(?: if \w+ else sys\.\w+\))?\.write|(?<![\w.])print\(")
    writers = {path.stem for path in MODULES if printing.search(path.read_text())}
    assert writers <= {*re.findall(r"`(\w+)`", text)}
    layers = toml.loads((SOURCE / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    said = re.search(r"Imports point one way: (.*?)\.\n", text, re.S)
    assert said
    assert [{*layer.split(", ")} for layer in " ".join(said[1].split()).split(" → ")] == [
        {name.rpartition(".")[2] for name in layer.split(" | ")} for layer in layers["layers"]
    ]


def test_what_an_apply_writes_is_rendered_without_jinja2(tmp_path: Path) -> None:
    """To load it takes a third of the whole command: docs/decisions/0046."""
    root = debian_grub_host(tmp_path)
    loaded = _loaded("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes")
    assert "rocmcfg.change.transaction.undo_script" in loaded
    assert "jinja2" not in loaded


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_verify_loads_none_of_the_heavy_libraries(tmp_path: Path, form: tuple[str, ...]) -> None:
    """It is what people run after every boot; each of these costs more than the whole of verify."""
    root = debian_grub_host(tmp_path)
    settings = ("--profile", "rdna4", "--set", "feature.gfxoff=false")
    assert rocmcfg("apply", *settings, "--root", root, "--yes").code == 0
    planning = {"rocmcfg.change.planning.plan", "rocmcfg.change.planning.resolve"}
    heavy = {"pydantic", "jinja2", "sh", "distro", *planning}
    loaded = _loaded("verify", *form, "--root", root)
    assert "rocmcfg.state.verify" in loaded
    assert not heavy & loaded


@pytest.mark.parametrize("command", [("status",), ("explain", "runpm"), ("lint",), ("plan", "-p", "auto")])
def test_what_prints_a_document_loads_no_schema(tmp_path: Path, command: tuple[str, ...]) -> None:
    loaded = _loaded(*command, "--json", "--root", debian_grub_host(tmp_path))
    assert "rocmcfg.model.shape" in loaded
    assert not {"pydantic", "rocmcfg.cli.documents"} & loaded


def test_no_file_of_the_package_names_the_machine_that_made_it() -> None:
    for path in MODULES:
        assert "/home/" not in path.read_text() or "/home/" in str(path)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_what_is_declared_is_locked(lock: str) -> None:
    """A fresh environment holds what the lock names, and nothing else."""
    declared: dict[str, Any] = toml.loads((SOURCE / "pyproject.toml").read_text())
    wanted = declared["project"]["dependencies"]
    if lock == "requirements-dev.lock":
        wanted = [*wanted, *declared["dependency-groups"]["dev"]]
    names = {one.lower() for text in wanted for one in re.findall(r"^[\w-]+", text)}
    locked = set(re.findall(r"^([\w-]+)==", (SOURCE / lock).read_text(), re.MULTILINE))
    assert names <= locked


def test_every_id_in_the_code_is_on_the_page_of_diagnostics() -> None:
    """One that the page's generator does not find in its call could not be looked up."""
    raised = {id for path in MODULES for id in re.findall(r'"(RC[0-9]{4})"', path.read_text())}
    page = (SOURCE / "docs/reference/diagnostics.md").read_text()
    assert raised - set(re.findall(r"^\| (RC[0-9]{4}) \|", page, re.M)) == set()


# Parts of objects that belong to how Python or a library is made, and public ones that look private.
_INNER = {"__bases__", "__mro__", "__subclasses__", "__code__", "co_varnames", "co_argcount", "__globals__"}
_PUBLIC = {"os._exit"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_of_a_library_or_of_python_is_used_that_is_private(path: Path) -> None:
    private = _private_parts(ast.parse(path.read_text())) - _PUBLIC
    assert private == set()


def _private_parts(tree: ast.Module) -> set[str]:
    modules: dict[str, str] = {}
    parts: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            modules |= {str(n.value): str(n.value) for n in node.args if isinstance(n, ast.Constant)}
        elif isinstance(node, ast.Attribute) and node.attr in _INNER:
            parts.add(node.attr)
    outer = {
        name: module for name, module in modules.items() if not module.startswith(("rocmcfg", "__future__"))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in outer:
            outer |= {ast.unparse(node): f"{outer[node.value.id]}.{node.attr}"}
    return parts | {whole for whole in outer.values() if re.search(r"(^|\.)_(?!_)", whole)}


@pytest.mark.parametrize(
    ("code", "private"),
    [
        ("import typer\nx = typer.BadParameter.__bases__[0]", "__bases__"),
        ("names = function.__code__.co_varnames", "co_varnames"),
        ("from typer._click import exceptions", "typer._click.exceptions"),
        ("import _sha2", "_sha2"),
        ("from _sha2 import sha256", "_sha2.sha256"),
        ("import sys\nf = sys._getframe()", "sys._getframe"),
        ("import importlib\nimportlib.import_module('re._parser')", "re._parser"),
    ],
)
def test_private_parts_are_seen(code: str, private: str) -> None:
    assert private in _private_parts(ast.parse(code))
