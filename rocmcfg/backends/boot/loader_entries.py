"""Boot entries that are a file each, in `loader/entries` (Boot Loader Specification, Type #1), read as
systemd-boot reads them (systemd 257, src/boot/boot.c, `boot_entry_add_type1`): a key without a value counts
for nothing, of a key the last value wins; `initrd` and `options` add up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.backends.boot import marked_arguments, roles
from rocmcfg.backends.boot.menu import Entry, Role
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.kargs import split
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.regex import regex

# Where the EFI system partition, and /boot of its own beside it (XBOOTLDR), are mounted: bootctl(1)
PARTITIONS = ("/efi", "/boot", "/boot/efi", "/esp")
_FOLDERS = tuple(f"{mounted}/loader/entries" for mounted in PARTITIONS)
# Of a trial. Of entries without a sort-key the lowest name is the last, and a dash is lower than all others
# (systemd, strverscmp_improved). The underscore counts for nothing, and keeps it from looking like an option.
TRIAL_ID = "_-rocmcfg-trial"
TRIAL_TITLE = " (trial)"  # behind the title of what it is a copy of
# Automatic Boot Assessment: tries left, tries done; and the ending, in any case, since FAT knows none
_ENDING = regex(r"(?:\+[0-9]+(?:-[0-9]+)?)?\.conf\Z", re.IGNORECASE)
# A line that is ours as a whole: two blanks tell it from one of others. It ends as the file did before.
_LINE = b"options "
_OWN_LINE = regex(
    rb"(?m)^options  rocmcfg\.begin [^\n]*?rocmcfg\.end\n|\noptions  rocmcfg\.begin [^\n]*?rocmcfg\.end\Z"
)
_BOOTS = ("linux", "efi", "uki")
_PATHS = (*_BOOTS, "initrd")  # on the entry's own partition, with or without a slash before them


class EntryFile(NamedTuple):
    """`first` holds the keys that count once, `initrds` and `options` those that add up."""

    path: str
    id: str
    first: dict[str, str]
    initrds: tuple[str, ...]
    options: str

    @property
    def boots(self) -> str:
        """The file of the kernel, as the loader names it; empty for what is no system."""
        return next((self.first[key] for key in _BOOTS if key in self.first), "")


def parse(path: str, text: str) -> EntryFile:
    first: dict[str, str] = {}
    initrds: list[str] = []
    options: list[str] = []
    for line in text.splitlines():
        key, *rest = line.split(maxsplit=1)[:2] or [""]
        value = rest[0].strip() if rest else ""
        if not value or key.startswith("#"):
            continue
        if key in _PATHS:
            value = "/" + value.lstrip("/")
        if key == "initrd":
            initrds.append(value)
        elif key == "options":
            options.append(value)
        else:
            first[key] = value
    return EntryFile(path, entry_id(path), first, tuple(initrds), " ".join(options))


def with_arguments(content: bytes, ours: bytes | None) -> bytes:
    """An entry with our part where it stands, else on its last line of options, or without any. One that
    boots a kernel and has no such line gets one at its end; what else has none takes no arguments."""
    content = _OWN_LINE.sub(b"", content)
    if marked_arguments.own(content) is not None:
        return marked_arguments.at_end(content, ours)
    lines = content.splitlines(keepends=True)
    options = [n for n, line in enumerate(lines) if line.split(maxsplit=1)[:1] == [b"options"]]
    if ours is not None and options:
        lines[options[-1]] = marked_arguments.at_end(lines[options[-1]], ours)
    elif ours is not None and any(line.split(maxsplit=1)[:1] == [b"linux"] for line in lines):
        ended = content.endswith(b"\n")
        lines.append((b"" if ended else b"\n") + _LINE + ours + (b"\n" if ended else b""))
    return b"".join(lines)


def entry_id(path: str) -> str:
    """What stays the same when the boot counter in the file's name goes on."""
    return _ENDING.sub("", path.rpartition("/")[2])


def read(view: HostView, machine_id: str = "") -> tuple[Entry, ...]:
    """The entries of all partitions; one that names another machine or root file system is none of ours."""
    return tuple(entry for _, entry in files(view, machine_id))


