"""Read boot entries that are one file each, in `loader/entries` (Boot Loader Specification, Type #1).

The reader follows systemd-boot (systemd 257, src/boot/boot.c, `boot_entry_add_type1`): a key without a value
is ignored, the last value of a key wins, and `initrd` and `options` add up. Differences between loaders are
in `loader_files.Rules`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.loaders.shared import efi, marked_arguments, pe_image, roles
from rocmcfg.loaders.shared.loader_files import SYSTEMD_BOOT, Rules, end_of_value, key_of, pairs, uncounted
from rocmcfg.loaders.shared.menu import Entry, Menu, Role
from rocmcfg.loaders.shared.roles import FALLBACK, Judged
from rocmcfg.model.diagnostic import Diagnostic, info, warning
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

# Mount points of the EFI system partition, and of a separate /boot (XBOOTLDR): bootctl(1)
PARTITIONS = ("/efi", "/boot", "/boot/efi", "/esp")
_FOLDERS = tuple(f"{mounted}/loader/entries" for mounted in PARTITIONS)
PATTERNS = tuple(f"{folder}/*.[cC][oO][nN][fF]" for folder in _FOLDERS)  # of a shell
# The entry of a trial. Among entries without a sort-key the one with the lowest name is last, and a dash is
# lower than all other characters (systemd, strverscmp_improved). The underscore is ignored, and keeps the
# name from looking like an option.
TRIAL_ID = "_-rocmcfg-trial"
TRIAL_TITLE = " (trial)"  # follows the title of the copied entry
_ENDING = regex(r"\.conf\Z", re.IGNORECASE)  # in upper or lower case, since FAT ignores it
# A whole line of ours: two blanks distinguish it from a foreign one. It ends as the file ended before.
_LINE = b"options "
_OWN_LINE = regex(
    rb"(?m)^options  rocmcfg\.begin [^\n]*?rocmcfg\.end\n|\noptions  rocmcfg\.begin [^\n]*?rocmcfg\.end\Z"
)
_BOOTS = ("linux", "efi", "uki")
_TOLD = 20  # entries in a remark
_PATHS = (*_BOOTS, "initrd")  # paths on the entry's own partition, with or without a leading slash


class EntryFile(NamedTuple):
    """An entry's file. `first` holds the keys that count once, `initrds` and `options` those that add up."""

    path: str
    id: str
    first: dict[str, str]
    initrds: tuple[str, ...]
    options: str

    @property
    def boots(self) -> str:
        """Return the file of the kernel, as the loader names it; empty for an entry that is not a system."""
        return next((self.first[key] for key in _BOOTS if key in self.first), "")


def parse(path: str, text: str, rules: Rules = SYSTEMD_BOOT) -> EntryFile:
    first: dict[str, str] = {}
    initrds: list[str] = []
    options: list[str] = []
    for key, raw in pairs(text, rules):
        value = "/" + raw.lstrip("/") if key in _PATHS else raw
        if key == "initrd":
            initrds.append(value)
        elif key == "options":
            options.append(value)
        else:
            first[key] = value
    return EntryFile(path, entry_id(path), first, tuple(initrds), " ".join(options))


def with_arguments(content: bytes, ours: bytes | None, rules: Rules = SYSTEMD_BOOT) -> bytes:
    """Return an entry with our part in its present place, or else on its last line of options; or without our
    part. An entry that boots a kernel and has no such line gets one at its end; any other entry without one
    takes no arguments."""
    content = _OWN_LINE.sub(b"", content)
    if marked_arguments.own(content) is not None:
        return marked_arguments.at_end(content, ours)
    lines = content.splitlines(keepends=True)
    options = [n for n, line in enumerate(lines) if key_of(line) == b"options"]
    if ours is not None and options:
        last = lines[options[-1]]
        end = end_of_value(last, rules)
        lines[options[-1]] = marked_arguments.at_end(last[:end], ours) + last[end:]
    elif ours is not None and any(key_of(line) == b"linux" for line in lines):
        ended = content.endswith(b"\n")
        lines.append((b"" if ended else b"\n") + _LINE + ours + (b"\n" if ended else b""))
    return b"".join(lines)


def entry_id(path: str) -> str:
    """Return the part of a file's name that stays the same when its boot counter changes."""
    return _ENDING.sub("", uncounted(path.rpartition("/")[2]))


def read(view: HostView, machine_id: str = "", rules: Rules = SYSTEMD_BOOT) -> tuple[Entry, ...]:
    """Return the entries of all partitions. An entry that names another machine or root file system is
    foreign."""
    return tuple(entry for _, entry in files(view, machine_id, rules))


