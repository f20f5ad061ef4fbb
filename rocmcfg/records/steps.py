"""The lines of a journal, as nouns. A line is written before the step that it announces; only a line that
says that something is over follows it."""

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
    """A file whose content lies in backups/ under its digest."""

    sha256: Digest
    mode: Mode
    uid: int
    gid: int
    mtime_ns: Time
    xattrs: tuple[Attribute, ...]


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
    `mark`, which only root knows."""

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
    """None: there was no such file, or shall be none. `after` is a digest. `edit` is what changes in a file
    that somebody else owns."""

    path: Path
    before: Saved | None
    after: Digest | None
    edit: Edit | None = None


class DirectoryMade(NamedTuple):
    path: Path


class ImageFound(NamedTuple):
    """An image before `tool` made it anew. `release` is that of its kernel, empty where nothing tells it.
    `holds` is the digest of the list of what a look into it showed, which lies in backups/; None where nobody
    could look. `copied`: the image itself lies in images/ under its digest until the transaction is over."""

    tool: str
    file: Saved
    size: int
    release: str
    holds: Digest | None = None
    copied: bool = False


class Before(NamedTuple):
    """How things were before the first program of an apply ran, or of the undo of one that was committed:
    `kernels` are those that normal entries boot and that are there, as the loader names them, each with what
    of `initrd` and `root` its entries have. `files` are menus and entries; what an apply's programs make is
    in their own lines."""

    kernels: Mapping[str, tuple[str, ...]] = {}
    files: Mapping[Path, Saved | None] = {}
    images: Mapping[Path, ImageFound] = {}


class ToolRun(NamedTuple):
    """A program that generates something: what it writes, as it was before."""

    tool: str
    outputs: Mapping[Path, Saved | None]
    scratch: tuple[Path, ...] = ()


class ToolRan(NamedTuple):
    """It is done; `outputs` are digests, empty for a file that is not there."""

    tool: str
    outputs: Mapping[Path, str]


class ToolChanged(NamedTuple):
    """A program changes what it keeps for the host: `saved` is the file in which it does so, `before` and
    `after` what it holds of ours; None: nothing, and unknown where an older rocmcfg wrote it."""

    tool: str
    saved: Saved | None
    before: str | None = None
    after: str | None = None


class Committed(NamedTuple):
    """The transaction is whole: everything of it is on the disk."""


class UndoBegun(NamedTuple):
    """`together` are the transactions that the same rollback undoes."""

    user: str | None = None
    time: str | None = None
    boot_id: str | None = None
    together: tuple[int, ...] = ()


class Kept(NamedTuple):
    """An edit of somebody else's, which an undo drops."""

    path: Path
    copy: Saved | None


class Undone(NamedTuple):
    """The undo is whole: everything is back on the disk."""


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
        """Return what the apply noted, and no undo of it; None where it noted nothing."""
        kinds = (Before, Committed, UndoBegun)
        first = next((line for line in self.lines if isinstance(line, kinds)), None)
        return first if isinstance(first, Before) else None

    @property
    def before(self) -> Before | None:
        """Return what was noted for what is under way: for the undo, once the transaction was committed. None
        where no program has been about to run yet, and where an older rocmcfg wrote the journal."""
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


# By the word for it in the file.
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
    """Return a line of a journal. Raises Malformed, to be read behind "the journal cannot be used"."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _LINES:
        raise Malformed("a line is of no kind that this rocmcfg knows")
    try:
        return read(_LINES[kind], record)
    except Malformed as problem:
        raise Malformed(f"a {kind} line is not what it should be: {problem}") from problem


def document(line: NamedTuple) -> dict[str, Any]:
    """Return the table that goes into the file, without the fields that hold their defaults."""
    defaults = line._field_defaults
    fields = {n: value for n, value in line._asdict().items() if n not in defaults or value != defaults[n]}
    return {"kind": _KINDS[type(line)], **write(fields)}
