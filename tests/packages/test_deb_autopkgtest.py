"""The test that the source package brings for Debian's archive, as Debian runs it: by autopkgtest, in a
minimal system of a release, with the package that bundles nothing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.vm import tools

from . import roots
from .conftest import build_deb

# What autopkgtest unpacks sources with, and what it makes its archive of packages with.
PACKAGES = ("dpkg-dev", "apt-utils", *roots.LIBRARIES)


@pytest.mark.parametrize("suite", ["trixie"])
def test_autopkgtest_passes_on_the_source_package(debian_tools: None, tmp_path: Path, suite: str) -> None:
    tools.require({"autopkgtest": "autopkgtest"})
    package = build_deb(None, tmp_path, "--system-libraries", "--elsewhere")
    sdist = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path)]
    roots.must([*sdist, str(roots.REPOSITORY)])
    (archive,) = tmp_path.glob("*.tar.gz")
    source = [str(roots.REPOSITORY / "packaging/debian/build"), "--source", "--sdist", str(archive)]
    printed = roots.must([*source, "--output", str(tmp_path)])
    (description,) = (path for path in printed.split() if path.endswith(".dsc"))

    def build(work: Path) -> None:
        roots.debootstrap(suite, PACKAGES, work)

    work = tmp_path / "system"
    work.mkdir()
    system = roots.Root(roots.cached(f"root-autopkgtest-{suite}", f"{PACKAGES}", build), work)
    command = ["autopkgtest", "--no-built-binaries", str(package), description, "--output-dir", "results"]
    # a folder of this machine that the system does not have
    without = ("env", "--unset=TMPDIR")
    done = system.from_outside(*without, *command, "--", "chroot", str(work / "merged"))
    assert done.returncode == 0, done.stdout[-5000:]
    summary = (work / "results/summary").read_text()
    assert re.fullmatch(r"scratch-root +PASS\n", summary)
