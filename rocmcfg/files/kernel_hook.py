"""Write the hooks that run `rocmcfg check-kernel` when a kernel is installed.

Debian's kernel packages run /etc/kernel/postinst.d in order of name with the release as first argument
(Debian kernel handbook, 8.2): ours after `dkms`, and before `zz-update-grub`. kernel-install(8) runs
*.install with `add RELEASE …`: ours after 90-loaderentry.install and 90-uki-copy.install. mkinitcpio runs the
programs in /etc/initcpio/post with KERNELVERSION in the environment, but not when kernel-install calls it
(mkinitcpio(8), "About post hooks"); it is not known which of the two will
install a kernel on Arch.
"""

from __future__ import annotations

from collections.abc import Iterable
from os.path import dirname

from rocmcfg.files import templates
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, warning

# Each hook is in the directory that the kernel packages of some distributions use.
_HOOKS = {
    "/etc/kernel/postinst.d/rocmcfg": templates.kernel_postinst_sh,
    "/etc/kernel/install.d/95-rocmcfg.install": templates.kernel_install_sh,
    "/etc/initcpio/post/rocmcfg": templates.initcpio_post_sh,
}
PATHS = tuple(_HOOKS)
MODE = 0o755


def propose(view: HostView, *, wanted: bool, after_entries: bool = False) -> dict[str, bytes | None]:
    """Return this host's hooks by path. With `after_entries`, return those that run once entry or image
    exists."""
    debian, *others = (path if wanted and view.is_dir(dirname(path)) else "" for path in PATHS)
    used = others if any(others) and (after_entries or not debian) else [debian]
    return {path: hook().encode() if path in used else None for path, hook in _HOOKS.items()}


def problems(view: HostView, written: Iterable[str]) -> list[Diagnostic]:
    """Return a warning where the `written` hooks would not find rocmcfg, since they search root's PATH. For a
    host that is only mounted this is not known."""
    hook = next((path for path in written if path in PATHS), "")
    if not hook or view.offline or view.has_tool("rocmcfg"):
        return []
    return [
        warning(
            "RC3035",
            "kernels installed later would not be checked: rocmcfg is not in root's PATH",
            location=hook,
            hint='link it there: sudo ln -s "$(command -v rocmcfg)" /usr/local/bin/rocmcfg',
        )
    ]
