"""The store of crashes: a folder for each crash, which only root can read.

A crash is written into a folder of another name, which gets its own name when everything is on the disk. So a
folder with the name of a crash is complete, and the rest of a killed save is removed by the next one. The
lock of the store is held by whoever adds or removes something; readers need none.

    /var/lib/rocmcfg/crashes.on             the black box is on: udev and systemd look for this file
    /var/lib/rocmcfg/crashes/ID/record.json the record, beside the files that it lists
    /var/lib/rocmcfg/crashes/unsaved.json   how many crashes could not be saved
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from rocmcfg.host.foreign import json_value
from rocmcfg.host.state_dir import BLACK_BOX, STATE_DIR, STATE_MODE
from rocmcfg.host.view import Host, HostView, Locked, Unreadable, Unwritable
from rocmcfg.host.waiting import when_free
from rocmcfg.model.crash import Crash, Unsaved
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error, warning
from rocmcfg.model.regex import regex
from rocmcfg.records.dialect import read
from rocmcfg.records.journal import require_trusted
from rocmcfg.records.receipt import dump, parsed

STORE = f"{STATE_DIR}/crashes"
MOST, MOST_BYTES = 16, 1 << 30  # crashes and bytes that are kept
RECORD, DUMP, LOG, FIRMWARE, REPORT = "record.json", "dump.gz", "kernel.log", "firmware.txt", "report.md"
_LOCK, _TURN, _UNSAVED = f"{STORE}/lock", f"{STORE}/turn", f"{STORE}/unsaved.json"
_UNFINISHED = ".new-"  # before the name of a folder that is being written
_HELD = ".lock"  # after that name: the lock of who writes it
_ID = regex(r"[0-9]{8}-[0-9]{6}-[a-z0-9]{1,20}(?:-[0-9]{1,3})?")
_WAIT = 0.2  # seconds between two attempts to get the lock
_ROOT_ONLY = "# rocmcfg saves crashes of GPUs while this file exists; see rocmcfg-crashes(1)\n"


class BadCrash(RocmcfgError):
    def __init__(self, path: str, reason: str) -> None:
        summary = f"the record of a crash cannot be used: {reason}"
        hint = "the files beside it are as they were saved; `rocmcfg crashes forget ID` removes them"
        super().__init__(error("RC4401", summary, location=path, hint=hint))


def is_on(view: HostView) -> bool:
    return view.exists(BLACK_BOX)


def turn_on(host: Host) -> None:
    """Turn the black box on, durably. Raises Unwritable."""
    host.make_dirs(STATE_DIR, STATE_MODE)
    host.make_dirs(STORE, 0o700)
    host.write(BLACK_BOX, host.new_file(_ROOT_ONLY.encode(), 0o644), keep_mtime=False)


def turn_off(host: Host) -> None:
    """Turn the black box off, durably; crashes that were saved stay. Raises Unwritable."""
    host.remove(BLACK_BOX)


def ids(view: HostView) -> tuple[str, ...]:
    """Return the ids of all crashes, oldest first. Raises Untrusted, or Unreadable without the right to read
    the store, which must not look empty then."""
    require_trusted(view, STORE)
    if view.hidden(STORE):
        denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise Unreadable(STORE, denied, "run the command as root", root=view.root)
    return tuple(name for name in view.names(STORE) if _ID.fullmatch(name))


def load(view: HostView, id: str) -> Crash:
    """Return the record of a crash. Raises BadCrash, Untrusted or Unreadable."""
    path = path_of(id, RECORD)
    require_trusted(view, path)
    content = view.read(path)
    if content is None:
        raise BadCrash(path, "it is missing")
    crash = parsed(Crash, content, path, lambda reason: BadCrash(path, reason))
    if crash.id != id:
        raise BadCrash(path, "it is that of another crash")
    return crash


def load_all(view: HostView) -> tuple[tuple[Crash, ...], tuple[Diagnostic, ...]]:
    """Return all crashes, newest first, and what is wrong with records that cannot be read."""
    crashes, problems = [], []
    for id in reversed(ids(view)):
        try:
            crashes.append(load(view, id))
        except RocmcfgError as problem:
            problems += [
                warning("RC4402", d.summary, location=d.location, hint=d.hint) for d in problem.diagnostics
            ]
    return tuple(crashes), tuple(problems)


def path_of(id: str, name: str) -> str:
    """Return the path of a file of a crash."""
    return f"{STORE}/{id}/{name}"


def unsaved(view: HostView) -> Unsaved:
    """Return how many crashes could not be saved; none if the record of it is damaged."""
    try:
        return read(Unsaved, json_value(view.read(_UNSAVED) or b"{}"))
    except (ValueError, RocmcfgError):
        return Unsaved()


@contextmanager
def writing(host: Host) -> Iterator[None]:
    """Hold the store's lock, waiting for it, after the rest of killed saves was removed. Raises Untrusted,
    Unwritable or Locked."""
    host.make_dirs(STATE_DIR, STATE_MODE)
    host.make_dirs(STORE, 0o700)
    require_trusted(host, STORE)
    with _waited_for(host, _LOCK):
        _clean(host)
        yield


@contextmanager
def taking_turns(host: Host) -> Iterator[None]:
    """Hold the lock of work that takes long, waiting for it: several saves would slow each other down. Raises
    Unwritable or Locked."""
    with _waited_for(host, _TURN):
        yield


@contextmanager
def _waited_for(host: Host, path: str) -> Iterator[None]:
    with ExitStack() as held:
        when_free(lambda: held.enter_context(host.lock_of(path, stays=True)), step=_WAIT)
        yield


def _clean(host: Host) -> None:
    """Remove what killed saves left: the folders of drafts whose lock nobody holds."""
    left = {name.removesuffix(_HELD) for name in host.names(STORE) if name.startswith(_UNFINISHED)}
    for name in sorted(left):
        with suppress(Locked), host.lock_of(f"{STORE}/{name}{_HELD}", stays=False):
            _remove(host, name)


class Draft:
    """A crash that is being saved. `folder` is where its files are until it is finished."""

    def __init__(self, host: Host, id: str) -> None:
        self._host, self.id = host, id
        self.folder = f"{STORE}/{_UNFINISHED}{id}"
        self.files: dict[str, int] = {}

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a file of the crash. Raises Unwritable; then there is no such file."""
        path = f"{self.folder}/{name}"
        self._host.create(path, pieces)
        self.files[name] = self._host.size(path)

    def finish(self, crash: Crash) -> None:
        """Write the record, and give the folder its name. Raises Unwritable."""
        self.add(RECORD, [dump(crash)])
        self._host.rename_dir(self.folder, self.id)


