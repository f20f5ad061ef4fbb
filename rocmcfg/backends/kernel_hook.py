"""A hook that runs when a kernel is installed, and asks `rocmcfg check-kernel` about it.

Debian's kernel packages run /etc/kernel/postinst.d in order of name with the release as first argument
(Debian kernel handbook, 8.2): after `dkms`, which builds a foreign driver, and before `zz-update-grub`,
which writes the menu. systemd's kernel-install(8) runs *.install with `add RELEASE …`.
"""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.host.view import HostView


class Hook(NamedTuple):
    directory: str
    path: str
    template: str


_HOOKS = (
    Hook("/etc/kernel/postinst.d", "/etc/kernel/postinst.d/rocmcfg", "kernel-postinst.j2"),
    Hook("/etc/kernel/install.d", "/etc/kernel/install.d/90-rocmcfg.install", "kernel-install.j2"),
)
PATHS = tuple(hook.path for hook in _HOOKS)
MODE = 0o755


def choose(view: HostView) -> Hook | None:
    """The hook of this host: the first whose directory its kernel packages use."""
    return next((hook for hook in _HOOKS if view.is_dir(hook.directory)), None)


def propose(hook: Hook) -> bytes:
    from rocmcfg.backends.templates import render

    return render("", hook.template)
