"""mkinitcpio (Arch and what is made of it): the images of all presets, and those that kernel-install made.

Only the hook `modconf` copies /etc/modprobe.d (install/modconf, v41, and so since before v25). HOOKS may be
set anew by a file of /etc/mkinitcpio.conf.d, which are appended in the order of `sort -V`, or by a
configuration that a preset names (mkinitcpio, `process_preset`). So it is looked for beforehand and in every
image afterwards.

`mkinitcpio -P` goes on after a preset that fails, which its status tells; one without an image or a kernel is
skipped with status 0. It writes beside the old image and renames, but for a partition with less room than 5/4
of it (`build_image`), where it writes over the old one: one that fails then leaves half an image, which an
undo replaces by the copy that was made before. An image that an entry boots and no preset names is made as by
its plugin of kernel-install (kernel-install/50-mkinitcpio.install: `--nopost -k … -g …`).

limine-mkinitcpio-hook puts a wrapper in front that asks whether to run limine-mkinitcpio; where that program
is, it is run, since it also brings the images to where Limine has them (omacom/omarchy).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.initramfs import Generator, Image, booted, release_of, releases
from rocmcfg.languages.bash_lists import Lists, Untold
from rocmcfg.loaders.shared.menu import Entry
from rocmcfg.loaders.uki.reader import presets
from rocmcfg.model.diagnostic import Diagnostic, error, info
from rocmcfg.model.regex import regex

_CONF = "/etc/mkinitcpio.conf"
_LIMINE = "/usr/bin/limine-mkinitcpio"
_OUTPUT = regex(r"^[ \t]*(\w+)_(?:image|uki|efi_image)=[\"']?([^\"'\s]+)", re.M)


class Mkinitcpio(Generator):
    NAME = "mkinitcpio"
    TOOL = "mkinitcpio"
    LOOKS = "lsinitcpio --list"
    UNPACKS = "lsinitcpio --extract"
    INTO_HERE = True
    PROGRAMS = ("/usr/bin/mkinitcpio",)
    HOOKS = ("/usr/share/libalpm/hooks/90-mkinitcpio-install.hook", _LIMINE)
    PLUGIN = "50-mkinitcpio.install"
    MANUAL = "sudo mkinitcpio -P"
    WHY = "mkinitcpio ended without an error, which it also does where a preset names no kernel"
    HINT = (
        "see whether its preset is in /etc/mkinitcpio.d, and the hook modconf among its HOOKS: "
        "lsinitcpio --config {image.path}"
    )

    def made(self, view: HostView, entries: Sequence[Entry]) -> Iterable[Image]:
        preset, kernels = _of_presets(view), releases(view)
        for path, release in {**dict.fromkeys(preset, ""), **booted(view, entries)}.items():
            built = path in preset or view.exists(_LIMINE) or bool(release_of(path, kernels))
            yield Image(path, release, built=built)

    def commands(self, view: HostView, images: Sequence[Image]) -> Iterable[tuple[str, ...]]:
        if view.exists(_LIMINE):
            return [("limine-mkinitcpio",)]
        preset = _of_presets(view)
        others = [image.path for image in images if image.path not in preset]
        kernels = releases(view)
        by_itself = [(self.TOOL, "--nopost", "-k", release_of(path, kernels), "-g", path) for path in others]
        return [(self.TOOL, "-P"), *by_itself] if preset or not others else by_itself

    def preflight(self, view: HostView, carrying: Sequence[Image]) -> Iterable[Diagnostic]:
        """Yield RC3206 where the configuration has no `modconf`, RC3213 where only bash can tell. The
        configuration of a preset is not looked at."""
        if not carrying:
            return
        conf = Lists()
        summary = "whether mkinitcpio makes images with modprobe.d here cannot be told"
        for path in (_CONF, *sorted(drop_ins(view, [f"{_CONF}.d"], ".conf"), key=_by_version)):
            conf.read(path, text_or_empty(view, path))
        try:
            hooks, files = conf.words("HOOKS"), " ".join(conf.words("FILES") or ())
        except Untold as untold:
            why = "only bash can tell what HOOKS and FILES come to; each image is looked into afterwards"
            hint = "write HOOKS and FILES as plain lists, to have it told beforehand"
            yield info("RC3213", summary, location=untold.at, detail=why, hint=hint)
            return
        if (hooks is None and not text_or_empty(view, _CONF)) or "/etc/modprobe.d" in files:
            return
        if "modconf" not in (hooks or ()):
            yield error(
                "RC3206",
                f"mkinitcpio makes images without modprobe.d here, and {carrying[0].path} carries amdgpu",
                location=conf.source("HOOKS").rpartition(":")[0] or _CONF,
                detail=f"HOOKS=({' '.join(hooks or ())}) has no modconf, which copies /etc/modprobe.d",
                hint="add modconf to HOOKS there, then run the command again; or keep to the kernel command "
                "line: --via cmdline",
            )


def _of_presets(view: HostView) -> list[str]:
    """Return the images that presets name and that are there; the entries tell their kernels, if anything
    does. Of a preset that only bash can read, return those that it names anywhere."""
    paths: list[str] = []
    for path, text in presets(view).items():
        preset = Lists()
        preset.read(path, text)
        named = _OUTPUT.findall(text)
        try:
            active: Iterable[str] = preset.words("PRESETS") or ()
        except Untold:
            active = [of for of, _ in named]
        images = (image for of, image in named if of in active)
        paths += [view.real_path(image) for image in images if view.exists(image)]
    return paths


def _by_version(name: str) -> list[tuple[int, str]]:
    """Return a key by which names sort as `sort -V` sorts them, for names as they occur."""
    return [(int(part or 0) if part.isdecimal() else -1, part) for part in re.split(r"([0-9]+)", name)]


GENERATOR = Mkinitcpio()