def files(view: HostView, machine_id: str) -> Iterator[tuple[str, Entry]]:
    root = roles.root_of(view)
    for folder in folders(view):
        for file in parsed(view, folder):
            entry = entry_of(file, machine_id)
            role = Role.FOREIGN if roles.another_root(entry.kargs, root) else entry.role
            if role is Role.NORMAL:
                role = roles.told((entry.title,), entry.kargs, root)
            yield file.path, entry._replace(role=role)


def paths(view: HostView, folder: str) -> Iterator[str]:
    return (path for name in view.names(folder) if is_entry(path := f"{folder}/{name}"))


def is_entry(path: str) -> bool:
    """By its name, whether it is there or not."""
    return path.rpartition("/")[0] in _FOLDERS and path.lower().endswith(".conf")


def parsed(view: HostView, folder: str) -> Iterator[EntryFile]:
    """Raises Unreadable."""
    for path in paths(view, folder):
        if (text := view.text(path)) is not None:
            yield parse(path, text)


def any_here(view: HostView) -> bool:
    """Whether there is an entry but that of a trial, which may be one of an image."""
    return any(entry.role is not Role.TRIAL for _, entry in files(view, ""))


def folders(view: HostView) -> tuple[str, ...]:
    """A partition that is mounted below another one, or linked to it, counts once."""
    return once(view, filter(view.is_dir, _FOLDERS))


def unmounted(view: HostView) -> str:
    """A partition of the host's list whose folder is empty."""
    lines = (line.split()[:2] for line in text_or_empty(view, "/etc/fstab").splitlines())
    named = {place[0] for device, *place in filter(None, lines) if place and device[0] != "#"}
    return next((one for one in PARTITIONS if one in named and not view.names(one)), "")


def on_partition(path: str) -> bool:
    """Whether a path lies where kernels, images and loaders do."""
    return os.path.normpath(path) == path and path.startswith(tuple(f"{one}/" for one in PARTITIONS))


def located(view: HostView, named: str) -> str:
    """Where a file lies that a loader names from the root of its file system; empty where none is seen."""
    path = re.sub(r"^\([^)]*\)", "", named)  # GRUB's name of the disk
    places = (f"{root}{path}" for root in ("/boot", *PARTITIONS, ""))
    return next((one for one in places if path.startswith("/") and view.exists(one)), "")


def images(view: HostView) -> Iterator[str]:
    """Where unified kernel images lie, with what else has such a name there."""
    for folder in (f"{mounted}/EFI/Linux" for mounted in PARTITIONS):
        yield from (f"{folder}/{name}" for name in view.names(folder) if name.lower().endswith(".efi"))


def once(view: HostView, paths: Iterable[str]) -> tuple[str, ...]:
    """Those that there are, one path for each."""
    return tuple({view.real_path(path): path for path in paths if view.exists(path)}.values())


def efi_folders(view: HostView, below: Sequence[str] = ("",)) -> Iterator[str]:
    """Where loaders and their files may lie: what is `below` each partition, and every folder of its EFI."""
    for mounted in PARTITIONS:
        yield from (f"{mounted}{folder}" for folder in below)
        yield from (f"{mounted}/EFI/{name}" for name in view.names(f"{mounted}/EFI"))


def entry_of(file: EntryFile, machine_id: str = "") -> Entry:
    title, release = file.first.get("title", file.id), file.first.get("version", "")
    kargs, role = split(file.options, file.path), _role(file, machine_id)
    return Entry(file.id, title, file.boots, release, file.initrds, kargs, role)


def _role(file: EntryFile, machine_id: str) -> Role:
    if file.id == TRIAL_ID:
        return Role.TRIAL
    of = file.first.get("machine-id", "").replace("-", "").lower()
    another = of and machine_id and of != machine_id
    own_line = not file.options and ("efi" in file.first or "uki" in file.first)
    if another or not file.boots or own_line:
        return Role.FOREIGN  # a memory test or another system, and what is started from another disk
    # `~debug`: what Fedora's 20-grub.install writes beside an entry where it is told to
    spare = "-0-rescue" in file.id or file.id.endswith("~debug")
    spare = spare or any("fallback" in path for path in (file.boots, *file.initrds))
    return Role.RECOVERY if spare else Role.NORMAL
