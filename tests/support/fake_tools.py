#!/usr/bin/env python3
"""Stand-ins for the host's own tools: they do to a fake tree what the real ones do to a host, no more.

    fake_tools.py TOOL ROOT [ARGUMENT…]

update-grub        grub-mkconfig sources /etc/default/grub, then grub.d/*.cfg (a Debian patch), in one shell;
                   10_linux puts "$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT" on normal entries and
                   "single $GRUB_CMDLINE_LINUX" on recovery ones (grub 2.12, util/grub.d/10_linux.in). That of
                   SteamOS puts the menu on the EFI partition (steamos-customizations, grub/bin/update-grub).
update-initramfs   mkinitramfs copies all of /etc/modprobe.d, whatever else the image holds. With
                   update_initramfs=no in update-initramfs.conf it prints a line and exits 0 without any
                   work (initramfs-tools, update-initramfs: `if [ "$update_initramfs" = "no" ] … exit 0`).
                   grub-mkconfig runs the programs of /etc/grub.d in order and frames what each prints; of
                   them the stand-in runs those of rocmcfg alone, before the entries.
grub-mkconfig -o MENU, grub2-mkconfig   the same as GRUB itself has it, without drop-ins.
grub-editenv       the real one, on the tree's own block (`-` is /boot/grub/grubenv), also as grub2-editenv.
lsinitramfs, unmkinitramfs   list and unpack an uncompressed newc archive.
dracut --rebuild OLD NEW RELEASE   copies /etc/modprobe.d in host-only mode alone, and what a configuration
                   names in install_optional_items (dracut 106, modules.d/90kernel-modules/module-setup.sh and
                   dracut.sh); lsinitrd lists as `ls -l` does, --file prints one file, and nothing with status
                   0 where there is none.
mkinitcpio -P      makes the images of each preset, as a shell would read it; one that fails does not keep the
                   others from being made, and is told by status 1 (v41, process_preset). The hook modconf
                   copies *.conf of /etc/modprobe.d (install/modconf). lsinitcpio --list, --extract.

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
_GENERATORS = ("update-initramfs", "dracut", "mkinitcpio")
# Those that change something, by their first word.
TOOLS = ("update-grub", "grub-mkconfig", "grub2-mkconfig", "grub-editenv", "grub2-editenv", *_GENERATORS)
LOOKS = ("lsinitramfs", "lsinitrd", "lsinitcpio")
EVERYWHERE = ("mv",)


def update_grub(root: Path) -> int:
    steamos = "efi/EFI/steamos/grub.cfg"
    menu = steamos if (root / steamos).exists() else "boot/grub/grub.cfg"
    return _mkconfig(root, menu, _SOURCE + _DROP_INS + _PRINT)


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
        found = re.match(r"\s*(?:linux\s+\S+ root=\S+ (?:r[ow] )?|steamenv_boot linux \S+ )", line)
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
    options = _modprobe_d(root)
    images = [
        path for path in (root / "boot").glob("initrd.img-*") if path.suffix != ".new"
    ]  # left by a kill
    for image in sorted(images):
        _replace(image, _archive(_without_options(image) | options))
    return 0


def dracut(root: Path, arguments: list[str]) -> int:
    old, new, release = arguments[-3:]
    settings = "".join(
        path.read_text()
        for folder in ("usr/lib/dracut/dracut.conf.d", "etc/dracut.conf.d")
        for path in sorted((root / folder).glob("*.conf"))
    )
    found = _modprobe_d(root) if 'hostonly="yes"' in settings else {}
    for items in re.findall(r'^install_optional_items\+="([^"]*)"', settings, re.M):
        found |= {
            p.lstrip("/"): (root / p.lstrip("/")).read_bytes()
            for p in items.split()
            if (root / p[1:]).exists()
        }
    if not (root / "usr/lib/modules" / release).is_dir():
        print(f"dracut[F]: Cannot find module directory /lib/modules/{release}", file=sys.stderr)
        return 1
    (root / new.lstrip("/")).write_bytes(_archive(_without_options(root / old.lstrip("/")) | found))
    return 0


def mkinitcpio(root: Path, arguments: list[str]) -> int:
    if arguments[0] != "-P":
        return _mkinitcpio(root, arguments[arguments.index("-g") + 1])
    status = 0
    for preset in sorted((root / "etc/mkinitcpio.d").glob("*.preset")):
        script = '. "$1"; for p in "${PRESETS[@]}"; do i=${p}_image; echo "${!i}"; done'
        said = subprocess.run(
            ["bash", "-c", script, "bash", preset], capture_output=True, text=True, check=True
        )
        for image in said.stdout.split():
            print(f"==> Building image from preset: /{preset.relative_to(root)}")
            status |= _mkinitcpio(root, image)
    return status


def _mkinitcpio(root: Path, path: str) -> int:
    image = root / path.lstrip("/")
    settings = [root / "etc/mkinitcpio.conf", *sorted((root / "etc/mkinitcpio.conf.d").glob("*.conf"))]
    script = 'for f; do . "$f"; done; echo "${HOOKS[@]}"'
    hooks = subprocess.run(
        ["bash", "-c", script, "bash", *settings], capture_output=True, text=True, check=True
    )
    if not image.exists():
        print(f"==> ERROR: Invalid option -g -- '{path}' must be writable", file=sys.stderr)
        return 1
    found = _modprobe_d(root, "*.conf") if "modconf" in hooks.stdout.split() else {}
    _replace(image, _archive(_without_options(image) | found))
    return 0


def _modprobe_d(root: Path, pattern: str = "*") -> dict[str, bytes]:
    found = sorted((root / "etc/modprobe.d").glob(pattern))
    return {f"etc/modprobe.d/{path.name}": path.read_bytes() for path in found if path.is_file()}


def _without_options(image: Path) -> dict[str, bytes]:
    return {name: text for name, text in unpacked(image).items() if not name.startswith("etc/modprobe.d/")}


def look(root: Path, argv: list[str]) -> tuple[int, str]:
    """What a program that looks into an image prints, with its status."""
    image = root / argv[-1].lstrip("/")
    content = image.read_bytes() if image.is_file() else b""  # none, and a link that leads nowhere
    if not content.startswith(b"070701") or b"TRAILER!!!" not in content:
        return 1, ""  # cpio: "premature end of archive", status 2
    files = unpacked(image)
    if argv[0] == "lsinitrd" and argv[1] == "--file":
        return 0, files.get(argv[2], b"").decode()
    before = "-rw-r--r--   1 root     root            5 Jan  1  1970 " if argv[0] == "lsinitrd" else ""
    return 0, "".join(f"{before}{path}\n" for path in files)


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


def move(root: Path, arguments: list[str]) -> int:
    """mv -f OLD NEW"""
    old, new = (root / path.lstrip("/") for path in arguments[-2:])
    os.replace(old, new)
    return 0


def run(root: Path, argv: list[str]) -> int:
    tool, *arguments = argv
    if tool in ("grub-editenv", "grub2-editenv"):
        return grub_editenv(root, tool, arguments)
    with_arguments = {
        "grub-mkconfig": grub_mkconfig,
        "grub2-mkconfig": grub_mkconfig,
        "dracut": dracut,
        "mkinitcpio": mkinitcpio,
        "mv": move,
    }
    if tool in with_arguments:
        return with_arguments[tool](root, arguments)
    return {"update-grub": update_grub, "update-initramfs": update_initramfs}[tool](root)


def main() -> int:
    tool, root, *arguments = sys.argv[1:]
    return run(Path(root), [tool, *arguments])


if __name__ == "__main__":
    sys.exit(main())
