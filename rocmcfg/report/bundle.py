"""A report with its logs as one .tar.gz. The same content gives the same bytes: no times, no owner."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping

_FOLDER = "rocmcfg-report"


def pack(files: Mapping[str, str]) -> bytes:
    """`files` maps a name to its text. All of them lie in one folder, so that unpacking litters nothing."""
    packed = io.BytesIO()
    # mtime 0 here too: gzip's header would otherwise tell when the report was made
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, text in sorted(files.items()):
            content = text.encode("utf-8", "replace")
            entry = tarfile.TarInfo(f"{_FOLDER}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
