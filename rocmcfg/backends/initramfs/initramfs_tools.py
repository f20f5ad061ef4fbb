"""initramfs-tools (Debian, Ubuntu): always copies /etc/modprobe.d, exits 0 also where it did nothing.

Sources: initramfs-tools-core, mkinitramfs (copies modprobe.d whether or not a driver is in the image) and
update-initramfs (`update_initramfs=no` and a read-only /boot end with exit status 0).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.backends.boot.menu import Entry
from rocmcfg.backends.initramfs import Image, booted
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation

NAME = "initramfs-tools"
TOOL = "update-initramfs"
_PROGRAM = "/usr/sbin/update-initramfs"
_MARKS = ("/etc/initramfs-tools", _PROGRAM)
_RUNS_DRACUT = re.compile(r"^[ \t]*(?:if[ \t]+)?dracut\b", re.M)
_IMAGE = re.compile(r"^initrd\.img-(.+)$")
# How a module may lie in an image: usr-merged or not, compressed or not, the kernel's own or DKMS.
_MODULE = r"(?:^|/)lib/modules/[^/]+/.*/{name}\.ko(?:\.(?:xz|zst|gz))?$"


def detect(view: HostView) -> Detection | None:
    if not all(view.exists(mark) for mark in _MARKS) or _is_of_dracut(view):
        return None
    return Detection(NAME, NAME, _MARKS, supported=True, manual="sudo update-initramfs -u -k all")


def _is_of_dracut(view: HostView) -> bool:
    """dracut brings a program of the same name (Debian's package 112), and a removed initramfs-tools leaves
    its /etc behind: only what the program runs tells them apart."""
    text = text_or_empty(view, _PROGRAM)
    return bool(_RUNS_DRACUT.search(text)) and "mkinitramfs" not in text


def images(view: HostView, module: str, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
    found: dict[str, str] = {}
    for name in view.names("/boot"):
        match = _IMAGE.match(name)
        if match and not name.endswith((".bak", ".old", ".new", ".dpkg-bak")):
            found[f"/boot/{name}"] = match.group(1)
    found = {**booted(view, entries), **found}
    return tuple(Image(path, found[path], _carries(view, path, module)) for path in sorted(found))


def _carries(view: HostView, path: str, module: str) -> bool | None:
    listing = view.query(("lsinitramfs", path))
    if listing is None or not listing.ok:
        return None
    # initramfs file names use the spelling of the file, where - and _ both occur
    pattern = re.compile(_MODULE.format(name=re.escape(module).replace("_", "[-_]")))
    return any(pattern.search(line) for line in listing.stdout.splitlines())


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    """For all kernels: plain -u rebuilds the newest one only."""
    del view
    return (Activation(TOOL, ((TOOL, "-u", "-k", "all"),), reason, writes_at=("/boot",)),)


def check(host: Host, found: tuple[Image, ...], path: str, expected: bytes | None) -> list[Diagnostic]:
    problems = []
    inside = path.lstrip("/")
    for image in found:
        if image.carries is False:
            continue
        unpacked = host.unpack(("unmkinitramfs", image.path), (inside,))
        if unpacked is None:
            problems.append(
                warning(
                    "RC3203",
                    f"{image.path} cannot be unpacked to prove that it holds {path}",
                    location=image.path,
                    hint="try unmkinitramfs on it by hand",
                )
            )
        elif unpacked.get(inside) != expected:
            lacks = "lacks" if inside not in unpacked else "has an old copy of"
            said = "still has" if expected is None else lacks
            problems.append(
                error(
                    "RC3204",
                    f"{image.path} {said} {path}",
                    location=image.path,
                    detail="update-initramfs ended without an error and did not rebuild it",
                    hint="see update_initramfs= in /etc/initramfs-tools/update-initramfs.conf, and whether "
                    "/boot is mounted read-only",
                )
            )
    return problems
