"""Initramfs generators: which one a host uses, how its images are rebuilt, and whether they contain the
driver.

A driver in an image is loaded from the image and reads the image's own copy of modprobe.d, so the image must
be rebuilt. To add a generator, write a module with a `GENERATOR` and name it in `_MODULES`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Protocol

from rocmcfg.files.modprobe import PATH
from rocmcfg.files.traces import Maker
from rocmcfg.host.view import Host, HostView, Unreadable, text_or_empty
from rocmcfg.loaders.shared.loader_entries import located
from rocmcfg.loaders.shared.menu import Entry, Role
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_MODULES = ("initramfs_tools", "dracut", "mkinitcpio")
# its images hold no files of modprobe.d, but the options of every module in them (0.13)
_BOOSTER = ("/usr/bin/booster", "/usr/share/libalpm/hooks/90-booster-install.hook")
# Each is present where all of its evidence is.
_RECOGNISED = (
    Detection("booster", "booster", _BOOSTER, proof=True, manual="sudo /usr/lib/booster/regenerate_images"),
    Detection("genkernel", "genkernel", ("/usr/bin/genkernel",), manual="sudo genkernel initramfs"),
    Detection("mkinitfs", "mkinitfs", ("/sbin/mkinitfs",), manual="sudo mkinitfs"),
)
_NAME = regex(r"initrd\.img-(.+)|initramfs-(.+?)(?:-fallback)?\.img|initrd-(.+)")
_PLUGINS = "/usr/lib/kernel/install.d/"  # of kernel-install(8)
# Paths of the driver in an image: usr-merged or not, below a release or not, compressed or not.
_DRIVER = regex(r"(?:^|[/\s])lib/modules/(?:.*/)?amdgpu\.ko(?:\.(?:xz|zst|gz))?$")
# A module, as RELEASE/kernel/….ko; and the first program of an image, which is a link in those of dracut
_MODULE = regex(r"(?:^|[/\s])lib/modules/([^/\s]+/\S+\.ko)(?:\.(?:xz|zst|gz))?$")
_INIT = regex(r"(?:^|\s)(?:\./)?init(?: -> .*)?$")
_PACKED = ("", ".xz", ".zst", ".gz")
# Images that come with the system get files of /etc only through an overlay (rpm-ostree 2026.2,
# initramfs-etc).
_OSTREE = "/run/ostree-booted"
_TRACKED = (
    "sudo rpm-ostree initramfs-etc --track=/etc/modprobe.d/FILE\n"
    "or use the kernel command line instead: --via cmdline"
)


class Image(NamedTuple):
    """An image. `carries` tells whether it contains the driver, None where it could not be read. `release` is
    the release of its kernel, empty where it is not known; `built` is False where the host's generator is not
    known to write it. `holds` are its modules as RELEASE/PATH without the suffix of a compression, and `init`
    where it has one."""

    path: str
    release: str
    carries: bool | None = None
    built: bool = True
    holds: tuple[str, ...] = ()


class Generator(Protocol):
    """A generator. `TOOL` rebuilds the images, `LOOKS` lists the files of one, `UNPACKS` unpacks them, into
    its working directory where `INTO_HERE`. One of `PROGRAMS` shows that the generator is installed. One of
    `HOOKS`, by which the host's kernel packages build an image for every new kernel, proves that it is in
    use; its `PLUGIN` of kernel-install, which may never be run, is weaker evidence. `WHY` is the explanation
    where an image is wrong after a rebuild without an error, `HINT` the remedy, with `{image}`."""

    NAME: ClassVar[str]
    TOOL: ClassVar[str]
    LOOKS: ClassVar[str]
    PROGRAMS: ClassVar[tuple[str, ...]]
    HOOKS: ClassVar[tuple[str, ...]]
    PLUGIN: ClassVar[str]
    MANUAL: ClassVar[str]
    UNPACKS: ClassVar[str] = ""
    INTO_HERE: ClassVar[bool] = False
    WHY: ClassVar[str]
    HINT: ClassVar[str]

    def detect(self, view: HostView) -> Detection | None:
        """Return the detection of this generator; None where its program is missing. A link to /dev/null in
        /etc/pacman.d/hooks hides a hook of pacman (alpm-hooks(5))."""
        program = next(filter(view.exists, self.PROGRAMS), "")
        if not program:
            return None
        masks = {path: f"/etc/pacman.d/hooks/{path.rpartition('/')[2]}" for path in self.HOOKS}
        proof = [path for path in self.HOOKS if view.exists(path) and not view.is_symlink(masks[path])]
        plugin = f"{_PLUGINS}{self.PLUGIN}"
        evidence = (program, *proof, *([plugin] if self.PLUGIN and view.exists(plugin) else []))
        return Detection(self.NAME, self.NAME, evidence, bool(proof), True, self.MANUAL)

    def propose(self, *, wanted: bool) -> Mapping[str, bytes | None]:
        """Return by path the content of the files of ours that this generator needs for our module
        options."""
        return {}

    def made(self, view: HostView, entries: Sequence[Entry]) -> Iterable[Image]:
        """Return the images that it makes, and those that the entries boot, without reading them."""

    def commands(self, view: HostView, images: Sequence[Image]) -> Iterable[tuple[str, ...]]:
        """Return the commands that rebuild the images with `built`."""

    def preflight(self, view: HostView, carrying: Sequence[Image]) -> Iterable[Diagnostic]:
        """Yield why the images that contain the driver would not get our file. Whether they are `built` is
        checked elsewhere."""
        return ()

    def inside(self, host: Host, image: Image) -> bytes | None:
        """Return our file in an image; None where the image has none. Raises Unreadable where the image
        cannot be read."""
        name = PATH.lstrip("/")
        contents = host.unpack((*self.UNPACKS.split(), image.path), (name,), here=self.INTO_HERE)
        if contents is None:
            raise Unreadable(image.path, "it cannot be unpacked")
        return contents.get(name)

    def images(self, view: HostView, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
        """Return the images of `made`, each with whether it contains the driver."""
        return tuple(self.looked_into(view, image) for image in sorted(self.made(view, entries)))

    def looked_into(self, view: HostView, image: Image) -> Image:
        listing = printed_lines(view, (*self.LOOKS.split(), image.path))
        return image._replace(carries=carried(listing), holds=held(listing or ()))

    def activations(self, view: HostView, reason: str, entries: Sequence[Entry] = ()) -> tuple[Activation]:
        """Return the step, named `TOOL`, that rebuilds the images of all kernels. An undo asks for it
        again."""
        made = sorted(self.made(view, entries))
        images = [image for image in made if image.built]
        places = ("/boot", *(image.path for image in images))
        commands, paths = tuple(self.commands(view, images)), tuple(image.path for image in made)
        return (Activation(self.TOOL, commands, reason, writes_at=places, images=paths),)

    def maker(self, view: HostView) -> Maker:
        """Return the commands, for a shell, that rebuild the images of all kernels installed at that time."""
        return Maker(self.TOOL, self.TOOL, tuple(self.commands(view, ())))

    def check(self, host: Host, images: Sequence[Image], expected: bytes | None) -> Iterator[Diagnostic]:
        """Check every image that contains the driver: it must hold our file with exactly these bytes, or not
        at all. Yield a warning for an image that cannot be read, an error for a wrong one."""
        for image in images:
            if image.carries is False:
                continue
            try:
                inside = self.inside(host, image)
            except Unreadable:
                summary = f"{image.path} cannot be unpacked to check that it holds {PATH}"
                proves = (self.UNPACKS or self.LOOKS).split()[0]
                hint = f"run {proves} on it by hand"
                yield warning("RC3203", summary, location=image.path, hint=hint)
                continue
            if inside != expected:
                has = (
                    "does not hold"
                    if inside is None
                    else "still has"
                    if expected is None
                    else "has an old copy of"
                )
                summary, hint = f"{image.path} {has} {PATH}", self.HINT.format(image=image)
                yield error("RC3204", summary, location=image.path, detail=self.WHY, hint=hint)


def backends() -> tuple[Generator, ...]:
    return tuple(importlib.import_module(f"{__name__}.{name}").GENERATOR for name in _MODULES)


def detect(view: HostView) -> tuple[Detection, ...]:
    if view.exists(_OSTREE):
        return (Detection("ostree", "an initramfs built with the image", (_OSTREE,), manual=_TRACKED),)
    supported = [*filter(None, (generator.detect(view) for generator in backends()))]
    recognised = (detection for detection in _RECOGNISED if all(map(view.exists, detection.evidence)))
    return (*supported, *recognised)


def in_use(detected: Iterable[Detection]) -> tuple[Detection, ...]:
    """Return the generators that make this host's images: a hook is stronger evidence than a plugin, and both
    are stronger than an installed program. Where several remain, it is not known which one is used."""
    detections = tuple(detected)
    by_hook = tuple(detection for detection in detections if detection.proof)
    by_plugin = tuple(
        detection for detection in detections if any(path.startswith(_PLUGINS) for path in detection.evidence)
    )
    supported = tuple(detection for detection in detections if detection.supported)
    return by_hook or by_plugin or supported or detections


def backend(detected: Iterable[Detection]) -> Generator | None:
    """Return the backend of the generator in use; None where there is none that rocmcfg can run, or where
    there are several."""
    names = [detection.name for detection in in_use(detected)]
    return next((generator for generator in backends() if names == [generator.NAME]), None)


def booted(view: HostView, entries: Sequence[Entry]) -> dict[str, str]:
    """Return the images that the normal entries boot, by path, with the kernel's release. Some loaders boot
    copies, and name them from the root of their file system. A unified kernel image counts as the image
    inside it: lsinitrd and lsinitcpio open it with objcopy, other programs cannot."""
    booted_images: dict[str, str] = {}
    for entry in entries:
        unified = (entry.path,) if entry.path.endswith(".efi") else ()
        for initrd in (entry.initrds or unified) if entry.role is Role.NORMAL else ():
            if path := located(view, initrd):
                booted_images.setdefault(view.real_path(path), entry.release)
    return booted_images


def releases(view: HostView) -> dict[str, str]:
    """Return the release of each kernel whose modules are installed, by the names that its images may have:
    the release itself and, on Arch, its package."""
    return view.once(("releases",), lambda: _releases(view))


def _releases(view: HostView) -> dict[str, str]:
    here = [name for name in view.names("/lib/modules") if view.exists(f"/lib/modules/{name}/modules.dep")]
    packages = {text_or_empty(view, f"/lib/modules/{name}/pkgbase").strip(): name for name in here}
    return {**packages, **dict(zip(here, here, strict=True))}


def release_of(path: str, kernels: Mapping[str, str]) -> str:
    """Return the release of an image that is named after it: initrd.img-RELEASE (Debian),
    initramfs-RELEASE.img (Fedora), initrd-RELEASE (openSUSE), RELEASE/initrd (kernel-install(8)); on Arch
    after its package. `kernels` are `releases`. Empty for any other name."""
    folder, _, name = path.rpartition("/")
    match = _NAME.fullmatch(name)
    named = next(filter(None, match.groups()), "") if match else ""
    named = folder.rpartition("/")[2] if name == "initrd" else named
    return kernels.get(named, "") if named else ""


def carried(listing: Iterable[str] | None) -> bool | None:
    """Return whether an image contains the driver, according to a listing of its files."""
    return None if listing is None else any(map(_DRIVER.search, listing))


def held(listing: Iterable[str]) -> tuple[str, ...]:
    """Return the modules and the first program of an image from such a listing: a rebuilt image must contain
    them too."""
    contained: set[str] = set()
    for line in listing:
        if module := _MODULE.search(line):
            contained.add(module[1])
        elif _INIT.search(line):
            contained.add("init")
    return tuple(sorted(contained))


def lacking(view: HostView, before: Iterable[str], now: Iterable[str]) -> list[str]:
    """Return what an image has lost, without the modules that the host no longer has."""
    gone = sorted({*before}.difference(now))
    return [name for name in gone if name == "init" or _has_module(view, name)]


def _has_module(view: HostView, name: str) -> bool:
    return any(view.exists(f"/lib/modules/{name}{packed}") for packed in _PACKED)


def printed_lines(view: HostView, argv: Sequence[str]) -> list[str] | None:
    """Return the lines that a program prints about an image; None where it cannot be run, or fails."""
    answer = view.query(argv)
    return answer.stdout.splitlines() if answer is not None and answer.ok else None
