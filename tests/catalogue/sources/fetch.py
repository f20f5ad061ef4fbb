"""Packages of Debian's suites, and Ubuntu's of other kernels and ROCm releases, unpacked into the cache."""

from __future__ import annotations

import functools
import lzma
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.shared import cache, fetched, made_once

DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"
SUITES = (
    *(
        (DEBIAN, name, "main")
        for name in ("bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid", "experimental")
    ),
    *(
        (UBUNTU, f"{name}-updates", "main")  # the kernels
        for name in ("jammy", "noble", "questing", "resolute")
    ),
    *((UBUNTU, name, "universe") for name in ("noble", "resolute")),  # ROCm
)
_STANZA = re.compile(r"^(Package|Version|Filename|Directory): (\S+)", re.MULTILINE)
_ARCHIVE = re.compile(r"^ [0-9a-f]{64} \d+ (\S+\.orig\.tar\.[gx]z)$", re.MULTILINE)


class Package(NamedTuple):
    """`path` is that of the file on the mirror."""

    name: str
    version: str
    path: str
    mirror: str = DEBIAN


def offered(pattern: str, *, source: bool = False) -> Iterator[Package]:
    """Every version of the packages whose names match as a whole, in whichever suite; binary ones, or the
    archives of their upstreams."""
    form = re.compile(pattern)
    for mirror, suite, component in SUITES:
        name = "source/Sources" if source else "binary-amd64/Packages"
        for stanza in _index(mirror, suite, f"{component}/{name}"):
            row, archive = dict(_STANZA.findall(stanza)), _ARCHIVE.search(stanza)
            if not row or not form.fullmatch(row["Package"]):
                continue
            if source and archive and _is_there(path := f"{row['Directory']}/{archive[1]}", mirror):
                yield Package(row["Package"], row["Version"], path, mirror)
            elif not source:
                yield Package(row["Package"], row["Version"], row["Filename"], mirror)


@functools.cache
def _is_there(path: str, mirror: str) -> bool:
    """A mirror need not have the sources of all that it offers."""
    request = urllib.request.Request(f"{mirror}/{urllib.parse.quote(path)}", method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=120).close()
    except urllib.error.HTTPError:
        return False
    return True


@functools.cache
def _index(mirror: str, suite: str, name: str) -> list[str]:
    with urllib.request.urlopen(f"{mirror}/dists/{suite}/{name}.xz", timeout=120) as answer:
        return lzma.decompress(answer.read()).decode().split("\n\n")


def newest(packages: Sequence[Package]) -> dict[str, Package]:
    """Of each name the one of the highest version, as dpkg compares them."""
    found: dict[str, Package] = {}
    for one in packages:
        other = found.get(one.name)
        if other is None or _is_newer(one.version, other.version):
            found[one.name] = one
    return found


def _is_newer(version: str, than: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", than], check=False).returncode == 0


def unpacked(package: Package, members: Sequence[str] = ()) -> Path:
    """The content of a package; of the archive that it holds, where it holds one, the folders `members`."""
    url = f"{package.mirror}/{urllib.parse.quote(package.path)}"

    def make(folder: Path) -> None:
        file = folder / package.path.rpartition("/")[2]
        fetched(["curl", "-sSf", "--max-time", "1500", "-o", file, url], package.name)
        unpack = "dpkg-deb -x" if file.suffix == ".deb" else "tar -C"
        words = [file, folder] if file.suffix == ".deb" else [folder, "-xf", file]
        subprocess.run([*unpack.split(), *map(str, words)], check=True)
        file.unlink()
        for archive in [*folder.glob("usr/src/**/*.tar.[bx]z*")] if members else ():
            wanted = [f"*/{member}" for member in members]
            tar = ["tar", "-xf", archive, "-C", folder, "--strip-components=1", "--wildcards"]
            subprocess.run([*map(str, tar), *wanted], check=True)
            archive.unlink()

    name = re.sub(r"[^\w.+~-]", "_", f"{package.name}_{package.version}")
    return made_once(cache("sources", name), make)
