"""Write the undo script: a plain shell script that undoes everything in force, without rocmcfg and without
Python. It is made from the journals and from what each loader declares. It lies next to the journals, with a
copy where it outlives them. It is on the disk before the first change of a transaction, and is written again
before the transaction says that it is complete, and by everything else that changes what is in force.
docs/decisions/0042 says why."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress

from rocmcfg import initramfs
from rocmcfg.change.planning.owned import MARK, is_local_profile, owned_on
from rocmcfg.change.transaction import templates
from rocmcfg.change.transaction.saved_outputs import SavedOutput, saved_outputs
from rocmcfg.files import env_update, marked_lines
from rocmcfg.files.traces import Maker, maker_of
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import Host, HostView, Unreadable, Unwritable
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import appended_assignment, entry_options, kept_arguments, marked_arguments
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.loaders.shared.kept_arguments import KeptChain
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records import journal, receipt
from rocmcfg.records.receipt import Receipt
from rocmcfg.records.steps import DirectoryMade, FileChanged, Journal, JournalState, Saved, ToolRun
from rocmcfg.state import edits

PATH = f"{STATE_DIR}/undo.sh"
COPIES = "/var/backups/rocmcfg"
COPY = f"{COPIES}/undo.sh"
MODE = 0o755  # everybody may read it: it says no more than the receipt
_MADE = re.compile(r'^"\$1" made (\S+)$', re.MULTILINE)

Fact = tuple[str, ...]  # its kind, and its values


class Marks(NamedTuple):
    """The marks of rocmcfg's parts in foreign files: the comment before a line, the first and last line of a
    block, and the first and last word of arguments."""

    next_line: str
    lines: str
    lines_end: str
    begin: str
    end: str


class InForce(NamedTuple):
    """Everything that an undo has to undo. `journals` are the transactions in force, newest first, and
    `undone` those that were rolled back. `planned` is about to become a transaction; `receipt` says what is
    applied. `due` are programs that an undo left to the user, and `left` rocmcfg's files on the host, with or
    without a record."""

    journals: tuple[Journal, ...]
    undone: tuple[Journal, ...]
    planned: Plan | None
    receipt: Receipt | None
    due: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        return not self.journals and self.planned is None and not self.due and not self.left

    @property
    def loaders(self) -> tuple[str, ...]:
        """Return the boot loaders that got arguments, the newest first."""
        planned = [self.planned.boot_backend] if self.planned else []
        applied = [self.receipt.boot_backend] if self.receipt else []
        journals = self.journals or self.undone
        named = (*planned, *applied, *(transaction.header.expect.backend for transaction in journals))
        return tuple(name for name in dict.fromkeys(named) if name in registry.NAMES)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files that transactions wrote or will write, without rocmcfg's own records."""
        changes = (change.path for change in self.planned.changes) if self.planned else ()
        written = (step.path for transaction in self.journals for step in transaction.of(FileChanged))
        every = dict.fromkeys((*changes, *written))
        return tuple(path for path in every if not path.startswith(f"{STATE_DIR}/"))

    @property
    def tools(self) -> frozenset[str]:
        """Return the programs that generated something from rocmcfg's files, will do so, or are left to the
        user."""
        planned = {step.tool for step in self.planned.due} if self.planned else set()
        applied = self.receipt.activations.items() if self.receipt else ()
        left = {tool for tool, state in applied if state is ActivationState.LEFT_TO_USER}
        ran = {step.tool for transaction in self.journals for step in transaction.of(ToolRun)}
        return frozenset({*planned, *left, *ran, *self.due})


def in_force(view: HostView, planned: Plan | None = None, due: Iterable[str] = ()) -> InForce:
    """Collect what an undo has to undo. A journal that cannot be read is skipped: its files are found by
    their paths and marks."""
    journals: list[Journal] = []
    undone: list[Journal] = []
    for id in reversed(journal.ids(view)):
        with suppress(journal.BadJournal):
            entry = journal.read(view, id)
            if entry is not None:
                (undone if entry.state is JournalState.ROLLED_BACK else journals).append(entry)
    applied = None
    with suppress(RocmcfgError):
        applied = receipt.load(view)
    return InForce(tuple(journals), tuple(undone), planned, applied, tuple(due), ours_on(view))


def ours_on(view: HostView) -> tuple[str, ...]:
    """Return the files that are rocmcfg's by path and mark, as a whole or in part. A file that cannot be read
    counts by its path."""
    return tuple(path for path in owned_on(view) if _is_ours(view, path))


def _is_ours(view: HostView, path: str) -> bool:
    try:
        content = view.read(path)
    except Unreadable:
        return edits.editor_of(path) is None and view.exists(path)
    own = edits.own_part(path, content)
    return own is not None and MARK in own[:400]


