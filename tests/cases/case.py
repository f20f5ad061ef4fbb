"""A case: a folder that tells of a host, what is typed there, and what must come of it.

    tests/cases/LOADER/CASE/
        case.toml        what the case shows, the host, the commands
        tree/            files laid over the host, if it has some of its own
        transcript.txt   what the commands print
        tree.diff        which files of the host they make, change and remove; none: no such file
        tools.txt        which programs of the host they run, in order; none: no such file
    tests/cases/LOADER/trees/NAME/    files that several cases lay over their hosts
    tests/cases/LOADER/tools/NAME     a program that stands for the host's own of that name

README.md says how one is written. At the end everything is rolled back, on a copy of the host by undo.sh,
and the host must be as if rocmcfg had never been there.
"""

from __future__ import annotations

import difflib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rocmcfg import initramfs
from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import toml
from rocmcfg.loaders import detection
from tests.support import recorded
from tests.support.fake_tools import members_of
from tests.support.hosts.pe import shown_sections
from tests.support.stage import Entry, Files, Said, Stage, Typed, empty_folder, files
from tests.support.trees import Tree, tree

CASES = Path(__file__).parent
EXPECTATIONS = ("transcript.txt", "tree.diff", "tools.txt")
_NO_CASES = ("trees", "tools")
_TEXTS = ("shows", "state", "way", "host")
_KEYS = {**dict.fromkeys(_TEXTS, str), "trees": list, "commands": list, "stays": dict, "entries": dict}
# In what state a host is of the owner's own arguments, when ours are applied and taken back.
STATES = ("fresh", "partly set", "conflicting", "edited since")
JOURNALS = "var/lib/rocmcfg/transactions"
_ROLLBACK = "rocmcfg rollback --pristine --yes -q --root host"
_MADE_BY_A_BOOT = re.compile(r"(proc|sys|run)(/|$)")
_RECORDS = re.compile(
    r"var(/(lib|backups)(/rocmcfg(/.*)?)?)?$"
)  # tests/golden shows what rocmcfg notes for itself


class Entries(NamedTuple):
    """How a host gets more boot entries: files that are an entry each and of which there are copies, or one
    in which the block that a pattern finds is repeated."""

    paths: tuple[str, ...]
    block: str = ""


class Case(NamedTuple):
    """`state`: one of STATES where this case stands for it, else empty; `way`: of several ways in which the
    loader is configured, the one. `stays`: paths that a rollback leaves changed, each with the reason why
    that is right. `entries`: this host stands for its loader in `make bench`, and where its entries are
    multiplied."""

    folder: Path
    shows: str
    host: str
    commands: tuple[Typed, ...]
    trees: tuple[Path, ...]
    stays: dict[str, str]
    state: str
    way: str
    entries: Entries | None

    @property
    def tools(self) -> Path:
        return self.folder.parent / "tools"

    @property
    def applied(self) -> bool:
        """Whether it was expected that something is applied: an apply that was not refused."""
        written = self.folder / "transcript.txt"
        blocks = re.split(r"^\$ ", written.read_text() if written.exists() else "", flags=re.MULTILINE)
        tried = [block.rstrip() for block in blocks if block.startswith("rocmcfg apply ")]
        return any(not block.endswith(("\n[1]", "\n[2]")) for block in tried)


class Played(NamedTuple):
    """`applied`: a transaction of rocmcfg was on record at the end. `loader`: the name of the host's loader;
    `expectations`: by file name, what came of the commands; `pristine`: the tree of a host on which only the
    shell's lines were typed; `undone`: after the rollback.
    """

    applied: bool
    loader: str
    expectations: dict[str, str]
    pristine: Tree
    undone: Tree

    @property
    def stayed(self) -> dict[str, tuple[object, object]]:
        """Paths that the rollback left changed: what each is without rocmcfg, and what it is."""
        paths = self.pristine.keys() | self.undone.keys()
        both = {path: (self.pristine.get(path), self.undone.get(path)) for path in paths}
        return {path: (was, found) for path, (was, found) in both.items() if was != found}


def cases() -> dict[str, Path]:
    """Every case's folder, by LOADER/CASE."""
    found = (path for path in sorted(CASES.glob("*/*")) if path.is_dir() and path.parent.is_dir())
    return {
        str(path.relative_to(CASES)): path
        for path in found
        if path.name not in _NO_CASES and "__pycache__" not in path.parts
    }


def read(folder: Path) -> Case:
    """Raises ValueError for a key that no case has, and for a folder that holds something else."""
    table: dict[str, Any] = toml.loads((folder / "case.toml").read_text())
    wrong = [key for key, value in table.items() if not isinstance(value, _KEYS.get(key, ()))]
    foreign = {path.name for path in folder.iterdir()} - {"case.toml", "tree", *EXPECTATIONS}
    missing = {"shows", "host", "commands"} - table.keys()
    if wrong or foreign or missing:
        raise ValueError(f"{folder}: unknown {[*wrong, *sorted(foreign)]}, missing {sorted(missing)}")
    trees = [folder.parent / "trees" / name for name in table.get("trees", [])]
    own = folder / "tree"
    return Case(
        folder,
        table["shows"],
        table["host"],
        tuple(_typed(line) for line in table["commands"]),
        (*trees, *([own] if own.exists() else [])),
        table.get("stays", {}),
        table.get("state", ""),
        table.get("way", ""),
        _entries(table["entries"]) if "entries" in table else None,
    )


