"""Read each kind of file with a small reader: text in, assignments out. No reader fails on any text."""

from __future__ import annotations

import functools
from collections.abc import Callable

from rocmcfg.advice.lint import kinds
from rocmcfg.advice.lint.assignment import Reading, Where
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.readers import (
    anywhere,
    environment,
    grub_defaults,
    kernel,
    lines,
    mark,
    markdown,
    profile,
    python,
    refind,
    tuned,
    yaml,
)
from rocmcfg.advice.lint.readers.anywhere import Mention
from rocmcfg.advice.lint.readers.inert import without_comments
from rocmcfg.advice.lint.source import Span
from rocmcfg.model.regex import regex

_READERS: dict[FileKind, Callable[[Span, Reading, Where], None]] = {
    FileKind.GRUB_DEFAULTS: grub_defaults.read,
    FileKind.GRUB_CFG: functools.partial(kernel.read_entries, titled=False),
    FileKind.BOOT_ENTRY: kernel.read_entries,
    FileKind.REFIND: refind.read,
    FileKind.CMDLINE: kernel.read_cmdline,
    FileKind.MODPROBE: kernel.read_modprobe,
    FileKind.ENVIRONMENT: environment.read,
    FileKind.ENVIRONMENT_D: environment.read_environment_d,
    FileKind.PAM_ENVIRONMENT: environment.read_pam,
    FileKind.DOCKER_ENV: environment.read_env_file,
    FileKind.PROFILE: profile.read,
    FileKind.FISH: profile.read_fish,
    FileKind.SHELL: profile.read_script,
    FileKind.UNIT: environment.read_unit,
    FileKind.TUNED: tuned.read,
    FileKind.DOCKERFILE: environment.read_dockerfile,
    FileKind.YAML: yaml.read,
    FileKind.PYTHON: python.read,
    FileKind.MARKDOWN: markdown.read,
    FileKind.OTHER: anywhere.read,
}
# Formats in which settings may stand where their reader does not look for them.
_READ_ANYWHERE = {
    *(
        FileKind.SHELL,
        FileKind.PROFILE,
        FileKind.FISH,
        FileKind.UNIT,
        FileKind.DOCKERFILE,
        FileKind.YAML,
        FileKind.PYTHON,
    ),
    *(FileKind.TUNED, FileKind.ENVIRONMENT, FileKind.OTHER),
}
# Their lines need not belong together; in any other kind of file the later of two values of a name counts.
_SEVERAL = {
    *(FileKind.SHELL, FileKind.DOCKERFILE, FileKind.YAML, FileKind.PYTHON, FileKind.MARKDOWN),
    FileKind.OTHER,
}
_PROLOG = regex(r"prolog[^/]*\Z")  # of Slurm, which sets the variables that the script prints
_FOR_ENTRIES = regex(r"(?:^|/)kernel/cmdline(?:\.d/[^/]+)?\Z")  # kernel-install's, sdbootutil's
# Files that are for builds alone: of Gentoo, Arch, Bazel and RPM.
_OF_BUILDS = regex(r"(?:^|/)(?:portage/|makepkg\.conf|PKGBUILD\Z|\.bazelrc)|\.(?:ebuild|spec)\Z")
_BUILDS = regex(
    r"setup\.py|\bpip3?\b[^\n]{0,80}?\b(?:install|wheel)\b|\bcmake\b|\bninja\b|\bmake\b|-m build"
    r"|docker build|\bhipcc\b|bdist_wheel|buildx|\bgo (?:build|generate)\b|build_amd|meson"
)


def builds(text: str) -> bool:
    """Return whether the text compiles software, so that build variables have an effect."""
    return bool(_BUILDS.search(text))


def read(kind: FileKind, piece: Span, out: Reading, file: str = "", *, marked: bool = False) -> None:
    """Read a file; `marked`: a byte order mark stands before its text."""
    where = Where(
        scope="" if kind in _SEVERAL else "file",
        builds=builds(piece.text) or _OF_BUILDS.search(file) is not None,
        prints=_PROLOG.search(file) is not None,
        for_entries=_FOR_ENTRIES.search(file) is not None,
    )
    if marked and file != kinds.PASTED:
        mark.read(kind, piece, out, file, lambda text, into: _READERS[kind](text, into, where))
    else:
        _READERS[kind](piece, out, where)
    if kind in _READ_ANYWHERE and kind is not FileKind.OTHER:
        anywhere.read_rest(piece, out, where, variables=kind is FileKind.YAML)


def programs(kind: FileKind, piece: Span) -> list[Span]:
    """Return the texts that programs read, without comments: of a document each example."""
    texts = markdown.examples(piece) if kind is FileKind.MARKDOWN else [piece]
    return [without_comments(text) for text in texts]


def mentions(kind: FileKind, piece: Span, out: Reading) -> list[Mention]:
    """Return the names of ours in a file for a program that no setting was read from; texts for people name
    many."""
    return anywhere.mentions(piece, out) if kind in _READ_ANYWHERE else []


def read_as(path: str, piece: Span, out: Reading, where: Where) -> None:
    _READERS[kinds.of(path, piece.text)](piece, out, where)


def read_block(path: str, piece: Span, out: Reading, where: Where) -> None:
    """Read an example in a document. If its language is unknown, or has no reader for its lines, it is read
    line by line."""
    kind = kinds.by_path(path)
    kind = kinds.by_content(piece.text) if kind in (None, FileKind.MARKDOWN) else kind
    if kind in (None, FileKind.MARKDOWN):
        lines.read(piece, out, where)
        return
    before, passed = len(out.assignments), len(out.passed)
    _READERS[kind](piece, out, where)
    if len(out.assignments) == before and len(out.passed) == passed:
        other = kinds.by_content(piece.text)
        if other is not None and other is not kind:  # a fence often names the wrong language
            _READERS[other](piece, out, where)
    if len(out.assignments) == before and kind in (FileKind.PYTHON, *environment.KINDS):
        (environment.read if kind is FileKind.PYTHON else lines.read)(piece, out, where)
