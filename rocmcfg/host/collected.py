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
        elif os.path.isdir(path):
            yield from _below(path, "", 0)
        else:
            yield from _of_file(path, "")


def _below(path: str, folder: str, depth: int) -> Iterator[Piece]:
    try:
        with os.scandir(path) as scan:
            entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan)
    except OSError as problem:
        yield _unreadable(path, folder, problem)
        return
    for name, is_folder in entries:
        if name.startswith("."):
            continue
        inner = os.path.join(path, name)
        if is_folder and depth < _DEEPEST:
            yield from _below(inner, folder or name, depth + 1)
        elif not is_folder and name.endswith(".json"):
            yield from _of_file(inner, folder)


def _of_file(path: str, folder: str) -> Iterator[Piece]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as problem:
        yield _unreadable(path, folder, problem)
        return
    try:
        meta = os.fstat(descriptor)
        if stat.S_ISFIFO(meta.st_mode):  # `<(command)` of a shell
            os.set_blocking(descriptor, True)
        elif not stat.S_ISREG(meta.st_mode):
            yield Piece(path, folder, 0, None, "it is not a file", "unreadable")
            return
        yield from _split(descriptor, path, folder, meta.st_mtime_ns)
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


def _split(descriptor: int, path: str, folder: str, time: int) -> Iterator[Piece]:
    held, searched, skips, is_first = bytearray(), 0, False, True
    while chunk := os.read(descriptor, _CHUNK):
        held += chunk
        begin = 0
        while (end := held.find(_NEXT, max(begin, searched))) >= 0:
            if not skips:
                yield Piece(path, folder, time, bytes(held[begin:end]))
            begin, skips, is_first = end + 1, False, False
        del held[:begin]
        searched = max(0, len(held) - 1)
        if len(held) > LARGEST:
            if not skips:
                reason = f"it is larger than {LARGEST >> 20} MiB"
                yield Piece(path, folder, time, None, reason, "too large")
            skips, is_first = True, False
            del held[: -len(_NEXT)]
            searched = 0
    if not skips and (is_first or held.strip()):
        yield Piece(path, folder, time, bytes(held))


def _unreadable(path: str, folder: str, problem: OSError | ValueError) -> Piece:
    reason = problem.strerror if isinstance(problem, OSError) else ""
    return Piece(path, folder, 0, None, reason or "it is not a path", "unreadable")
