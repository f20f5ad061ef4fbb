"""A hook that runs when a kernel is installed, and asks `rocmcfg check-kernel` about it.

Debian's kernel packages run /etc/kernel/postinst.d in order of name with the release as first argument
(Debian kernel handbook, 8.2): after `dkms`, which builds a foreign driver, and before `zz-update-grub`,
which writes the menu. systemd's kernel-install(8) runs *.install with `add RELEASE …`.
"""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.host.view import HostView


class _Hook(NamedTuple):
    directory: str
    path: str
    template: str


_HOOKS = (
    _Hook("/etc/kernel/postinst.d", "/etc/kernel/postinst.d/rocmcfg", "kernel-postinst.j2"),
    _Hook("/etc/kernel/install.d", "/etc/kernel/install.d/90-rocmcfg.install", "kernel-install.j2"),
)
PATHS = tuple(hook.path for hook in _HOOKS)
MODE = 0o755


def propose(view: HostView, *, wanted: bool) -> dict[str, bytes | None]:
    """By path: the first hook whose directory this host's kernel packages use, and None for the other."""
    from rocmcfg.backends.templates import render

    used = next((hook for hook in _HOOKS if wanted and view.is_dir(hook.directory)), None)
    return {hook.path: render("", hook.template) if hook is used else None for hook in _HOOKS}
