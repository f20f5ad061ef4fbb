"""initramfs-tools (Debian, Ubuntu): always copies /etc/modprobe.d, exits 0 also where it did nothing.

Sources: initramfs-tools-core, mkinitramfs (copies modprobe.d whether or not a driver is in the image) and
update-initramfs (`update_initramfs=no` and a read-only /boot end with exit status 0).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rocmcfg.backends.boot.menu import Entry
from rocmcfg.backends.initramfs import Image, asked, booted, carried, differs, unproven
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation

NAME = "initramfs-tools"
TOOL = "update-initramfs"
LOOKS = "lsinitramfs"
_UNPACKS = "unmkinitramfs"
OWNED: tuple[str, ...] = ()
_PROGRAM = "/usr/sbin/update-initramfs"
_MARKS = ("/etc/initramfs-tools", _PROGRAM)
_HOOK = "/etc/kernel/postinst.d/initramfs-tools"
_RUNS_DRACUT = re.compile(r"^[ \t]*(?:if[ \t]+)?dracut\b", re.M)
_IMAGE = re.compile(r"^initrd\.img-(.+)$")


def detect(view: HostView) -> Detection | None:
    if not all(view.exists(mark) for mark in _MARKS) or _is_of_dracut(view):
        return None
    hooks = (_HOOK,) if view.exists(_HOOK) else ()
    manual = "sudo update-initramfs -u -k all"
    return Detection(NAME, NAME, (*_MARKS, *hooks), proof=bool(hooks), supported=True, manual=manual)


def _is_of_dracut(view: HostView) -> bool:
    """dracut brings a program of the same name (Debian's package 112), and a removed initramfs-tools leaves
    its /etc behind: only what the program runs tells them apart."""
    text = text_or_empty(view, _PROGRAM)
    return bool(_RUNS_DRACUT.search(text)) and "mkinitramfs" not in text


def propose(*, wanted: bool) -> Mapping[str, bytes | None]:
    del wanted
    return {}


def images(view: HostView, module: str, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
    found: dict[str, str] = {}
    for name in view.names("/boot"):
        match = _IMAGE.match(name)
        if match and not name.endswith((".bak", ".old", ".new", ".dpkg-bak")):
            found[f"/boot/{name}"] = match.group(1)
    found = {**booted(view, entries), **found}
    return tuple(Image(path, found[path], _carries(view, path, module)) for path in sorted(found))


def _carries(view: HostView, path: str, module: str) -> bool | None:
    listing = asked(view, (LOOKS, path))
    return None if listing is None else carried(listing, module)


def preflight(view: HostView, carrying: Sequence[Image]) -> list[Diagnostic]:
    del view, carrying
    return []


def activations(view: HostView, reason: str, entries: Sequence[Entry] = ()) -> tuple[Activation, ...]:
    """For all kernels: plain -u rebuilds the newest one only."""
    del view, entries
    return (Activation(TOOL, ((TOOL, "-u", "-k", "all"),), reason, writes_at=("/boot",)),)


def check(host: Host, found: tuple[Image, ...], path: str, expected: bytes | None) -> list[Diagnostic]:
    problems = []
    inside = path.lstrip("/")
    for image in found:
        if image.carries is False:
            continue
        unpacked = host.unpack((_UNPACKS, image.path), (inside,))
        if unpacked is None:
            problems.append(unproven(image, path, _UNPACKS))
            continue
        problems += differs(
            image,
            path,
            unpacked.get(inside),
            expected,
            why="update-initramfs ended without an error and did not rebuild it",
            hint="see update_initramfs= in /etc/initramfs-tools/update-initramfs.conf, and whether "
            "/boot is mounted read-only",
        )
    return problems
