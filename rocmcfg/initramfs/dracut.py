"""dracut (Fedora, EL, openSUSE, Gentoo, Debian from forky on): one image at a time, each written next to the
old one.

**Content of an image.** /etc/modprobe.d is copied only in host-only mode (module-setup.sh of
modules.d/90kernel-modules in 059 and 106, of 80base in 112). In Fedora and openSUSE a file of the
distribution turns that mode on; it is off in Debian's 059 and 106, on by default from 109 on, and off where a
kernel is installed in a chroot without /dev (dracut.sh). So our own `CONF` lists our file by name, in every
mode, as a file that may be missing (`install_optional_items`, dracut.conf(5)).

**Writing an image.** `--regenerate-all` writes to the place where dracut would put an image today. An image
that another package copied (Debian's systemd-boot) is elsewhere. Up to 106 dracut.sh ends with `cp` onto the
old image and, if that fails, `rm` of it. 107 writes the new image next to the old one and renames it
(39a765de), and so does rocmcfg, for every image with the name of one, with the arguments that it was built
with (`--rebuild`). The hooks that Debian's 106 runs afterwards (/etc/initramfs/post-update.d) would copy the
image under its temporary name: `NO_POST_UPDATE_HOOKS` suppresses them, and rocmcfg treats the booted copies
as images.

dracut exits with status 0 even if dracut-install failed (seen with 106). `uefi=yes` in a configuration would
write a unified kernel image instead, so `--no-uefi` is used if the program knows it (from 052 on; EL 8 has
049).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rocmcfg.files.modprobe import PATH
from rocmcfg.files.traces import IMAGE, PACKAGE, RELEASE, Maker, on
from rocmcfg.host.view import Host, HostView, Unreadable, text_or_empty
from rocmcfg.initramfs import Generator, Image, booted, printed_lines, release_of, releases, templates
from rocmcfg.loaders.shared.loader_entries import PARTITIONS
from rocmcfg.loaders.shared.menu import Entry

CONF = "/etc/dracut.conf.d/90-rocmcfg.conf"
# The names of images, for a shell
_NAMED = tuple(
    f"/boot/{name}"
    for name in (
        f"init*-{RELEASE}",
        f"init*-{RELEASE}.img",
        f"init*-{RELEASE}+*.img",
        f"dracut-{PACKAGE}.img",
    )
)
_QUIET = ("env", "NO_POST_UPDATE_HOOKS=1")
# Places of a file in an image: files packed by the module squash are in an inner image (lsinitrd, 104).
_ROOTS = ("", "squashfs-root/", "erofs-root/")


class Dracut(Generator):
    NAME = "dracut"
    TOOL = "dracut"
    LOOKS = "lsinitrd"
    PROGRAMS = ("/usr/bin/dracut", "/usr/sbin/dracut", "/sbin/dracut")
    HOOKS = (
        "/etc/kernel/postinst.d/dracut",  # Debian's package dracut; dracut-core alone does not make images
        "/usr/share/libalpm/hooks/90-dracut-install.hook",  # AUR dracut-hook
    )
    PLUGIN = "50-dracut.install"
    MANUAL = "sudo dracut --regenerate-all --force"
    WHY = "dracut exited without an error, as it does even if it could not copy a file"
    HINT = "build it by hand and read the output: sudo dracut --force {image.path} {image.release}"

    def propose(self, *, wanted: bool) -> Mapping[str, bytes | None]:
        return {CONF: templates.dracut_conf(path=PATH).encode() if wanted else None}

    def made(self, view: HostView, entries: Sequence[Entry]) -> Iterable[Image]:
        """Return the images. An image with another name has early microcode, or another program named it with
        a hash; if such an image is booted, it is not known how to build it."""
        kernels = releases(view)
        named = [path for name in view.names("/boot") if release_of(path := f"/boot/{name}", kernels)]
        images = {path: release_of(path, kernels) for path in (*booted(view, entries), *named)}
        return [Image(path, release, built=bool(release)) for path, release in images.items()]

    def commands(self, view: HostView, images: Sequence[Image]) -> Iterable[tuple[str, ...]]:
        knows = any("--no-uefi)" in text_or_empty(view, program) for program in self.PROGRAMS)
        options = ("--force", "--no-uefi") if knows else ("--force",)
        for path, release, *_ in images:
            yield (*_QUIET, self.TOOL, *options, "--rebuild", path, f"{path}.new", release)
            yield ("mv", "-f", f"{path}.new", path)

    def maker(self, view: HostView) -> Maker:
        """Return the commands that rebuild every image with the name of a kernel, and those that
        kernel-install(8) put next to them."""
        each = tuple(self.commands(view, [Image(IMAGE, RELEASE)]))
        return Maker(self.TOOL, self.TOOL, every=(*_NAMED, *on(PARTITIONS, f"*/{RELEASE}/init*")), each=each)

    def inside(self, host: Host, image: Image) -> bytes | None:
        listing = printed_lines(host, (self.LOOKS, image.path))
        if listing is None:
            raise Unreadable(image.path, "it cannot be listed")
        listed = {line.rpartition(" ")[2] for line in listing}  # as `ls -l` prints them
        inside = None
        for name in (f"{root}{PATH.lstrip('/')}" for root in _ROOTS):
            if name in listed:
                answer = host.query((self.LOOKS, "--file", name, image.path))
                inside = answer.stdout.encode() if answer is not None and answer.ok else b""
                if not inside:  # 059 lists files packed by squash, and cannot print them
                    raise Unreadable(image.path, f"{name} cannot be printed")
        return inside


GENERATOR = Dracut()
