"""The menu that systemd-boot shows of a tree, as far as the cases need it (systemd 257, src/boot/boot.c):
entries with a sort-key before those without, then by version and name downwards; LoaderEntryOneShot before
LoaderEntryDefault before `default` in loader.conf before the first."""

import fnmatch
import re
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
    return rows


def default(root: str, rows: list[Row]) -> Row:
    conf = next(iter(Path(root).glob("**/loader/loader.conf")))
    pattern = re.search(r"^default\s+(\S+)", conf.read_text(), re.M)
    for wanted in told(root, "LoaderEntryOneShot"), told(root, "LoaderEntryDefault"), pattern and pattern[1]:
        for row in rows:
            if wanted and fnmatch.fnmatchcase(row[0].lower(), wanted.lower()):
                return row
    return rows[0]
