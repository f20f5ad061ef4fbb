"""An import inside a function has a reason: a command that does not need it starts sooner.

lazy_imports.tsv names each one: the file and the module that it imports, the milliseconds that a command is
spared, and that command. They were measured with `python -X importtime`, as the least of four runs, on a busy
machine where the import of typer took between 22 and 44 ms. An import that spares every command less than
0.3 ms stands at the top of its file. With a limit of 1 ms, 42 more would stand there, and would together make
`verify` 5 ms slower.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, rocmcfg

PACKAGE = SOURCE / "rocmcfg"
TABLE = Path(__file__).with_name("lazy_imports.tsv")
LEAST = 0.3  # milliseconds
# What cannot stand at the top, whatever it takes.
ELSEWHERE = {
    ("advice/lint/readers/environment.py", "rocmcfg.advice.lint.readers"): "the package imports this reader",
    ("advice/lint/readers/markdown.py", "rocmcfg.advice.lint.readers"): "the package imports this reader",
    ("advice/lint/readers/shell.py", "rocmcfg.advice.lint.readers"): "the package imports this reader",
    ("knowledge/toml.py", "tomli"): "tomllib on Python 3.10",
}
Import = tuple[str, str]


def recorded() -> dict[Import, tuple[float, str]]:
    rows = (line.split("\t") for line in TABLE.read_text().splitlines())
    return {(path, module): (float(spared), command) for path, module, spared, command in rows}


def found() -> Iterator[Import]:
    for path in sorted(PACKAGE.rglob("*.py")):
        functions = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef))
        for node in (inner for function in functions for inner in ast.walk(function)):
            inside = str(path.relative_to(PACKAGE))
            if isinstance(node, ast.Import):
                yield from ((inside, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((inside, _module(f"{node.module}.{alias.name}")) for alias in node.names)


def _module(name: str) -> str:
    """The module that an imported name is, or is of."""
    path = SOURCE / name.replace(".", "/")
    is_module = path.with_suffix(".py").exists() or (path / "__init__.py").exists()
    return name if is_module else name.rpartition(".")[0]


def test_every_import_inside_a_function_has_a_reason_and_no_reason_is_left_over() -> None:
    assert set(found()) == set(recorded()) | set(ELSEWHERE)
    assert [key for key, (spared, _) in recorded().items() if spared < LEAST] == []


@functools.cache
def loaded(command: str, root: Path) -> frozenset[str]:
    """The modules that the program has loaded when the command ends."""
    script = (
        "import sys\nfrom rocmcfg.cli import app\nsys.argv[0] = 'rocmcfg'\n"
        "try:\n    app.main()\nfinally:\n    sys.stderr.write('LOADED ' + ' '.join(sys.modules))\n"
    )
    words = [word.replace("ROOT", str(root)) for word in command.split()]
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=SOURCE,
        env={name: value for name, value in environment().items() if not name.startswith("COV")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    before, _, modules = done.stderr.rpartition("LOADED ")
    assert "RC9000" not in before, before
    return frozenset(modules.split())


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = debian_grub_host(tmp_path_factory.mktemp("host"))
    assert rocmcfg("apply", "--profile", "rdna4", "--root", made, "--yes").code == 0
    (made / "advice.md").write_text("Set `amdgpu.runpm=0`.\n")
    return made


@pytest.mark.parametrize("command", sorted({command for _, command in recorded().values()}))
def test_the_command_does_not_load_what_it_is_spared(root: Path, command: str) -> None:
    modules = loaded(command, root)
    here = {key for key, (_, spared) in recorded().items() if spared == command}
    for path, module in here:
        importer = f"rocmcfg.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        assert importer in modules, f"{path} is not loaded either"
        assert module not in modules
