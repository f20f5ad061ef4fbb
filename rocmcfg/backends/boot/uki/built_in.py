"""The line that is built into images: the file that it comes from, and the program that builds them anew.

Only for hosts whose stub takes no addon. A file that would bring our arguments and lose root= is never made:

* mkinitcpio (v41, build_uki): /etc/kernel/cmdline, and behind it /etc/cmdline.d/*.conf; without either the
  line of the running kernel, so that a file of ours alone would be all of it. A preset's *_cmdline, or
  --cmdline and --no-cmdline among its options, leaves both out.
* ukify by kernel-install (60-ukify.install of systemd 257 and 262): /etc/kernel/cmdline; `Cmdline=` in
  uki.conf wins over it in 262 and counts for nothing in 257 (systemd#39373).
* dracut (106, 112): kernel_cmdline of its configuration is the whole line once anything sets it, so that ours
  may only be added to what somebody else set. Its kernel-install plugin asks for nothing else
  (50-dracut.install).
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from rocmcfg.backends.boot.entry_options import CMDLINE
from rocmcfg.backends.boot.uki.reader import PRESETS
from rocmcfg.host.view import HostView, drop_ins, text_or_empty

DRACUT = "/etc/dracut.conf.d/zz-rocmcfg-kernel-arguments.conf"
DRACUT_FOLDERS = ("/etc/dracut.conf.d", "/usr/lib/dracut/dracut.conf.d")
UKI_CONF = tuple(f"{folder}/uki.conf" for folder in ("/etc/kernel", "/run/kernel", "/usr/lib/kernel"))
_INSTALL_CONF = tuple(
    f"{folder}/install.conf"
    for folder in ("/etc/kernel", "/run/kernel", "/usr/local/lib/kernel", "/usr/lib/kernel")
)
_PRESET_LINE = re.compile(r"^[ \t]*\w+_cmdline=|^[ \t]*\w+_options=.*--(?:no-)?cmdline", re.MULTILINE)
_SET_FOR_DRACUT = re.compile(r"^[ \t]*kernel_cmdline\+?=", re.MULTILINE)
_CONFIGURED = re.compile(r"^[ \t]*Cmdline[ \t]*=", re.MULTILINE)


class Built(NamedTuple):
    """`path` is the file that takes our part, `commands` what builds all images anew. Without a path,
    `refusal` says why there is none."""

    path: str
    commands: tuple[tuple[str, ...], ...]
    refusal: str = ""


def source(view: HostView) -> Built:
    presets = [f"{PRESETS}/{name}" for name in view.names(PRESETS) if name.endswith(".preset")]
    if any("_uki=" in text_or_empty(view, path) for path in presets):
        return _mkinitcpio(view, presets)
    settings = _install_conf(view)
    generator = settings.get("uki_generator", "ukify") if settings.get("layout") == "uki" else ""
    if generator == "ukify":
        return _ukify(view)
    if generator == "mkinitcpio":  # 50-mkinitcpio.install, by the same files
        return _with_cmdline(view, _kernel_install(view))
    if view.has_tool("dracut"):
        return _dracut(view, settings)
    return Built("", (), "nothing here shows what built the images")


def for_dracut(part: str) -> bytes:
    """Our file for dracut, which is read by bash; `part` as it stands on a line."""
    from rocmcfg.backends.templates import HEAD

    return f"{HEAD}kernel_cmdline+={shlex.quote(f'{part} ')}\n".encode()


def _mkinitcpio(view: HostView, presets: list[str]) -> Built:
    own = next((path for path in presets if _PRESET_LINE.search(text_or_empty(view, path))), "")
    if own:
        return Built("", (), f"{own} names a command line of its own")
    return _with_cmdline(view, (("mkinitcpio", "-P"),))


def _ukify(view: HostView) -> Built:
    path, text = first_file(view, UKI_CONF)
    if _CONFIGURED.search(text):
        return Built("", (), f"{path} sets Cmdline=, which some releases of systemd take and others do not")
    return _with_cmdline(view, _kernel_install(view))


def _with_cmdline(view: HostView, commands: tuple[tuple[str, ...], ...]) -> Built:
    if not text_or_empty(view, CMDLINE).strip():
        return Built("", (), f"there is no {CMDLINE}, and one with our arguments alone would have no root=")
    return Built(CMDLINE, commands)


def _dracut(view: HostView, settings: dict[str, str]) -> Built:
    files = ["/etc/dracut.conf", *drop_ins(view, DRACUT_FOLDERS, ".conf")]
    others = any(_SET_FOR_DRACUT.search(text_or_empty(view, path)) for path in files if path != DRACUT)
    if not others:
        return Built(
            "", (), "dracut is told no kernel_cmdline, and one with our arguments alone has no root="
        )
    by_plugin = settings.get("layout") == "uki"
    return Built(DRACUT, _kernel_install(view) if by_plugin else (("dracut", "--regenerate-all", "--force"),))


def _kernel_install(view: HostView) -> tuple[tuple[str, ...], ...]:
    """For each kernel whose image is still there; `add-all` passes over those below /boot."""
    found = []
    for release in view.names("/usr/lib/modules"):
        places = (f"/usr/lib/modules/{release}/vmlinuz", f"/boot/vmlinuz-{release}")
        image = next(filter(view.exists, places), "")
        found += [("kernel-install", "add", release, image)] if image else []
    return tuple(found)


def first_file(view: HostView, paths: tuple[str, ...]) -> tuple[str, str]:
    """The first of them that is there, and its text."""
    path = next(filter(view.exists, paths), "")
    return path, text_or_empty(view, path) if path else ""


def _install_conf(view: HostView) -> dict[str, str]:
    """The first file counts, and then every drop-in (kernel-install(8))."""
    _, text = first_file(view, _INSTALL_CONF)
    drop = drop_ins(view, tuple(f"{path}.d" for path in _INSTALL_CONF), ".conf")
    text = "\n".join((text, *(text_or_empty(view, path) for path in drop)))
    pairs = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}
