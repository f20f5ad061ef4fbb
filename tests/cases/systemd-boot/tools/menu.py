"""The menu that systemd-boot shows of a tree, as far as the cases need it (systemd 257, src/boot/boot.c):
images, whose sort-key is that of their os-release, before entries without one; entries with a sort-key before
those without, then by version and name downwards; LoaderEntryOneShot before LoaderEntryDefault before what
loader.conf says before the first."""

from __future__ import annotations

import fnmatch
import re
import struct
from pathlib import Path

Row = tuple[str, Path, dict[str, str]]
GUID = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"


def variable(root: str, name: str) -> Path:
    return Path(root, f"sys/firmware/efi/efivars/{name}-{GUID}")


def told(root: str, name: str) -> str:
    path = variable(root, name)
    return path.read_bytes()[4:].decode("utf-16-le").rstrip("\0") if path.exists() else ""


def parts(text: str) -> list[tuple[int, str, int]]:
    """Of equal beginnings the longer name is the newer one; a dash is older than everything else."""
    return [
        (0, "", int(x)) if x.isdigit() else (-2 if x == "-" else -1, x, 0)
        for x in re.findall(r"[a-z]+|[0-9]+|-", text)
    ]


def entries(root: str) -> list[Row]:
    found = [*Path(root).glob("*/loader/entries/*.conf"), *Path(root).glob("boot/efi/loader/entries/*.conf")]
    rows = []
    for path in found:
        words = [line.split(None, 1) for line in path.read_text().splitlines() if not line.startswith("#")]
        keys: dict[str, str] = {}
        for key, *value in filter(None, words):
            text = value[0].strip() if value else ""
            keys[key] = f"{keys[key]} {text}" if key == "options" and key in keys else text
        rows.append((re.sub(r"\+[0-9-]+$", "", path.stem) + ".conf", path, keys))
    rows.sort(key=lambda row: parts(row[0].removesuffix(".conf")), reverse=True)
    rows.sort(key=lambda row: parts(row[2].get("version", "")) if "sort-key" in row[2] else [], reverse=True)
    rows.sort(key=lambda row: (row[2].get("sort-key") is None, row[2].get("sort-key", "")))
    return [*images(root), *rows]


def images(root: str) -> list[Row]:
    """Looked for by the sections' names alone."""
    found = [path for one in ("efi", "boot/efi", "boot") for path in Path(root, one).glob("EFI/Linux/*.efi")]
    found.sort(key=lambda path: ("fallback" in path.name, path.name))
    return [
        (path.name, path, {"efi": f"/EFI/Linux/{path.name}", "options": section(path, ".cmdline") or ""})
        for path in found
    ]


def section(path: Path, name: str) -> str | None:
    data = path.read_bytes()
    at = data.find(name.encode().ljust(8, b"\0"), 0, 0x400)
    if at < 0:
        return None
    size, _, _, offset = struct.unpack_from("<4I", data, at + 8)
    return data[offset : offset + size].partition(b"\0")[0].decode()


def boot(root: str) -> Row:
    """The one-shot variable is deleted before."""
    chosen = default(root, entries(root))
    variable(root, "LoaderEntryOneShot").unlink(missing_ok=True)
    if (selected := variable(root, "LoaderEntrySelected")).parent.is_dir():
        selected.write_bytes(b"\x06\0\0\0" + (chosen[0] + "\0").encode("utf-16-le"))
    return chosen


def default(root: str, rows: list[Row]) -> Row:
    conf = "".join(path.read_text() for path in Path(root).glob("**/loader/loader.conf"))
    pattern = re.search(r"^default\s+(\S+)", conf, re.M)
    for wanted in told(root, "LoaderEntryOneShot"), told(root, "LoaderEntryDefault"), pattern and pattern[1]:
        for row in rows:
            if wanted and fnmatch.fnmatchcase(row[0].lower(), wanted.lower()):
                return row
    return rows[0]