@contextmanager
def drafting(host: Host, id: str) -> Iterator[Draft]:
    """Hold a new draft, which is removed at the end unless it was finished; enter while `writing`. Raises
    Unwritable."""
    draft = Draft(host, _free_id(host, id))
    with host.lock_of(f"{draft.folder}{_HELD}", stays=False):
        host.make_dir(draft.folder, 0o700)
        try:
            yield draft
        finally:
            with suppress(RocmcfgError):
                _remove(host, draft.folder.rpartition("/")[2])


def _free_id(view: HostView, id: str) -> str:
    names = (id, *(f"{id}-{number}" for number in range(2, 1000)))
    taken = {name.removeprefix(_UNFINISHED) for name in view.names(STORE)}
    return next(name for name in names if name not in taken)


def make_room(host: Host) -> tuple[str, ...]:
    """Remove the oldest crashes until the store keeps to its bounds, and return their ids. The newest one
    stays, whatever its size. Raises Unwritable."""
    every = [
        (id, sum(host.size(path_of(id, name)) for name in host.names(f"{STORE}/{id}"))) for id in ids(host)
    ]
    removed = []
    while len(every) > 1 and (len(every) > MOST or sum(size for _, size in every) > MOST_BYTES):
        id, _ = every.pop(0)
        forget(host, id)
        removed.append(id)
    return tuple(removed)


def forget(host: Host, id: str) -> None:
    """Remove a crash. Its folder first loses its name, so that a kill leaves no half of a crash. Raises
    Unwritable."""
    name = f"{_UNFINISHED}{id}"
    if host.is_dir(f"{STORE}/{name}"):
        _remove(host, name)
    host.rename_dir(f"{STORE}/{id}", name)
    _remove(host, name)


def _remove(host: Host, name: str) -> None:
    folder = f"{STORE}/{name}"
    if host.is_symlink(folder):
        host.remove(folder)
        return
    for file in host.names(folder):
        host.remove(f"{folder}/{file}")
    host.remove_dir(folder)


def count_unsaved(host: Host, time: str, reason: str) -> None:
    """Count a crash that could not be saved, while `writing`. Raises no Unwritable: the store may be what
    cannot be written."""
    content = json.dumps(Unsaved(unsaved(host).number + 1, time, reason)._asdict()) + "\n"
    try:
        host.write(_UNSAVED, host.new_file(content.encode(), 0o600), keep_mtime=False)
    except Unwritable:
        host.log(f"a crash could not be saved: {reason}")


def forget_unsaved(host: Host) -> None:
    """Remove the count of crashes that could not be saved. Raises Unwritable."""
    if host.exists(_UNSAVED):
        host.remove(_UNSAVED)
