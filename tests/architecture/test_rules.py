"""The shape of the code, as far as `make lint` does not hold it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.knowledge import toml
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, rocmcfg

PACKAGE = SOURCE / "rocmcfg"
MODULES = sorted(PACKAGE.rglob("*.py"))


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
    assert "rocmcfg.model.published" in loaded
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
    page = (SOURCE / "docs/diagnostics.md").read_text()
    assert raised - set(re.findall(r"^\| (RC[0-9]{4}) \|", page, re.M)) == set()
