"""The lines of a journal, as nouns. A line is written before the step that it announces; only a line that
records the end of something is written after it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypeVar

from rocmcfg.model.edit import Edit
from rocmcfg.model.request import Request
from rocmcfg.model.shape import Malformed, NamedTuple, published
from rocmcfg.records.dialect import Attribute, Digest, Mode, Path, Time, read, write


class JournalState(str, Enum):
    COMMITTED = "committed"
    ROLLED_BACK = "rolled_back"
    UNFINISHED = "unfinished"


class Saved(NamedTuple):
    """A file whose content is in backups/ under its digest."""

    sha256: Digest
    mode: Mode
    uid: int
    gid: int
    mtime_ns: Time
    xattrs: tuple[Attribute, ...]


class Expectations(NamedTuple):
    """Arguments that the generated results must hold afterwards, and must not hold after an undo."""

    backend: str
    wanted: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


class OneBoot(NamedTuple):
    """The data of a trial: all arguments of the one boot, and the marker's value among them."""

    token: str
    arguments: tuple[str, ...]


class Begin(NamedTuple):
    """The first line. `kernel` maps the names of kernel arguments to their values, None for a bare flag.
    `confirms` is the trial that is made permanent; `swept`: only the remains of a trial are removed. The
    programs that are run carry `mark`, which only root knows."""

    time: str
    user: str
    boot_id: str
    profiles: tuple[str, ...]
    request: Request
    settings: tuple[str, ...]
    expect: Expectations
    kernel: Mapping[str, str | None]
    mark: str = ""
    confirms: int | None = None
    swept: bool = False
    trial: OneBoot | None = None


class FileChanged(NamedTuple):
    """A change to a file. `before` is None where there was no such file, `after`, a digest, is None where
    there will be none. `edit` is the change to a foreign file."""

    path: Path
    before: Saved | None
    after: Digest | None
    edit: Edit | None = None


class DirectoryMade(NamedTuple):
    path: Path


class ImageFound(NamedTuple):
    """An image before `tool` rebuilt it. `release` is the release of its kernel, empty where it is not known.
    `holds` is the digest of the list of its content, which is in backups/; None where the image could not be
    read. `copied`: the image itself is in images/ under its digest until the transaction is over."""

    tool: str
    file: Saved
    size: int
    release: str
    holds: Digest | None = None
    copied: bool = False


class Before(NamedTuple):
    """The state before the first program of an apply, or of the undo of a committed one, ran. `kernels` are
    the existing kernels that normal entries boot, as the loader names them, each with those of `initrd` and
    `root` that its entries have. `files` are menus and entries; files that an apply's programs generate are
    in the programs' own lines."""

    kernels: Mapping[str, tuple[str, ...]] = {}
    files: Mapping[Path, Saved | None] = {}
    images: Mapping[Path, ImageFound] = {}


class ToolRun(NamedTuple):
    """A program that generates files, with the former state of its outputs."""

    tool: str
    outputs: Mapping[Path, Saved | None]
    scratch: tuple[Path, ...] = ()


class ToolRan(NamedTuple):
    """The end of a program; `outputs` are digests, empty for a missing file."""

    tool: str
    outputs: Mapping[Path, str]


class ToolChanged(NamedTuple):
    """A change by a program to the data that it keeps for the host. `saved` is the file in which it keeps
    them, `before` and `after` is the text of ours that it holds; None for none, or unknown where an older
    rocmcfg wrote the line."""

    tool: str
    saved: Saved | None
    before: str | None = None
    after: str | None = None


class Committed(NamedTuple):
    """The transaction is complete: everything is on the disk."""


class UndoBegun(NamedTuple):
    """The begin of an undo. `together` are the transactions that the same rollback undoes."""

    user: str | None = None
    time: str | None = None
    boot_id: str | None = None
    together: tuple[int, ...] = ()


class Kept(NamedTuple):
    """A foreign change to a file, which an undo drops."""

    path: Path
    copy: Saved | None


class Undone(NamedTuple):
    """The undo is complete: everything is restored on the disk."""


class Event(str, Enum):
    """An event of a trial: its boot was seen, it did not confirm itself, or it ended."""

    BEGUN = "begun"
    WITHHELD = "withheld"
    NOT_CONFIRMED = "not_confirmed"
    NOT_TRIED = "not_tried"
    REJECTED = "rejected"


ENDS = (Event.REJECTED, Event.NOT_CONFIRMED, Event.NOT_TRIED)


@published("boot_id", "lines", "source", "text")
class Evidence(NamedTuple):
    """The remains of a trial's boot. `boot_id` is without dashes, empty where it is not known; `lines` are
    the last relevant lines of the kernel, oldest first."""

    source: Literal["journal", "pstore", "none"]
    boot_id: str
    text: str
    lines: tuple[str, ...]


class TrialEvent(NamedTuple):
    event: Event
    boot_id: str | None = None
    reasons: tuple[str, ...] = ()
    evidence: Evidence | None = None


L = TypeVar("L", bound=NamedTuple)


class Journal(NamedTuple):
    id: int
    header: Begin
    lines: tuple[NamedTuple, ...]

    @property
    def state(self) -> JournalState:
        states = (_STATES[type(line)] for line in reversed(self.lines) if type(line) in _STATES)
        return next(states, JournalState.UNFINISHED)

    @property
    def files(self) -> frozenset[str]:
        return frozenset(step.path for step in self.of(FileChanged))

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(step.tool for step in self.of(ToolRun))

    @property
    def before_apply(self) -> Before | None:
        """Return the state that the apply noted, not one noted by its undo; None where it noted none."""
        kinds = (Before, Committed, UndoBegun)
        first = next((line for line in self.lines if isinstance(line, kinds)), None)
        return first if isinstance(first, Before) else None

    @property
    def before(self) -> Before | None:
        """Return the state that was noted for the running step: for the undo, once the transaction was
        committed. None where no program was about to run yet, and where an older rocmcfg wrote the
        journal."""
        noted: Before | None = None
        for line in self.lines:
            if isinstance(line, Committed):
                noted = None
            elif isinstance(line, Before):
                noted = noted or line
        return noted

    def of(self, kind: type[L]) -> tuple[L, ...]:
        return tuple(line for line in self.lines if isinstance(line, kind))


_STATES: Mapping[type, JournalState] = {
    Committed: JournalState.COMMITTED,
    UndoBegun: JournalState.UNFINISHED,
    Undone: JournalState.ROLLED_BACK,
}


# By their names in the file.
_LINES: Mapping[str, type[NamedTuple]] = {
    "begin": Begin,
    "file": FileChanged,
    "mkdir": DirectoryMade,
    "before": Before,
    "activation": ToolRun,
    "activated": ToolRan,
    "tool": ToolChanged,
    "commit": Committed,
    "undo": UndoBegun,
    "kept": Kept,
    "undone": Undone,
    "trial": TrialEvent,
}
_KINDS = {noun: kind for kind, noun in _LINES.items()}


def parse(record: Any) -> NamedTuple:
    """Return a line of a journal. Raises Malformed with a reason that follows "the journal cannot be
    used"."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _LINES:
        raise Malformed("a line is of a kind that this rocmcfg does not know")
    try:
        return read(_LINES[kind], record)
    except Malformed as problem:
        raise Malformed(f"a {kind} line is invalid: {problem}") from problem


def document(line: NamedTuple) -> dict[str, Any]:
    """Return the table for the file, without fields that hold their defaults."""
    defaults = line._field_defaults
    fields = {n: value for n, value in line._asdict().items() if n not in defaults or value != defaults[n]}
    return {"kind": _KINDS[type(line)], **write(fields)}
