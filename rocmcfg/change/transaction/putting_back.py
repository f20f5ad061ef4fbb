"""Restore recorded files and images, and detect those that need no restoring."""

from __future__ import annotations

import base64
import os
from collections.abc import Collection, Mapping

from rocmcfg.host.view import Host, HostView, Unreadable, Unwritable
from rocmcfg.model.file_state import Stamp
from rocmcfg.records import journal
from rocmcfg.records.journal import digest
from rocmcfg.records.steps import ImageFound, Saved

_MARGIN = 1 << 20  # bytes that a file system needs for its metadata besides an image


def is_as_saved(view: HostView, path: str, saved: Saved | None) -> bool:
    """Return whether a file has the content, mode and owner that were saved, or is absent as it was then."""
    if saved is None or view.is_symlink(path):
        return saved is None and view.hollow(path) == "gone"
    try:
        now = view.state(path)
    except Unreadable:  # a directory, a pipe, or larger than any menu
        return False
    owned = (saved.mode, saved.uid, saved.gid)
    return now is not None and digest(now.content) == saved.sha256 and (now.mode, now.uid, now.gid) == owned


def digest_now(view: HostView, path: str) -> str:
    """Return the digest of a file, or an empty string if it does not exist or cannot be read."""
    try:
        stamp = view.stamp(path)
    except Unreadable:
        return ""
    return stamp.sha256 if stamp is not None else ""


def put_files_back(host: Host, id: int, files: Mapping[str, Saved | None], *, cut_off: bool = False) -> None:
    """Restore each file that differs from what was saved. Write nothing else, because a full disk may be why
    a tool failed. With `cut_off`, restore only files that the tool began to write: they end within a line and
    are shorter than before. Raise Unwritable."""
    for path, saved in files.items():
        if is_as_saved(host, path, saved):
            continue
        if cut_off and (saved is None or not _ends_within_a_line(host, path)):
            continue
        if saved is None:
            host.remove(path)
            continue
        state = journal.restore(host, id, saved)
        if cut_off and not (state.content.endswith(b"\n") and host.size(path) < len(state.content)):
            continue
        _clear_directory(host, path)
        for folder in host.missing_folders(os.path.dirname(path)):
            host.make_dir(folder, 0o755)
        host.write(path, state, keep_mtime=True)


def _clear_directory(host: Host, path: str) -> None:
    """Remove a directory that a program left in place of a file. Whatever it contains is not rocmcfg's to
    remove; writing the file then fails. Raise Unwritable."""
    if host.hollow(path) == "a directory":
        host.remove_dir(path)


def _ends_within_a_line(view: HostView, path: str) -> bool:
    """Return whether a regular file was cut off. A missing file, or one that is not a regular file, was
    not."""
    try:
        now = None if view.hollow(path) not in ("", "empty") else view.read(path)
    except Unreadable:
        return False
    return now is not None and not now.endswith(b"\n")


def put_images_back(host: Host, id: int, images: Mapping[str, ImageFound], useless: Collection[str]) -> None:
    """Remove temporary files of programs next to an image, and restore each changed image from its copy,
    which is written next to the image and renamed. If there is no room for both, remove a `useless` image
    first: a power cut then leaves no image, and the next recovery continues from the copy. Raise Unwritable
    after all images were tried, BadJournal for a damaged copy."""
    full: list[Unwritable] = []
    for path, image in images.items():
        left, need = f"{path}.new", image.size + _MARGIN
        try:
            _clear_directory(host, left)
            # Update-initramfs and dracut leave these even next to an intact image.
            if host.hollow(left) != "gone":
                host.remove(left)
        except Unwritable as problem:
            full.append(problem)
            continue
        if not image.copied or digest_now(host, path) == image.file.sha256:
            continue
        copy = journal.image_of(id, image.file.sha256)
        if digest_now(host, copy) != image.file.sha256:
            raise journal.bad(copy, "the copy of an image is missing or damaged", "build that image manually")
        host.discard_temporary(path)
        if host.free(path) < need and path in useless and host.free(path) + host.size(path) >= need:
            host.remove(path)
        try:
            _clear_directory(host, path)
            host.copy(copy, path, _stamp(image))
        except Unwritable as problem:
            full.append(problem)
    if full:
        raise full[0]


def _stamp(image: ImageFound) -> Stamp:
    sha256, mode, uid, gid, mtime_ns, xattrs = image.file
    plain = tuple((k, base64.b64decode(value)) for k, value in xattrs if k != "security.capability")
    return Stamp(sha256, image.size, mode & 0o777, uid, gid, mtime_ns, plain)
