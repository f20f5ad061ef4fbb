"""Read documents that were collected from other hosts, from files, folders and the standard input of this
machine. One document at a time is held, however many a file has."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable, Iterator
from typing import Literal

from rocmcfg.host.files import log_from, open_callers_log
from rocmcfg.host.problems import Unreadable
from rocmcfg.model.shape import NamedTuple

LARGEST = (
    2 << 20
)  # bytes of a document: a hundred times as many as one has; its values take up to fifty times as much
_CHUNK = 64 << 10
_NEXT = b"\n{"  # begins a document in a file of several: in one, only texts and inner lines follow a line end
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
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
        if path == "-" or not os.path.isdir(path):
            yield from _of_file(path, "", is_named=True)
        else:
            for file, folder, problem in _below(path):
                if problem is None:
                    yield from _of_file(file, folder, is_named=False)
                else:
                    yield _unreadable(file, folder, problem)


def _below(top: str) -> Iterator[tuple[str, str, OSError | None]]:
    """Yield the files below a folder with the first folder on the way to each, and what cannot be read."""
    waiting = [(top, "", 0)]
    while waiting:
        path, folder, depth = waiting.pop()
        inner: list[tuple[str, str, int]] = []
        try:
            with os.scandir(path) as scan:
                entries = sorted((e.name, e.is_dir(follow_symlinks=False), e) for e in scan)
        except OSError as problem:
            yield path, folder, problem
            continue
        for name, is_folder, entry in entries:
            if name[0] == ".":
                continue
            if is_folder and depth < _DEEPEST:
                inner.append((f"{path}/{name}", folder or name, depth + 1))
            elif not is_folder and name.endswith(".json"):
                yield f"{path}/{name}", folder, _not_a_file(entry)
        waiting += reversed(inner)


def _not_a_file(entry: os.DirEntry[str]) -> OSError | None:
    """Return why an entry of a folder is not read: a pipe would be waited for."""
    try:
        return None if entry.is_file() else OSError(errno.EINVAL, "it is not a file")
    except OSError as problem:  # of a link: it leads in a circle, or where the caller may not look
        return problem


def _of_file(path: str, folder: str, *, is_named: bool) -> Iterator[Piece]:
    try:
        stream = open_callers_log(path) if is_named else log_from(os.open(path, _FLAGS), path, pipes=False)
    except Unreadable as problem:
        yield Piece(path, folder, 0, None, problem.reason, "unreadable")
        return
    except OSError as problem:
        yield _unreadable(path, folder, problem)
        return
    with stream:
        descriptor = stream.fileno()
        try:
            meta = os.fstat(descriptor)
            written = max(0, min(meta.st_mtime_ns, time.time_ns()))  # rsync brings the times of other clocks
            most = meta.st_size if meta.st_size < _CHUNK else 0
            content = os.read(descriptor, most + 1) if most else b""
            if content and len(content) <= most and _NEXT not in content:  # one document, as nearly always
                yield Piece(path, folder, written, content)
            else:
                yield from _split(descriptor, path, folder, written, content)
        except OSError as problem:
            yield _unreadable(path, folder, problem)


def _split(descriptor: int, path: str, folder: str, written: int, first: bytes = b"") -> Iterator[Piece]:
    """Yield the parts of a file or pipe, whose `first` bytes were read already."""
    held, searched, skips, is_first = bytearray(first), 0, False, True
    chunk = first or os.read(descriptor, _CHUNK)
    held += b"" if first else chunk
    while chunk:
        begin = 0
        while (end := held.find(_NEXT, max(begin, searched))) >= 0:
            if not skips:
                yield Piece(path, folder, written, bytes(held[begin:end]))
            begin, skips, is_first, searched = end + 1, False, False, 0
        del held[:begin]
        searched = max(0, len(held) - 1)
        if len(held) > LARGEST:
            if not skips:
                reason = f"it is larger than {LARGEST >> 20} MiB"
                yield Piece(path, folder, written, None, reason, "too large")
            skips, is_first = True, False
            del held[: 1 - len(_NEXT)]
            searched = 0
        chunk = os.read(descriptor, _CHUNK)
        held += chunk
    if not skips and (is_first or held.strip()):
        yield Piece(path, folder, written, bytes(held))


def _unreadable(path: str, folder: str, problem: OSError) -> Piece:
    return Piece(path, folder, 0, None, problem.strerror or str(problem), "unreadable")
