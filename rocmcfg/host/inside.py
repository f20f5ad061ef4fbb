"""Walk paths inside a root, one name at a time from an open directory to the next.

A user who may write in a tree can replace one of its directories with a link at any moment, so a path that
was checked must not be looked up a second time. Here each name is opened in the directory that is already
open. A link is read from the opened file and followed inside the root, as in a chroot: neither ".." nor a
link to / ever leads out.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from contextlib import suppress

from rocmcfg.model.shape import NamedTuple

_LINK_LIMIT = 40  # the kernel's limit (fs/namei.c, MAXSYMLINKS)
# O_PATH: a directory may be passed through without the right to list it
_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

# Permissions that let users other than the owner write. The group's bit counts for every group, including
# root's: with an access list it is the mask of all users and groups in the list (acl(5)).
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def require_possible(path: str) -> None:
    """Refuse a path that no file can have: paths come from foreign entries, links and records, and Python's
    `os` raises ValueError for a NUL or half of a character. Raises FileNotFoundError."""
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise FileNotFoundError(errno.ENOENT, "no file can have this name", path)


class Place(NamedTuple):
    """A name in an open directory, for the `dir_fd` of Python's `os`. If `directory` is None, the name is a
    path of the running system. `path` is the path within the root, with all links followed."""

    directory: int | None
    name: str
    path: str


class Weakness(NamedTuple):
    """A part of a path that other users may change. `mode` is None if it does not exist yet: they may create
    it."""

    path: str
    owner: int
    mode: int | None

    def words(self, *, here: bool) -> str:
        """Return a sentence with the part, its owner and its mode. `here`: the owner is a user of the running
        system."""
        if self.mode is None:
            return f"anybody can create {self.path}"
        if self.owner != 0:
            return f"{self.path} belongs to {_account(self.owner, here)}, mode {self.mode:04o}"
        writers = "everybody" if self.mode & stat.S_IWOTH else "its group"
        return f"{self.path} can be written by {writers}, mode {self.mode:04o}"


class Root:
    """An open directory at which paths begin. It is closed with its last reference."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)

    def place(self, path: str, *, follow_last: bool = True, led_by_others: bool = True) -> _Walk:
        """Return a walk to the end of `path`, which stays there for as long as `with` holds it. The directory
        exists, the name need not. Entering the walk raises OSError; unless it may be `led_by_others`, also
        for a link behind a part of the path that a user other than root may change."""
        return _Walk(self, path, follow_last, watched=not led_by_others, led_by_others=led_by_others)

    def weakness(self, path: str) -> tuple[Weakness | None, os.stat_result | None]:
        """Return the first part of `path`, from the root on, that a user other than root may change: a part
        that another user owns, or that other users can write; None where there is no such part. Return also
        the status of the file at the end of the same walk, None where there is none. Raises OSError.

        A directory such as /tmp counts as safe because of its sticky bit: other users can only create new
        names there, and each name on the path is checked itself."""
        walk = _Walk(self, path, watched=True)
        with suppress(FileNotFoundError, NotADirectoryError), walk:
            pass
        return walk.weak, walk.reached


class _Walk:
    """A walk. `names` are the folders on the way from the root, `_open` are the descriptors of the root and
    of these folders; `last` is the name at the end of the path. `watched`: the walk looks for a
    `Weakness`."""

    def __init__(
        self,
        root: Root,
        path: str,
        follow_last: bool = True,
        *,
        watched: bool = False,
        led_by_others: bool = True,
    ) -> None:
        self._root = root  # open for as long as the walk is
        self._open = [root.descriptor]
        self._path, self._follow_last, self._watched = path, follow_last, watched
        self._led_by_others = led_by_others
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
                    self._require_own(part)
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

    def _require_own(self, link: str) -> None:
        """Refuse a link that other users may have made, unless it may lead the walk. Raises OSError."""
        if self.weak is not None and not self._led_by_others:
            raise OSError(errno.ELOOP, f"{link} is a link, and {self.weak.words(here=True)}")

    def _up_to(self, depth: int) -> None:
        """Go back to one of the folders on the way, or to the root."""
        while len(self.names) > depth:
            self.names.pop()
            os.close(self._open.pop())

    def _look(self, step: int, name: str) -> None:
        """Note the first part that other users may change. For a link only the owner counts, who may replace
        the link even in a sticky directory."""
        if self._watched and self.weak is None:
            meta = os.fstat(step)
            sticky = stat.S_ISDIR(meta.st_mode) and meta.st_mode & stat.S_ISVTX
            bare = sticky or stat.S_ISLNK(meta.st_mode)
            if meta.st_uid != 0 or (meta.st_mode & _OTHERS and not bare):
                self._weak_at(name, meta.st_uid, stat.S_IMODE(meta.st_mode))

    def _missing(self, name: str) -> None:
        """Note that anybody can create the name, where its directory is sticky and writable by everybody."""
        if self._watched and self.weak is None and os.fstat(self._open[-1]).st_mode & stat.S_IWOTH:
            self._weak_at(name, 0, None)

    def _weak_at(self, name: str, owner: int, mode: int | None) -> None:
        self.weak = Weakness("/" + "/".join([*self.names, name] if name else self.names), owner, mode)


def _account(uid: int, here: bool) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (user {uid})" if here else f"user {uid}"
    except KeyError:
        return f"user {uid}"
