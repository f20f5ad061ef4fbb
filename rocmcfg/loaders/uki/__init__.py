"""Unified kernel images, made by ukify, mkinitcpio or dracut.

rocmcfg writes an addon of about 3 KiB next to each image of this system,
EFI/Linux/NAME.efi.extra.d/rocmcfg.addon.efi. systemd-stub reads addons from 254 on and appends them to the
built-in line. The image itself, its initramfs and its signature stay as they are; no rebuild is needed, and
root= cannot get lost. A kernel installed later gets its addon from the hook of kernel-install or of
mkinitcpio. If a stub reads no addons and a file of the user's already holds the line, rocmcfg writes the
arguments into /etc/kernel/cmdline (mkinitcpio, ukify) or a file for dracut instead, and the program that
built the images rebuilds them.

Under Secure Boot the stub ignores an unsigned addon. If the host's files name keys, sbctl or sbsign signs the
addons; otherwise rocmcfg refuses the apply and shows the commands.

A trial is an entry that starts the default image with its built-in line and the trial's arguments; no image
is copied. There is no trial under Secure Boot, where an image accepts only its own line; with another loader
than systemd-boot; and with another value for an argument that an addon already sets, because the stub appends
addons to that line too.

Sources: systemd 257 and 262 (systemd-stub(7), src/boot, ukify), mkinitcpio v41, dracut 106 and 112. Tests
compare addons with those of the real ukify, and images with objdump. On OVMF with systemd-boot and the stubs
of 257.13 and 262.1, the kernel printed the arguments in the stated order, also with a boot counter in the
image's name; under Secure Boot it did so only if sbsign had signed the addon. The virtual machines of the
tests have images of the real ukify, unsigned and signed, and of the real dracut, and an image of a kernel
installed later. sbctl and mkinitcpio were not run: their sources were read, and the tests use stand-ins.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from os.path import basename
from typing import ClassVar

from rocmcfg.files.traces import IMAGE, Maker, Traces, exactly, on
from rocmcfg.host.atomic import temp_name
from rocmcfg.host.view import Host, HostView
from rocmcfg.loaders.shared import efi, entry_options, loader_entries, marked_arguments, specials
from rocmcfg.loaders.shared.chain import EntryChain, Rewrite
from rocmcfg.loaders.shared.contract import Observed, Owned
from rocmcfg.loaders.shared.entry_options import CARRIER, CMDLINE
from rocmcfg.loaders.shared.menu import MISSING, Menu, Role, beaten
from rocmcfg.loaders.shared.one_shot import Listed, SecondEntry
from rocmcfg.loaders.uki import addons, built_in, reader
from rocmcfg.loaders.uki.built_in import DRACUT, Built
from rocmcfg.loaders.uki.reader import Seen, Uki
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.plan import Activation


class _Trial(SecondEntry):
    """Makes an entry that starts the image with a line of its own. Without Secure Boot systemd-stub uses the
    entry's options in place of the built-in line, and appends the addons to them (src/boot/stub.c of 254 to
    262, use_load_options; `make loaders`). The key is `efi`: systemd-boot before 258 does not know `uki`."""

    def original(self, view: HostView, chosen: Listed) -> tuple[str, bytes, int] | None:
        """Return an entry for the default image. Its mode is that of loader.conf, since the mode of a file on
        FAT is determined by the partition."""
        root, _, name = chosen.path.partition("/EFI/Linux/")
        lines = [uki.line for uki in reader.images(view).images if name and uki.path.endswith(f"/{name}")]
        if not lines:
            return None
        beside = view.state(f"{root}/loader/loader.conf")
        text = f"title {name}\nefi /EFI/Linux/{name}\noptions {lines[0]}\n"
        return f"{root}/loader/entries", text.encode(), beside.mode if beside else 0o644

    def beaten(self, view: HostView, chosen: Listed, arguments: Sequence[str]) -> Iterator[Diagnostic]:
        name = chosen.path.rpartition("/")[2]
        kargs = next((entry.kargs for entry in reader.read(view).entries if entry.id == name), ())
        later = [karg for karg in kargs if not karg.source.endswith(f"/{name}")]
        hint = (
            "the stub appends every addon: undo that value (`rocmcfg rollback`) and reboot first; or apply "
            "without --trial"
        )
        yield from beaten(later, arguments, hint)


class _Uki(EntryChain):
    """Writes addons for images, or has the line built in. docs/design.md says which hosts get which, and
    why."""

    NAME = "uki"
    INSTEAD_OF = ("systemd-boot",)
    EDIT_KEY = ""  # the line is part of the image
    OWNED: ClassVar[Owned] = {CARRIER: None, DRACUT: None, CMDLINE: marked_arguments}
    TITLE = "unified kernel images"
    MANUAL = "add to the line that your images are built with, and rebuild them: {kargs}"
    LOADER = "systemd-stub"
    SPECIAL = (*specials.ENTRY, *specials.KERNEL, *specials.SHELL)  # dracut's file is read by bash
    TRIAL = _Trial()

    def here(self, view: HostView) -> tuple[str, ...]:
        return reader.here(view)

    def read(self, view: HostView) -> Menu:
        return reader.read(view)

    def proof_of_boot(self, view: HostView) -> tuple[str, ...]:
        return () if addons.other_loader(view) else reader.proof_of_boot(view)

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        return (*reader.paths(view)[:3], *reader.proof_of_boot(view))

    def observe(self, view: HostView) -> Observed:
        """Return the configured line. Arguments of an addon that is loaded after ours count as later, even if
        our addon does not exist yet."""
        observed = super().observe(view)
        added = (k for entry in observed.menu.normal for k in entry.kargs if ".extra.d/" in k.source)
        behind = {k.text: k for k in added if basename(k.source) > reader.OURS}
        later = tuple({**{k.text: k for k in observed.later}, **behind}.values())
        first = [k for k in observed.foreign if k not in observed.later and k.text not in behind]
        return Observed(observed.menu, (*first, *later), observed.ours, later)

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        proposed = entry_options.propose(settings)
        part, built = proposed[CMDLINE], _built(view, reader.images(view).normal) if settings else None
        path = built.path if built is not None else ""
        dracut = built_in.for_dracut(part.decode()) if part is not None and path == DRACUT else None
        return {**proposed, CMDLINE: part if path == CMDLINE else None, DRACUT: dracut}

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        """Return the step that writes addons or builds images. Images that were built with our part are
        rebuilt even if addons have since replaced it."""
        images = reader.images(view).normal
        built = _built(view, images)
        if built is None and images and efi.starts_only_signed(view):
            signer = " ".join(addons.signer(view, images[0].own_addon)[:2])
            reason += f", and `{signer}` signs each addon" if signer else ""
        if built is None and any(marked_arguments.BEGIN in uki.line for uki in images):
            built = built_in.source(view)
        commands = built.commands if built is not None and view.runs_tools else ()
        signed = [uki.path for uki in images if uki.image.signed and commands]
        commands += tuple(argv for path in signed if (argv := addons.signer(view, path)))
        folders = tuple(dict.fromkeys(uki.path.rpartition("/")[0] for uki in images))
        made = tuple(uki.path for uki in reader.images(view).images) if commands else ()
        return (Activation(self.NAME, commands, reason, writes_at=folders, own=True, images=made),)

    def traces(self, view: HostView) -> Traces:
        named = [path for path in reader.paths(view) if not loader_entries.on_partition(path)]
        images = (*on(loader_entries.PARTITIONS, "EFI/Linux/*.[eE][fF][iI]"), *map(exactly, named))
        own = dict.fromkeys(f"{pattern.rpartition('/')[0]}/*.extra.d/{reader.OURS}" for pattern in images)
        return Traces(self.MOUNT_POINTS, loader_entries.PATTERNS, images, tuple(own), images)

    def makers(self, view: HostView) -> tuple[Maker, ...]:
        """Return the commands that rebuild the images, where the arguments are built into them."""
        signer = addons.signer(view, IMAGE) or None
        return tuple(built_in.by_kernel(maker)._replace(signed_by=signer) for maker in super().makers(view))

    def entry_files(self, view: HostView) -> tuple[str, ...]:
        """Return the paths of our addons: of those that exist and of those that may be written."""
        there = (f"{folder}/{reader.OURS}" for folder in _with_own_addon(view))
        paths = (*there, *(uki.own_addon for uki in reader.images(view).normal))
        return tuple(dict.fromkeys(map(view.real_path, paths)))

    def may_write(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return loader_entries.on_partition(path) and folder.endswith(".extra.d") and name == reader.OURS

    def write_entries(self, host: Host) -> None:
        """Write our addon next to each normal image, and remove all our other addons. An addon with the same
        content is left alone, whoever signed it."""
        arguments, normal = entry_options.asked(host), reader.images(host).normal
        images = normal if arguments and _built(host, normal) is None else ()
        wanted = {host.real_path(uki.addons) for uki in images}
        for folder in _with_own_addon(host):
            if host.real_path(folder) not in wanted:  # even if its image is gone
                host.remove(f"{folder}/{reader.OURS}")
                host.remove_dir(folder)  # a folder with foreign files stays
        for uki in images:
            addons.write(host, uki, addons.line(arguments))

    def rewrites(self, view: HostView, ours: bytes | None, *, tried: bool = False) -> Iterator[Rewrite]:
        """Return nothing: entries that are files are left alone (see `unmanaged`)."""
        return iter(())

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        seen = reader.images(view)
        if observed.menu.unreadable not in ("", MISSING):
            return  # the error of the menu says so
        if not seen.normal:
            detail = f"damaged: {', '.join(seen.damaged)}"
            hint = "rebuild them, and check whether their partition is full"
            if not seen.damaged:
                detail = "no EFI/Linux/*.efi below /efi, /boot or /boot/efi"
                hint = (
                    "mount the EFI system partition (see /etc/fstab, `bootctl status`), then run the command "
                    "again"
                )
            summary = "this host boots a unified kernel image, but none can be found"
            yield error("RC3160", summary, detail=detail, hint=hint)
            return
        yield from super().preflight(view, observed, kargs)
        if reason := addons.impossible(view, seen.normal):
            yield from _by_rebuild(view, seen, reason)
        else:
            yield from _by_addon(view, seen.normal, addons.line(" ".join(kargs)))

    def unmanaged(self, view: HostView) -> Iterator[Diagnostic]:
        """Yield a warning for images that are damaged or hide their addons, and for entries that are files,
        which systemd-boot shows together with the images."""
        seen = reader.images(view)
        for path, damage in seen.damaged.items():
            hint = "rebuild it; it does not boot as it is"
            yield warning("RC3161", f"{path} is left alone: {damage.reason}", location=path, hint=hint)
        if hidden := [uki.path for uki in seen.normal if uki.hides_addons]:
            summary = f"{hidden[0]} boots without the arguments until its boot counter has ended"
            detail = "its stub looks for addons by a name that changes with each try"
            cure = "systemd-bless-boot.service removes the counter after a successful boot"
            yield warning("RC3167", summary, detail=detail, hint=cure)
        entries = loader_entries.read(view, entry_options.machine_id(view))
        if others := [entry.title for entry in entries if entry.role is Role.NORMAL]:
            yield warning(
                "RC3169",
                f"{len(others)} boot entries other than the images do not get the arguments: "
                + ", ".join(others[:3]),
                hint="boot an image instead of them, or write module parameters to modprobe.d: "
                "--via modprobe",
            )


def _built(view: HostView, images: Sequence[Uki]) -> Built | None:
    """Return how the arguments are built into the images; None where the images get addons."""
    return built_in.source(view) if images and addons.impossible(view, images) else None


def _with_own_addon(view: HostView) -> list[str]:
    """Return the directories for addons that hold one of ours or are empty, including those of deleted
    images."""
    folders = dict.fromkeys((f"{partition}/EFI/Linux" for partition in loader_entries.PARTITIONS), None)
    folders |= dict.fromkeys(path.rpartition("/")[0] for path in reader.paths(view))
    own_folders: dict[str, str] = {}
    for path in (f"{folder}/{name}" for folder in folders for name in view.names(folder)):
        if path.endswith(".extra.d") and view.is_dir(path):
            inside = {*view.names(path)}
            if not inside or inside & {reader.OURS, temp_name(reader.OURS)}:
                own_folders[view.real_path(path)] = path
    return list(own_folders.values())


def _by_rebuild(view: HostView, seen: Seen, reason: str) -> Iterator[Diagnostic]:
    built = built_in.source(view)
    if not built.path:
        yield error(
            "RC3162",
            f"an addon would have no effect here: {reason}",
            detail=f"nor can the line be built into the images: {built.refusal}",
            hint="rebuild the images with a stub that reads addons (package systemd-boot-efi), or write "
            "module parameters to modprobe.d: --via modprobe",
        )
        return
    if spare := [uki.path for uki in seen.images if uki.role is Role.RECOVERY]:
        summary = f"{spare[0]} is built with the same line, so it will have the arguments as well"
        hint = "keep another entry that is known to boot, or rebuild the images with a newer stub first"
        yield warning("RC3168", summary, detail=f"the arguments are built in because {reason}", hint=hint)
    if not view.runs_tools:
        commands = "; ".join(shlex.join(argv) for argv in built.commands)
        summary = "the images must be rebuilt, which is only possible on the host itself"
        hint = "boot the host, or run its programs with --chroot, then run the command again"
        yield error("RC3163", summary, detail=f"{reason}\ncommands: {commands}", hint=hint)
    signed = [uki.path for uki in seen.normal if uki.image.signed]
    if signed and not addons.signer(view, signed[0]):
        summary = f"{signed[0]} is signed, and rebuilding it would remove its signature"
        hint = "name your key in the configuration of the builder: uki.conf (ukify), dracut.conf.d, or sbctl"
        yield error("RC3164", summary, detail=f"it would be rebuilt because {reason}", hint=hint)


def _by_addon(view: HostView, images: Sequence[Uki], line: str) -> Iterator[Diagnostic]:
    due = [uki for uki in images if not addons.says(view, uki, line)]
    if not due:
        return
    state, path = efi.secure_boot(view), due[0].own_addon
    if state == efi.ON and not addons.signer(view, path):
        stub = addons.stub_path(due[0].image.machine)
        yield error(
            "RC3165",
            "Secure Boot is on: an unsigned addon is ignored, and no key is known to sign it with",
            detail="with keys of your own, for each image:\n"
            f"sudo mkdir -p {shlex.quote(due[0].addons)}\n"
            f"sudo ukify build --stub={stub} --cmdline={shlex.quote(line)} \\\n"
            "  --secureboot-private-key=KEY --secureboot-certificate=CERTIFICATE \\\n"
            f"  --output={shlex.quote(path)}\n"
            "or, to create keys: sudo sbctl create-keys && sudo sbctl enroll-keys --microsoft",
            location=path,
            hint="name your key and certificate in /etc/kernel/uki.conf and install sbsign, or use sbctl, "
            "then run the command again",
        )
    elif not state and any(uki.image.signed for uki in due):
        summary = "cannot determine whether Secure Boot is on, and the images are signed"
        hint = "if Secure Boot is on, apply on the booted host: an unsigned addon is ignored there"
        yield warning("RC3166", summary, location=due[0].path, hint=hint)


BACKEND = _Uki()
