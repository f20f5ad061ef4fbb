"""A report as Markdown for an issue tracker, and how it is packed with its logs. Pure: content and a redactor
in, text or bytes out."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jinja2 import Environment, StrictUndefined

from rocmcfg.host.files import read_own_file

_TEMPLATE = os.path.join(os.path.dirname(__file__), "report.md.j2")


def markdown(content: Mapping[str, Any], redact: Callable[[str], str]) -> str:
    """The whole text: the template says what it is made of. What came from the host is redacted there."""
    jinja = Environment(
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters.update(redact=redact, inline=_inline, plain=_plain, fence=_fence)
    return jinja.from_string(read_own_file(_TEMPLATE).decode()).render(content)


def pack(files: Mapping[str, str]) -> bytes:
    """Texts by their names as one .tar.gz, in one folder, so that unpacking litters nothing. The same texts
    give the same bytes: no times, no owner."""
    import gzip
    import tarfile

    packed = io.BytesIO()
    # mtime 0 here too: gzip's header would otherwise tell when the report was made
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, text in sorted(files.items()):
            content = text.encode("utf-8", "replace")
            entry = tarfile.TarInfo(f"rocmcfg-report/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _fence(lines: Sequence[str]) -> str:
    """Longer than whatever the lines hold."""
    return "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))


def _inline(text: str) -> str:
    """In running text or a table's cell: one line that opens no column and no HTML. Code spans stay code."""
    flat = " ".join(_plain(text).split())
    if flat.startswith("`") and flat.endswith("`") and flat.count("`") == 2:
        return flat.replace("|", "\\|")
    return flat.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
