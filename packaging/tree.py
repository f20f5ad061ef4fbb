#!/usr/bin/python3
"""Lays out what the Debian, rpm and Arch packages install. One tree, so that the packages cannot differ.

    python3 packaging/tree.py fetch --into WHEELS [--python 3.11]… [--machine aarch64]
    python3 packaging/tree.py install --destdir D --wheels WHEELS
    python3 packaging/tree.py install --destdir D --system-libraries [--wheels WHEELS --only typer…]

`fetch` is the only part that uses the network and pip. `install` needs the standard library alone and takes
no wheel whose hash is not in requirements.lock. It writes byte code for nobody: that is the business of the
distribution's own tools, since only they know which Pythons are there.

Wheels for several Pythons share one directory: extension modules carry Python's version in their names. A
package or module of which two Pythons need different files goes to directories of these Pythons: cp310 …
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
LOCK = REPOSITORY / "requirements.lock"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
# typer brings rich for coloured help, which rocmcfg turns off; without them typer prints plain text. They
# would be most of the modules.
UNUSED = frozenset({"rich", "pygments", "markdown-it-py", "mdurl"})
# The oldest C library that a wheel may ask for is that of Ubuntu 22.04 (2.35); all of these are older.
PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_28")
MACHINES = ("x86_64", "aarch64")
HOME = "usr/lib/rocmcfg"
ZSH = "usr/share/zsh/vendor-completions"
LICENCES = "usr/share/licenses/rocmcfg"
# Of no use at run time: annotations for type checkers, C sources.
LEFT_OUT = (".pyi", ".c", "py.typed")


class CannotBuild(Exception):
    """What is wrong, where, and what to do; the program's only kind of failure."""


# -- what the lock asks for -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Requirement:
    """One entry of requirements.lock. `name` is normalised as in PEP 503."""

    name: str
    version: str
    marker: str
    hashes: frozenset[str]

    @property
    def pin(self) -> str:
        return f"{self.name}=={self.version}"

    def wanted(self, python: str) -> bool:
        return self.name not in UNUSED and _holds(self.marker, python)


def read_lock(text: str) -> tuple[Requirement, ...]:
    """Reads what `make lock` writes, and nothing more general."""
    found = []
    for entry in re.sub(r"\\\n", " ", text).splitlines():
        head, *hashes = re.split(r"\s+--hash=sha256:", entry.strip())
        if not head or head.startswith("#"):
            continue
        pin, _, marker = (part.strip() for part in head.partition(";"))
        name, equals, version = pin.partition("==")
        if not equals or not hashes:
            raise CannotBuild(f"{LOCK.name}: no version and hash in {head!r}; run `make lock`")
        found.append(Requirement(_normal(name), version, marker, frozenset(hashes)))
    return tuple(found)


def _holds(marker: str, python: str) -> bool:
    """Markers as they occur in the lock. Another kind must not be guessed at, so it stops the build."""
    if not marker:
        return True
    match = re.fullmatch(r"(python_full_version|sys_platform) (<|>=|==) '([\w.]+)'", marker)
    if match is None:
        raise CannotBuild(f"{LOCK.name}: tree.py cannot read the marker {marker!r}; teach `_holds` about it")
    variable, operator, value = match.groups()
    if variable == "sys_platform":
        return (value == "linux") == (operator == "==")
    mine, other = _numbers(python), _numbers(value)
    return {"<": mine < other, ">=": mine >= other, "==": mine == other}[operator]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def tag(python: str) -> str:
    return "cp" + python.replace(".", "")


# -- fetch ----------------------------------------------------------------------------------------------


def fetch(into: Path, pythons: Sequence[str], machine: str) -> None:
    """Download into `into`/cpXY, one directory for each Python. pip checks the hashes."""
    lock = read_lock(LOCK.read_text(encoding="utf-8"))
    for python in pythons:
        target = into / tag(python)
        target.mkdir(parents=True, exist_ok=True)
        for old in target.glob("*.whl"):
            old.unlink()
        wanted = [one for one in lock if one.wanted(python)]
        lines = (" ".join([one.pin, *(f"--hash=sha256:{h}" for h in sorted(one.hashes))]) for one in wanted)
        # pip would resolve the markers for the Python that runs it, so it gets a list without them.
        asked = target / "requirements.txt"
        asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
        _pip_download(asked, target, python, machine)
        asked.unlink()


