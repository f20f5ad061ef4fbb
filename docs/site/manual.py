#!/usr/bin/env python3
"""Builds the manual as a site. A warning of Sphinx fails the build.

    docs/site/manual.py [FOLDER]              writes the site, by default to dist/manual
    docs/site/manual.py --environment FOLDER  only creates the virtual environment for it

Sphinx and its theme come from the package index, by the hashes of requirements.lock, into a virtual
environment below build/ that later builds use again.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SITE = Path(__file__).resolve().parent
REPOSITORY = SITE.parents[1]
LOCK = SITE / "requirements.lock"


def key() -> str:
    """Return a name for the virtual environment, which changes with the lock file and with Python."""
    return f"manual-{hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()[:12]}"


def environment(folder: Path) -> Path:
    """Return the Python of a virtual environment, with the packages of the lock file."""
    python = folder / "bin/python"
    mark = folder / "complete"
    if not mark.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--require-hashes", "-r", LOCK], check=True)
        mark.touch()
    return python


def build(python: Path, source: Path, into: Path) -> int:
    """Write the site into a folder, which is replaced, and return the exit status of Sphinx."""
    shutil.rmtree(into, ignore_errors=True)
    options = ["--nitpicky", "--fail-on-warning", "--keep-going", "--quiet", "--fresh-env"]
    with tempfile.TemporaryDirectory() as doctrees:
        folders = ["--conf-dir", source / "site", "--doctree-dir", doctrees, source, into]
        command = [python, "-m", "sphinx", *options, "--builder", "html", *folders]
        return subprocess.run(command, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=REPOSITORY / "dist/manual")
    parser.add_argument("--environment", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.environment:
        environment(options.environment)
        return 0
    status = build(environment(REPOSITORY / "build" / key()), SITE.parent, options.folder)
    if status == 0:
        print(options.folder / "index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
