"""Load the program's TOML files, compiled to JSON, which loads many times faster, and make nouns from their
rows.

`compiled.tsv` has a line for each file: its name, checksums of the file and of the rest of the line, and its
content as JSON; for a profile, the document that `profile_schema` completed. TOML stays the source: a line
counts only while the file has the same content, and otherwise the file itself is read. `docs/generate.py`
writes `compiled.tsv`.
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
# Keys of rows whose fields have other names in some nouns.
KEYS = {"from": "first", "to": "last", "range": "bounds", "type": "dkms_type", "min": "low", "max": "high"}


def packaged(name: str) -> dict[str, Any]:
    """Return the document of a TOML file of the package, by its path in the package."""
    content = read_own_file(os.path.join(PACKAGE, name))
    document = known(name, content)
    if document is None:
        document = toml.loads(content.decode("utf-8"))
    return document


@functools.cache
def kernel_version(text: str) -> KernelVersion:
    version = parse_kernel(text)
    if version is None:
        raise ValueError(f"{text!r} is not a kernel release such as 6.12.43")
    return version


def noun(kind: Callable[..., N], row: Mapping[str, Any], /, **fields: Any) -> N:
    """Return a noun of the class `kind`, whose fields come from the keys of a row with the same names.

    `fields` are the fields that have no key, or another form in the row. A field without a value has its
    default.
    """
    names, readers = kind.__annotations__, _readers(kind)
    for key, value in row.items():
        name = key.replace("-", "_")
        name = (
            name if name in names else KEYS.get(key, f"{name}s")
        )  # each [[signature]] is one element of `signatures`
        if name in names and name not in fields:
            read = readers[name]
            fields[name] = read(value) if read and value is not None else value
    return kind(**fields)


class _Readers(dict[str, "Reader | None"]):
    """Maps the names of a noun's fields to their readers, each made when a row first has such a field."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __missing__(self, name: str) -> Reader | None:
        read = self[name] = reader(type_of(self._kind, name), _DIALECT)
        return read


_readers = functools.cache(_Readers)


# Types that a row holds as texts. The functions raise ValueError for an invalid text.
READERS: Mapping[Any, Callable[[str], Any]] = {
    VersionRange: parse_range,
    RocmRange: parse_rocm_range,
    KernelVersion: kernel_version,
    Spelling: split,
    re.Pattern[str]: functools.partial(re.compile, flags=re.MULTILINE),
}
_DIALECT = Dialect(plain=READERS, noun=noun, strict=False)


def known(name: str, content: bytes) -> dict[str, Any] | None:
    """Return the compiled document of the file `name`, if its content was `content`; else None."""
    sums, _, text = _lines().get(name.encode(), b"").partition(b"\t")
    if sums != checksums(content, text):
        return None
    document: dict[str, Any] = json.loads(text)
    return document


def entry(name: str, content: bytes, document: Any) -> bytes:
    """Return the line of the file `name`, whose content was compiled to `document`."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return b"\t".join((name.encode(), checksums(content, text), text)) + b"\n"


def checksums(content: bytes, text: bytes) -> bytes:
    return b"%08x %08x" % (zlib.crc32(content), zlib.crc32(text))


def checksum() -> int:
    """Return the checksum of all shipped files; 0 where they were not compiled."""
    return zlib.crc32(b"".join(line[:17] for line in _lines().values()))


@functools.cache
def _lines() -> dict[bytes, bytes]:
    try:
        lines = read_own_file(PATH).split(b"\n")
    except OSError:  # a package without it is slower, but just as correct
        return {}
    return {name: rest for name, _, rest in (line.partition(b"\t") for line in lines)}
