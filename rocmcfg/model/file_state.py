"""The state of a file that an undo must restore."""

from __future__ import annotations

from rocmcfg.model.shape import NamedTuple


class FileState(NamedTuple):
    """Everything of a file that an undo must restore."""

    content: bytes
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...] = ()


class Stamp(NamedTuple):
    """The identity of a regular file of any size: the SHA-256 of its content in hexadecimal, its size in
    bytes, and its metadata that an undo must restore."""

    sha256: str
    size: int
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...] = ()
