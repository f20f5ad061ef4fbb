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
import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rocmcfg.host.files import read_own_file
from rocmcfg.knowledge import toml
from rocmcfg.model.shape import Dialect, Reader, reader, type_of
from rocmcfg.model.spelling import Spelling, split
from rocmcfg.model.version import (
    KernelVersion,
    RocmRange,
    VersionRange,
    parse_kernel,
    parse_range,
    parse_rocm_range,
)

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


def noun(kind: Callable[..., N], row: Mapping[str, Any], /, **fields: Any) -> N:
    """Return a noun of the class `kind`, whose fields come from the keys of a row that are called like them.

    `fields` are those that no key gives, or that the row has in another form. A field that nothing gives has
    its default.
    """
    names, readers = kind.__annotations__, _readers(kind)
    for key, value in row.items():
        name = key.replace("-", "_")
        name = name if name in names else KEYS.get(key, f"{name}s")  # [[signature]] stands for one of them
        if name in names and name not in fields:
            read = readers[name]
            fields[name] = read(value) if read and value is not None else value
    return kind(**fields)


class _Readers(dict[str, "Reader | None"]):
    """Maps the names of a noun's fields to what reads them, made when a row first has such a field."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __missing__(self, name: str) -> Reader | None:
        read = self[name] = reader(type_of(self._kind, name), _DIALECT)
        return read


_readers = functools.cache(_Readers)


# Types that a row holds as texts. The functions raise ValueError for a text that is no such value.
READERS: Mapping[Any, Callable[[str], Any]] = {
    VersionRange: parse_range,
    RocmRange: parse_rocm_range,
    KernelVersion: kernel_version,
    Spelling: split,
    re.Pattern[str]: functools.partial(re.compile, flags=re.MULTILINE),
}
_DIALECT = Dialect(plain=READERS, noun=noun, strict=False)


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