def files(view: HostView, machine_id: str, rules: Rules = SYSTEMD_BOOT) -> tuple[tuple[str, Entry], ...]:
    """Return the entries of all partitions by their paths. Raises Unreadable."""
    return view.once(("entries", machine_id, rules), lambda: tuple(_files(view, machine_id, rules)))


def _files(view: HostView, machine_id: str, rules: Rules) -> Iterator[tuple[str, Entry]]:
    root, standing = roles.root_of(view), _standing(view)
    for folder in folders(view):
        entries = [(file.path, entry_of(file, machine_id, root)) for file in parsed(view, folder, rules)]
        every = [Judged(entry.role, entry.why, roles.kernel_of(entry.path)) for _, entry in entries]
        for (path, entry), judged in zip(entries, roles.settled(every), strict=True):
            boots = judged.why == FALLBACK and entry.id.lower() == standing
            role, why, _ = Judged(Role.NORMAL) if boots else judged
            yield path, entry._replace(role=role, why=why)


def paths(view: HostView, folder: str, rules: Rules = SYSTEMD_BOOT) -> Iterator[str]:
    return (f"{folder}/{name}" for name in view.names(folder) if rules.is_entry(name))


def is_entry(path: str) -> bool:
    """Return whether a path has the name of an entry of any loader, whether or not the file exists."""
    return path.rpartition("/")[0] in _FOLDERS and path.lower().endswith(".conf")


def parsed(view: HostView, folder: str, rules: Rules = SYSTEMD_BOOT) -> tuple[EntryFile, ...]:
    """Return the entries of a folder as written in their files. Raises Unreadable."""
    return view.once(("entry files", folder, rules), lambda: tuple(_parsed(view, folder, rules)))


def _parsed(view: HostView, folder: str, rules: Rules) -> Iterator[EntryFile]:
    for path in paths(view, folder, rules):
        if (text := view.text(path)) is not None:
            yield parse(path, text, rules)


def booted(view: HostView) -> str:
    """Return the id of the entry that systemd-boot started, in lower case; empty where it is not known."""
    loader_info = efi.handed_over(view, "LoaderInfo", "systemd-boot")
    selected = efi.text(view, "LoaderEntrySelected").lower() if loader_info else ""
    return entry_id(selected) if selected.endswith(".conf") else ""


def choices(view: HostView, partitions: Iterable[str] = PARTITIONS) -> list[str]:
    """Return the default entries: names or patterns, of which the first match counts."""
    patterns = [efi.text(view, "LoaderEntryDefault")]
    for mounted in partitions:
        keys = pairs(text_or_empty(view, f"{mounted}/loader/loader.conf"))
        patterns += [value for key, value in keys if key == "default"]
    return [
        efi.text(view, "LoaderEntrySelected") if pattern.lower() == "@saved" else pattern
        for pattern in patterns
    ]


def _named(entry: Entry) -> str:
    """Return a name that identifies an entry, since several may have the same title."""
    return entry.title if entry.title == entry.id else f"{entry.title} ({entry.id})"


def _standing(view: HostView) -> str:
    """Return the id of the booted entry if it is also the default: then it is not a spare entry, whatever its
    name."""
    booted_id = booted(view)
    return (
        booted_id
        if booted_id and any(entry_id(choice.lower()) == booted_id for choice in choices(view))
        else ""
    )


def passed_on(view: HostView) -> str:
    """Return the program of the booted entry, where systemd-boot started another boot loader; empty where it
    did not, or where that is not known."""
    name = booted(view)
    for path in (path for folder in folders(view) if name for path in paths(view, folder)):
        if entry_id(path).lower() == name:
            file = parse(path, text_or_empty(view, path))
            program = "" if file.options or "linux" in file.first else file.first.get("efi", "")
            mounted = path.partition("/loader/")[0]
            return program if program and not _is_system(view, mounted + program) else ""
    return ""


def _is_system(view: HostView, path: str) -> bool:
    """Return whether a file is a unified kernel image, or is unreadable and in the folder of such images."""
    try:
        image = pe_image.read(view, path)
    except Unreadable:
        image = None
    return ".linux" in image.sections if image is not None else "/efi/linux/" in path.lower()


