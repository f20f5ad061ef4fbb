"""Loaders of Debian's suites, out of their packages: nothing is installed, and nothing of a suite other than
the machine's own comes near its apt."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import shared
from tests.support.tools import require_tool

SUITES = ("bookworm", "trixie", "sid")
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_DAY = 20  # of an index; a suite moves on, and takes packages away that an older one names


def unpacked(package: str, suite: str) -> Path:
    """The files of a package as this suite has it today; skips where no mirror can be reached."""
    require_tool("apt-get", package="apt")
    require_tool("dpkg-deb", package="dpkg")
    mirror = os.environ.get("ROCMCFG_MIRROR", "http://deb.debian.org/debian")

    def fetch(work: Path) -> None:
        for folder in ("lists/partial", "cache/archives/partial", "got"):
            (work / folder).mkdir(parents=True)
        (work / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {mirror} {suite} main\n")
        options = {
            "Dir::Etc::SourceList": work / "sources.list",
            "Dir::Etc::SourceParts": "/nonexistent",
            "Dir::State::Lists": work / "lists",
            "Dir::Cache": work / "cache",
            "Acquire::Languages": "none",
            "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any",
        }
        apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items())]
        for command in (["update"], ["download", package]):
            done = subprocess.run(
                [*apt, *command], cwd=work / "got", capture_output=True, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"{package} of {suite} cannot be fetched: {done.stderr.strip()[-300:]}")
        (found,) = (work / "got").glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", found, work / "files"], check=True)

    return shared.made_once(shared.cache("loaders") / f"{package}-{suite}", fetch) / "files"
