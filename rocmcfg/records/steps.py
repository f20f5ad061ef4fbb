"""The lines of a journal, as nouns. Each is written before what it speaks of is done, but for those that say
that something is over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, NamedTuple, TypeVar

from rocmcfg.model.edit import Edit
from rocmcfg.model.published import published
from rocmcfg.model.request import Request
from rocmcfg.records.receipt import REQUEST
from rocmcfg.records.shapes import (
    Malformed,
    Shape,
    exactly,
    listed,
    noun,
    number,
    one_of,
    optional,
    path,
    plain,
    table,
    text,
)


class JournalState(str, Enum):
    COMMITTED = "committed"
    ROLLED_BACK = "rolled_back"
    UNFINISHED = "unfinished"


class Saved(NamedTuple):
    """A file whose content lies in backups/ under its digest; values of `xattrs` are in base64."""

    sha256: str
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    xattrs: tuple[tuple[str, str], ...]


class Expectations(NamedTuple):
    """What the generated results must hold afterwards, and after an undo must hold no more."""

    backend: str
    wanted: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


class OneBoot(NamedTuple):
    """What makes a transaction a trial: all that one boot carries, and the marker's value among it."""

    token: str
    arguments: tuple[str, ...]


class Begin(NamedTuple):
    """`kernel` is what the kernel gets: name to value, None for a bare flag. `confirms` is the trial that is
    made permanent; `swept`: only what was left of a trial is taken away. The programs that are run carry
    `mark`, which only root knows; the first 0.1.0 did not write it."""

    time: str
    user: str
    boot_id: str
    profiles: tuple[str, ...]
    request: Request
    settings: tuple[str, ...]
    expect: Expectations
    kernel: Mapping[str, str | None] | None = None
    mark: str = ""
    confirms: int | None = None
    swept: bool = False
    trial: OneBoot | None = None


class FileChanged(NamedTuple):
    """None: there was no such file, or shall be none. `after` is a digest. `edit` is what changes in a file
    that somebody else owns."""

    path: str
    before: Saved | None
    after: str | None
    edit: Edit | None = None


class DirectoryMade(NamedTuple):
    path: str


class ToolRun(NamedTuple):
    """A program that generates something: what it writes, as it was before."""

    tool: str
    outputs: Mapping[str, Saved | None]
    scratch: tuple[str, ...] = ()


class ToolRan(NamedTuple):
    """It is done; `outputs` are digests."""

    tool: str
    outputs: Mapping[str, str]


class ToolChanged(NamedTuple):
    """A program changes what it keeps for the host: `saved` is the file in which it does so, `before` and
    `after` what it holds of ours; None: nothing, and unknown where an older rocmcfg wrote it."""

    tool: str
    saved: Saved | None
    before: str | None = None
    after: str | None = None


class Committed(NamedTuple):
    pass


class UndoBegun(NamedTuple):
    """`together` names all that are to be undone with it."""

    user: str | None = None
    time: str | None = None
    boot_id: str | None = None
    together: tuple[int, ...] = ()


class Kept(NamedTuple):
    """An edit of somebody else's, which an undo drops."""

    path: str
    copy: Saved | None


class Undone(NamedTuple):
    pass


class Event(str, Enum):
    """Of a trial: its boot was seen, it did not confirm itself, or one of its ends."""

    BEGUN = "begun"
    WITHHELD = "withheld"
    NOT_CONFIRMED = "not_confirmed"
    NOT_TRIED = "not_tried"
    REJECTED = "rejected"


ENDS = (Event.REJECTED, Event.NOT_CONFIRMED, Event.NOT_TRIED)


@published("boot_id", "lines", "source", "text")
class Evidence(NamedTuple):
    """What is left of a trial's boot. `boot_id` without dashes, empty where it is not known; `lines` are the
    last telling lines of the kernel, oldest first."""

    source: Literal["journal", "pstore", "none"]
    boot_id: str
    text: str
    lines: tuple[str, ...]


class TrialEvent(NamedTuple):
    event: Event
    boot_id: str | None = None
    reasons: tuple[str, ...] = ()
    evidence: Evidence | None = None


Line = (
    Begin
    | FileChanged
    | DirectoryMade
    | ToolRun
    | ToolRan
    | ToolChanged
    | Committed
    | UndoBegun
    | Kept
    | Undone
    | TrialEvent
)
L = TypeVar("L", bound=Line)


class Journal(NamedTuple):
    """A journal as read."""

    id: int
    header: Begin
    lines: tuple[Line, ...]

    @property
    def state(self) -> JournalState:
        state = JournalState.UNFINISHED
        for line in self.lines:
            state = _STATES.get(type(line), state)
        return state

    def of(self, kind: type[L]) -> tuple[L, ...]:
        return tuple(line for line in self.lines if isinstance(line, kind))


