"""Read and write the journal of a transaction: one JSON object per line, appended durably and never
rewritten.

Every line has the version of the format and a checksum. A torn last line is left by a power cut and is
ignored; any other damage, or an unknown version, stops recovery instead of misleading it. `steps` reads the
content of lines; a command that only checks whether a transaction is open need not load it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rocmcfg.host.atomic import TEMP_SUFFIX
from rocmcfg.host.foreign import json_value
from rocmcfg.host.state_dir import STATE_DIR, STATE_MODE
from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, error
from rocmcfg.model.file_state import FileState
from rocmcfg.model.shape import Malformed, NamedTuple

if TYPE_CHECKING:
    from rocmcfg.records.steps import Begin, Journal, Saved

TRANSACTIONS = f"{STATE_DIR}/transactions"
# The records of a transaction other than its journal.
RECEIPT, TRIAL = f"{STATE_DIR}/receipt.json", f"{STATE_DIR}/trial.json"
VERSION = 1
_DAMAGED = (
    "the saved files are in backups/ next to it and are complete: compare them with the host, restore by "
    "hand those that are needed, then move the transaction's folder away"
)


class NewerRecord(RocmcfgError):
    """A receipt or a trial with content unknown to this version, which must not be mistaken for a damaged
    one."""


def newer(path: str, what: str) -> Diagnostic:
    """Return the error for a record that a newer rocmcfg wrote."""
    summary = f"{path} was written by a newer rocmcfg: this one does not know {what}"
    return error("RC4029", summary, location=path, hint="use the rocmcfg that wrote it, or a newer one")


class BadJournal(RocmcfgError):
    exit_code = ExitCode.RECOVERY_REQUIRED


def bad(place: str, reason: str, hint: str = _DAMAGED) -> BadJournal:
    return BadJournal(error("RC4020", f"the journal cannot be used: {reason}", location=place, hint=hint))


class RecoveryRequired(RocmcfgError):
    exit_code = ExitCode.RECOVERY_REQUIRED

    def __init__(self, transaction: int, command: str = "rocmcfg recover") -> None:
        summary = f"transaction {transaction} is neither finished nor rolled back"
        hint = f"run `{command}`, which rolls it back"
        super().__init__(error("RC4021", summary, location=folder(transaction), hint=hint))


class Untrusted(Unreadable):
    """A record that a user other than root may have written. A command that only reads continues without
    it."""

    def __init__(self, weak: str, root: str) -> None:
        option, place = ("-R ", STATE_DIR) if weak.startswith(STATE_DIR) else ("", weak)
        weak, place = (path if root == "/" else f"{root}{path}".rstrip("/") for path in (weak, place))
        self.path, self.reason = weak, "users other than root may change it"
        summary = f"users other than root may change {weak}, so rocmcfg does not trust the records below it"
        hint = (
            "for a tree of your own, run rocmcfg without sudo. On a host, inspect it, then return it to "
            f"root: chown {option}root:root {shlex.quote(place)} && chmod {option}go-w {shlex.quote(place)}"
        )
        RocmcfgError.__init__(self, error("RC4028", summary, location=weak, hint=hint))


def digest(content: bytes | None) -> str:
    """Return the SHA-256 in hexadecimal; empty for a missing file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def folder(id: int) -> str:
    return f"{TRANSACTIONS}/{id:06d}"


def image_of(id: int, sha256: str) -> str:
    """Return the path of the copy of an image while the transaction, or its undo, is running."""
    return f"{folder(id)}/images/{sha256}"


def has_room(view: HostView, size: int) -> bool:
    """Return whether that many bytes fit next to the journals with twice as much left free."""
    return view.free(STATE_DIR) >= 3 * size


def path_of(id: int) -> str:
    return f"{folder(id)}/journal.jsonl"


def require_trusted(view: HostView, path: str = TRANSACTIONS) -> None:
    """Raise Untrusted where a user other than root may change this record, or a folder above it: root would
    carry out what they wrote."""
    weak = view.weakness(path)
    if weak is not None:
        raise Untrusted(weak.path, view.root)


def ids(view: HostView) -> tuple[int, ...]:
    """Return the ids of all transactions, oldest first. Raises Untrusted, or BadJournal where something other
    than a directory is in its place, which does not mean that there are none."""
    require_trusted(view)
    if not view.is_dir(TRANSACTIONS) and (view.exists(TRANSACTIONS) or view.is_symlink(TRANSACTIONS)):
        raise bad(TRANSACTIONS, "this is not a directory", "move it away, and restore the directory")
    return tuple(int(name) for name in view.names(TRANSACTIONS) if name.isascii() and name.isdigit())


def read_all(view: HostView) -> list[Journal]:
    """Return the journal of every transaction that changed anything, newest first. Raises BadJournal, or the
    errors of `require_sight`."""
    require_sight(view)
    return [transaction for id in reversed(ids(view)) if (transaction := read(view, id)) is not None]


def require_sight(view: HostView) -> None:
    """Raise Unreadable without the right to list the directory: it would look empty, and "nothing to undo"
    would be wrong. Raises Untrusted or BadJournal like `ids`."""
    ids(view)
    if view.hidden(TRANSACTIONS):
        denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise Unreadable(TRANSACTIONS, denied, "run the command as root", root=view.root)


