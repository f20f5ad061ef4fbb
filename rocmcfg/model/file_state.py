"""A file as an undo must bring it back."""

from __future__ import annotations

from rocmcfg.model.shape import NamedTuple


class FileState(NamedTuple):
    """Everything of a file that an undo must bring back."""

    content: bytes
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...] = ()


class Stamp(NamedTuple):
    """What tells a regular file of any size from another: the SHA-256 of its content in hexadecimal, its size
    in bytes, and what else an undo must bring back."""

    sha256: str
    size: int
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...] = ()