def renew(host: Host, *, planned: Plan | None = None, due: Iterable[str] = ()) -> None:
    """Write the script for what is in force and for what is `planned`, or remove it if there is neither.
    `due` are the programs that an undo left to the user. Raise Unwritable if the script cannot be written. It
    is no error if the copy cannot be written, or if the script cannot be removed."""
    now = in_force(host, planned, due)
    if now.nothing:
        remove(host)
        return
    made = [*host.missing_folders(COPIES), *_made(host)]
    content = script(facts(host, now, made)).encode("utf-8", "surrogateescape")
    _write(host, PATH, content)
    with suppress(RocmcfgError):
        host.make_dirs(COPIES, 0o755)
        _write(host, COPY, content)


def renew_quietly(host: Host, *, due: Iterable[str] = ()) -> None:
    """Write the script as `renew` does, but keep the previous script if that fails: the caller has finished,
    and the older script still undoes everything that is in force."""
    with suppress(RocmcfgError):
        renew(host, due=due)


def remove(host: Host) -> None:
    """Remove the script, its copy, and the folders that were made for them."""
    made = _made(host)
    for path in (PATH, COPY):
        with suppress(RocmcfgError):
            if host.is_dir(os.path.dirname(path)):
                host.discard_temporary(path)
            if host.exists(path):
                host.remove(path)
    for folder in sorted(made, reverse=True):
        with suppress(Unwritable):
            host.remove_dir(folder)


def _write(host: Host, path: str, content: bytes) -> None:
    host.discard_temporary(path)
    state = host.new_file(content, MODE)
    before = host.state(path)
    if before is None or (before.content, before.mode) != (content, MODE):
        host.write(path, state, keep_mtime=False)


def _made(view: HostView) -> list[str]:
    """Return the folders that were created for the copy, as the present script lists them."""
    folders: dict[str, None] = {}
    for path in (PATH, COPY):
        with suppress(RocmcfgError):
            folders |= dict.fromkeys(_MADE.findall(view.text(path) or ""))
    return [folder for folder in folders if f"{COPIES}/".startswith(f"{folder}/")]


def facts(view: HostView, now: InForce, made: Sequence[str] = ()) -> list[Fact]:
    """Return the facts for the script, in the order in which the script uses them."""
    listed: list[Fact] = []
    if now.journals:
        listed.append(("newest", f"{now.journals[0].id:06d}"))
    listed += _of_files(view, now)
    listed += _moves(now)
    chains = [registry.backend(name) for name in now.loaders]
    for chain in chains[:1]:
        listed += _of_partitions(view, chain)
    for chain in chains:
        listed += _of_entries(view, chain)
    for keeper_of in filter(None, map(registry.argument_keeper, now.loaders)):
        listed += _of_keeper(view, keeper_of, now)
    for chain in chains:
        for keeper in chain.TRIAL.KEEPERS if chain.TRIAL is not None else ():
            listed.append(("armed", keeper.BLOCK, keeper.ARMED, *keeper.keep(None)))
    files = {fact[1] for fact in listed if fact[0] in ("file", "edited")}
    for maker in _makers(view, chains, now.tools, files):
        saved = [] if now.planned else saved_outputs(now.journals, maker.tool, maker.makes)
        listed += of_maker(maker, saved)
    folders = {step.path for transaction in now.journals for step in transaction.of(DirectoryMade)}
    for change in now.planned.changes if now.planned else ():
        folders |= {*view.missing_folders(os.path.dirname(change.path))}
    return [*dict.fromkeys(listed), *(("made", path) for path in sorted({*folders, *made}))]


def _of_files(view: HostView, now: InForce) -> Iterator[Fact]:
    """Yield a fact for each file, including files without a record."""
    # The oldest edit of a file wins.
    every = [step for transaction in now.journals for step in transaction.of(FileChanged)]
    edited = {step.path: step.edit for step in every if step.edit is None or not step.edit.only_moves}
    of_today = {change.path for change in now.planned.changes} if now.planned else set()
    recorded = now.receipt.files if now.receipt and not view.exists(journal.TRIAL) else {}
    created = {step.path: step.after or "" for step in every if step.edit is None}
    if now.planned:
        created |= {
            change.path: journal.digest(change.after) for change in now.planned.changes if not change.edit
        }
    moved = {path for _, path, *_ in _moves(now)}
    for path in dict.fromkeys((*now.files, *now.left)):
        if is_local_profile(path):
            yield ("file", path, created[path])  # its owner may have edited it since
            continue
        if edits.editor_of(path) is None:
            if path not in moved:
                yield ("file", path)
            continue
        edit = edited.get(path)
        glued = "glued" if edit is not None and edit.inserted.startswith(b"\n") else ""
        yield ("edited", path, "" if path in of_today else recorded.get(path, ""), glued)


