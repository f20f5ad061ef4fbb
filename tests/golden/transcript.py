"""Transcripts: text files that tell what is typed on a recorded host and what comes of it, played again.

    What the case is about, in prose: lines that begin in the first column.

    Host: debian gfx=gfx1201,gfx1036

      $ rocmcfg plan --set amdgpu.runpm=0 --root host
      what it prints, and `! ` before what goes to standard error
      [3]

A command is a line of two blanks and `$ `; `> ` lines below it belong to it, and `< ` lines are typed at the
terminal that asks. tests/support/stage.py says how commands run. What follows one is written by `play`: its
output, its exit code where it is not 0, which files of the host it changed and which programs of the host it
ran.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support import recorded
from tests.support.stage import Files, Stage, Typed, empty_folder, files

_INDENT = "  "
_COMMAND, _MORE, _TYPED = "  $ ", "  > ", "  < "
_RECORDS = re.compile("var/(lib|backups)/rocmcfg/")


def parse(text: str) -> list[str | Typed]:
    """The lines of prose and the commands of a transcript, in order; what commands printed is left out."""
    found: list[str | Typed] = []
    for line in text.splitlines():
        last = found[-1] if found else ""
        if line.startswith(_COMMAND):
            found.append(Typed(line.removeprefix(_COMMAND)))
        elif isinstance(last, Typed) and line.startswith(_MORE):
            found[-1] = last._replace(more=(*last.more, line.removeprefix(_MORE)))
        elif isinstance(last, Typed) and line.startswith(_TYPED):
            found[-1] = last._replace(answers=(*last.answers, line.removeprefix(_TYPED)))
        elif not line.startswith(_INDENT) and line.strip():
            found.append(line)
        elif not line.strip() and not isinstance(last, Typed) and last:
            found.append("")
    return found


def play(text: str) -> str:
    """The transcript as it is when its commands run now."""
    parts = parse(text)
    described = next((p for p in parts if isinstance(p, str) and p.startswith("Host: ")), "Host: none")
    with empty_folder() as place:
        stage = Stage(place, recorded.build(described.removeprefix("Host: "), place))
        written: list[str] = []
        for part in parts:
            if isinstance(part, str):
                after_command = bool(written) and written[-1].startswith(_INDENT)
                written += ["", part] if after_command and part else [part]
            else:
                before_it = written[-1:]
                written += [""] * (before_it != [""])
                written += _lines(stage, part)
    return "\n".join(written).rstrip("\n") + "\n"


def _lines(stage: Stage, typed: Typed) -> list[str]:
    before = files(stage.place)
    said = stage.run(typed)
    after = files(stage.place)
    after.pop(said.into, None)
    changed = _changes(before, after) if typed.program == "rocmcfg" else []
    shown = [*said.lines, *(f"ran: {argv}" for argv in said.ran), *changed]
    head = [
        _COMMAND + typed.line,
        *(_MORE + line for line in typed.more),
        *(_TYPED + line for line in typed.answers),
    ]
    return [*head, *((_INDENT + stage.normal(line)).rstrip() for line in shown)]


def _changes(before: Files, after: Files) -> list[str]:
    shown: list[str] = []
    for path in sorted(before.keys() | after.keys(), key=_without_digest):
        if before.get(path) == after.get(path):
            continue
        old, new = before.get(path), after.get(path)
        sign = "+" if old is None else "-" if new is None else "~"
        modes = " -> ".join(dict.fromkeys(entry.mode for entry in (old, new) if entry))
        shown.append(f"{sign} {_without_digest(path)}  {modes}")
        if not _RECORDS.search(path) and new is not None and not new.mode.startswith("d"):
            shown += [f"    {line}" for line in _difference(old.content if old else None, new.content)]
    return shown


def _without_digest(path: str) -> str:
    """A backup is called by the digest of its content, and the content may hold a moment."""
    return re.sub(r"(?<=/backups/)[0-9a-f]{64}$", "SHA256", path)


def _difference(old: bytes | None, new: bytes) -> list[str]:
    try:
        was, now = (old or b"").decode().splitlines(), new.decode().splitlines()
    except UnicodeDecodeError:
        return ["(binary)"]
    if "\0" in new.decode():
        return ["(binary)"]
    if old is None:
        return [f"| {line}" for line in now]
    return [
        line
        for line in difflib.unified_diff(was, now, n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]


def cases(folder: Path) -> Mapping[str, Path]:
    """Every transcript below `folder`, by its name in it."""
    paths: Iterable[Path] = sorted(folder.rglob("*.txt"))
    return {str(path.relative_to(folder).with_suffix("")): path for path in paths}