def _entries(table: dict[str, Any]) -> Entries:
    return Entries(tuple(table["paths"]), table.get("block", ""))


def _typed(command: str) -> Typed:
    """The first line of a command, those that continue it, and behind `< ` the answers to its questions."""
    line, *more = command.strip().splitlines()
    answers = [text.removeprefix("< ") for text in more if text.startswith("< ")]
    return Typed(line, tuple(text for text in more if not text.startswith("< ")), tuple(answers))


def play(case: Case, applied_to: Callable[[Path], object] | None = None) -> Played:
    """Types the commands and then a rollback of everything; beside it, the shell's lines alone. Between the
    two `applied_to` is called with the host, where something of rocmcfg is on record there."""
    with empty_folder() as place:
        stage = stage_of(case, place)
        view = LocalHost(str(place / "host"))
        loader = detection.detect(view, initramfs.detect(view)).loader
        pristine = _without_rocmcfg(stage, case)
    with empty_folder() as place:
        stage = stage_of(case, place)
        written = Written()
        for typed in case.commands:
            written.add(stage, typed)
        applied = (place / "host" / JOURNALS).exists()
        if applied and applied_to is not None:
            applied_to(place / "host")
        if applied:
            written.add(stage, Typed(_ROLLBACK), closing=True)
        undone = tree_of(place / "host")
    return Played(applied, loader.name if loader else "", written.expectations, pristine, undone)


def steps(case: Case) -> Iterator[tuple[Path, Said]]:
    """The host and what was said, after each command."""
    with empty_folder() as place:
        stage = stage_of(case, place)
        for typed in case.commands:
            said = stage.run(typed)
            yield place / "host", said


def lay_out(case: Case, place: Path) -> recorded.Recorded:
    """The host of a case, as `host` below a folder."""
    host = recorded.build(case.host, place)
    for overlay in case.trees:
        shutil.copytree(overlay, place / "host", symlinks=True, dirs_exist_ok=True)
    return host


def stage_of(case: Case, place: Path) -> Stage:
    return Stage(place, lay_out(case, place), case.tools)


def pristine(case: Case) -> Tree:
    """The host after the shell's lines alone."""
    with empty_folder() as place:
        return _without_rocmcfg(stage_of(case, place), case)


def _without_rocmcfg(stage: Stage, case: Case) -> Tree:
    for typed in case.commands:
        if typed.program not in ("rocmcfg", "reboot"):
            stage.run(typed)
    return tree_of(stage.place / "host")


def tree_of(root: Path) -> Tree:
    found = tree(root, state=False, times=False)
    return {path: entry for path, entry in found.items() if not _MADE_BY_A_BOOT.match(path)}


class Written:
    """The three texts while they grow: each has the command, and below it what came of it."""

    def __init__(self) -> None:
        self.expectations: dict[str, str] = {}
        self._before: Files = {}

    def add(self, stage: Stage, typed: Typed, *, closing: bool = False) -> None:
        """`closing`: the rollback at the end, of which the programs that it runs are noted, and a failure."""
        host = stage.place / "host"
        before = self._before or files(host)
        said = stage.run(typed)
        if said.code or not closing:
            self._add("transcript.txt", typed, [stage.normal(line) for line in said.lines])
        self._before = {} if closing else files(host)
        changed = difference(before, self._before) if typed.program == "rocmcfg" and not closing else []
        if changed:
            self._add("tree.diff", typed, changed)
        if said.ran:
            self._add("tools.txt", typed, said.ran)

    def _add(self, name: str, typed: Typed, lines: Sequence[str]) -> None:
        head = [f"$ {typed.line}", *(f"> {line}" for line in typed.more)]
        head += [f"< {line}" for line in typed.answers]
        block = "\n".join([*head, *lines]) + "\n"
        self.expectations[name] = "\n".join(filter(None, (self.expectations.get(name), block)))


def difference(before: Files, after: Files) -> list[str]:
    """For each path its modes, and a unified diff of what is there now with what was there before."""
    shown: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new or _MADE_BY_A_BOOT.match(path) or _RECORDS.match(path):
            continue
        modes = " -> ".join(dict.fromkeys(entry.mode if entry else "nothing" for entry in (old, new)))
        shown.append(f"=== /{path}: {modes}")
        if new is None:
            continue
        shown += list(difflib.unified_diff(_text(old), _text(new), n=1, lineterm=""))[2:]
    return shown


def _text(entry: Entry | None) -> list[str]:
    """The lines of a file, of all files in an archive, or the sections of a PE file. A last line without its
    end is marked as such."""
    if entry is None or entry.mode.startswith("d"):
        return []
    if entry.content.startswith(b"070701"):
        members = members_of(entry.content)
        return [f"{path}: {line}" for path, content in members for line in _text(Entry("-", content)) or [""]]
    if entry.content.startswith(b"MZ") and len(entry.content) > 0x400:
        return shown_sections(entry.content)
    lines = entry.content.decode("utf-8", "backslashreplace").split("\n")
    last = lines.pop()
    # the rest of a block that grub-editenv fills up
    lines += [f"{re.sub('#{70,}$', '', last)}\\ no end of line, {len(last)} characters"] if last else []
    return lines
