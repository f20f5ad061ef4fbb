"""Find the source of the line that is built into images, and the program that rebuilds them.

This is only for hosts whose stub takes no addon. A file that would add our arguments but lose root= is never
made:

* mkinitcpio (v41, build_uki): /etc/kernel/cmdline, followed by /etc/cmdline.d/*.conf; without either, the
  line of the running kernel. A preset's *_cmdline, --cmdline or --no-cmdline replaces both.
* ukify by kernel-install (60-ukify.install of systemd 257 and 262): /etc/kernel/cmdline; `Cmdline=` in
  uki.conf overrides it in 262 and is ignored in 257 (systemd#39373).
* dracut (106, 112) and its plugin (50-dracut.install): once anything sets kernel_cmdline in its
  configuration, that is the whole line, so ours may only be added to a value that another file sets.
"""

from __future__ import annotations

import re

from rocmcfg.files.traces import IMAGE, RELEASE, Maker
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.loaders.shared.entry_options import CMDLINE
from rocmcfg.loaders.uki import reader, templates
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

DRACUT = "/etc/dracut.conf.d/zz-rocmcfg-kernel-arguments.conf"
_DRACUT_FOLDERS = ("/etc/dracut.conf.d", "/usr/lib/dracut/dracut.conf.d")
_KERNEL = ("/etc/kernel", "/run/kernel", "/usr/local/lib/kernel", "/usr/lib/kernel")  # kernel-install(8)
_PRESET_LINE = regex(r"^[ \t]*\w+_cmdline=|^[ \t]*\w+_options=.*--(?:no-)?cmdline", re.MULTILINE)
_SET_FOR_DRACUT = regex(r"^[ \t]*kernel_cmdline\+?=", re.MULTILINE)
_CONFIGURED = regex(r"^[ \t]*Cmdline[ \t]*=", re.MULTILINE)
# Where the kernel of a release is
_VMLINUZ = ("/usr/lib/modules/{}/vmlinuz", "/boot/vmlinuz-{}")
_KERNEL_INSTALL = "kernel-install"
_SIGNERS = ("sbctl", "sbsign")
_ALONE = "and a command line of rocmcfg's arguments alone"


class Built(NamedTuple):
    """The file that takes our part, the commands that rebuild all images, and the reason where there is no
    path."""

    path: str
    commands: tuple[tuple[str, ...], ...]
    refusal: str = ""


def source(view: HostView) -> Built:
    presets = reader.presets(view)
    settings = _install_conf(view)
    by_plugin = settings.get("layout") == "uki"
    generator = settings.get("uki_generator", "ukify") if by_plugin else ""
    path, refusal, commands = CMDLINE, "", _kernel_install(view)
    if any("_uki=" in text for text in presets.values()):
        commands = (("mkinitcpio", "-P"),)
        own = next((path for path, text in presets.items() if _PRESET_LINE.search(text)), "")
        refusal = own and f"{own} names a command line of its own"
    elif generator in ("ukify", "mkinitcpio"):  # 50-mkinitcpio.install uses the same file
        file, text = uki_conf(view)
        if generator == "ukify" and _CONFIGURED.search(text):
            refusal = f"{file} sets Cmdline=, which some releases of systemd use and others ignore"
    elif view.has_tool("dracut"):
        path = DRACUT
        commands = commands if by_plugin else (("dracut", "--regenerate-all", "--force"),)
        if not any(_SET_FOR_DRACUT.search(text) for file, text in dracut_conf(view) if file != DRACUT):
            refusal = f"nothing sets kernel_cmdline for dracut, {_ALONE} has no root="
    else:
        refusal = "it is unknown which program built the images"
    if not refusal and path == CMDLINE and not text_or_empty(view, CMDLINE).strip():
        refusal = f"there is no {CMDLINE}, {_ALONE} would have no root="
    return Built("", (), refusal) if refusal else Built(path, commands)


def for_dracut(part: str) -> bytes:
    """Return our file for dracut, which bash reads; `part` is our part of a command line."""
    return templates.dracut_conf(added=f"{part} ").encode()


def dracut_conf(view: HostView) -> list[tuple[str, str]]:
    """Return the files that dracut reads, each with its text."""
    paths = ("/etc/dracut.conf", *drop_ins(view, _DRACUT_FOLDERS, ".conf"))
    return [(path, text_or_empty(view, path)) for path in paths]


def uki_conf(view: HostView) -> tuple[str, str]:
    """Return the configuration file of ukify (60-ukify.install), and its text."""
    folders = ("/etc/kernel", "/run/kernel", "/usr/lib/kernel")
    return _first_file(view, [f"{folder}/uki.conf" for folder in folders])


def _kernel_install(view: HostView) -> tuple[tuple[str, ...], ...]:
    """Return a command for each kernel whose image still exists; `add-all` skips kernels below /boot."""
    commands = []
    for release in view.names("/usr/lib/modules"):
        image = next(filter(view.exists, (place.format(release) for place in _VMLINUZ)), "")
        commands += [_add(release, image)] if image else []
    return tuple(commands)


def by_kernel(maker: Maker) -> Maker:
    """Return a maker that builds the images of all kernels installed at that time. Commands that sign the
    present images are left out."""
    builds = tuple(argv for argv in maker.commands if argv[0] not in _SIGNERS)
    if builds[0][0] != _KERNEL_INSTALL:
        return maker._replace(commands=builds)
    each, first = (_add(RELEASE, IMAGE),), tuple(place.format(RELEASE) for place in _VMLINUZ)
    return maker._replace(package="systemd", commands=(), first=first, each=each)


def _add(release: str, image: str) -> tuple[str, ...]:
    return (_KERNEL_INSTALL, "add", release, image)


def _first_file(view: HostView, paths: list[str]) -> tuple[str, str]:
    path = next(filter(view.exists, paths), "")
    return path, text_or_empty(view, path) if path else ""


def _install_conf(view: HostView) -> dict[str, str]:
    """Return the settings of kernel-install: those of the first file, then of every drop-in
    (kernel-install(8))."""
    _, text = _first_file(view, [f"{folder}/install.conf" for folder in _KERNEL])
    drop = drop_ins(view, [f"{folder}/install.conf.d" for folder in _KERNEL], ".conf")
    text = "\n".join((text, *(text_or_empty(view, path) for path in drop)))
    pairs = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}
