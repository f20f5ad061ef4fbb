"""A hook that runs when a kernel is installed, and asks `rocmcfg check-kernel` about it.

Debian's kernel packages run /etc/kernel/postinst.d in order of name with the release as first argument
(Debian kernel handbook, 8.2): after `dkms`, which builds a foreign driver, and before `zz-update-grub`,
which writes the menu. systemd's kernel-install(8) runs *.install with `add RELEASE …`; ours comes after
90-loaderentry.install, which writes an entry.
"""

from __future__ import annotations

from os.path import dirname

from rocmcfg.backends.templates import render
from rocmcfg.host.view import HostView

# Each hook lies in the directory that the kernel packages of some distributions use.
_TEMPLATES = {
    "/etc/kernel/postinst.d/rocmcfg": "kernel-postinst.j2",
    "/etc/kernel/install.d/90-rocmcfg.install": "kernel-install.j2",
}
PATHS = tuple(_TEMPLATES)
MODE = 0o755


def propose(view: HostView, *, wanted: bool, after_entries: bool = False) -> dict[str, bytes | None]:
    """By path: the first hook whose directory this host has, and None for the other. With `after_entries` the
    one that runs once kernel-install has written the entry, where there is a choice."""
    paths = reversed(PATHS) if after_entries else PATHS
    used = next((path for path in paths if wanted and view.is_dir(dirname(path))), "")
    return {path: render("", name) if path == used else None for path, name in _TEMPLATES.items()}
