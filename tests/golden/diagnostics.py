"""Every text of a diagnostic as it really comes out: the table diagnostics.txt, and what fills it.

    .venv/bin/python -m pytest tests/cli --diagnostics-seen seen.txt

collects all that the tests of that run make; on a table that exists it adds to it. The transcripts hold their
own diagnostics against the table.
"""

from __future__ import annotations

import ast
import fcntl
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from hypothesis import currently_in_test_context

from rocmcfg.model.diagnostic import Diagnostic, info
from tests.packaging.test_man import generator
from tests.support.program import SOURCE

TABLE = Path(__file__).with_name("diagnostics.txt")
_FIELDS = ("summary", "detail", "location", "hint")


class Text(NamedTuple):
    """One diagnostic without what is peculiar to one run of the tests."""

    id: str
    severity: str
    summary: str
    detail: str
    location: str
    hint: str


def text_of(diagnostic: Diagnostic) -> Text:
    fields = [normal(getattr(diagnostic, name)) for name in _FIELDS]
    return Text(diagnostic.id, diagnostic.severity.value, *fields)


def normal(text: str) -> str:
    text = re.sub(r"(/dev/shm|/tmp)/[^\s:'\"`]*", "/PATH", text)
    text = re.sub(r"\b20\d\d-\d\d-\d\d[T ][0-9:]+\S*", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{16,}\b", "ID", text)
    return re.sub(r"(?<![\w.-])\d+(?![\w.-])", "N", text)


@contextmanager
def seen() -> Iterator[set[Text]]:
    """All that are made meanwhile; those of generated inputs are left out, for each run has others."""
    found: set[Text] = set()
    info("RC0000", "the first that is made has its class get its constructor")

    def make(way: Callable[..., Diagnostic]) -> Callable[..., Diagnostic]:
        def made(*arguments: object, **named: object) -> Diagnostic:
            one = way(*arguments, **named)
            if not currently_in_test_context():
                found.add(text_of(one))
            return one

        return made

    with (
        mock.patch.object(Diagnostic, "__new__", make(Diagnostic.__new__)),
        mock.patch.object(Diagnostic, "_replace", make(Diagnostic._replace)),
    ):
        yield found


def read(path: Path) -> set[Text]:
    found = set()
    blocks = path.read_text().strip().split("\n\n") if path.exists() else []
    for block in filter(None, blocks):
        head, *lines = block.splitlines()
        fields = dict.fromkeys(_FIELDS, "")
        for line in lines:
            name, _, value = line.strip().partition(": ")
            fields[name] = value.replace("\\n", "\n")
        found.add(Text(*head.split(), **fields))
    return found


@functools.cache
def recorded() -> set[Text]:
    """As the table was when the tests began."""
    return read(TABLE)


def write(path: Path, texts: Iterable[Text]) -> None:
    blocks = []
    for text in sorted(texts):
        lines = [f"{text.id} {text.severity}"]
        for name in _FIELDS:
            value = getattr(text, name).replace("\n", "\\n")
            lines += [f"  {name}: {value}"] if value else []
        blocks.append("\n".join(lines))
    path.write_text("\n\n".join(blocks) + "\n")


@functools.cache
def _summaries() -> dict[str, list[re.Pattern[str]]]:
    """By id the summaries that the code has now. What they are filled with may be any text."""
    found: dict[str, list[re.Pattern[str]]] = {}
    for made in generator("diagnostics").all_made():
        words = re.split(r"[A-Z_]{2,}|…", normal(made.summary))
        form = re.compile(".*".join(map(re.escape, words)), re.DOTALL)
        found.setdefault(made.id, []).append(form)
    return found


@functools.cache
def _hints() -> dict[str, list[re.Pattern[str]]]:
    """Return by id the hints that the code has for it. What a call fills in may be any text, and so may the
    hint of an id that one of its calls leaves to others."""
    forms: dict[str, list[re.Pattern[str]]] = {}
    trees = (ast.parse(path.read_text()) for path in sorted((SOURCE / "rocmcfg").rglob("*.py")))
    for call in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)):
        id = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if isinstance(id, str) and generator("diagnostics").ID.fullmatch(id):
            hint = next((keyword.value for keyword in call.keywords if keyword.arg == "hint"), None)
            forms.setdefault(id, []).append(re.compile(_form(hint), re.DOTALL))
    return forms


def _form(text: ast.expr | None) -> str:
    if isinstance(text, ast.Constant):
        return re.escape(normal(str(text.value)))
    if isinstance(text, ast.JoinedStr):
        return "".join(map(_form, text.values))
    return ".*"


def is_said(text: Text) -> bool:
    """Return whether the code still makes diagnostics of this id with such a summary, those of a base
    included, and with such a hint."""
    summary = text.summary.removeprefix("extends: ")
    return any(form.fullmatch(summary) for form in _summaries().get(text.id, ())) and any(
        form.fullmatch(text.hint) for form in _hints().get(text.id, [re.compile(".*", re.DOTALL)])
    )


def add(path: Path, texts: Iterable[Text], most: int | None = None) -> None:
    """To the table at `path`, which loses what the code says no more; other processes may do the same
    meanwhile. `most`: so many of one id and no more, where a test makes hundreds that differ in a value."""
    with path.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        known = set(filter(is_said, read(path)))
        of_id = Counter(text.id for text in known)
        for text in sorted(set(texts) - known):
            of_id[text.id] += 1
            if most is None or of_id[text.id] <= most:
                known.add(text)
        write(path, known)
