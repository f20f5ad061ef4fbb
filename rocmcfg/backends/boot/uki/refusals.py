"""What would go wrong, before anything is written: images that cannot be seen or must not be built anew, and
addons that would be ignored."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import entry_options, marked_arguments, secure_boot
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import Role
from rocmcfg.backends.boot.uki import addon, built_in, reader, signing
from rocmcfg.backends.boot.uki.reader import Uki
from rocmcfg.backends.boot.uki.way import normal, says, takes_no_addon
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, error, warning


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    images = normal(view)
    if observed.menu.unreadable:
        return []  # the menu itself says so
    if not images:
        return [_nothing_seen(view)]
    problems = list(entry_options.preflight(observed, kargs))
    reason = takes_no_addon(view, images)
    return [*problems, *(_by_rebuild(view, reason) if reason else _by_addon(view, images, kargs))]


def _nothing_seen(view: HostView) -> Diagnostic:
    damaged = [uki.path for uki in reader.images(view) if uki.damage is not None]
    return error(
        "RC3160",
        "this host boots a unified kernel image, and none of it can be seen",
        detail=f"damaged: {', '.join(damaged)}"
        if damaged
        else "no EFI/Linux/*.efi below /efi, /boot or /boot/efi",
        hint="build them anew, and see whether the partition they lie on is full"
        if damaged
        else "mount the EFI system partition (see /etc/fstab, `bootctl status`), then run the command again",
    )


def _by_rebuild(view: HostView, reason: str) -> Iterator[Diagnostic]:
    built = built_in.source(view)
    if not built.path:
        yield error(
            "RC3162",
            f"an addon would do nothing here: {reason}",
            detail=f"and the line cannot be built into the images: {built.refusal}",
            hint="build the images anew with a stub that reads addons (package systemd-boot-efi), or write "
            "module parameters to modprobe.d: --via modprobe",
        )
        return
    spare = [uki.path for uki in reader.images(view) if uki.role is Role.RECOVERY]
    if spare:
        yield warning(
            "RC3168",
            f"{spare[0]} is built with the same line, so that it will have the arguments as well",
            detail=f"they are built in because {reason}",
            hint="keep another entry that is known to boot, or bring the images to a newer stub first",
        )
    commands = "; ".join(" ".join(argv) for argv in built.commands)
    if not view.runs_tools:
        yield error(
            "RC3163",
            "the images have to be built anew, which their program must do on the host itself",
            detail=f"{reason}\nby: {commands}",
            hint="boot it, or give the program its own root with --chroot, then run the command again",
        )
    signed = [uki.path for uki in normal(view) if uki.image is not None and uki.image.signed]
    if signed and not signing.command(view, signed[0]):
        yield error(
            "RC3164",
            f"{signed[0]} is signed, and building it anew would leave it without its signature",
            detail=f"it would be built anew because {reason}",
            hint="name your key where the builder reads it: uki.conf (ukify), dracut.conf.d, or sbctl",
        )


def _by_addon(view: HostView, images: Sequence[Uki], kargs: Sequence[str]) -> Iterator[Diagnostic]:
    line = marked_arguments.part(" ".join(kargs)).decode().strip()
    state = secure_boot.state(view)
    due = [uki for uki in images if not says(view, uki, line, enforced=state == secure_boot.ON)]
    if not due:
        return
    signer = signing.command(view, due[0].own_addon)
    if state == secure_boot.ON and not signer:
        path = due[0].own_addon
        stub = addon.stub_path(due[0].image.machine if due[0].image else 0)
        yield error(
            "RC3165",
            "Secure Boot is on: an addon that is not signed is ignored, and no key is known to sign it with",
            detail="with keys of your own, for each image:\n"
            f"sudo mkdir -p {shlex.quote(due[0].addons)}\n"
            f"sudo ukify build --stub={stub} --cmdline={shlex.quote(line)} \\\n"
            "  --secureboot-private-key=KEY --secureboot-certificate=CERTIFICATE \\\n"
            f"  --output={shlex.quote(path)}\n"
            "or, to have keys: sudo sbctl create-keys && sudo sbctl enroll-keys --microsoft",
            location=path,
            hint="name your key and certificate in /etc/kernel/uki.conf and install sbsign, or use sbctl, "
            "then run the command again",
        )
    elif not state and any(uki.image is not None and uki.image.signed for uki in due):
        yield warning(
            "RC3166",
            "whether Secure Boot is on cannot be seen from here, and the images are signed",
            location=due[0].path,
            hint="where it is on, apply on the booted host: an addon that is not signed is ignored there",
        )
