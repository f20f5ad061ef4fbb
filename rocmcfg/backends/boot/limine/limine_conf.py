"""limine.conf: the tree of entries that Limine shows, and our part of their command lines.

Read as Limine reads it (common/lib/config.c and common/menu.c of 8.2.0, CONFIG.md of 8 to 12): blanks
around a line do not count; a line that begins with slashes opens an entry, as deep as it has slashes;
`name: value` is an option of the entry above it, whatever the case of its name, and the first of a name
counts; kernel_cmdline wins over cmdline. `${NAME}=text` at the start of a line is a macro, and stands for
its text everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_CMDLINE = ("kernel_cmdline", "cmdline")
_KERNEL = ("path", "kernel_path", "image_path")
_MACRO = re.compile(r"^\$\{([^}\n]*)\}=(.*)$")
_USE = re.compile(r"\$\{([^}\n]*)\}")
_OLD_ENTRY = re.compile(r"^[ \t]*:[^:/\n]", re.MULTILINE)  # `:Title`, with `KEY=value` below it
IMAGES = ("efi", "efi_chainload", "uefi")  # protocols that start an EFI program
_VOLUME = re.compile(r"^\w+\([^)]*\):")  # of a path: which partition it is on


class Section(NamedTuple):
    """An entry as it is written: the titles above it and its own, and its options by their lower-case names.
    `comments` are those of the entries above it and its own. `start` and `end` are where the line of the
    command line that counts stands in the text; -1 where it has none."""

    titles: tuple[str, ...]
    options: dict[str, list[str]]
    comments: str
    start: int
    end: int

    def first(self, *names: str) -> str:
        return next((self.options[name][0] for name in names if name in self.options), "")

    @property
    def protocol(self) -> str:
        return self.first("protocol").lower()

    @property
    def cmdline(self) -> str:
        return self.first(*_CMDLINE)

    @property
    def kernel(self) -> str:
        return file_of(self.first(*_KERNEL))

    @property
    def initrds(self) -> tuple[str, ...]:
        return tuple(map(file_of, self.options.get("module_path", ())))

    @property
    def is_image(self) -> bool:
        """Whether it starts a unified kernel image, and not another loader or a bare kernel."""
        return self.protocol in IMAGES and "/efi/linux/" in self.kernel.lower()


def file_of(path: str) -> str:
    """The file of a path, without its partition and the checksum behind it."""
    return "/" + _VOLUME.sub("", path).partition("#")[0].lstrip("/")


def old_syntax(text: str) -> bool:
    """Whether it is written for a Limine before version 8, which no later one reads."""
    return bool(_OLD_ENTRY.search(text)) and not any(one.first("protocol") for one in sections(text))


def sections(text: str) -> Iterator[Section]:
    """The entries in order, directories too."""
    titles: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    options: dict[str, list[str]] = {}
    at: dict[str, tuple[int, int]] = {}
    end = -1
    for written, line in zip([*text.split("\n"), ""], [*_expanded(text), "/"], strict=True):
        start, end = end + 1, end + 1 + len(written)
        if line.startswith("/"):
            comments = (*above, " ".join(options.get("comment", ())))
            if titles:
                counts = next((at[name] for name in _CMDLINE if name in at), (-1, -1))
                yield Section(titles, options, " ".join(comments), *counts)
            name = line.lstrip("/")
            depth = len(line) - len(name)
            # one that is deeper than what is above it has no place in the menu
            titles = (
                (*titles[: depth - 1], name.removeprefix("+").strip()) if depth <= len(titles) + 1 else ()
            )
            above = comments[: depth - 1]
            options, at = {}, {}
        else:
            name, colon, value = line.partition(":")
            if colon and not line.startswith("#"):
                options.setdefault(name.lower(), []).append(value.strip())
                at.setdefault(name.lower(), (start, end))


def _expanded(text: str) -> list[str]:
    lines = [line.strip() for line in text.split("\n")]
    macros = {found[1]: found[2] for line in lines if (found := _MACRO.match(line))}
    return ["" if _MACRO.match(line) else _USE.sub(lambda m: macros.get(m[1], ""), line) for line in lines]
