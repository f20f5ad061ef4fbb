"""The TOML files that come with the program, made ready for it: as JSON, which loads many times faster; and
the nouns that are made of their rows.

`compiled.tsv` has a line for each file: its name, checksums of the file and of what follows, and its content
as JSON; of a profile, what `profile_schema` made of it. TOML stays the source: a line counts only while the
file is what it was made from, and otherwise the file itself is read. `docs/generate.py` writes it.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rocmcfg.host.files import read_own_file
from rocmcfg.knowledge import toml
from rocmcfg.model.spelling import split
from rocmcfg.model.version import KernelVersion, parse_kernel, parse_range

N = TypeVar("N")
PACKAGE = os.path.dirname(os.path.dirname(__file__))
PATH = os.path.join(PACKAGE, "knowledge/compiled.tsv")
# Keys of rows, of some nouns, whose fields have other names.
KEYS = {"from": "first", "to": "last", "range": "bounds", "type": "dkms_type", "min": "low", "max": "high"}


def packaged(name: str) -> dict[str, Any]:
    """A TOML file of the package, by its path in there."""
    content = read_own_file(os.path.join(PACKAGE, name))
    document = known(name, content)
    if document is None:
        document = toml.loads(content.decode("utf-8"))
    return document


@functools.cache
def kernel_version(text: str) -> KernelVersion:
    version = parse_kernel(text)
    if version is None:
        raise ValueError(f"{text!r} is no release of a kernel such as 6.12.43")
    return version


def noun(kind: Callable[..., N], row: Mapping[str, Any], /, **given: Any) -> N:
    """A NamedTuple of the class `kind`, its fields from the keys of a row that are called like them, read as
    the types of the fields say; `given` are the others, and those that a row has in another form. A field
    that nothing gives has its default."""
    readers = _readers(kind)
    for key, value in row.items():
        name = key.replace("-", "_")
        name = name if name in readers else KEYS.get(key, f"{name}s")  # [[signature]] stands for one of them
        if name in readers and name not in given:
            read = readers[name]
            if isinstance(value, list):
                given[name] = tuple(map(read, value) if read else value)
            else:
                given[name] = read(value) if read and value is not None else value
    return kind(**given)


@functools.cache
def _readers(kind: Callable[..., object]) -> dict[str, Callable[[Any], Any] | None]:
    """By the name of each field what reads it, or each of its items; None for what is taken as it is. A type
    stands in the class as it is written, and is a noun or an enum of the class's module."""
    readers: dict[str, Callable[[Any], Any] | None] = {}
    for name, text in kind.__annotations__.items():
        type_name = text.removesuffix(" | None").removeprefix("tuple[").removesuffix(", ...]")
        named: Any = getattr(sys.modules[kind.__module__], type_name, None)
        read = functools.partial(noun, named) if hasattr(named, "_fields") else named
        readers[name] = READERS.get(type_name) or (read if isinstance(named, type) else None)
    return readers


def _by_number(table: Mapping[str, Any]) -> dict[int, Any]:
    return {int(key, 0): tuple(v) if isinstance(v, list) else v for key, v in table.items()}


READERS: Mapping[str, Callable[[Any], Any]] = {
    "VersionRange": parse_range,
    "KernelVersion": kernel_version,
    "Spelling": split,
    "re.Pattern[str]": functools.partial(re.compile, flags=re.MULTILINE),
    "Mapping[int, str]": _by_number,
    "Mapping[int, tuple[str, ...]]": _by_number,
}


def known(name: str, content: bytes) -> dict[str, Any] | None:
    """Return what was made of the file `name` when it was the same as `content`; None where that is not at
    hand."""
    sums, _, text = _lines().get(name.encode(), b"").partition(b"\t")
    if sums != checksums(content, text):
        return None
    document: dict[str, Any] = json.loads(text)
    return document


def entry(name: str, content: bytes, document: Any) -> bytes:
    """The line of the file `name`, whose content was made into `document`."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return b"\t".join((name.encode(), checksums(content, text), text)) + b"\n"


def checksums(content: bytes, text: bytes) -> bytes:
    return b"%08x %08x" % (zlib.crc32(content), zlib.crc32(text))


def checksum() -> int:
    """Return the checksum of all files that came with the program; 0 where they were not made ready."""
    return zlib.crc32(b"".join(line[:17] for line in _lines().values()))


@functools.cache
def _lines() -> dict[bytes, bytes]:
    try:
        lines = read_own_file(PATH).split(b"\n")
    except OSError:  # a package without it is slower, and just as right
        return {}
    return {name: rest for name, _, rest in (line.partition(b"\t") for line in lines)}