def _pip_download(asked: Path, target: Path, python: str, machine: str) -> None:
    options = ["--only-binary=:all:", "--no-deps", "--require-hashes", "--implementation=cp"]
    options += [f"--python-version={python}"]
    options += [f"--abi={abi}" for abi in (tag(python), "abi3", "none")]
    options += [f"--platform={platform}_{machine}" for platform in PLATFORMS]
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    command = [*pip, *options, f"--requirement={asked}", f"--dest={target}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if "No module named pip" in done.stdout:
        raise CannotBuild(
            f"{sys.executable} has no pip: apt install python3-pip, or use `make`'s .venv/bin/python"
        )
    if done.returncode:
        raise CannotBuild(
            f"pip could not fetch the wheels for Python {python} on {machine}\n{done.stdout.strip()}"
        )


# -- the bundled libraries ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Libraries:
    """`files` by path below /usr/lib/rocmcfg; `licences` by path below the directory of the licences."""

    pythons: tuple[str, ...]
    files: Mapping[str, bytes]
    licences: Mapping[str, bytes]


def read_wheels(wheels: Path, only: Sequence[str] = ()) -> Libraries:
    """Read WHEELS/cpXY/*.whl, checked against the lock, merged into one tree; `only` names those to take."""
    lock = read_lock(LOCK.read_text(encoding="utf-8"))
    pythons = tuple(python for python in PYTHONS if (wheels / tag(python)).is_dir())
    if not pythons:
        raise CannotBuild(f"{wheels} holds no cp310, cp311 …: `tree.py fetch --into {wheels}` fills it")
    by_python: dict[str, dict[str, bytes]] = {}
    licences: dict[str, bytes] = {}
    for python in pythons:
        by_python[python] = {}
        for requirement, wheel in checked(wheels / tag(python), python, lock):
            if only and requirement.name not in only:
                continue
            for path, content in _unpacked(wheel):
                if _is_licence(path):
                    name = re.sub(r"^.*\.dist-info/(licenses/|sboms/)?|^[^/]*/", "", path)
                    licences[f"{requirement.name}-{requirement.version}/{name}"] = content
                elif ".dist-info/" not in path:
                    by_python[python][path] = content
    return Libraries(pythons, merge(by_python), licences)


def checked(folder: Path, python: str, lock: Iterable[Requirement]) -> Iterable[tuple[Requirement, Path]]:
    """Exactly one wheel for each requirement, each with a hash of the lock."""
    wanted = {(one.name, one.version): one for one in lock if one.wanted(python)}
    for wheel in sorted(folder.glob("*.whl")):
        name, version, *_ = wheel.name.split("-")
        requirement = wanted.pop((_normal(name), version), None)
        if requirement is None:
            raise CannotBuild(
                f"{wheel} is not, or not once, in {LOCK.name}: empty the directory and fetch again"
            )
        if hashlib.sha256(wheel.read_bytes()).hexdigest() not in requirement.hashes:
            raise CannotBuild(
                f"{wheel} has none of the hashes in {LOCK.name}: it is damaged, or not what was locked"
            )
        yield requirement, wheel
    if wanted:
        missing = ", ".join(sorted(one.pin for one in wanted.values()))
        raise CannotBuild(f"{folder} lacks {missing}: `tree.py fetch` again")


def _is_licence(path: str) -> bool:
    """Texts of licences, of vendored code too, and the lists of what is compiled into extension modules."""
    name = Path(path).name
    return (
        ".dist-info/sboms/" in path
        or re.match(r"(?i)(licen[cs]e|copying|notice|authors)\b", name) is not None
    )


def _unpacked(wheel: Path) -> Iterable[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = member.filename
            if member.is_dir() or path.endswith(LEFT_OUT) or "/." in path:  # typer carries notes
                continue
            if path.startswith("/") or ".." in path.split("/") or ".data/" in path:
                raise CannotBuild(f"{wheel.name} has {path}, for which the tree has no place")
            yield path, archive.read(member)


def merge(by_python: Mapping[str, Mapping[str, bytes]]) -> dict[str, bytes]:
    """One tree of the trees of several Pythons. A package or module counts as a whole: where one file of it
    differs, the variant that fewer Pythons need goes to cpXY/, so that no Python sees a mixture."""
    merged: dict[str, bytes] = {}
    for top in sorted({_top(path) for files in by_python.values() for path in files}):
        parts = {
            python: {path: content for path, content in files.items() if _top(path) == top}
            for python, files in by_python.items()
        }
        parts = {python: part for python, part in parts.items() if part}
        common = _most_agreed(list(parts.values()))
        for python, part in parts.items():
            if _agree(common, part):
                common |= part
                continue
            merged |= {f"{tag(python)}/{path}": content for path, content in part.items()}
        merged |= common
    return merged


def _top(path: str) -> str:
    """The importable name that a file belongs to."""
    return re.split(r"[/.]", path, maxsplit=1)[0]


def _agree(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
    """Whether a Python that finds the files of both sees its own. The sources must be the same: one that only
    the other has could be imported. Extension modules of another Python are never looked at."""
    sources = ({path for path in files if not path.endswith(".so")} for files in (one, other))
    return len({frozenset(paths) for paths in sources}) == 1 and all(
        one[path] == other[path] for path in one.keys() & other.keys()
    )


def _most_agreed(parts: Sequence[Mapping[str, bytes]]) -> dict[str, bytes]:
    votes = Counter({n: sum(_agree(part, other) for other in parts) for n, part in enumerate(parts)})
    return dict(parts[votes.most_common(1)[0][0]])


# -- install --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """Where distributions differ. Paths are below the root, without a leading slash."""

    zsh: str
    licences: str | None
    system_libraries: Sequence[str]


def install(destdir: Path, libraries: Libraries | None, layout: Layout) -> None:
    """Write the whole tree below `destdir`. Without `libraries`, those in layout.system_libraries serve."""
    files = dict(_program())
    files |= dict(_beside(layout))
    # With the distribution's libraries, the bundled ones are pure Python and fit them all.
    pythons = libraries.pythons if libraries and not layout.system_libraries else ()
    if libraries is not None:
        files |= {f"{HOME}/{path}": content for path, content in libraries.files.items()}
        if layout.licences:
            files |= {f"{layout.licences}/{path}": content for path, content in libraries.licences.items()}
    for path, content in sorted(files.items()):
        _write(destdir / path, content, 0o755 if path.endswith(".sh") else 0o644)
    _write(destdir / "usr/bin/rocmcfg", launcher(pythons, layout.system_libraries), 0o755)


def launcher(pythons: Sequence[str], system_libraries: Sequence[str]) -> bytes:
    text = (REPOSITORY / "packaging/launcher.py").read_text(encoding="utf-8")
    known = tuple(_numbers(python) for python in pythons)
    for name, value in (("PYTHONS", known), ("SYSTEM", tuple(system_libraries))):
        line = f"\n{name} = ()"
        if text.count(line) != 1:
            raise CannotBuild(f"packaging/launcher.py has no line `{name} = ()`")
        text = text.replace(line, f"\n{name} = {value!r}")
    return text.encode()


def _program() -> Iterable[tuple[str, bytes]]:
    for source in sorted((REPOSITORY / "rocmcfg").rglob("*")):
        inside = source.relative_to(REPOSITORY).as_posix()
        if source.is_file() and "__pycache__" not in inside and source.suffix not in (".pyc", ".pyi"):
            yield f"{HOME}/{inside}", source.read_bytes()
    for source in sorted((REPOSITORY / "profiles").glob("*.toml")):
        yield f"usr/share/rocmcfg/profiles/{source.name}", source.read_bytes()


def _beside(layout: Layout) -> Iterable[tuple[str, bytes]]:
    """What is not Python: generated pages and completions, the schema, the units, and what takes all back."""
    plain = {
        "completions/rocmcfg.bash": "usr/share/bash-completion/completions/rocmcfg",
        "completions/_rocmcfg": f"{layout.zsh}/_rocmcfg",
        "completions/rocmcfg.fish": "usr/share/fish/vendor_completions.d/rocmcfg.fish",
        "undo.sh": "usr/share/rocmcfg/undo.sh",
        "systemd/rocmcfg-recover.service": "usr/lib/systemd/system/rocmcfg-recover.service",
        "systemd/rocmcfg-trial.service": "usr/lib/systemd/system/rocmcfg-trial.service",
        "systemd/rocmcfg-try.service": "usr/lib/systemd/system/rocmcfg-try.service",
        "systemd/rocmcfg-crash@.service": "usr/lib/systemd/system/rocmcfg-crash@.service",
        "systemd/rocmcfg-metrics.service": "usr/lib/systemd/system/rocmcfg-metrics.service",
        "systemd/rocmcfg-metrics.timer": "usr/lib/systemd/system/rocmcfg-metrics.timer",
        "prometheus/rocmcfg.rules.yml": "usr/share/rocmcfg/prometheus/rocmcfg.rules.yml",
        "udev/70-rocmcfg-crash.rules": "usr/lib/udev/rules.d/70-rocmcfg-crash.rules",
    }
    manual_pages = sorted((REPOSITORY / "packaging/man").glob("man?/*"))
    named = {
        "man/man1/rocmcfg.1",
        *(page.relative_to(REPOSITORY / "packaging").as_posix() for page in manual_pages),
    }
    pages = {name: f"usr/share/{name}.gz" for name in sorted(named)}
    schema = REPOSITORY / "rocmcfg/knowledge/profile.schema.json"
    yield "usr/share/rocmcfg/profile.schema.json", schema.read_bytes()
    for name, target in (plain | pages).items():
        source = REPOSITORY / "packaging" / name
        if not source.is_file():
            raise CannotBuild(f"packaging/{name} is missing: this is no complete checkout or sdist")
        content = source.read_bytes()
        # No name and no time in the header: equal pages make equal files.
        yield target, gzip.compress(content, 9, mtime=0) if name in pages else content


def _write(path: Path, content: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


# -- the command line -----------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Lay out what the packages of rocmcfg install.")
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="download the locked wheels, hash-checked")
    fetching.add_argument("--into", type=Path, required=True, metavar="WHEELS")
    fetching.add_argument("--python", action="append", choices=PYTHONS, help="default: all of them")
    fetching.add_argument("--machine", choices=MACHINES, default=os.uname().machine)
    installing = commands.add_parser("install", help="write the tree; no network, standard library only")
    installing.add_argument("--destdir", type=Path, required=True)
    installing.add_argument("--wheels", type=Path, help="what `fetch` filled")
    installing.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="of the wheels, take this one (repeatable)",
    )
    installing.add_argument(
        "--system-libraries",
        action="append",
        default=[],
        nargs="?",
        const="/usr/lib/python3/dist-packages",
        metavar="DIR",
        help="use the distribution's libraries in DIR, where {python} stands for 3.14 and so on (repeatable; "
        "Debian's: /usr/lib/python3/dist-packages)",
    )
    installing.add_argument("--zsh", default=ZSH, metavar="DIR", help=f"for the completion of zsh ({ZSH})")
    installing.add_argument(
        "--licenses", default=LICENCES, metavar="DIR", help=f"for those of the bundled libraries ({LICENCES})"
    )
    installing.add_argument("--no-licenses", dest="licenses", action="store_const", const=None)
    options = parser.parse_args(argv)
    os.umask(0o022)  # directories of a package are for everybody, whoever builds it
    try:
        if options.command == "fetch":
            fetch(options.into, options.python or PYTHONS, options.machine)
        else:
            if not options.wheels and not options.system_libraries:
                parser.error("one of --wheels and --system-libraries is needed, or both")
            layout = Layout(options.zsh, options.licenses, options.system_libraries)
            libraries = read_wheels(options.wheels, options.only) if options.wheels else None
            install(options.destdir, libraries, layout)
    except (CannotBuild, OSError, zipfile.BadZipFile) as problem:
        print(f"tree.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
