"""What rocmcfg says of a host, by its own commands."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rocmcfg.knowledge import catalogue
from rocmcfg.model.kargs import Karg, read_by_kernel, split
from tests.lint.judging import judged
from tests.peers.judgement import CANNOT_TELL, Answer, CannotTell, Refused
from tests.support.hosts import machine
from tests.support.program import rocmcfg


def host(folder: Path, files: Mapping[str, str]) -> Path:
    """A machine without a boot loader, with these files."""
    root = machine(folder)
    write(root, files)
    return root


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def settings(root: Path) -> Answer:
    """What `status` says that the next boot sets, by name; a variable's without `env.`."""
    result = rocmcfg("status", "--json", "--root", root)
    if result.code:
        return Refused(result.out)
    found: dict[str, str | CannotTell | None] = {}
    for row in [*result.document["parameters"], *result.document["others"]]:
        found[row["name"]] = CANNOT_TELL if row["next_boot"] is None and row["source"] else row["next_boot"]
    return found


def errors(document: dict[str, Any]) -> str:
    said = [f"{d['id']}: {d['summary']}" for d in document["diagnostics"] if d["severity"] == "error"]
    return "; ".join(said)


def only(answer: Answer, names: Iterable[str]) -> Answer:
    """Of an answer what it says of these names."""
    if isinstance(answer, Refused):
        return answer
    return {name: answer[name] for name in names if name in answer}


def arguments(line: str) -> tuple[Karg, ...]:
    """Of a kernel's command line."""
    return read_by_kernel(split(line))


def written(path: str, text: str, names: Iterable[str]) -> Answer:
    """What lint reads in a file at this path, of these variables. They need not be any that rocmcfg knows:
    known ones are put in their place first."""
    known = stand_ins(names)
    checked = judged(path, renamed(text, known))
    found = {one.name: CANNOT_TELL if one.opaque else one.value for one in checked.assignments}
    return {name: found[other] for name, other in known.items() if other in found}


def stand_ins(names: Iterable[str]) -> dict[str, str]:
    """A variable that rocmcfg knows for each of these."""
    return dict(zip(names, sorted(catalogue.load().variables), strict=False))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Where they are set or expanded."""
    for name, other in names.items():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?=['\"]?[ \t]*\+?[=:])", other, text)
        text = re.sub(rf"(\$\{{?){re.escape(name)}\b", rf"\g<1>{other}", text)
    return text


def sourced(path: str, text: str, names: Iterable[str]) -> Answer:
    """What `status` says of these variables where a host has this text in a file at this path."""
    known = stand_ins(names)
    with tempfile.TemporaryDirectory() as folder:
        found = settings(host(Path(folder), {path: renamed(text, known)}))
    if isinstance(found, Refused):
        return found
    return {name: found[other] for name, other in known.items() if other in found}


@contextmanager
def tree(files: Mapping[str, str]) -> Iterator[Path]:
    """A host's root with these files and nothing else, while it is used."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), files)
        yield Path(folder)
