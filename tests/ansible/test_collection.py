"""The collection as a thing that is published: its tarball, its documentation, its linters."""

from __future__ import annotations

import ast
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import rocmcfg

from . import support

MODULES = sorted(path.stem for path in support.SOURCE.glob("plugins/modules/*.py"))


def test_the_tarball_has_what_a_user_needs_and_nothing_of_the_workshop(tarball: Path) -> None:
    with tarfile.open(tarball) as packed:
        names = set(packed.getnames())
    needed = {"README.md", "CHANGELOG.rst", "meta/runtime.yml", "meta/execution-environment.yml"}
    needed |= {"LICENSES/MIT.txt", "LICENSES/GPL-3.0-or-later.txt", "changelogs/changelog.yaml"}
    needed |= {f"plugins/modules/{name}.py" for name in MODULES}
    assert needed <= names
    assert not [name for name in names if re.search(r"pycache|ruff|tests/output|\.tar\.gz", name)]


def test_the_collection_has_the_version_of_the_program(tarball: Path) -> None:
    """They are released together, from one repository."""
    assert tarball.name == f"rocmcfg-amdgpu-{rocmcfg.__version__}.tar.gz"


def test_every_module_is_in_the_action_group() -> None:
    """A module outside it would not take the group's module_defaults."""
    listed = re.findall(r"^    - (\w+)$", (support.SOURCE / "meta/runtime.yml").read_text(), re.M)
    assert sorted(listed) == MODULES


@pytest.mark.parametrize("name", MODULES)
def test_the_changelog_describes_a_module_as_the_module_does(name: str) -> None:
    text = (support.SOURCE / f"plugins/modules/{name}.py").read_text()
    described = re.search(r"^short_description: (.*)$", text, re.M)
    assert described is not None
    shown = f"- rocmcfg.amdgpu.{name} - {described[1]}"
    assert shown in (support.SOURCE / "CHANGELOG.rst").read_text().splitlines()
    for file in ("changelog.yaml", ".plugin-cache.yaml"):
        assert described[1] in " ".join((support.SOURCE / "changelogs" / file).read_text().split())


@pytest.mark.parametrize("path", sorted(support.SOURCE.glob("plugins/module*/*.py")), ids=lambda p: p.stem)
def test_an_old_python_can_read_a_module_far_enough_to_refuse_it(path: Path) -> None:
    """ansible-core 2.16 still starts modules under Python 2.7, where any of these is a SyntaxError."""
    text = path.read_text()
    for node in ast.walk(ast.parse(text)):
        assert not isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.NamedExpr | ast.Starred), ast.dump(
            node
        )
        if isinstance(node, ast.FunctionDef):
            assert node.returns is None
            assert not [a for a in (*node.args.args, *node.args.kwonlyargs) if a.annotation]
            assert not node.args.kwonlyargs
    assert not re.search(r"^\s*\*\*.*,\n\s*\)", text, re.M), "a comma behind **"
    assert not re.search(r"^from __future__ import annotations", text, re.M)


def _specifications() -> dict[str, dict[str, Any]]:
    """The options of each role, by its name."""
    files = (support.SOURCE / "roles").glob("*/meta/argument_specs.yml")
    read = {file.parts[-3]: yaml.safe_load(file.read_text())["argument_specs"]["main"] for file in files}
    return {role: specification.get("options", {}) for role, specification in read.items()}


def test_the_readme_names_only_variables_that_exist() -> None:
    readme = (support.SOURCE / "README.md").read_text()
    files = [*support.SOURCE.glob("playbooks/*.yml"), *support.SOURCE.glob("roles/*/*/*.yml")]
    facts = {name for file in files for name in re.findall(r"^ +(rocmcfg_\w+):", file.read_text(), re.M)}
    options = {name for of_role in _specifications().values() for name in of_role}
    playbooks = {
        name for file in files for name in re.findall(r"\b(rocmcfg_\w+) \| default", file.read_text())
    }
    assert {*re.findall(r"\brocmcfg_[a-z]\w+", readme)} - options - facts - playbooks == set()


@pytest.mark.parametrize("role", sorted(_specifications()))
def test_a_variable_has_the_default_that_its_description_names(role: str) -> None:
    """Without one in the description, the default is empty, left out or put together, as the text says."""
    options = _specifications()[role]
    defaults = yaml.safe_load((support.SOURCE / f"roles/{role}/defaults/main.yml").read_text())
    assert {*defaults} <= {*options}
    for name, option in options.items():
        if option.get("required"):
            assert name not in defaults, name
        elif "default" in option:
            assert option["default"] == defaults[name], name
        else:
            default = defaults.get(name, "")
            assert not default or "{{" in default, name


@pytest.mark.parametrize("release", [support.OLDEST, support.NEWEST])
def test_everything_is_documented(release: str, collections: Path, tmp_path: Path) -> None:
    """ansible-doc shows every module and every entry point of a role, and all of their options."""
    programs = support.core(release)
    roles = sorted(path.name for path in (support.SOURCE / "roles").iterdir() if path.is_dir())
    for kind, names in (("module", MODULES), ("role", roles)):
        ran = support.run(
            [programs / "ansible-doc", "--type", kind, "--json", *(f"rocmcfg.amdgpu.{n}" for n in names)],
            cwd=tmp_path,
            home=tmp_path / "home",
            programs=programs,
            ANSIBLE_COLLECTIONS_PATH=str(collections),
        )
        output = ran.succeeded()
        documented = json.loads(output[output.index("{") :])
        assert sorted(documented) == sorted(f"rocmcfg.amdgpu.{n}" for n in names)
        for name, entry in documented.items():
            parts = [entry["doc"]] if kind == "module" else list(entry["entry_points"].values())
            for part in parts:
                assert part["short_description"], name
                assert all(option["description"] for option in part["options"].values()), name


def test_the_linters_find_nothing(tmp_path: Path) -> None:
    """ansible-lint by its strictest rules, for roles and playbooks too, and the lint of the documentation."""
    source = support.lay_out(tmp_path)
    programs = support.linters()
    for line in (
        "ansible-lint --profile production --offline --strict",
        "antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs=all "
        "--disallow-unknown-collection-refs .",
    ):
        words = line.split()
        support.run(
            [programs / words[0], *words[1:]],
            cwd=source,
            home=tmp_path / "home",
            programs=programs,
            ANSIBLE_COLLECTIONS_PATH=str(tmp_path),
        ).succeeded()
