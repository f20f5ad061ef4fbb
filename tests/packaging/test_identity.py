"""Version and addresses stand in pyproject.toml, and reach every other file by packaging/identity.py."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rocmcfg
from tests.support.tools import require_tool, run

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "packaging/identity.py"


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / f"packaging/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded  # typing looks its annotations up there
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def identity() -> ModuleType:
    return module("identity")


def test_no_file_differs_from_pyproject() -> None:
    done = run([sys.executable, str(SCRIPT), "--check"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "run packaging/identity.py"
    assert rocmcfg.__version__ == module("identity").read(REPOSITORY).version


@pytest.fixture
def copy(identity: ModuleType, tmp_path: Path) -> Path:
    """The files that repeat the identity, of another version and at other addresses."""
    files = {part.file for part in identity.parts(identity.read(REPOSITORY))}
    files |= {"packaging/ansible/changelogs/changelog.yaml", "packaging/man/man1/rocmcfg.1", "CHANGELOG.md"}
    files |= {"pyproject.toml", "packaging/identity.py", "packaging/debian/changelog"}
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / file, tmp_path / file)
    project = tmp_path / "pyproject.toml"
    text = project.read_text().replace("rocmcfg.invalid", "gpu.example.org")
    project.write_text(text.replace(f'version = "{rocmcfg.__version__}"', 'version = "8.7.6"'))
    return tmp_path


def test_another_version_and_other_addresses_reach_every_file(copy: Path) -> None:
    script = copy / "packaging/identity.py"
    done = run([sys.executable, str(script)])
    assert done.returncode == 0, done.stderr
    checked = run([sys.executable, str(script), "--check"])
    assert checked.returncode == 1
    assert checked.stdout.splitlines() == [
        "packaging/man: run docs/generate.py",
        "packaging/ansible/changelogs/changelog.yaml: run `antsibull-changelog release` in packaging/ansible",
    ]
    for file in ("packaging/man/man1/rocmcfg.1", "packaging/ansible/changelogs/changelog.yaml"):
        (copy / file).write_text((copy / file).read_text().replace(rocmcfg.__version__, "8.7.6"))
    assert run([sys.executable, str(script), "--check"]).returncode == 0
    left = {
        (str(file.relative_to(copy)), line)
        for file in copy.rglob("*")
        if file.is_file()
        for line in file.read_text().splitlines()
        if "rocmcfg.invalid" in line
        or re.search(rf"(?<![\d.]){re.escape(rocmcfg.__version__)}(?![\d.])", line)
    }
    # an entry of a changelog stays that of its version
    changelogs = {"packaging/debian/changelog", "packaging/rpm/rocmcfg.spec", "CHANGELOG.md"}
    assert {file for file, _ in left} <= changelogs, left
    assert (copy / "packaging/debian/changelog").read_text().startswith("rocmcfg (8.7.6) unstable")
    spec = (copy / "packaging/rpm/rocmcfg.spec").read_text().split("%changelog\n")[1]
    assert re.match(
        r"\* \w+ \w+ \d\d \d{4} The rocmcfg authors <rocmcfg@gpu.example.org> - 8\.7\.6-1\n", spec
    )
    assert spec.count("\n* ") == 1


def test_what_it_adds_is_a_changelog_for_debian_and_for_rpm(copy: Path) -> None:
    assert run([sys.executable, str(copy / "packaging/identity.py")]).returncode == 0
    parse = [require_tool("dpkg-parsechangelog", "dpkg-dev"), "-l", str(copy / "packaging/debian/changelog")]
    assert run([*parse, "-SVersion"]).stdout == "8.7.6\n"
    assert run([*parse, "-SMaintainer"]).stdout == "The rocmcfg authors <rocmcfg@gpu.example.org>\n"
    rpmspec = [require_tool("rpmspec", "rpm"), "-q", "--srpm", str(copy / "packaging/rpm/rocmcfg.spec")]
    assert run([*rpmspec, "--qf", "%{VERSION} %{URL}"]).stdout == "8.7.6 https://gpu.example.org"


def test_placeholders_are_called_placeholders(copy: Path) -> None:
    script = copy / "packaging/identity.py"
    assert run([sys.executable, str(script), "--published"]).returncode == 0
    if "rocmcfg.invalid" in (REPOSITORY / "pyproject.toml").read_text():
        assert run([sys.executable, str(SCRIPT), "--published"]).returncode == 1


def test_a_tag_is_that_of_the_version_which_has_a_date(copy: Path) -> None:
    script = [sys.executable, str(copy / "packaging/identity.py"), "--tag"]
    for tag in ("v8.7.7", "8.7.6"):
        reason = run([*script, tag]).stderr
        assert reason == f"the tag {tag} is not v8.7.6, as the version in pyproject.toml asks for\n"
    undated = run([*script, "v8.7.6"])
    assert undated.returncode == 1
    assert "CHANGELOG.md has no section `## [8.7.6] - YYYY-MM-DD`" in undated.stderr
    changelog = copy / "CHANGELOG.md"
    changelog.write_text(re.sub(r"## \[.*", "## [8.7.6] - 2027-01-02", changelog.read_text(), count=1))
    assert run([*script, "v8.7.6"]).returncode == 0


def test_a_file_without_its_part_stops_it(copy: Path) -> None:
    control = copy / "packaging/debian/control"
    control.write_text(control.read_text().replace("Homepage:", "X-Homepage:"))
    done = run([sys.executable, str(copy / "packaging/identity.py")])
    assert done.returncode == 1
    assert "packaging/debian/control has nothing that matches ^Homepage" in done.stderr


def test_no_other_file_has_an_address_of_the_project(identity: ModuleType) -> None:
    own = identity.read(REPOSITORY)
    files = {part.file for part in identity.parts(own)}
    files |= {"pyproject.toml", "packaging/debian/changelog", "tests/packaging/test_identity.py"}
    hosts = {re.sub(r"^https?://([^/]+).*", r"\1", address) for address in own.urls.values()}
    hosts |= {own.email.partition("@")[2], "github.com/rocmcfg", "rocmcfg@localhost"}
    pattern = "|".join(map(re.escape, sorted(hosts)))
    listed = subprocess.run(
        [require_tool("git", "git"), "grep", "-lIE", pattern], cwd=REPOSITORY, capture_output=True, text=True
    )
    if listed.returncode not in (0, 1):
        pytest.skip("not a git checkout")
    assert set(listed.stdout.splitlines()) - files == set()


def test_pypi_gets_a_readme_without_a_relative_link() -> None:
    pytest.importorskip("hatchling")
    text = (REPOSITORY / "README.md").read_text()
    shown = module("metadata").absolute(text, "https://x.org/r", "1.2")
    outside_code = re.sub(r"(?ms)^```.*?^```$", "", shown)
    targets = re.findall(r"\]\(([^)]*)\)", outside_code)
    assert targets
    assert [target for target in targets if not target.startswith("https://")] == []
    for target in targets:
        name = re.match(r"https://x\.org/r/(blob|raw)/v1\.2/([^#]*)", target)
        if name is not None:
            assert (REPOSITORY / name[2]).exists(), target
            assert (name[1] == "raw") == name[2].endswith((".svg", ".png"))
    assert "https://x.org/r/blob/v1.2/README.md#" in shown
    pieces = re.findall(r"(?ms)^```.*?^```$", shown)
    assert pieces == re.findall(r"(?ms)^```.*?^```$", text)
