"""A plan for the reader's eye: unified diffs and the word diff of the kernel command line."""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.model.plan import ChangeKind, CommandLine, FileChange


class Change(NamedTuple):
    """A change of a file with its diff, and both of its texts; None where there is no file."""

    path: str
    kind: ChangeKind
    before: str | None
    after: str | None
    diff: str
    reason: str


def shown(one: FileChange) -> Change:
    before = text(one.before.content) if one.before else None
    return Change(one.path, one.kind, before, text(one.after), unified(one), one.reason)


def unified(change: FileChange) -> str:
    """As `diff -u`; /dev/null for a file that is not there before or after."""
    before = _lines(change.before.content if change.before else None)
    after = _lines(change.after)
    import difflib

    lines = difflib.unified_diff(
        before,
        after,
        change.path if change.before else "/dev/null",
        change.path if change.after is not None else "/dev/null",
    )
    text = "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )
    if not text and change.before is not None:
        return f"{change.path}: mode {change.before.mode:04o} → {change.mode:04o}\n"
    return text


def text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")


def words(line: CommandLine) -> list[tuple[str, str]]:
    """Arguments in order, each marked " " (kept), "-" (goes) or "+" (comes)."""
    import difflib

    matcher = difflib.SequenceMatcher(a=line.before, b=line.after, autojunk=False)
    marked: list[tuple[str, str]] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            marked += [(" ", word) for word in line.before[a1:a2]]
        else:
            marked += [("-", word) for word in line.before[a1:a2]]
            marked += [("+", word) for word in line.after[b1:b2]]
    return marked


def _lines(content: bytes | None) -> list[str]:
    return (text(content) or "").splitlines(keepends=True)
