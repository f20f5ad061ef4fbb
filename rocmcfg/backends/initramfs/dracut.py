"""dracut (Fedora, EL, openSUSE, Gentoo, Debian from forky on): an image at a time, each beside the old one.

**What is in an image.** /etc/modprobe.d is copied in host-only mode alone (modules.d/90kernel-modules of 059
and 106, 80base of 112, module-setup.sh: `[[ $hostonly ]] && inst_multiple -H -o /etc/modprobe.d/*.conf`).
That mode is on in Fedora and openSUSE by a file of theirs, off in Debian's 059 and 106, on by itself from 109
on, and off again where a kernel is installed in a chroot without /dev (dracut.sh). So what copies our file
today may not do so for the next kernel: our own `CONF` asks for it by name, always, as a file that may be
missing (`install_optional_items`, dracut.conf(5)), so that no image fails for want of it.

**What writes an image.** `--regenerate-all` writes where dracut would put an image today, which is not where
one lies that another package copied (Debian's systemd-boot). And up to 106 dracut.sh ends with `cp` onto the
old image and, if that fails, `rm` of it: a full partition or a power cut there costs the only image. 107 has
the new one written beside and renamed (39a765de, “protect existing output file against build errors”), and so
do we, for every image that has the name of one, with the arguments that it was built with (`--rebuild`: of
kernel-install's plugin, or a spare image that is not host-only). The hooks that Debian's 106 runs afterwards
(/etc/initramfs/post-update.d) would copy the image under the name that it has for that moment:
`NO_POST_UPDATE_HOOKS` leaves them out, and the copies that are booted are images to us.

dracut ends with status 0 also where dracut-install failed and the image holds next to nothing (seen with
106). `uefi=yes` in a configuration would put a unified kernel image there: `--no-uefi`, where the program
knows it (from 052 on; EL 8 has 049).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocmcfg.backends.boot.menu import Entry
from rocmcfg.backends.initramfs import Image, asked, booted, carried, detection, differs, release_of, unproven
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation

NAME = "dracut"
TOOL = "dracut"
LOOKS = "lsinitrd"
CONF = "/etc/dracut.conf.d/90-rocmcfg.conf"
OWNED: tuple[str, ...] = (CONF,)
_PROGRAMS = ("/usr/bin/dracut", "/usr/sbin/dracut", "/sbin/dracut")
_HOOKS = (
    "/etc/kernel/postinst.d/dracut",  # Debian's package dracut; dracut-core alone makes no image
    "/usr/share/libalpm/hooks/90-dracut-install.hook",  # AUR dracut-hook
)
_QUIET = ("env", "NO_POST_UPDATE_HOOKS=1")
# Where a file of an image may lie: what the module squash packs is in an image of its own (lsinitrd, 104).
_ROOTS = ("", "squashfs-root/", "erofs-root/")


def detect(view: HostView) -> Detection | None:
    manual = "sudo dracut --regenerate-all --force"
    return detection(view, NAME, _PROGRAMS, _HOOKS, "50-dracut.install", manual)


def propose(*, wanted: bool) -> Mapping[str, bytes | None]:
    from rocmcfg.backends.modprobe import PATH
    from rocmcfg.backends.templates import HEAD

    # dracut wants blanks at both ends of what is added to a list
    text = (
        f'# the options of modules that an image carries, in every mode\ninstall_optional_items+=" {PATH} "\n'
    )
    return {CONF: f"{HEAD}{text}".encode() if wanted else None}


def images(view: HostView, module: str, entries: Sequence[Entry] = ()) -> tuple[Image, ...]:
    releases = _releases(view, entries)
    return tuple(
        Image(path, release, _carries(view, path, module), built=bool(release))
        for path, release in sorted(releases.items())
    )


def _releases(view: HostView, entries: Sequence[Entry]) -> dict[str, str]:
    """By path, the kernel of each image that dracut writes; empty for one that is booted and has the name of
    none: early microcode, and what another program has named by a hash."""
    paths = [f"/boot/{name}" for name in view.names("/boot") if release_of(view, f"/boot/{name}")]
    return {path: release_of(view, path) for path in (*booted(view, entries), *paths)}


def _carries(view: HostView, path: str, module: str) -> bool | None:
    listing = asked(view, (LOOKS, path))
    return None if listing is None else carried(listing, module)


def preflight(view: HostView, carrying: Sequence[Image]) -> list[Diagnostic]:
    del view, carrying
    return []


def activations(view: HostView, reason: str, entries: Sequence[Entry] = ()) -> tuple[Activation, ...]:
    commands: list[tuple[str, ...]] = []
    paths = []
    knows = any("--no-uefi)" in text_or_empty(view, program) for program in _PROGRAMS)
    options = ("--force", "--no-uefi") if knows else ("--force",)
    for path, release in sorted(_releases(view, entries).items()):
        if release:
            commands.append((*_QUIET, TOOL, *options, "--rebuild", path, f"{path}.new", release))
            commands.append(("mv", "-f", f"{path}.new", path))
            paths.append(path)
    return (Activation(TOOL, tuple(commands), reason, writes_at=tuple(paths) or ("/boot",)),)


def check(host: Host, found: tuple[Image, ...], path: str, expected: bytes | None) -> list[Diagnostic]:
    problems = []
    for image in found:
        if image.carries is False:
            continue
        listing = asked(host, (LOOKS, image.path))
        inside = None
        for name in [name for name in _names(path) if name in _last_words(listing or ())]:
            said = host.query((LOOKS, "--file", name, image.path))
            inside = said.stdout.encode() if said is not None and said.ok else None
            if not inside:  # 059 lists what squash has packed, and cannot print it
                listing = None
        if listing is None:
            problems.append(unproven(image, path, LOOKS))
            continue
        problems += differs(
            image,
            path,
            inside,
            expected,
            why="dracut ended without an error, which it also does where it could not copy a file",
            hint=f"build it by hand and read what it says: sudo dracut --force {image.path} {image.release}",
        )
    return problems


def _names(path: str) -> tuple[str, ...]:
    return tuple(f"{root}{path.lstrip('/')}" for root in _ROOTS)


def _last_words(listing: Sequence[str]) -> set[str]:
    """The paths in lines as `ls -l` prints them."""
    return {line.rpartition(" ")[2] for line in listing}
