"""One small reader per kind of file: text in, assignments out. None of them fails on any text."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from rocmcfg.lint import kinds
from rocmcfg.lint.assignment import Reading, Where
from rocmcfg.lint.kinds import Kind
from rocmcfg.lint.readers import (
    environment,
    kernel,
    lines,
    markdown,
    notebook,
    python,
    shell,
)
from rocmcfg.lint.source import Span

_READERS: dict[Kind, Callable[[Span, Reading, Where], None]] = {
    Kind.GRUB_DEFAULTS: shell.read,
    Kind.GRUB_CFG: kernel.read_grub_cfg,
    Kind.BOOT_ENTRY: kernel.read_entry,
    Kind.CMDLINE: kernel.read_cmdline,
    Kind.MODPROBE: kernel.read_modprobe,
    Kind.ENVIRONMENT: environment.read,
    Kind.DOCKER_ENV: functools.partial(environment.read, verbatim=True),
    Kind.PROFILE: shell.read,
    Kind.SHELL: shell.read,
    Kind.UNIT: environment.read_unit,
    Kind.DOCKERFILE: environment.read_dockerfile,
    Kind.YAML: environment.read_yaml,
    Kind.PYTHON: python.read,
    Kind.NOTEBOOK: notebook.read,
    Kind.MARKDOWN: markdown.read,
}
# Files that their reader takes as one: of two values of a name, the later one is the value.
_AS_ONE = set(Kind) - {Kind.SHELL, Kind.DOCKERFILE, Kind.YAML, Kind.PYTHON, Kind.NOTEBOOK, Kind.MARKDOWN}
_BUILDS = re.compile(
    r"setup\.py|\bpip3?\b[^\n]{0,80}?\b(?:install|wheel)\b|\bcmake\b|\bninja\b|\bmake\b|-m build"
    r"|docker build|\bhipcc\b|bdist_wheel|buildx|build_amd|meson"
)


def builds(text: str) -> bool:
    """Whether software is compiled here, so that variables of a build mean something."""
    return bool(_BUILDS.search(text))


def read(kind: Kind, piece: Span, out: Reading) -> None:
    where = Where(scope="file" if kind in _AS_ONE else "", builds=builds(piece.text))
    _READERS[kind](piece, out, where)


def read_as(path: str, piece: Span, out: Reading, where: Where) -> None:
    """A text that goes to the file `path`, as that file would be read."""
    _READERS[kinds.of(path, piece.text)](piece, out, where)


def read_block(path: str, piece: Span, out: Reading, where: Where) -> None:
    """An example in a document. One without a known language, and lines that its language has not, are read
    line by line."""
    kind = kinds.by_path(path) if path else kinds.by_content(piece.text)
    if kind in (None, Kind.MARKDOWN):
        lines.read(piece, out, where)
        return
    before = len(out.assignments)
    _READERS[kind](piece, out, where)
    if len(out.assignments) == before and kind in (Kind.PYTHON, Kind.ENVIRONMENT):
        (environment.read if kind is Kind.PYTHON else lines.read)(piece, out, where)
