"""initramfs-tools (Debian, Ubuntu): always copies /etc/modprobe.d, and exits with status 0 even if it did
nothing.

Sources: initramfs-tools-core, mkinitramfs (copies modprobe.d with or without the driver in the image) and
update-initramfs (`update_initramfs=no` and a read-only /boot end with exit status 0).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.initramfs import Generator, Image, booted
from rocmcfg.loaders.shared.menu import Entry
from rocmcfg.model.facts import Detection
from rocmcfg.model.regex import regex

_MARK = "/etc/initramfs-tools"
_RUNS_DRACUT = regex(r"^[ \t]*(?:if[ \t]+)?dracut\b", re.M)
_IMAGE = regex(r"initrd\.img-(.+)(?<!\.bak)(?<!\.old)(?<!\.new)(?<!\.dpkg-bak)")


class InitramfsTools(Generator):
    NAME = "initramfs-tools"
    TOOL = "update-initramfs"
    LOOKS = "lsinitramfs"
    UNPACKS = "unmkinitramfs"
    PROGRAMS = ("/usr/sbin/update-initramfs",)
    HOOKS = ("/etc/kernel/postinst.d/initramfs-tools",)
    PLUGIN = ""
    MANUAL = "sudo update-initramfs -u -k all"
    WHY = "update-initramfs exited without an error, but did not rebuild it"
    HINT = (
        "check update_initramfs= in /etc/initramfs-tools/update-initramfs.conf, and whether /boot is mounted "
        "read-only"
    )

    def detect(self, view: HostView) -> Detection | None:
        """Return the detection of initramfs-tools; None where it does not make the images. dracut contains a
        program of the same name (Debian's package 112), and a removed initramfs-tools leaves its files in
        /etc: only the text of the program distinguishes them."""
        detection = super().detect(view) if view.exists(_MARK) else None
        text = text_or_empty(view, self.PROGRAMS[0])
        if detection is None or (_RUNS_DRACUT.search(text) and "mkinitramfs" not in text):
            return None
        return detection._replace(evidence=(_MARK, *detection.evidence))

    def made(self, view: HostView, entries: Sequence[Entry]) -> Iterable[Image]:
        named = {f"/boot/{name}": _IMAGE.fullmatch(name) for name in view.names("/boot")}
        own = {path: match[1] for path, match in named.items() if match}
        return [Image(path, release) for path, release in {**booted(view, entries), **own}.items()]

    def commands(self, view: HostView, images: Sequence[Image]) -> Iterable[tuple[str, ...]]:
        """Return the command for all kernels: -u alone rebuilds only the newest one."""
        return [(self.TOOL, "-u", "-k", "all")]


GENERATOR = InitramfsTools()
