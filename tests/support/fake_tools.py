#!/usr/bin/env python3
"""Stand-ins for the host's own tools: they do to a fake tree what the real ones do to a host, no more.

    fake_tools.py TOOL ROOT [ARGUMENT…]

update-grub        grub-mkconfig sources /etc/default/grub, then grub.d/*.cfg (a Debian patch), in one shell;
                   10_linux puts "$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT" on normal entries and
                   "single $GRUB_CMDLINE_LINUX" on recovery ones (grub 2.12, util/grub.d/10_linux.in).
update-initramfs   mkinitramfs copies all of /etc/modprobe.d, whatever else the image holds. With
                   update_initramfs=no in update-initramfs.conf it prints a line and exits 0 without any
                   work (initramfs-tools, update-initramfs: `if [ "$update_initramfs" = "no" ] … exit 0`).
                   grub-mkconfig runs the programs of /etc/grub.d in order and frames what each prints; of
                   them the stand-in runs those of rocmcfg alone, before the entries.
grub-mkconfig -o MENU, grub2-mkconfig   the same as GRUB itself has it, without drop-ins.
grub-editenv       the real one, on the tree's own block (`-` is /boot/grub/grubenv), also as grub2-editenv.
lsinitramfs, unmkinitramfs   list and unpack an uncompressed newc archive.

They are no oracle: what GRUB, kmod and initramfs-tools really do is shown by the tests in real guests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_SOURCE = """
set -e
cd "$1"
. etc/default/grub
"""
_DROP_INS = """
for x in etc/default/grub.d/*.cfg; do if [ -e "$x" ]; then . "$x"; fi; done
"""
_PRINT = """
printf '%s\\0%s' "$GRUB_CMDLINE_LINUX" "$GRUB_CMDLINE_LINUX_DEFAULT"
"""


_OURS = "/etc/grub.d/01_rocmcfg_trial"
# Those that change something, by their first word.
TOOLS = (
    "update-grub",
    "grub-mkconfig",
    "grub2-mkconfig",
    "update-initramfs",
    "grub-editenv",
    "grub2-editenv",
)


def update_grub(root: Path) -> int:
    return _mkconfig(root, "boot/grub/grub.cfg", _SOURCE + _DROP_INS + _PRINT)


def grub_mkconfig(root: Path, arguments: list[str]) -> int:
    """Debian's grub-mkconfig without its patch."""
    assert arguments[0] == "-o"
    return _mkconfig(root, arguments[1].lstrip("/"), _SOURCE + _PRINT)


def _mkconfig(root: Path, written: str, script: str) -> int:
    shell = subprocess.run(["sh", "-c", script, "sh", str(root)], capture_output=True, text=True, check=False)
    if shell.returncode:
        print(shell.stderr, file=sys.stderr)
        return 1
    always, default = shell.stdout.split("\0")
    menu = root / written
    lines, generated, recovery = [], False, False
    for line in menu.read_text().splitlines(keepends=True):
        if line.startswith("### BEGIN "):
            generated = line.endswith("/10_linux ###\n")
        if line.lstrip().startswith("menuentry "):
            recovery = "-recovery-" in line
        found = re.match(r"\s*linux\s+\S+ root=\S+ (?:r[ow] )?", line)
        arguments = f"single {always}" if recovery else f"{always} {default}"
        lines.append(f"{found.group()}{arguments}\n" if found and generated else line)
    _replace(menu, (_printed(root) + _without_printed("".join(lines))).encode())
    print("Generating grub configuration file ...\ndone", file=sys.stderr)
    return 0


def _printed(root: Path) -> str:
    """What our program in /etc/grub.d prints, in grub-mkconfig's frame."""
    script = root / "etc/grub.d/01_rocmcfg_trial"
    if not os.access(script, os.X_OK):
        return ""
    said = subprocess.run([script], capture_output=True, text=True, check=True).stdout
    return f"### BEGIN {_OURS} ###\n{said}### END {_OURS} ###\n\n"


def _without_printed(text: str) -> str:
    return re.sub(rf"### BEGIN {_OURS} ###\n.*?### END {_OURS} ###\n\n", "", text, flags=re.S)


def grub_editenv(root: Path, name: str, arguments: list[str]) -> int:
    block = root / "boot" / name.partition("-")[0] / "grubenv"
    return subprocess.run(["grub-editenv", block, *arguments[1:]], check=False).returncode


def update_initramfs(root: Path) -> int:
    settings = (root / "etc/initramfs-tools/update-initramfs.conf").read_text()
    if re.search(r"^update_initramfs=no", settings, re.M):
        print("update-initramfs: Not updating initramfs.")
        return 0
    options = {
        f"etc/modprobe.d/{path.name}": path.read_bytes()
        for path in sorted((root / "etc/modprobe.d").glob("*"))
        if path.is_file()
    }
    images = [
        path for path in (root / "boot").glob("initrd.img-*") if path.suffix != ".new"
    ]  # left by a kill
    for image in sorted(images):
        kept = {n: c for n, c in unpacked(image).items() if not n.startswith("etc/modprobe.d/")}
        _replace(image, _archive(kept | options))
    return 0


def unpacked(image: Path) -> dict[str, bytes]:
    """The files of an uncompressed newc archive."""
    return dict(members_of(image.read_bytes()))


def members_of(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Path and content of each member of an uncompressed newc archive."""
    at = 0
    while content[at : at + 6] == b"070701":
        size, length = int(content[at + 54 : at + 62], 16), int(content[at + 94 : at + 102], 16)
        name = content[at + 110 : at + 110 + length - 1].decode()
        if name == "TRAILER!!!":
            return
        start = at + 110 + length
        start += -start % 4
        yield name, content[start : start + size]
        at = start + size
        at += -at % 4


def _archive(files: dict[str, bytes]) -> bytes:
    found = bytearray()
    for name, content in (*files.items(), ("TRAILER!!!", b"")):
        encoded = name.encode() + b"\0"
        numbers = (1, 0o100644, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        found += b"070701" + b"".join(b"%08x" % n for n in numbers) + encoded
        found += bytes(-len(found) % 4) + content
        found += bytes(-len(found) % 4)
    return bytes(found)


def _replace(path: Path, content: bytes) -> None:
    """As the real tools do: a new file beside, then a rename. Where that fails, update-initramfs takes it
    away again."""
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.write_bytes(content)
        fresh.chmod(path.stat().st_mode & 0o7777)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def main() -> int:
    tool, root, *arguments = sys.argv[1:]
    if tool == "update-grub":
        return update_grub(Path(root))
    if tool in ("grub-mkconfig", "grub2-mkconfig"):
        return grub_mkconfig(Path(root), arguments)
    if tool == "update-initramfs":
        return update_initramfs(Path(root))
    if tool in ("grub-editenv", "grub2-editenv"):
        return grub_editenv(Path(root), tool, arguments)
    if tool == "lsinitramfs":
        print("\n".join(unpacked(Path(root + arguments[-1]))))
        return 0
    print(f"fake_tools: no {tool}", file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main())