_STATES: Mapping[type, JournalState] = {
    Committed: JournalState.COMMITTED,
    UndoBegun: JournalState.UNFINISHED,
    Undone: JournalState.ROLLED_BACK,
}


# -- their shapes -------------------------------------------------------------------------------------


def _digest(value: Any) -> str:
    if re.fullmatch("[0-9a-f]{64}", found := text(value)) is None:
        raise Malformed("is no digest")
    return found


def _bytes(value: Any) -> bytes:
    return text(value).encode("utf-8", "surrogateescape")


def _mode(value: Any) -> int:
    if (found := number(value)) > 0o7777:
        raise Malformed("is no mode")
    return found


def _time(value: Any) -> int:
    if abs(found := exactly(int)(value)) >= 1 << 63:
        raise Malformed("is no time")
    return found


def _attribute(value: Any) -> tuple[str, str]:
    base64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
    found = listed(text)(value)
    if len(found) != 2 or re.fullmatch(base64, found[1]) is None:
        raise Malformed("is no attribute")
    return found[0], found[1]


_TEXTS = listed(text)
_SAVED: Shape[Saved | None] = optional(
    noun(
        Saved,
        {
            "sha256": _digest,
            "mode": _mode,
            "uid": number,
            "gid": number,
            "mtime_ns": _time,
            "xattrs": listed(_attribute),
        },
    )
)
_BEGIN: dict[str, Shape[Any]] = {
    "time": text,
    "user": text,
    "boot_id": text,
    "profiles": _TEXTS,
    "request": noun(Request, REQUEST, may_lack=REQUEST),
    "settings": _TEXTS,
    "expect": noun(Expectations, {"backend": text, "wanted": _TEXTS, "added": _TEXTS, "removed": _TEXTS}),
    "kernel": table(optional(text)),
    "mark": text,
    "confirms": number,
    "swept": exactly(bool),
    "trial": noun(OneBoot, {"token": text, "arguments": _TEXTS}),
}
_EVIDENCE = noun(Evidence, {"source": text, "boot_id": text, "text": text, "lines": _TEXTS})
_UNDO: dict[str, Shape[Any]] = {"user": text, "time": text, "boot_id": text, "together": listed(number)}
_EVENT: dict[str, Shape[Any]] = {
    "event": one_of(Event),
    "boot_id": text,
    "reasons": _TEXTS,
    "evidence": _EVIDENCE,
}
_FILE: dict[str, Shape[Any]] = {
    "path": path,
    "before": _SAVED,
    "after": optional(_digest),
    "edit": noun(Edit, dict.fromkeys(("removed", "inserted"), _bytes)),
}
# By the word for it in the file: the noun, its fields, and those among them that it may lack.
_LINES: Mapping[str, tuple[type[Line], Mapping[str, Shape[Any]], tuple[str, ...]]] = {
    "begin": (Begin, _BEGIN, ("kernel", "mark", "confirms", "swept", "trial")),
    "file": (FileChanged, _FILE, ("edit",)),
    "mkdir": (DirectoryMade, {"path": path}, ()),
    "activation": (
        ToolRun,
        {"tool": text, "outputs": table(_SAVED, path), "scratch": listed(path)},
        ("scratch",),
    ),
    "activated": (ToolRan, {"tool": text, "outputs": table(text, path)}, ()),
    "tool": (
        ToolChanged,
        {"tool": text, "saved": _SAVED, "before": optional(text), "after": optional(text)},
        ("before", "after"),
    ),
    "commit": (Committed, {}, ()),
    "undo": (UndoBegun, _UNDO, tuple(_UNDO)),
    "kept": (Kept, {"path": path, "copy": _SAVED}, ()),
    "undone": (Undone, {}, ()),
    "trial": (TrialEvent, _EVENT, ("boot_id", "reasons", "evidence")),
}
_KINDS = {noun: kind for kind, (noun, _, _) in _LINES.items()}


def parse(record: Any) -> Line:
    """Raises Malformed, to be read behind "the journal cannot be used"."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _LINES:
        raise Malformed("a line is of no kind that this rocmcfg knows")
    make, fields, may_lack = _LINES[kind]
    try:
        read: Shape[Line] = noun(make, fields, may_lack=may_lack)
        return read(record)
    except Malformed as problem:
        raise Malformed(f"{problem.field!r} of a {kind} line is not what it should be") from problem


def document(line: Line) -> dict[str, Any]:
    """The table that goes into the file. What a line may lack is left out where it says nothing."""
    may_lack = _LINES[_KINDS[type(line)]][2]
    said = {
        name: plain(value)
        for name, value in line._asdict().items()
        if name not in may_lack or value != line._field_defaults[name]
    }
    return {"kind": _KINDS[type(line)], **said}
