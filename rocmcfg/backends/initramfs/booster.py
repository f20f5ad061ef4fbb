"""booster (Arch): no file of modprobe.d is in its images; their options are, of every module they carry.

generator/kmod.go (0.13, since 0.4): `readModprobeOptions` takes the lines `options MODULE …` of all files, of
any name, in /lib/modprobe.d, /etc/modprobe.d and /run/modprobe.d, in this order and each in that of their
names, and joins those of one module by a blank; what the image has no module for is left out.
generator/generator.go writes them to /etc/booster.init.yaml as `modprobeoptions`; init/module.go hands them
to the kernel as it loads the module, before those of the kernel command line, which win. /etc/booster.yaml
has no key for them.

`booster build` writes beside the old image and renames (generator/image.go: renameio). The package's own
regenerate_images builds in the background, ends with status 0 whatever comes of it, and installs kernels
anew: each image is built by itself here. Those of the package are /boot/booster-PKGBASE.img (packaging/arch).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rocmcfg.backends.boot.menu import Entry
from rocmcfg.backends.initramfs import Image, asked, booted, carried, detection, differs, release_of, unproven
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation

NAME = "booster"
TOOL = "booster"
LOOKS = "booster ls"
OWNED: tuple[str, ...] = ()
_HOOKS = ("/usr/share/libalpm/hooks/90-booster-install.hook",)
_FOLDERS = ("/lib/modprobe.d", "/etc/modprobe.d", "/run/modprobe.d")
_INIT = "etc/booster.init.yaml"


def detect(view: HostView) -> Detection | None:
    manual = "sudo /usr/lib/booster/regenerate_images"
    return detection(view, NAME, ("/usr/bin/booster",), _HOOKS, "60-booster.install", manual)


def propose(*, wanted: bool) -> Mapping[str, bytes | None]:
    del wanted
    return {}


def images(view: HostView, module: str, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
    return tuple(
        Image(path, release, _carries(view, path, module), built=bool(release))
        for path, release in sorted(_releases(view, entries).items())
    )


def _releases(view: HostView, entries: Sequence[Entry]) -> dict[str, str]:
    """By path, the kernel of each image; empty for one that nothing tells of, and for a spare one, which was
    built with arguments of its own."""
    paths = [f"/boot/{name}" for name in view.names("/boot") if name.startswith("booster-")]
    return {
        path: "" if path.endswith("-fallback.img") else release_of(view, path)
        for path in (*booted(view, entries), *paths)
    }


def _carries(view: HostView, path: str, module: str) -> bool | None:
    listing = asked(view, (*LOOKS.split(), path))
    return None if listing is None else carried(listing, module)


def preflight(view: HostView, carrying: Sequence[Image]) -> list[Diagnostic]:
    del view, carrying
    return []


def activations(view: HostView, reason: str, entries: Sequence[Entry] = ()) -> tuple[Activation, ...]:
    releases = {path: release for path, release in sorted(_releases(view, entries).items()) if release}
    commands = tuple(
        (TOOL, "build", "--force", "--kernel-version", release, path) for path, release in releases.items()
    )
    return (Activation(TOOL, commands, reason, writes_at=tuple(releases) or ("/boot",)),)


def check(host: Host, found: tuple[Image, ...], path: str, expected: bytes | None) -> list[Diagnostic]:
    """The options of every module that our file or the image names are those of all files together."""
    wanted = _options(host)
    named = _parsed([expected.decode("utf-8", "replace")] if expected else [])
    problems = []
    for image in found:
        if image.carries is False:
            continue
        said = asked(host, (TOOL, "cat", image.path, _INIT))
        if said is None:
            problems.append(unproven(image, path, "booster cat"))
            continue
        inside = _baked(said)
        for module in sorted({*named, *inside} & {*inside, "amdgpu"}):
            problems += differs(
                image,
                f"“{wanted.get(module) or inside[module]}” of {path} for {module}",
                inside.get(module, "").encode() or None,
                wanted.get(module, "").encode() or None,
                why="booster ended without an error",
                hint="build it by hand: "
                f"sudo booster build --force --kernel-version {image.release} {image.path}",
            )
    return problems


def _options(view: HostView) -> dict[str, str]:
    """The options of each module as booster reads them, which is not quite as kmod does."""
    return _parsed(
        [text_or_empty(view, f"{folder}/{name}") for folder in _FOLDERS for name in view.names(folder)]
    )


def _parsed(texts: Sequence[str]) -> dict[str, str]:
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