def left_out(view: HostView, menu: Menu) -> Iterator[Diagnostic]:
    """Yield a remark that lists the unchanged entries with the reasons, and a warning where one of them
    booted this host."""
    left = [entry for entry in menu.entries if entry.role not in (Role.NORMAL, Role.TRIAL)]
    lines = [f"{_named(entry)}: {entry.why or entry.role.value}" for entry in left]
    if left and menu.normal:
        summary = f"{len(left)} of {len(menu.entries)} boot entries are not changed"
        yield info("RC3181", summary, detail="\n".join(lines[:_TOLD]), location=menu.path)
    name = booted(view)
    runs = next((entry for entry in left if name and entry.id.lower() == name), None)
    if runs is not None and menu.normal:
        yield warning(
            "RC3182",
            f"the entry that booted this host, {_named(runs)}, does not get the arguments: "
            + (runs.why or runs.role.value),
            location=menu.path,
            hint=f"boot an entry that gets them: {', '.join(map(_named, menu.normal[:3]))}",
        )


def any_here(view: HostView) -> bool:
    """Return whether there is an entry other than a trial's, which may be a copy of an image."""
    return any(entry.role is not Role.TRIAL for _, entry in files(view, ""))


def folders(view: HostView) -> tuple[str, ...]:
    """Return the folders of entries. A partition that is reachable by two paths counts once."""
    return once(view, filter(view.is_dir, _FOLDERS))


def unmounted(view: HostView) -> str:
    """Return a partition in /etc/fstab whose mount point is empty; empty where there is none."""
    lines = (line.split()[:2] for line in text_or_empty(view, "/etc/fstab").splitlines())
    named = {place[0] for device, *place in filter(None, lines) if place and device[0] != "#"}
    return next(
        (partition for partition in PARTITIONS if partition in named and not view.names(partition)), ""
    )


def on_partition(path: str) -> bool:
    """Return whether a path is on a partition for kernels, images and loaders."""
    return os.path.normpath(path) == path and path.startswith(
        tuple(f"{partition}/" for partition in PARTITIONS)
    )


def located(view: HostView, named: str) -> str:
    """Return the path of a file that a loader names from the root of its file system; empty where no such
    file is found."""
    path = re.sub(r"^\([^)]*\)", "", named)  # GRUB's name of the disk
    places = (f"{root}{path}" for root in ("/boot", *PARTITIONS, ""))
    return next((place for place in places if path.startswith("/") and view.exists(place)), "")


def images(view: HostView) -> Iterator[str]:
    """Yield all files with the name of an image in the folders of unified kernel images."""
    for folder in (f"{mounted}/EFI/Linux" for mounted in PARTITIONS):
        yield from (f"{folder}/{name}" for name in view.names(folder) if name.lower().endswith(".efi"))


def once(view: HostView, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the existing paths, one path for each file."""
    return tuple({view.real_path(path): path for path in paths if view.exists(path)}.values())


def efi_folders(view: HostView, below: Sequence[str] = ("",)) -> Iterator[str]:
    """Yield the folders where loaders and their files may be: the folders `below` each partition, and every
    folder in its EFI."""
    for mounted in PARTITIONS:
        yield from (f"{mounted}{folder}" for folder in below)
        yield from (f"{mounted}/EFI/{name}" for name in view.names(f"{mounted}/EFI"))


def entry_of(file: EntryFile, machine_id: str = "", root: roles.Root = roles.UNKNOWN) -> Entry:
    title, release = file.first.get("title", file.id), file.first.get("version", "")
    kargs = split(file.options, file.path)
    judged = _judged(file, title, kargs, machine_id, root)
    return Entry(file.id, title, file.boots, release, file.initrds, kargs, judged.role, judged.why)


def _judged(file: EntryFile, title: str, kargs: Sequence[Karg], machine_id: str, root: roles.Root) -> Judged:
    if file.id == TRIAL_ID:
        return Judged(Role.TRIAL)
    of = file.first.get("machine-id", "").replace("-", "").lower()
    if of and machine_id and of != machine_id:
        return Judged(Role.FOREIGN, "its machine-id is of another system")
    if not file.boots or (not file.options and ("efi" in file.first or "uki" in file.first)):
        # a memory test, another system, or a program on another disk
        return Judged(Role.FOREIGN, "it starts a program to which it passes no arguments")
    # `~debug`: Fedora's 20-grub.install writes such an entry next to the normal one if so configured
    if "-0-rescue" in file.id or file.id.endswith("~debug"):
        return Judged(Role.RECOVERY, f"its name says {'debug' if file.id.endswith('~debug') else 'rescue'}")
    return roles.judged((title,), kargs, root, file.boots, file.initrds)
