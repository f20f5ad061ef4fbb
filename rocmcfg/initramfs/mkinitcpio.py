"""mkinitcpio (Arch and its derivatives): the images of all presets, and those that kernel-install made.

Only the hook `modconf` copies /etc/modprobe.d (install/modconf, v41, unchanged since before v25). HOOKS may
be overwritten by a file in /etc/mkinitcpio.conf.d, whose files are read in the order of `sort -V`, or by a
configuration that a preset names (mkinitcpio, `process_preset`). So the hook is checked beforehand, and every
image is checked afterwards.

`mkinitcpio -P` continues after a preset that fails, and its exit status shows the failure; a preset without
an image or a kernel is skipped with status 0. It writes next to the old image and renames, except on a
partition with less free space than 5/4 of the image (`build_image`), where it overwrites the old one: if it
fails then, half an image is left, which an undo replaces with the copy made before. An image that an entry
boots and that no preset names is made as by the plugin of kernel-install
(kernel-install/50-mkinitcpio.install: `--nopost -k … -g …`).

limine-mkinitcpio-hook installs a wrapper that asks whether to run limine-mkinitcpio; where that program
exists, it is run, since it also copies the images to the places that Limine uses (omacom/omarchy).
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
    WHY = "mkinitcpio exited without an error, as it does even if a preset names no kernel"
    HINT = (
        "check whether its preset is in /etc/mkinitcpio.d, and whether its HOOKS contain modconf: "
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
        configuration of a preset is not checked."""
        if not carrying:
            return
        conf = Lists()
        summary = "cannot determine whether mkinitcpio copies modprobe.d into its images here"
        for path in (_CONF, *sorted(drop_ins(view, [f"{_CONF}.d"], ".conf"), key=_by_version)):
            conf.read(path, text_or_empty(view, path))
        try:
            hooks, files = conf.words("HOOKS"), " ".join(conf.words("FILES") or ())
        except Untold as untold:
            why = "only bash can evaluate HOOKS and FILES; each image is checked afterwards"
            hint = "write HOOKS and FILES as plain lists, so that rocmcfg can check them beforehand"
            yield info("RC3213", summary, location=untold.at, detail=why, hint=hint)
            return
        if (hooks is None and not text_or_empty(view, _CONF)) or "/etc/modprobe.d" in files:
            return
        if "modconf" not in (hooks or ()):
            yield error(
                "RC3206",
                f"mkinitcpio makes images without modprobe.d here, and {carrying[0].path} contains amdgpu",
                location=conf.source("HOOKS").rpartition(":")[0] or _CONF,
                detail=f"HOOKS=({' '.join(hooks or ())}) has no modconf, which copies /etc/modprobe.d",
                hint="add modconf to HOOKS there, then run the command again; or use the kernel command line "
                "instead: --via cmdline",
            )


def _of_presets(view: HostView) -> list[str]:
    """Return the existing images that presets name; their kernels are known only from entries. For a preset
    that only bash can evaluate, return all images that it mentions."""
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
    """Return a key that sorts file names in the order of `sort -V`, for usual names."""
    return [(int(part or 0) if part.isdecimal() else -1, part) for part in re.split(r"([0-9]+)", name)]


GENERATOR = Mkinitcpio()
