"""Files of a fake host, and how they come onto the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Link:
    """A symlink; its target is relative, so that the tree can be moved."""

    target: str


@dataclass(frozen=True, slots=True)
class Program:
    """An executable file. It stands for a tool that is installed; what it does is the test's business."""

    text: str = "#!/bin/sh\necho 'a fake host has no real tools' >&2\nexit 99\n"


@dataclass(frozen=True, slots=True)
class Secret:
    """A file with mode 0600, as the kernel shows gttsize and gartsize."""

    text: str


File = str | bytes | Link | Program | Secret


FileMap = Mapping[str, File]


def make_root(tmp_path: Path, files: FileMap, *, name: str = "root") -> Path:
    """Write `files` (paths inside the host, with or without a leading slash) below `tmp_path / name`.

    Parents are created; symlinks are written last and replace nothing. Returns the root. May be called again
    with the same name to add files or to replace regular ones.
    """
    root = tmp_path / name
    root.mkdir(parents=True, exist_ok=True)
    links = {path: file for path, file in files.items() if isinstance(file, Link)}
    for path, file in files.items():
        if not isinstance(file, Link):
            _write(root / path.lstrip("/"), file)
    for path, link in links.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(link.target)
    return root


def _write(place: Path, file: str | bytes | Program | Secret) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    content = file.text if isinstance(file, (Program, Secret)) else file
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    place.chmod(0o755 if isinstance(file, Program) else 0o600 if isinstance(file, Secret) else 0o644)


def programs(*paths: str) -> dict[str, File]:
    """Return placeholder executables for installed tools."""
    return {path: Program() for path in paths}
