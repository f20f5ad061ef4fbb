"""booster (Arch): no file of modprobe.d is in its images; their options are, of every module they carry.

`readModprobeOptions` (0.13, generator/kmod.go) takes the lines `options MODULE …` of all files, of any name,
in `_FOLDERS`, in this order and each in that of their names, and joins those of one module by a blank; what
the image has no module for is left out. generator/generator.go writes them to /etc/booster.init.yaml as
`modprobeoptions`; those of the kernel command line come behind them and win (init/module.go).

`booster build` writes beside the old image and renames (generator/image.go). The package's regenerate_images
ends with status 0 whatever comes of it, and installs kernels anew: each image is built by itself here. Those
of the package are /boot/booster-PKGBASE.img (packaging/arch).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.menu import Entry
from rocmcfg.backends.initramfs import Contents, Generator, Image, asked, of_the_host
from rocmcfg.backends.modprobe import PATH
from rocmcfg.host.view import Host, HostView, text_or_empty

_FOLDERS = ("/lib/modprobe.d", "/etc/modprobe.d", "/run/modprobe.d")
_INIT = "etc/booster.init.yaml"


class Booster(Generator):
    NAME = "booster"
    TOOL = "booster"
    LOOKS = "booster ls"
    PROVES = "booster cat"
    PROGRAMS = ("/usr/bin/booster",)
    HOOKS = ("/usr/share/libalpm/hooks/90-booster-install.hook",)
    PLUGIN = "60-booster.install"
    MANUAL = "sudo /usr/lib/booster/regenerate_images"
    WHY = "booster ended without an error"
    HINT = "build it by hand: sudo booster build --force --kernel-version {image.release} {image.path}"

    def made(self, view: HostView, entries: Sequence[Entry]) -> Iterable[Image]:
        """A spare one is built with arguments of its own."""
        paths = [f"/boot/{name}" for name in view.names("/boot") if name.startswith("booster-")]
        for image in of_the_host(view, entries, paths):
            spare = image.path.endswith("-fallback.img")
            yield Image(image.path, "", built=False) if spare else image

    def commands(self, view: HostView, images: Sequence[Image]) -> Iterable[tuple[str, ...]]:
        for path, release, *_ in images:
            yield (self.TOOL, "build", "--force", "--kernel-version", release, path)

    def contents(self, host: Host, image: Image, expected: bytes | None) -> Contents:
        """The options of every module that our file or the image names are those of all files together."""
        said = asked(host, (self.TOOL, "cat", image.path, _INIT))
        if said is None:
            return None
        texts = [
            text_or_empty(host, f"{folder}/{name}") for folder in _FOLDERS for name in host.names(folder)
        ]
        wanted, inside = _options(texts), _baked(said)
        ours = _options([expected.decode("utf-8", "replace")] if expected else [])
        return [
            (
                f"“{wanted.get(module) or inside[module]}” of {PATH} for {module}",
                inside.get(module, "").encode() or None,
                wanted.get(module, "").encode() or None,
            )
            for module in sorted({*ours, *inside} & {*inside, "amdgpu"})
        ]


def _options(texts: Sequence[str]) -> dict[str, str]:
    """The options of each module as booster reads them, which is not quite as kmod does."""
    found: dict[str, list[str]] = {}
    for text in texts:
        for line in re.sub(r"\\\n\s*", " ", text).splitlines():
            match = re.match(r"options (\S+) (.*)", line.strip())
            if match:
                found.setdefault(match[1].replace("-", "_"), []).append(match[2])
    return {module: " ".join(words) for module, words in found.items()}


def _baked(lines: Sequence[str]) -> dict[str, str]:
    """The map `modprobeoptions` of an image's configuration, as gopkg.in/yaml.v3 writes one of strings."""
    found: dict[str, str] = {}
    inside = False
    for line in lines:
        if not line.startswith(" "):
            inside = line.rstrip() == "modprobeoptions:"
        elif inside:
            module, _, value = line.strip().partition(": ")
            quoted = value[:1] in ("'", '"') and value[:1] == value[-1:]
            found[module.strip("\"'")] = value[1:-1].replace("''", "'") if quoted else value
    return found


GENERATOR = Booster()
