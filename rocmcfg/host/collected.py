"""Read documents that were collected from other hosts, from files, folders and the standard input of this
machine. One document at a time is held, however many a file has."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import Literal

from rocmcfg.host.problems import Unreadable
from rocmcfg.model.shape import NamedTuple

LARGEST = 16 << 20  # bytes of a document; those of a host with a thousand faults have a tenth of that
_CHUNK = 64 << 10
_NEXT = b"\n{"  # begins a document in a file of several: in one, only texts and inner lines follow a line end
_DEEPEST = 16  # folders inside each other


class Piece(NamedTuple):
    """A part of a file that begins where a document may begin. `folder` is the first folder on the way from
    the named one to the file, empty without one. `time` is when the file was written, in nanoseconds.
    `content` is None for a `problem`: a file or folder that cannot be read, or a document that is too
    large."""

    path: str
    folder: str
    time: int
    content: bytes | None
    problem: str = ""
    kind: Literal["", "unreadable", "too large"] = ""


def pieces(paths: Iterable[str]) -> Iterator[Piece]:
    """Yield the parts of the named files, of all files `*.json` below the named folders, and of the standard
    input, which is named `-`. In a folder, files and folders come in the order of their names; hidden ones
    are left out, and no link to a folder is followed."""
    for path in paths:
        if path == "-":
            yield from _standard_input()
        elif not os.path.isdir(path):
            yield from _of_file(path, "")
        else:
            for file, folder, problem in _below(path):
                if problem is None:
                    yield from _of_file(file, folder)
                else:
                    yield _unreadable(file, folder, problem)


def _below(top: str) -> Iterator[tuple[str, str, OSError | None]]:
    """Yield the files below a folder with the first folder on the way to each, and the folders that cannot be
    read."""
    waiting = [(top, "", 0)]
    while waiting:
        path, folder, depth = waiting.pop()
        inner: list[tuple[str, str, int]] = []
        try:
            with os.scandir(path) as scan:
                entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan)
        except OSError as problem:
            yield path, folder, problem
            continue
        for name, is_folder in entries:
            if name[0] == ".":
                continue
            if not is_folder and name.endswith(".json"):
                yield f"{path}/{name}", folder, None
            elif is_folder and depth < _DEEPEST:
                inner.append((f"{path}/{name}", folder or name, depth + 1))
        waiting += reversed(inner)


def _of_file(path: str, folder: str) -> Iterator[Piece]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as problem:
        yield _unreadable(path, folder, problem)
        return
    try:
        meta = os.fstat(descriptor)
        is_file = stat.S_ISREG(meta.st_mode)
        content = os.read(descriptor, meta.st_size + 1) if is_file and meta.st_size < _CHUNK else b""
        if (
            content and len(content) <= meta.st_size and _NEXT not in content
        ):  # one document, as nearly always
            yield Piece(path, folder, meta.st_mtime_ns, content)
        elif is_file or stat.S_ISFIFO(meta.st_mode):  # `<(command)` of a shell
            os.set_blocking(descriptor, True)
            yield from _split(descriptor, path, folder, meta.st_mtime_ns if is_file else 0, content)
        else:
            yield Piece(path, folder, 0, None, "it is not a file", "unreadable")
    except OSError as problem:
        yield _unreadable(path, folder, problem)
    finally:
        os.close(descriptor)


def _standard_input() -> Iterator[Piece]:
    try:
        descriptor = os.dup(sys.stdin.fileno())
    except (OSError, ValueError) as problem:
        raise Unreadable("-", "there is no standard input", "name files or a folder") from problem
    try:
        yield from _split(descriptor, "-", "", 0)
    except OSError as problem:
        yield _unreadable("-", "", problem)
    finally:
        os.close(descriptor)


def _split(descriptor: int, path: str, folder: str, time: int, first: bytes = b"") -> Iterator[Piece]:
    """Yield the parts of a file or pipe, whose `first` bytes were read already."""
    held, searched, skips, is_first = bytearray(first), 0, False, True
    chunk = first or os.read(descriptor, _CHUNK)
    held += b"" if first else chunk
    while chunk:
        begin = 0
        while (end := held.find(_NEXT, max(begin, searched))) >= 0:
            if not skips:
                yield Piece(path, folder, time, bytes(held[begin:end]))
            begin, skips, is_first, searched = end + 1, False, False, 0
        del held[:begin]
        searched = max(0, len(held) - 1)
        if len(held) > LARGEST:
            if not skips:
                reason = f"it is larger than {LARGEST >> 20} MiB"
                yield Piece(path, folder, time, None, reason, "too large")
            skips, is_first = True, False
            del held[: 1 - len(_NEXT)]
            searched = 0
        chunk = os.read(descriptor, _CHUNK)
        held += chunk
    if not skips and (is_first or held.strip()):
        yield Piece(path, folder, time, bytes(held))


def _unreadable(path: str, folder: str, problem: OSError | ValueError) -> Piece:
    reason = problem.strerror if isinstance(problem, OSError) else ""
    return Piece(path, folder, 0, None, reason or "it is not a path", "unreadable")
