"""Initramfs generators: which one a host uses, what builds its images anew, and whether they carry the
driver.

A driver that lies in an image is loaded from there and reads the image's own copy of modprobe.d, so that the
image has to be built anew; one that does not reads /etc/modprobe.d itself. To add a generator: write a module
that fulfils `Generator`, name it in `_MODULES`, drop its row from `_RECOGNISED`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, cast

from rocmcfg.backends.boot.loader_entries import PARTITIONS
from rocmcfg.backends.boot.menu import Entry, Role
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation

_MODULES = ("initramfs_tools", "dracut", "mkinitcpio", "booster")
# Generator, the program that shows it, and what a user runs by hand.
_RECOGNISED = (
    ("genkernel", "/usr/bin/genkernel", "sudo genkernel initramfs"),
    ("mkinitfs", "/sbin/mkinitfs", "sudo mkinitfs"),
)
_NAME = re.compile(r"initrd\.img-(.+)|(?:initramfs|booster)-(.+?)(?:-fallback)?\.img|initrd-(.+)")
_PLUGINS = "/usr/lib/kernel/install.d/"  # of kernel-install(8)
# How a module may lie in an image: usr-merged or not, below a release or not (booster), compressed or not.
_MODULE = r"(?:^|[/\s])lib/modules/(?:.*/)?{name}\.ko(?:\.(?:xz|zst|gz))?$"
# On a host of deployments the images come with the system; files of /etc get into them by an overlay alone
# (rpm-ostree 2026.2, man/rpm-ostree.xml, initramfs-etc).
_OSTREE = "/run/ostree-booted"
_TRACKED = (
    "sudo rpm-ostree initramfs-etc --track=/etc/modprobe.d/FILE\n"
    "or keep to the kernel command line: --via cmdline"
)


class Image(NamedTuple):
    """`carries` is None where the image could not be looked into. `release` is empty where nothing tells of
    which kernel it is, `built` is False where the host's generator is not known to write it."""

    path: str
    release: str
    carries: bool | None
    built: bool = True


