"""Build hook of the sdist: puts the directory links back that hatchling follows, and packs all links, and
what has a colon in its name, into an archive inside.

hatchling walks through a link to a directory as through the directory, visits each directory once, and so
packs it below whichever name it met first (hatchling/builders/utils.py, safe_walk). The sample host of the
tests is full of such links, as /sys is. Here every member returns to where its file lies, and each link
becomes a link.

Installers refuse to unpack a link that leads out of its folder, or a name that Windows would not take (uv:
"rejected by name policy"), and the sample hosts have both. `tar -xf recorded-hosts.tar`, in the unpacked
sdist, makes it the whole repository.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HOSTS = "recorded-hosts.tar"


class SdistLinks(BuildHookInterface):  # type: ignore[type-arg]
    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        archive = Path(artifact_path)
        root = Path(self.root).resolve()
        links = {n: t for n, t in _links(root) if self.build_config.include_path(n)}
        archive.write_bytes(_rewritten(archive.read_bytes(), root, links))


def _links(root: Path) -> Iterator[tuple[str, str]]:
    """Every link to a directory, with its target."""
    for folder, names, _ in os.walk(root):
        if folder == str(root):
            names[:] = [name for name in names if name != ".git" and not name.startswith(".venv")]
        for path in (os.path.join(folder, name) for name in names):
            if os.path.islink(path):
                yield os.path.relpath(path, root), os.readlink(path)


def _rewritten(packed: bytes, root: Path, links: dict[str, str]) -> bytes:
    members: dict[str, tuple[tarfile.TarInfo, bytes | None]] = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as old:
        top = os.path.commonpath(old.getnames())
        for member in old.getmembers():
            stream = old.extractfile(member) if member.isfile() else None
            inside = os.path.relpath(member.name, top)
            # what is generated, PKG-INFO, lies nowhere
            folder = os.path.relpath((root / inside).parent.resolve(), root)
            member.name = os.path.normpath(f"{top}/{folder}/{os.path.basename(inside)}")
            members.setdefault(member.name, (member, stream.read() if stream else None))
    for place, target in links.items():
        link = tarfile.TarInfo(f"{top}/{place}")
        link.type, link.linkname, link.mode, link.mtime = tarfile.SYMTYPE, target, 0o777, member.mtime
        members[link.name] = (link, None)
    inside = {name for name, (member, _) in members.items() if member.issym() or ":" in name}
    held = io.BytesIO()
    with tarfile.TarFile(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as new:
        for name in sorted(inside):
            member, content = members.pop(name)
            member.name = os.path.relpath(name, top)
            _add(new, member, content)
    hosts = tarfile.TarInfo(f"{top}/{HOSTS}")
    hosts.size, hosts.mode, hosts.mtime = len(held.getvalue()), 0o644, member.mtime
    members[hosts.name] = (hosts, held.getvalue())
    out = io.BytesIO()
    stamp = int.from_bytes(packed[4:8], "little")  # of the gzip header (RFC 1952), as hatchling set it
    with (
        gzip.GzipFile(fileobj=out, mode="wb", mtime=stamp) as gz,
        tarfile.TarFile(fileobj=gz, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for name in sorted(members):
            _add(new, *members[name])
    return out.getvalue()


def _add(archive: tarfile.TarFile, member: tarfile.TarInfo, content: bytes | None) -> None:
    member.pax_headers = {}
    archive.addfile(member, None if content is None else io.BytesIO(content))
