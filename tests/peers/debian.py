"""The real programs, in a Debian system of their own, and the sources of Debian that bring peers' tests.

Both are made once and cached (`tests/support/shared.py`). What no mirror gives skips the test in one line.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from tests.packages import roots
from tests.support import shared
from tests.support.tools import HANG, require_root, require_tool

SUITE = "trixie"
PACKAGES = (
    "binutils",
    "grub-common",
    "grub-emu",
    "grub2-common",
    "kmod",
    "libpam-modules",
    "python3",
    "systemd",
    "systemd-boot-efi",
    "systemd-boot-tools",
    "systemd-ukify",
)
# A source that a suite's mirror lacks may be in another one.
_SOURCE_SUITES = (SUITE, "bookworm", "sid")
_MIRROR = os.environ.get("ROCMCFG_MIRROR", roots.MIRROR)
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_WORK = "w"
_silent: list[str] = []  # what a mirror that does not answer came to


def system() -> Path:
    """The root of a Debian system with all programs; skips where it cannot be made."""
    require_root()
    require_tool("mmdebstrap", package="mmdebstrap")
    require_tool("unshare", package="util-linux")

    def build(work: Path) -> None:
        _ask_mirror()
        roots.debootstrap(SUITE, PACKAGES, work)
        (work / "usr/sbin/grub-probe").write_text(roots.GRUB_PROBE)
        for script in (work / "etc/grub.d").iterdir():
            if script.name not in ("00_header", "10_linux"):
                script.unlink()
        for name in ("vmlinuz", "initrd.img", "config"):
            (work / f"boot/{name}-6.12.107+deb13-amd64").write_text("placeholder\n")
        versions = subprocess.run(
            ["chroot", str(work), "dpkg-query", "-W", "-f", "${Package}\t${Version}\n"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        (work / "versions.tsv").write_text(versions.stdout)

    try:
        return roots.cached(f"peers-{SUITE}", f"{PACKAGES}{roots.GRUB_PROBE}", build)
    except shared.NotFetched as missing:
        raise _without(f"Debian {SUITE}", missing) from None


def _without(what: str, missing: shared.NotFetched) -> BaseException:
    lines = str(missing).split("\n")
    return pytest.skip.Exception(f"not compared, for {what} cannot be had: {lines[0]}; {lines[-1]}")


def version(package: str) -> str:
    rows = (system() / "versions.tsv").read_text().splitlines()
    return next(row.partition("\t")[2] for row in rows if row.partition("\t")[0] == package)


def run(work: Path, script: str, files: Mapping[str, str]) -> Path:
    """Run a shell script in that system, in a folder with these files; the folder as it is afterwards."""
    inside = work / "upper" / _WORK
    for name, content in files.items():
        path = inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    (inside / "out").mkdir(parents=True)
    done = roots.Root(system(), work).run(f"cd /{_WORK}; {script}")
    assert done.returncode == 0, done.stdout[-3000:]
    return inside


def source(package: str, wanted: tuple[str, ...]) -> tuple[Path, str]:
    """The files of a source package that match these patterns of tar, such as `*/testsuite/*`, without the
    folder that all of them lie in, and the package's version; skips where no mirror has it."""
    require_tool("apt-get", package="apt")

    def fetch(work: Path) -> None:
        _ask_mirror()
        failed = []
        for suite in _SOURCE_SUITES:
            try:
                index = _index(suite)
                uri, name, digest, version = _upstream(package, suite, index)
                tool = ("/usr/lib/apt/apt-helper", *_options(index), "download-file")
                helper = [*tool, uri, str(work / name), digest]
                shared.fetched(helper, f"{package} of {suite}", pauses=(2.0,))
            except shared.NotFetched as missing:  # of this suite: a mirror may lack single files
                failed.append(str(missing))
                continue
            _unpack(work / name, wanted, work / "files")
            (work / name).unlink()
            (work / "version").write_text(version)
            return
        raise shared.NotFetched(failed[0])

    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:12]
    try:
        made = shared.made_once(shared.cache("peers") / f"{package}-{digest}", fetch)
    except shared.NotFetched as missing:
        raise _without(f"the sources of {package}", missing) from None
    return made / "files", (made / "version").read_text()


def _upstream(package: str, suite: str, index: Path) -> tuple[str, str, str, str]:
    """Address, name and digest of the archive with the upstream sources, and the version, by the signed
    index."""
    apt = ["apt-get", "-q", *_options(index)]
    said = shared.fetched([*apt, "source", "--download-only", "--print-uris", package], package, pauses=())
    rows = [shlex.split(line) for line in said.splitlines() if line.startswith("'")]
    for uri, name, _, digest in (row for row in rows if len(row) == 4):
        if ".orig.tar." in name and not name.endswith(".asc"):
            return uri, name, digest, name.partition("_")[2].partition(".orig")[0]
    raise shared.NotFetched(f"{suite} has no source of {package}")


def _ask_mirror() -> None:
    """Raises NotFetched within a minute where it does not answer, and at once when it did not before:
    mmdebstrap and apt would try for long."""
    if not _silent:
        try:
            with tempfile.TemporaryDirectory() as folder:
                address = f"{_MIRROR}/dists/{SUITE}/InRelease"
                options = ("-oAcquire::Retries=0", "-oAcquire::http::Timeout=30", "-oAPT::Sandbox::User=root")
                helper = [
                    "/usr/lib/apt/apt-helper",
                    *options,
                    "download-file",
                    address,
                    f"{folder}/InRelease",
                ]
                shared.fetched(helper, _MIRROR, pauses=())
        except shared.NotFetched as missing:
            _silent.append(str(missing))
    if _silent:
        raise shared.NotFetched(_silent[0])


def _index(suite: str) -> Path:
    """The suite's list of sources as it is today."""

    def update(work: Path) -> None:
        (work / "lists/partial").mkdir(parents=True)
        (work / "cache/archives/partial").mkdir(parents=True)
        (work / "sources.list").write_text(f"deb-src [signed-by={_KEYRING}] {_MIRROR} {suite} main\n")
        shared.fetched(["apt-get", "-q", *_options(work), "update"], f"the sources of {suite}", pauses=(2.0,))

    made = shared.made_once(shared.cache("peers") / f"index-{suite}-{date.today()}", update)
    shared.forget_older_than(made, f"index-{suite}-*-*-{'[0-9]' * 2}", keep=1)
    return made


def _options(index: Path) -> list[str]:
    options = {
        "Dir::Etc::SourceList": index / "sources.list",
        "Dir::Etc::SourceParts": "/nonexistent",
        "Dir::State::Lists": index / "lists",
        "Dir::Cache": index / "cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "0",
        "Acquire::http::Timeout": "30",
        "APT::Sandbox::User": "root",
        "APT::Update::Error-Mode": "any",
    }
    return [f"-o{name}={value}" for name, value in options.items()]


def _unpack(archive: Path, wanted: tuple[str, ...], into: Path) -> None:
    into.mkdir()
    subprocess.run(
        ["tar", "-xf", str(archive), "-C", str(into), "--strip-components=1", "--wildcards", *wanted],
        check=True, capture_output=True, timeout=HANG,
    )  # fmt: skip
