"""A host during one plan: each file, folder and answer of a program is read once.

The first answer counts to the end, so a plan never mixes two states of a file. The transaction then compares
each file with its state in the plan, and so detects a file that was changed meanwhile.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar, cast

from rocmcfg.host.inside import Weakness
from rocmcfg.host.local_view import LocalView
from rocmcfg.host.problems import CommandResult, Locked, Unreadable
from rocmcfg.model.file_state import FileState, Stamp

T = TypeVar("T")
_LARGEST = 1 << 20  # bytes of a file that is kept in memory; images are larger, and rarely read


class Snapshot(LocalView):
    """A view that asks another view only once for each thing and remembers the answer, including that a file
    is unreadable. Rights of other users, locks, free space and streams are queried each time.

    `instead` are files as a planned change would leave them, None for no file: the snapshot has them in place
    of the present files."""

    def __init__(self, view: LocalView, instead: Mapping[str, FileState | None] | None = None) -> None:
        super().__init__(view.root, chroot=view.chroots)
        self._view = view
        self._answers: dict[Hashable, Any] = {}
        for path, state in (instead or {}).items():
            self._put(path, state)

    def _put(self, path: str, state: FileState | None) -> None:
        content = state.content if state is not None else None
        answers: dict[str, object] = {
            "state": state,
            "read": content,
            "exists": state is not None,
            "size": len(content or b""),
        }
        answers |= {
            "is_symlink": False,
            "is_dir": False,
            "hollow": "" if content else "empty" if state else "gone",
        }
        self._answers |= {(question, path): answer for question, answer in answers.items()}
        folder, _, name = path.rpartition("/")
        names = {*self.names(folder)} - {name} | ({name} if state is not None else set())
        self._answers["names", folder] = tuple(sorted(names))
        while state is not None and folder:
            self._answers["is_dir", folder] = self._answers["exists", folder] = True
            folder = os.path.dirname(folder).rstrip("/")

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._answers:
            try:
                self._answers[key] = make()
            except Unreadable as problem:
                self._answers[key] = problem
        answer = self._answers[key]
        if isinstance(answer, Unreadable):
            raise answer
        return cast("T", answer)

    @property
    def offline(self) -> bool:
        return self._view.offline

    @functools.cached_property
    def kernel_is_lent(self) -> bool:
        return self._view.kernel_is_lent

    @property
    def chroots(self) -> bool:
        return self._view.chroots

    @property
    def is_root(self) -> bool:
        return self._view.is_root

    @property
    def login_name(self) -> str:
        return self._view.login_name

    @property
    def runs_tools(self) -> bool:
        return self._view.runs_tools

    def read(self, path: str) -> bytes | None:
        state = self._answers.get(("state", path))
        if isinstance(state, FileState):
            return state.content
        if ("read", path) not in self._answers and self.size(path) > _LARGEST:
            return self._view.read(path)
        return self.once(("read", path), lambda: self._view.read(path))

    def state(self, path: str) -> FileState | None:
        state = self.once(("state", path), lambda: self._view.state(path))
        content = self._answers.get(("read", path))
        if state is not None and isinstance(content, bytes) and content != state.content:
            return state._replace(content=content)  # the plan uses the content that was read first
        return state

    def stamp(self, path: str) -> Stamp | None:
        return self.once(("stamp", path), lambda: self._view.stamp(path))

    def size(self, path: str) -> int:
        return self.once(("size", path), lambda: self._view.size(path))

    def hollow(self, path: str) -> str:
        return self.once(("hollow", path), lambda: self._view.hollow(path))

    def exists(self, path: str) -> bool:
        return self.once(("exists", path), lambda: self._view.exists(path))

    def is_dir(self, path: str) -> bool:
        return self.once(("is_dir", path), lambda: self._view.is_dir(path))

    def is_symlink(self, path: str) -> bool:
        return self.once(("is_symlink", path), lambda: self._view.is_symlink(path))

    def link(self, path: str) -> str:
        return self.once(("link", path), lambda: self._view.link(path))

    def real_path(self, path: str) -> str:
        return self.once(("real_path", path), lambda: self._view.real_path(path))

    def names(self, path: str) -> tuple[str, ...]:
        return self.once(("names", path), lambda: self._view.names(path))

    def hidden(self, path: str) -> bool:
        return self.once(("hidden", path), lambda: self._view.hidden(path))

    def has_tool(self, name: str) -> bool:
        return self.once(("has_tool", name), lambda: self._view.has_tool(name))

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        return self.once(("query", *argv), lambda: self._view.query(argv))

    def free(self, path: str) -> int:
        return self._view.free(path)

    def weakness(self, path: str) -> Weakness | None:
        return self._view.weakness(path)

    def closed_to_us(self, path: str) -> str | None:
        return self._view.closed_to_us(path)

    def locked_by(self) -> Locked | None:
        return self._view.locked_by()

    def stream(self, path: str) -> BinaryIO | None:
        return self._view.stream(path)

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        return self._view.stream_query(argv)
