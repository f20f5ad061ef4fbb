"""The journal of a transaction: one JSON object per line, appended and made durable, never rewritten.

Every line carries the format's version and a checksum. A torn last line is what a power cut leaves and is
ignored; any other damage, or a version that we do not know, stops recovery instead of misleading it.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, error
from rocmcfg.model.state import FileState
from rocmcfg.records.digest import sha256
from rocmcfg.records.record_shapes import fault

STATE_DIR = "/var/lib/rocmcfg"
# Everybody may read the receipt in it by name, only root may list it.
STATE_MODE = 0o711
TRANSACTIONS = f"{STATE_DIR}/transactions"
VERSION = 1
Record = dict[str, Any]


class BadJournal(RocmcfgError):
    exit_code = ExitCode.RECOVERY_REQUIRED

    def __init__(self, path: str, line: int, reason: str, hint: str) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(error("RC4020", f"the journal cannot be used: {reason}", location=place, hint=hint))


class RecoveryRequired(RocmcfgError):
    exit_code = ExitCode.RECOVERY_REQUIRED

    def __init__(self, transaction: int) -> None:
        super().__init__(
            error(
                "RC4021",
                f"transaction {transaction} was interrupted and is neither finished nor undone",
                location=folder(transaction),
                hint="run `rocmcfg recover`: it undoes what was begun",
            )
        )


class Untrusted(Unreadable):
    """A record that others than root may have written. Who only looks goes on as if there were none."""

    def __init__(self, weak: str, root: str) -> None:
        option, place = ("-R ", STATE_DIR) if weak.startswith(STATE_DIR) else ("", weak)
        weak, place = (path if root == "/" else f"{root}{path}".rstrip("/") for path in (weak, place))
        self.path, self.reason = weak, "others than root may change it"
        RocmcfgError.__init__(
            self,
            error(
                "RC4028",
                f"{weak} may be changed by others than root, so that no record behind it is believed",
                location=weak,
                hint="a tree of your own: run rocmcfg without sudo. A host: look into it, then give it back "
                f"to root: chown {option}root:root {place} && chmod {option}go-w {place}",
            ),
        )


@dataclass(frozen=True, slots=True)
class Journal:
    """A journal as read. `state` is committed, rolled_back, or unfinished."""

    id: int
    records: tuple[Record, ...]

    @property
    def header(self) -> Record:
        return self.records[0]

    @property
    def state(self) -> str:
        state = "unfinished"
        for record in self.records:
            state = {"commit": "committed", "undo": "unfinished", "undone": "rolled_back"}.get(
                record["kind"], state
            )
        return state

    @property
    def mark(self) -> str:
        """What only root knows of the programs that it started; empty where 0.1.0 wrote it."""
        return str(self.header.get("mark", ""))

    def of(self, kind: str) -> tuple[Record, ...]:
        return tuple(record for record in self.records if record["kind"] == kind)

    def last(self, kind: str) -> Record | None:
        found = self.of(kind)
        return found[-1] if found else None


def folder(id: int) -> str:
    return f"{TRANSACTIONS}/{id:06d}"


def path_of(id: int) -> str:
    return f"{folder(id)}/journal.jsonl"


def require_trusted(view: HostView, path: str = TRANSACTIONS) -> None:
    """Raises Untrusted where somebody else than root may change this record, or a folder above it: root would
    carry out what they wrote."""
    weak = view.weakness(path)
    if weak is not None:
        raise Untrusted(weak.path, view.root)


def ids(view: HostView) -> tuple[int, ...]:
    """All transactions, oldest first. Raises Untrusted, or BadJournal where something else than a directory
    is in its place: that is not "none"."""
    require_trusted(view)
    if not view.is_dir(TRANSACTIONS) and (view.exists(TRANSACTIONS) or view.is_symlink(TRANSACTIONS)):
        raise BadJournal(TRANSACTIONS, 0, "this is no directory", "move it away, and put the directory back")
    return tuple(int(name) for name in view.names(TRANSACTIONS) if name.isascii() and name.isdigit())


def read_all(view: HostView) -> list[Journal]:
    """Every transaction that changed anything, newest first. Raises BadJournal, or as `require_sight`."""
    require_sight(view)
    found = (read(view, id) for id in reversed(ids(view)))
    return [journal for journal in found if journal is not None]


def require_sight(view: HostView) -> None:
    """Raises Unreadable for want of rights: a directory that cannot be listed looks empty, and "nothing to
    undo" would be a lie."""
    ids(view)
    if view.hidden(TRANSACTIONS):
        raise Unreadable(TRANSACTIONS, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def next_id(view: HostView) -> int:
    return max(ids(view), default=0) + 1


def begin(host: Host, id: int, header: Record) -> Journal:
    """A new transaction, with its first line durable."""
    from secrets import token_hex

    host.require_lock()
    for path, mode in ((STATE_DIR, STATE_MODE), (TRANSACTIONS, 0o700), (folder(id), 0o700)):
        _make_dirs(host, path, mode)
    _make_dirs(host, f"{folder(id)}/backups", 0o700)
    append(host, id, "begin", **header, mark=token_hex(16))
    found = read(host, id)
    assert found is not None
    return found


def _make_dirs(host: Host, path: str, mode: int) -> None:
    parent = path.rpartition("/")[0]
    if parent and not host.is_dir(parent):
        _make_dirs(host, parent, 0o755)
    host.make_dir(path, mode)


def append(host: Host, id: int, kind: str, **data: Any) -> None:
    record = {"v": VERSION, "kind": kind, **data}
    body = json.dumps(record, sort_keys=True, separators=(",", ":"))
    line = f'{body[:-1]},"sum":"{_sum(body)}"}}\n'
    host.append(path_of(id), line.encode())


def _sum(body: str) -> str:
    return sha256(body.encode())[:16]


def read(view: HostView, id: int) -> Journal | None:
    """None for a transaction that ended before its first line was whole: nothing was changed then.

    Raises Untrusted or BadJournal.
    """
    require_trusted(view, path_of(id))
    content = view.read(path_of(id)) or b""
    records = tuple(_records(path_of(id), content))
    return Journal(id, records) if records else None


def _records(path: str, content: bytes) -> Iterator[Record]:
    lines = content.split(b"\n")
    torn = lines.pop()  # what follows the last line break: empty, or a line that a crash cut
    del torn
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            version = record["v"]
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            raise BadJournal(path, number, "it is damaged", _DAMAGED) from problem
        if version != VERSION:
            raise BadJournal(
                path,
                number,
                f"its format is {version}, this rocmcfg knows {VERSION}",
                "use the rocmcfg that wrote it, or a newer one",
            )
        body, _, _ = line.decode("utf-8", "replace").rpartition(',"sum":')
        if _sum(body + "}") != record.get("sum"):
            raise BadJournal(path, number, "a checksum is wrong", _DAMAGED)
        wrong = fault(record, first=number == 1)
        if wrong:
            raise BadJournal(path, number, wrong, _DAMAGED)
        yield record


_DAMAGED = (
    "the saved files lie in backups/ beside it and are whole: compare them with the host, put back by "
    "hand what is needed, then move the transaction's folder away"
)


def open_transaction(view: HostView) -> int | None:
    """The newest transaction that a crash left unfinished. Behind one that is rolled back there may be
    another: a rollback of several takes them back one after the other."""
    for id in reversed(ids(view)):
        journal = read(view, id)
        if journal is not None and journal.state != "rolled_back":
            return id if journal.state == "unfinished" else None
    return None


def require_finished(view: HostView) -> None:
    """Raises RecoveryRequired where a crash left a transaction open, Locked where it is still at work."""
    id = open_transaction(view)
    if id is not None:
        raise view.locked_by() or RecoveryRequired(id)


# -- before-images ------------------------------------------------------------------------------------


def save(host: Host, id: int, state: FileState) -> Record:
    """Keep a file's content beside the journal, named by its digest; what the intent line says of it."""
    import base64

    name = sha256(state.content)
    path = f"{folder(id)}/backups/{name}"
    if not host.exists(path):
        host.write(path, host.new_file(state.content, 0o600), keep_mtime=False)
    return {
        "sha256": name,
        "mode": state.mode,
        "uid": state.uid,
        "gid": state.gid,
        "mtime_ns": state.mtime_ns,
        "xattrs": [[key, base64.b64encode(value).decode()] for key, value in state.xattrs],
    }


def restore(view: HostView, id: int, saved: Record) -> FileState:
    """Without what would let a file do more than its owner may: none of ours ever needs it."""
    import base64

    path = f"{folder(id)}/backups/{saved['sha256']}"
    content = view.read(path)
    if content is None or sha256(content) != saved["sha256"]:
        raise BadJournal(
            path, 0, "a saved file is missing or damaged", "restore that file from a backup of yours"
        )
    return FileState(
        content,
        saved["mode"] & 0o777,
        saved["uid"],
        saved["gid"],
        saved["mtime_ns"],
        tuple((k, base64.b64decode(v)) for k, v in saved["xattrs"] if k != "security.capability"),
    )
