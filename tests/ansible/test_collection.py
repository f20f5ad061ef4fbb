"""The collection as a thing that is published: its tarball, its documentation, its linters."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest

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