def begin(host: Host, id: int, header: Begin) -> str:
    """Write the first line of a new transaction durably, and return its mark: a word in the environment of
    every program that the transaction runs, by which a recovery finds programs that outlived it."""
    from secrets import token_hex

    host.require_lock()
    host.make_dirs(STATE_DIR, STATE_MODE)
    for path in (TRANSACTIONS, folder(id), f"{folder(id)}/backups"):
        host.make_dirs(path, 0o700)
    mark = token_hex(16)
    append(host, id, header._replace(mark=mark))
    return mark


def now() -> str:
    from datetime import datetime, timezone

    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def append(host: Host, id: int, line: NamedTuple) -> None:
    from rocmcfg.records.steps import document

    body = json.dumps({"v": VERSION, **document(line)}, sort_keys=True, separators=(",", ":"))
    host.append(path_of(id), f'{body[:-1]},"sum":"{_sum(body)}"}}\n'.encode())


def _sum(body: str) -> str:
    return digest(body.encode())[:16]


def read(view: HostView, id: int) -> Journal | None:
    """Return the journal; None for a transaction that ended before its first line was complete, and so
    changed nothing. Raises Untrusted or BadJournal."""
    from rocmcfg.records.steps import Begin, Journal, parse

    lines: list[NamedTuple] = []
    for number, record in enumerate(_records(view, id), 1):
        try:
            line = parse(record)
            if isinstance(line, Begin) is not (number == 1):
                raise Malformed("its beginning is missing" if number == 1 else "it begins twice")
        except Malformed as problem:
            raise bad(f"{path_of(id)}:{number}", str(problem)) from problem
        lines.append(line)
    header = lines[0] if lines else None
    return Journal(id, header, tuple(lines)) if isinstance(header, Begin) else None


def _records(view: HostView, id: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal as tables, with the right version and checksum. Raises Untrusted or
    BadJournal."""
    path = path_of(id)
    require_trusted(view, path)
    lines = (view.read(path) or b"").split(b"\n")
    for number, line in enumerate(lines[:-1], 1):  # the text after the last line break was cut off by a crash
        place = f"{path}:{number}"
        try:
            record = json_value(line)
            version = record["v"]
        except (ValueError, KeyError, TypeError) as problem:
            raise bad(place, "it is damaged") from problem
        if isinstance(version, int) and version > VERSION:
            raise BadJournal(newer(path, f"format {version}"))
        if version != VERSION:
            raise bad(place, "it is damaged")
        body, _, _ = line.decode("utf-8", "replace").rpartition(',"sum":')
        if _sum(body + "}") != record.get("sum"):
            raise bad(place, "a checksum is wrong")
        yield record


def open_transaction(view: HostView) -> Journal | None:
    """Return the newest transaction that a crash left unfinished; None where there is none. There may be one
    before a transaction that was rolled back: a rollback of several undoes them one after the other."""
    for id in reversed(ids(view)):
        last = ""
        for record in _records(view, id):
            last = record["kind"] if record.get("kind") in ("begin", "commit", "undo", "undone") else last
        if last == "commit":
            return None
        unfinished = read(view, id) if last != "undone" else None
        if unfinished is not None:
            return unfinished
    return None


def require_finished(view: HostView) -> None:
    """Raise RecoveryRequired where a crash left a transaction open, Locked where it is still running."""
    unfinished = open_transaction(view)
    if unfinished is not None:
        from rocmcfg.records.steps import ToolRun

        command = f"{'' if view.offline else 'sudo '}rocmcfg recover"
        if view.offline and unfinished.of(ToolRun):  # the same programs must run again
            command += " --chroot"
        raise view.locked_by() or RecoveryRequired(unfinished.id, command)


def save(host: Host, id: int, state: FileState) -> Saved:
    """Save a file's content next to the journal, named by its digest, and return its description for the
    journal."""
    import base64

    from rocmcfg.records.steps import Saved

    name = digest(state.content)
    path = f"{folder(id)}/backups/{name}"
    if not host.exists(path):
        host.write(path, host.new_file(state.content, 0o600), keep_mtime=False)
    xattrs = tuple((key, base64.b64encode(value).decode()) for key, value in state.xattrs)
    return Saved(name, state.mode, state.uid, state.gid, state.mtime_ns, xattrs)


def saved_file(id: int, saved: Saved) -> str:
    """Return the path of the copy of a file that a transaction saved."""
    return f"{folder(id)}/backups/{saved.sha256}"


def sweep(host: Host, id: int) -> None:
    """Remove temporary files that a kill during `save` left next to the saved files."""
    place = f"{folder(id)}/backups"
    for name in host.names(place):
        if name.startswith(".") and name.endswith(TEMP_SUFFIX):
            host.discard_temporary(f"{place}/{name[1 : -len(TEMP_SUFFIX)]}")


def restore(view: HostView, id: int, saved: Saved) -> FileState:
    """Return a saved file, without set-uid and similar privileges, which none of our files needs. Raises
    BadJournal."""
    import base64

    path = saved_file(id, saved)
    content = view.read(path)
    if content is None or digest(content) != saved.sha256:
        raise bad(path, "a saved file is missing or damaged", "restore that file from your own backup")
    xattrs = tuple((k, base64.b64decode(v)) for k, v in saved.xattrs if k != "security.capability")
    return FileState(content, saved.mode & 0o777, saved.uid, saved.gid, saved.mtime_ns, xattrs)