class Generator(Protocol):
    """What the engine uses a generator of images by. `TOOL` is the program that rebuilds them, `LOOKS` the
    one that looks into them, `OWNED` the files that are ours for its sake."""

    NAME: str
    TOOL: str
    LOOKS: str
    OWNED: tuple[str, ...]

    def detect(self, view: HostView) -> Detection | None: ...

    def propose(self, *, wanted: bool) -> Mapping[str, bytes | None]:
        """By path, what `OWNED` shall hold where we have module options on such a host; None without."""

    def images(self, view: HostView, module: str, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
        """The images that it makes, and those that the entries boot, and whether each carries `module`."""

    def preflight(self, view: HostView, carrying: Sequence[Image]) -> list[Diagnostic]:
        """Why the images that carry the driver would not get our file. Besides, `built` is looked at."""

    def activations(
        self, view: HostView, reason: str, entries: Sequence[Entry] = ()
    ) -> tuple[Activation, ...]:
        """What rebuilds the images of all kernels, asked anew for an undo. A single step, called `TOOL`."""

    def check(
        self, host: Host, found: tuple[Image, ...], path: str, expected: bytes | None
    ) -> list[Diagnostic]:
        """Look into every image that carries the driver: it holds `path` with just these bytes, or not at
        all. An image that could not be looked into is a warning, one that is wrong an error."""


def backends() -> tuple[Generator, ...]:
    return tuple(cast(Generator, importlib.import_module(f"{__name__}.{name}")) for name in _MODULES)


def detect(view: HostView) -> tuple[Detection, ...]:
    if view.exists(_OSTREE):
        return (Detection("ostree", "an initramfs built with the image", (_OSTREE,), manual=_TRACKED),)
    supported = [found for one in backends() if (found := one.detect(view)) is not None]
    known = [
        Detection(name, name, (mark,), manual=by_hand)
        for name, mark, by_hand in _RECOGNISED
        if view.exists(mark)
    ]
    return (*supported, *known)


def detection(
    view: HostView, name: str, programs: Sequence[str], hooks: Sequence[str], plugin: str, manual: str
) -> Detection | None:
    """Of a generator that has one of these programs. One of `hooks`, by which the host's kernel packages have
    an image made of every new kernel, proves that it is in use; a `plugin` of kernel-install, which may never
    be run, speaks for it. pacman leaves a hook out that a link to /dev/null in /etc/pacman.d/hooks
    hides (alpm-hooks(5), “Overriding hooks”)."""
    program = next((path for path in programs if view.exists(path)), "")
    if not program:
        return None
    masks = {path: f"/etc/pacman.d/hooks/{path.rpartition('/')[2]}" for path in hooks}
    proof = [path for path in hooks if view.exists(path) and not view.is_symlink(masks[path])]
    plugins = [f"{_PLUGINS}{plugin}"] if view.exists(f"{_PLUGINS}{plugin}") else []
    evidence = (program, *proof, *plugins)
    return Detection(name, name, evidence, proof=bool(proof), supported=True, manual=manual)


def in_use(detected: Iterable[Detection]) -> tuple[Detection, ...]:
    """Those that make this host's images, where several are installed: the hook of one beats the plugin of
    another, and both beat a program that lies there unused. More than one: nobody can tell."""
    found = tuple(detected)
    evidence: tuple[Callable[[Detection], bool], ...] = (
        lambda one: one.proof,
        lambda one: any(path.startswith(_PLUGINS) for path in one.evidence),
        lambda one: one.supported,
    )
    for speaks in evidence:
        if chosen := tuple(one for one in found if speaks(one)):
            return chosen
    return found


def backend(detected: Iterable[Detection]) -> Generator | None:
    """The backend of the generator that is in use; None where there is none that we can run, or several."""
    names = [found.name for found in in_use(detected)]
    return next((one for one in backends() if names == [one.NAME]), None)


def booted(view: HostView, entries: Sequence[Entry]) -> dict[str, str]:
    """The images that the normal entries boot, by path, with the kernel's release. What only a rescue entry,
    a snapshot or another system boots stays as it is. Some loaders boot copies, and name them from the root
    of the file system that these lie on. A unified kernel image stands for the one that is in it: lsinitrd
    and lsinitcpio open it with objcopy, others cannot."""
    found: dict[str, str] = {}
    for entry in entries:
        unified = (entry.path,) if entry.path.endswith(".efi") else ()
        for initrd in (entry.initrds or unified) if entry.role is Role.NORMAL else ():
            named = re.sub(r"^\([^)]*\)", "", initrd)  # GRUB's name of the disk
            for path in (f"{root}{named}" for root in ("/boot", *PARTITIONS, "")):
                if named.startswith("/") and view.exists(path):
                    found.setdefault(view.real_path(path), entry.release)
                    break
    return found


def release_of(view: HostView, path: str) -> str:
    """The release of an image that is named after it, as initrd.img-RELEASE (Debian), initramfs-RELEASE.img
    (Fedora), initrd-RELEASE (openSUSE) or RELEASE/initrd (kernel-install(8)), or after its package (Arch),
    and whose modules are there; else empty."""
    folder, _, name = path.rpartition("/")
    match = _NAME.fullmatch(name)
    named = next(filter(None, match.groups()), "") if match else ""
    named = folder.rpartition("/")[2] if name == "initrd" else named
    if named and view.exists(f"/lib/modules/{named}/modules.dep"):
        return named
    packages = {text_or_empty(view, f"/lib/modules/{one}/pkgbase").strip(): one for one in _releases(view)}
    return packages.get(named, "") if named else ""


def _releases(view: HostView) -> tuple[str, ...]:
    """Of the kernels whose modules are there."""
    return tuple(one for one in view.names("/lib/modules") if view.exists(f"/lib/modules/{one}/modules.dep"))


def carried(listing: Iterable[str], module: str) -> bool:
    """Whether an image carries a module, by the lines in which a program lists its files."""
    # file names use the spelling of the file, where - and _ both occur
    pattern = re.compile(_MODULE.format(name=re.escape(module).replace("_", "[-_]")))
    return any(pattern.search(line) for line in listing)


def asked(view: HostView, argv: Sequence[str]) -> list[str] | None:
    """The lines that a program prints of an image; None where it cannot be run, or says that it failed."""
    said = view.query(argv)
    return said.stdout.splitlines() if said is not None and said.ok else None


def unproven(image: Image, path: str, looks: str) -> Diagnostic:
    return warning(
        "RC3203",
        f"{image.path} cannot be unpacked to prove that it holds {path}",
        location=image.path,
        hint=f"try {looks} on it by hand",
    )


def differs(
    image: Image, path: str, inside: bytes | None, expected: bytes | None, *, why: str, hint: str
) -> list[Diagnostic]:
    """An error where an image does not hold just what is expected. `why`: what a user must know of the
    program that should have seen to it."""
    if inside == expected:
        return []
    said = "lacks" if inside is None else "has an old copy of"
    summary = f"{image.path} {said} {path}" if expected is not None else f"{image.path} still has {path}"
    return [error("RC3204", summary, location=image.path, detail=why, hint=hint)]
