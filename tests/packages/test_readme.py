"""Who installs from a checkout by the README's own lines gets a program that runs, and all beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import rocmcfg
from tests.support.shared import fetched
from tests.support.tools import require_tool
from tests.vm import wheelhouse

from . import readme, roots
from .conftest import DEB

# What pip builds the checkout's wheel with.
_BUILD_NAMES = ("hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers")
_PACKAGES = ("python3-venv", "sudo", "systemd")


def test_the_package_is_built_and_installed_by_the_lines_that_the_tests_run(deb: Path) -> None:
    needs, build, install = readme.commands("package")
    assert set(needs.split()[3:]) == {"build-essential", "debhelper", "dh-python", "python3-pip"}
    assert (roots.REPOSITORY / build).samefile(roots.REPOSITORY / "packaging/debian/build")
    assert install == f"sudo apt install ./dist/{DEB}"  # test_deb_life runs it
    assert deb.name == DEB


def test_a_virtual_environment_made_by_the_readme(debian_tools: None, tmp_path: Path) -> None:
    def build(work: Path) -> None:
        roots.debootstrap("trixie", _PACKAGES, work)

    lower = roots.cached("root-venv", f"{_PACKAGES}", build)
    root = roots.Root(lower, tmp_path / "host")
    root.work.mkdir()
    for wheel in (*wheelhouse.path().glob("*.whl"), *build_tools(tmp_path / "tools")):
        if not wheel.name.startswith("rocmcfg-"):
            root.bring(wheel, f"/index/{wheel.name}")
    # The lines are run as they stand; pip is only told where to look instead of the package index.
    root.bring(
        _written(tmp_path / "pip.conf", "[global]\nno-index = true\nfind-links = /index\n"), "/etc/pip.conf"
    )
    checkout(root.work / "upper/src")

    lines = readme.commands("virtual environment")
    root.ok("set -e; cd /src\n" + "\n".join(lines))

    assert root.ok("rocmcfg --version") == f"rocmcfg {rocmcfg.__version__}\n"
    assert "amdgpu.cwsr_enable=0" in root.ok("rocmcfg plan -p gfx1201 --root /src/docs/demo/sample-host")
    for path in ("man/man1/rocmcfg.1", "bash-completion/completions/rocmcfg", "zsh/site-functions/_rocmcfg"):
        assert root.exists(f"/usr/local/share/{path}"), path
    for unit in ("rocmcfg-recover.service", "rocmcfg-trial.service", "rocmcfg-try.service"):
        assert root.exists(f"/etc/systemd/system/multi-user.target.wants/{unit}")
    assert root.ok("command -v gcc cc || true") == ""


def build_tools(into: Path) -> list[Path]:
    lock = (roots.REPOSITORY / "requirements-dev.lock").read_text()
    pins = re.findall(rf"^((?:{'|'.join(_BUILD_NAMES)})==\S+)", lock, re.MULTILINE)
    assert len(pins) == len(_BUILD_NAMES), pins
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
    fetched([*command, "--dest", into, *pins], "what builds a wheel")
    return sorted(into.glob("*.whl"))


def checkout(into: Path) -> None:
    """What git tracks, as it is in the working tree."""
    into.mkdir(parents=True)
    listed = roots.must(["git", "-C", str(roots.REPOSITORY), "ls-files", "-z"]).split("\0")
    packed = into.with_suffix(".tar")
    with tarfile.open(packed, "w") as archive:
        for name in filter(None, listed):
            archive.add(roots.REPOSITORY / name, name, recursive=False)
    subprocess.run(["tar", "-xf", str(packed), "-C", str(into), "--no-same-owner"], check=True)
    packed.unlink()


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_doctor_lint_and_explain_run_from_a_checkout_without_root_and_without_a_package(
    open_folder: Path,
) -> None:
    home = open_folder / "home"
    home.mkdir()
    place = home / "rocmcfg"  # as git names it where most people clone it to
    checkout(place)
    before = set(os.listdir(place))
    *make, doctor, lint, explain = readme.commands("without root")
    assert [line.split()[1] for line in (doctor, lint, explain)] == ["doctor", "lint", "explain"]
    as_somebody = []
    if os.geteuid() == 0:  # who reads the README is somebody else
        as_somebody = [
            require_tool("setpriv", "util-linux"),
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]
        for path in (open_folder, *open_folder.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)
    python = f"{sys.base_prefix}/bin:{os.environ.get('PATH', os.defpath)}"
    environment = {
        "HOME": str(home),
        "PATH": python,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "TMPDIR": str(home),
    }

    def run(line: str) -> list[str]:
        return [*as_somebody, "sh", "-ec", f"cd {place}; {line}"]

    for line in make:
        fetched(run(line), "what rocmcfg needs", env=environment)
    said = fetched(
        run(f"{lint}; {explain}; {doctor.replace(' doctor', ' doctor docs/demo/fault.log')}"),
        "",
        env=environment,
    )
    assert "amdgpu.noretry=0" in said
    assert "amdgpu.ppfeaturemask" in said
    assert "rdna4-" in said
    assert set(os.listdir(place)) - before <= {"build"}
