"""Record the files and images that programs are about to regenerate, before the programs run, and copy the
images."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from contextlib import suppress

from rocmcfg import initramfs
from rocmcfg.change.transaction.programs import Progress
from rocmcfg.host.view import Host, HostView, Snapshot, Unreadable
from rocmcfg.initramfs import Generator, Image
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import loader_entries
from rocmcfg.loaders.shared.menu import Entry, Menu
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.file_state import Stamp
from rocmcfg.model.plan import Activation
from rocmcfg.records import journal
from rocmcfg.records.steps import Before, ImageFound, Saved


def note(
    host: Host, id: int, loader: str, due: Sequence[Activation], progress: Progress, *, outputs: bool
) -> Before:
    """Return, for the journal, the state of things before these programs run. Copy the images if there is
    room. `outputs` says to include the menus, which an apply saves before each program. Raise
    RocmcfgError."""
    look = Snapshot(host)
    menu = menu_of(look, loader)
    paths = [*registry.backend(loader).entry_files(look)] if loader in registry.NAMES else []
    paths += [path for step in due for path in step.outputs] if outputs else []
    files: dict[str, Saved | None] = {}
    for path in dict.fromkeys(paths):
        with suppress(Unreadable):  # a link or a folder, which no undo would restore
            state = host.state(path)
            files[path] = journal.save(host, id, state) if state else None
    images = _images(host, look, id, due, menu)
    if images and journal.has_room(host, sum(image.size for image in images.values())):
        progress("copying the images that will be rebuilt")
        drop_copies(host, other_than=id)
        for path, image in images.items():
            _copy(host, id, path, image.file)
        images = {path: image._replace(copied=True) for path, image in images.items()}
    entries = menu.normal if menu is not None else ()
    kernels = {path: has for path, has in booted(entries).items() if loader_entries.located(look, path)}
    return Before(kernels, files, images)


def booted(entries: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    """Return the kernels of these entries, as the loader names them, and the words that all entries of each
    kernel have."""
    kernels: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        has: tuple[str, ...] = ("initrd",) if entry.initrds else ()
        has += ("root",) if any(karg.name == "root" for karg in entry.kargs) else ()
        kernels[entry.path] = tuple(word for word in has if word in kernels.get(entry.path, has))
    return kernels


def menu_of(view: HostView, loader: str) -> Menu | None:
    reader = registry.reader(loader)
    return reader.menu(view) if reader is not None else None


def _images(
    host: Host, look: HostView, id: int, due: Sequence[Activation], menu: Menu | None
) -> dict[str, ImageFound]:
    noted = {}
    for step in due if host.runs_tools else ():
        looked: dict[str, Image] = {}
        if (generator := generator_of(step.tool)) is not None and step.images:
            looked = {image.path: image for image in generator.images(look, menu.entries if menu else ())}
        for path in step.images:
            with suppress(Unreadable):  # a link: its target is an image of its own
                if (stamp := host.stamp(path)) is not None and stamp.size:
                    image = looked.get(path, Image(path, ""))
                    holds = None
                    if image.carries is not None:
                        listing = host.new_file("\n".join(image.holds).encode(), 0o600)
                        holds = journal.save(host, id, listing).sha256
                    noted[path] = ImageFound(step.tool, _saved(stamp), stamp.size, image.release, holds)
    return noted


def _saved(stamp: Stamp) -> Saved:
    xattrs = tuple((key, base64.b64encode(value).decode()) for key, value in stamp.xattrs)
    return Saved(stamp.sha256, stamp.mode, stamp.uid, stamp.gid, stamp.mtime_ns, xattrs)


def _copy(host: Host, id: int, path: str, saved: Saved) -> None:
    copy = journal.image_of(id, saved.sha256)
    if host.exists(copy):
        return
    host.make_dir(os.path.dirname(copy), 0o700)
    mine = host.new_file(b"", 0o600)
    host.copy(path, copy, Stamp(saved.sha256, host.size(path), mine.mode, mine.uid, mine.gid, saved.mtime_ns))
    now = host.stamp(copy)
    if now is None or now.sha256 != saved.sha256:
        host.remove(copy)
        raise Unreadable(
            path, "it changed while it was being copied", "wait until the program that writes it finishes"
        )


def with_copies(view: HostView) -> list[int]:
    """Return the transactions that hold copies of images."""
    return [id for id in journal.ids(view) if view.is_dir(os.path.dirname(journal.image_of(id, "x")))]


def drop_copies(host: Host, *, other_than: int = 0) -> None:
    """Remove the copies of transactions that are over. A copy that stays only takes up room, so no failure
    here is an error."""
    with suppress(RocmcfgError):
        for folder in (
            os.path.dirname(journal.image_of(id, "")) for id in with_copies(host) if id != other_than
        ):
            for name in host.names(folder):
                host.remove(f"{folder}/{name}")
            host.remove_dir(folder)


def generator_of(tool: str) -> Generator | None:
    return next((generator for generator in initramfs.backends() if tool == generator.TOOL), None)
