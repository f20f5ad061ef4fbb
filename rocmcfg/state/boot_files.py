"""Identify the files from which this host boots, so that two states of the host can be compared byte for
byte."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry

_FOLDERS = ("/boot", "/efi", "/etc/modprobe.d", "/etc/rocmcfg")
_DEPTH, _MOST = 8, 50_000  # folders below each of these, and files
_OF_EVERY_BOOT = frozenset(("random-seed",))  # systemd-boot writes it in every boot
# systemd-boot counts the boots of an entry in its name (Automatic Boot Assessment).
_COUNTER = re.compile(r"\+[0-9]+(?:-[0-9]+)?(?=\.(?:conf|efi)$)")


def boot_files(view: HostView, loader: str) -> dict[str, str]:
    """Return for each file what identifies its content, mode, owner and attributes, or the link that it is.
    The text of the loader for the next boot is one more entry, since no file of its own holds it."""
    ours = registry.inputs(loader)
    # of /etc, what the owner wrote beside ours: /etc/default/grub, /etc/kernel/cmdline
    folders = {"/".join(path.split("/")[:3]) for path in ours if path.count("/") > 2}
    identities: dict[str, str] = {}
    for path in (*_files(view, sorted({*_FOLDERS, *folders})), *sorted(ours)):
        identity = _identity(view, path)
        if identity:
            identities[_COUNTER.sub("", path)] = identity
    trial = registry.trial(loader)
    if trial is not None and (held := trial.keeper(view).held(view)) is not None:
        identities[f"({trial.keeper(view).KEEPS})"] = held
    return identities


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that differ."""
    return tuple(path for path in sorted({*before, *after}) if before.get(path) != after.get(path))


def _files(view: HostView, folders: list[str]) -> Iterator[str]:
    rest = [(folder, _DEPTH) for folder in folders]
    seen, files = {*folders}, 0
    # the blocks of keepers: loaders write them too
    skipped = _OF_EVERY_BOOT | {os.path.basename(keeper.BLOCK) for keeper in registry.keepers()}
    while rest and files < _MOST:
        folder, depth = rest.pop()
        for name in view.names(folder):
            path = f"{folder}/{name}"
            if view.is_dir(path) and not view.is_symlink(path):
                if depth and path not in seen:
                    seen.add(path)
                    rest.append((path, depth - 1))
            elif name not in skipped:
                files += 1
                yield path


def _identity(view: HostView, path: str) -> str:
    """Return what identifies a file; empty where there is none."""
    if link := view.link(path):
        return f"link to {link}"
    try:
        stamp = view.stamp(path)
    except Unreadable as problem:
        return str(problem.diagnostics[0].summary)
    if stamp is None:
        return ""
    attributes = " ".join(name for name, _ in stamp.xattrs)
    return f"{stamp.sha256} {stamp.mode:o} {stamp.uid}:{stamp.gid} {attributes}".rstrip()
