"""Paths inside a root, walked one name at a time from an open directory to the next.

Whoever may write in a tree can exchange one of its directories for a link at any moment, so a path that was
looked at must not be looked up a second time. Here each name is opened in the directory that is already open,
and a link is read from what was opened and followed inside the root, as a chroot would: neither ".." nor a
link to / ever leads out.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from contextlib import suppress

from rocmcfg.model.shape import NamedTuple

_LINK_LIMIT = 40  # as the kernel has it (fs/namei.c, MAXSYMLINKS)
# O_PATH: a directory may be passed through by whoever cannot list it
_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

# What lets others than the owner write. The group's bit counts whichever group it is, root's own as well:
# with an access list it is the mask of all users and groups that the list names (acl(5)).
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def require_possible(path: str) -> None:
    """Refuse a path that no file can have: paths come from entries, links and records of others, and the
    calls of Python's `os` raise ValueError for a NUL or half of a character. Raises FileNotFoundError."""
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise FileNotFoundError(errno.ENOENT, "no file can have this name", path)


class Place(NamedTuple):
    """A name in an open directory, as the `dir_fd` of Python's `os` takes it; None: the name is a path of the
    running system. `path` is where that is within the root, all links followed."""

    directory: int | None
    name: str
    path: str


class Weakness(NamedTuple):
    """A part of a path that others may change. `mode` is None where it is not there yet: they may make it."""

    path: str
    owner: int
    mode: int | None

    def words(self, *, here: bool) -> str:
        """Say which part it is, whose, and its mode. `here`: the users of the running system are meant."""
        if self.mode is None:
            return f"anybody can make {self.path}"
        if self.owner != 0:
            return f"{self.path} belongs to {_account(self.owner, here)}, mode {self.mode:04o}"
        writers = "all" if self.mode & stat.S_IWOTH else "its group"
        return f"{self.path} can be written by {writers}, mode {self.mode:04o}"


class Root:
    """An open directory that paths begin at; closed with its last reference."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)

    def place(self, path: str, *, follow_last: bool = True) -> _Walk:
        """Return a walk to where `path` leads, which stays there for as long as `with` holds it. The
        directory is there, the name need not be. Entering it raises OSError."""
        return _Walk(self, path, follow_last)

    def weakness(self, path: str) -> tuple[Weakness | None, os.stat_result | None]:
        """Return the first part of `path`, from the root on, that somebody else than root may change: one
        that another user owns, or that others can write; None where there is no such part. Return also what
        the same walk ended at, None where nothing is there. Raises OSError.

        A directory such as /tmp counts as strong by its sticky bit: what others may do there is to make new
        names, and each of those is looked at itself."""
        walk = _Walk(self, path, watched=True)
        with suppress(FileNotFoundError, NotADirectoryError), walk:
            pass
        return walk.weak, walk.reached


class _Walk:
    """`names` are the folders on the way from the root, `_open` the root and these, open;
    `last` is the name in it at which the path ends. `watched`: the walk looks for a `Weakness`."""

    def __init__(self, root: Root, path: str, follow_last: bool = True, *, watched: bool = False) -> None:
        self._root = root  # open for as long as the walk is
        self._open = [root.descriptor]
        self._path, self._follow_last, self._watched = path, follow_last, watched
        self.names: list[str] = []
        self.last = "."
        self.weak: Weakness | None = None
        self.reached: os.stat_result | None = None

    def __enter__(self) -> Place:
        require_possible(self._path)
        self._look(self._open[0], "")
        try:
            self._go()
        except BaseException:
            self._up_to(0)
            raise
        names = [*self.names, self.last] if self.last != "." else self.names
        return Place(self._open[-1], self.last, "/" + "/".join(names))

    def __exit__(self, *_: object) -> None:
        self._up_to(0)

    def _go(self) -> None:
        pending = [part for part in self._path.split("/") if part not in ("", ".")][::-1]
        links = 0
        while pending:
            part = pending.pop()
            if part == "..":
                self._up_to(max(0, len(self.names) - 1))
                continue
            if not pending and not self._follow_last:
                self.last = part
                return
            try:
                step = os.open(part, _STEP, dir_fd=self._open[-1])
            except FileNotFoundError:
                self._missing(part)
                if pending:
                    raise
                self.last = part
                return
            kept = False
            try:
                meta = os.fstat(step)
                kind = stat.S_IFMT(meta.st_mode)
                if kind == stat.S_IFLNK:
                    links += 1
                    if links > _LINK_LIMIT:
                        raise OSError(errno.ELOOP, "too many symbolic links")
                    self._look(step, part)
                    target = os.readlink("", dir_fd=step)
                    if target.startswith("/"):
                        self._up_to(0)
                    pending += [name for name in target.split("/")[::-1] if name not in ("", ".")]
                    continue
                self._look(step, part)
                if not pending:
                    self.last = part
                    self.reached = meta
                    return
                if kind != stat.S_IFDIR:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                self._open.append(step)
                self.names.append(part)
                kept = True
            finally:
                if not kept:
                    os.close(step)

    def _up_to(self, depth: int) -> None:
        """Go back to one of the folders on the way, or to the root."""
        while len(self.names) > depth:
            self.names.pop()
            os.close(self._open.pop())

    def _look(self, step: int, name: str) -> None:
        """Note the first part that others may change. Of a link only the owner counts, who may exchange the
        link even in a sticky directory."""
        if self._watched and self.weak is None:
            meta = os.fstat(step)
            sticky = stat.S_ISDIR(meta.st_mode) and meta.st_mode & stat.S_ISVTX
            bare = sticky or stat.S_ISLNK(meta.st_mode)
            if meta.st_uid != 0 or (meta.st_mode & _OTHERS and not bare):
                self._weak_at(name, meta.st_uid, stat.S_IMODE(meta.st_mode))

    def _missing(self, name: str) -> None:
        """Note that anybody can make the name, where its directory is sticky and everybody's."""
        if self._watched and self.weak is None and os.fstat(self._open[-1]).st_mode & stat.S_IWOTH:
            self._weak_at(name, 0, None)

    def _weak_at(self, name: str, owner: int, mode: int | None) -> None:
        self.weak = Weakness("/" + "/".join([*self.names, name] if name else self.names), owner, mode)


def _account(uid: int, here: bool) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (user {uid})" if here else f"user {uid}"
    except KeyError:
        return f"user {uid}"
