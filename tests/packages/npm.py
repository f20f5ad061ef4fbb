"""Packages of npm, by the versions and digests of a lock file."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tests.support import shared
from tests.vm import tools

# npm prints errors to stderr; with --silent it prints nothing.
_NPM = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error")


def npm_packages(folder: Path) -> Path:
    """Install what the lock file in a folder names, once for all runs, and return its node_modules."""
    tools.require({"npm": "npm", "node": "nodejs"})
    files = (folder / "package.json", folder / "package-lock.json")
    key = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]

    def make(work: Path) -> None:
        for file in files:
            shutil.copy(file, work)
        shared.fetched([*_NPM, "--prefix", work], folder.name)

    return shared.made_once(shared.cache("packages") / f"{folder.name}-{key}", make) / "node_modules"