def _moves(now: InForce) -> list[Fact]:
    """Return a fact for each change of a file out of which something was moved, the newest first: how that
    comes back into the file. What is planned saves its copy next to the newest journal."""
    changes = [change for transaction in now.journals for change in _changed(transaction)]
    if now.planned and now.journals:
        changes[:0] = [(now.journals[0].id, step) for step in map(_to_be_changed, now.planned.changes)]
    paths = {step.path for _, step in changes if step.edit is not None and step.edit.moved}
    facts: list[Fact] = []
    for id, step in changes:
        if step.path in paths and step.before is not None and step.edit is not None:
            copy, mode = journal.saved_file(id, step.before), f"{step.before.mode:04o}"
            change = ("moved", step.path, step.after or "", copy, step.before.sha256, mode)
            parts = [(part.variable, *part.words) for part in reversed(step.edit.moved)]
            facts += [(*change, *part) for part in parts or [("",)]]
    return facts


def _changed(transaction: Journal) -> list[tuple[int, FileChanged]]:
    return [(transaction.id, step) for step in reversed(transaction.of(FileChanged))]


def _to_be_changed(change: FileChange) -> FileChanged:
    before = change.before
    saved = before and Saved(journal.digest(before.content), *before[1:-1], ())
    return FileChanged(change.path, saved, journal.digest(change.after) or None, change.edit)


def _of_partitions(view: HostView, chain: Chain) -> Iterator[Fact]:
    traces = chain.traces(view)
    for place in traces.mount_points:
        yield ("mount_point", place)
    if traces.shown:
        yield ("shown", chain.NAME, *traces.shown)


def _of_entries(view: HostView, chain: Chain) -> Iterator[Fact]:
    traces = chain.traces(view)
    for kind, patterns in (("entries", traces.entries), ("ours", traces.own), ("images", traces.images)):
        if patterns:
            yield (kind, *patterns)
    if (sealed := traces.sealed) is not None:
        yield ("sealed", sealed.suffix, sealed.behind, sealed.cure, *sealed.programs)


def _of_keeper(view: HostView, chain: KeptChain, now: InForce) -> Iterator[Fact]:
    planned = [change.ours for change in now.planned.tools] if now.planned else []
    words = [word for line in (entry_options.asked(view), *planned) for word in kept_arguments.words(line)]
    if not words:
        return
    yield ("keeper", chain.TOOL, " ".join(map(str, chain.UNCHANGED)))
    for word in dict.fromkeys(words):
        yield ("keeps", word)
    yield ("forgets", *chain.keep(None, kept_arguments.text(words)))
    yield ("shows", *chain.SHOWS)


def _makers(
    view: HostView, chains: Sequence[Chain], tools: frozenset[str], files: AbstractSet[str]
) -> Iterator[Maker]:
    """Yield the programs among `tools`, and those that generate a menu from `files`, whoever ran them. The
    program of an earlier boot loader counts only if it is installed."""
    for number, chain in enumerate(chains):
        of_ours = bool(files & registry.inputs(chain.NAME))
        for maker in chain.makers(view):
            if (maker.tool in tools or of_ours) and (number == 0 or view.has_tool(maker.program)):
                yield maker
    for generator in initramfs.backends():
        if generator.TOOL in tools:
            yield generator.maker(view)
    if env_update.TOOL in tools or any(path.startswith(f"{env_update.FOLDER}/") for path in files):
        yield maker_of(env_update.activation(""), env_update.PACKAGE)


def of_maker(maker: Maker, saved: Iterable[SavedOutput] = ()) -> Iterator[Fact]:
    """Yield the facts of one program, with the copies of what it made that were `saved` before it ran."""
    yield ("maker", maker.tool, maker.package)
    yield ("needs", maker.program)
    if maker.signed_by is None:
        yield ("unsigned",)
    for argv in maker.commands:
        yield ("runs", *argv)
    for argv in maker.each:
        yield ("each", *argv)
    if maker.each:
        yield ("for_every", *maker.every) if maker.every else ("for_first", *maker.first)
    if maker.signed_by:
        yield ("signed_by", *maker.signed_by)
    for path, left, id, before in saved:
        copy = journal.saved_file(id, before) if before is not None else ""
        yield ("saved", path, left, copy, before.sha256 if before is not None else "")
    yield ("makes", *maker.makes)


def script(listed: Sequence[Fact] | None) -> str:
    """Render the script with these facts. Without any, render the packaged script, which finds the script of
    a host."""
    marks = Marks(
        appended_assignment.COMMENT.decode().rstrip("\n"),
        marked_lines.BEGIN,
        marked_lines.END,
        marked_arguments.BEGIN,
        marked_arguments.END,
    )
    return templates.undo_sh(facts=listed, marks=marks)
