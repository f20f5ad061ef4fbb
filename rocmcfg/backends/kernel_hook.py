"""A hook that runs when a kernel is installed, and asks `rocmcfg check-kernel` about it.

Debian's kernel packages run /etc/kernel/postinst.d in order of name with the release as first argument
(Debian kernel handbook, 8.2): after `dkms`, which builds a foreign driver, and before `zz-update-grub`,
which writes the menu. systemd's kernel-install(8) runs *.install with `add RELEASE …`; ours comes after
90-loaderentry.install, which writes an entry.
"""

from __future__ import annotations

from rocmcfg.host.view import HostView

# The directory that the kernel packages use, to the name of our hook in it and its template.
_HOOKS = {
    "/etc/kernel/postinst.d": ("rocmcfg", "kernel-postinst.j2"),
    "/etc/kernel/install.d": ("90-rocmcfg.install", "kernel-install.j2"),
}
PATHS = tuple(f"{directory}/{name}" for directory, (name, _) in _HOOKS.items())
MODE = 0o755


def propose(view: HostView, *, wanted: bool, after_entries: bool = False) -> dict[str, bytes | None]:
    """By path: the first hook whose directory this host's kernel packages use, and None for the other. With
    `after_entries` the one that runs once kernel-install has written the entry, where there is a choice."""
    from rocmcfg.backends.templates import render

    directories = reversed(_HOOKS) if after_entries else _HOOKS
    used = next((directory for directory in directories if wanted and view.is_dir(directory)), "")
    return {
        f"{directory}/{name}": render("", template) if directory == used else None
        for directory, (name, template) in _HOOKS.items()
    }
