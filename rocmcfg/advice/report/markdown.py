"""Render a report as Markdown for an issue tracker, and pack it with its logs. Pure: content and a redactor
in, text or bytes out."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from jinja2 import Environment, StrictUndefined

from rocmcfg.host.files import read_own_file

Subject = Literal["report", "crash"]


def markdown(content: Mapping[str, Any], redact: Callable[[str], str], subject: Subject = "report") -> str:
    """Return the report of a host, or the description of a crash. The template of that name defines its
    parts, and redacts everything that comes from the host."""
    template = os.path.join(os.path.dirname(__file__), f"{subject}.md.j2")
    jinja = Environment(
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters.update(redact=redact, inline=_inline, plain=_plain, fence=_fence)
    return jinja.from_string(read_own_file(template).decode()).render(content)


def pack(files: Mapping[str, str]) -> bytes:
    """Pack texts, given by their names, into a .tar.gz with a single top-level folder. The same texts give
    the same bytes: no times, no owner."""
    import gzip
    import tarfile

    packed = io.BytesIO()
    # mtime 0 here too: gzip's header would otherwise contain the time of the report
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
    """Return a code fence that is longer than any run of backticks in the lines."""
    return "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))


def _inline(text: str) -> str:
    """Return a text for running text or a table cell: one line that starts no column and no HTML. A code span
    stays code."""
    flat = " ".join(_plain(text).split())
    if flat.startswith("`") and flat.endswith("`") and flat.count("`") == 2:
        return flat.replace("|", "\\|")
    return flat.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
