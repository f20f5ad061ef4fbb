"""limine.conf: the tree of entries that Limine shows, in whichever file there is.

Read as Limine reads it (common/lib/config.c and common/menu.c of 8.2.0, CONFIG.md of 8 to 12): a line that
begins with slashes opens an entry, as deep as it has slashes; `name: value` is an option of the entry above
it, whatever the case of its name, and the first of a name counts; `${NAME}=text` is a macro.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.backends.boot import entry_options, loader_entries, roles
from rocmcfg.backends.boot.entry_options import Written
from rocmcfg.backends.boot.menu import Entry, Role
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.kargs import split
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.regex import regex

TRIAL = f"{loader_entries.TRIAL_ID}.conf"  # the title of the entry that is one
FILES = ("limine.conf", "limine.cfg")
_FOLDERS = ("", "/limine", "/boot", "/boot/limine")
_MACHINE = regex(r"\bmachine-id=(\w+)")  # of the system that limine-entry-tool wrote it for
_VERSION = regex(r"\bversion: (\S+)")
_CMDLINE = ("kernel_cmdline", "cmdline")
_KERNEL = ("path", "kernel_path", "image_path")
_IMAGES = ("efi", "efi_chainload", "uefi")  # protocols that start an EFI program
_MACRO = regex(r"^\$\{([^}\n]*)\}=(.*)$")
_USE = regex(r"\$\{([^}\n]*)\}")
_VOLUME = regex(r"^\w+\([^)]*\):")  # of a path: which partition it is on


# By name, each with the place of its line in the text
_Options = dict[str, list[tuple[str, int, int]]]


class Section(NamedTuple):
    """An entry as it is written: the titles above it and its own; the files of its kernel and initramfs
    without their partition and checksum; the comments above it and its own. `start` and `end` are where the
    line of its command line stands in the text, -1 where it has none; `at` and `until` where all of it is."""

    titles: tuple[str, ...]
    protocol: str
    kernel: str
    initrds: tuple[str, ...]
    cmdline: str
    comments: str
    start: int
    end: int
    at: int
    until: int

    @property
    def is_image(self) -> bool:
        """Whether it starts a unified kernel image, and not another loader or a bare kernel."""
        return self.protocol in _IMAGES and "/efi/linux/" in self.kernel.lower()


def files(view: HostView) -> tuple[str, ...]:
    """Every limine.conf: which of several Limine takes depends on where itself was started from."""
    named = ([f"{folder}/{name}" for folder in folders(view)] for name in FILES)
    return next(filter(None, (loader_entries.once(view, paths) for paths in named)), ())


def folders(view: HostView) -> Iterator[str]:
    """Where Limine and its configuration may lie (CONFIG.md, "Location of the config file")."""
    return loader_entries.efi_folders(view, _FOLDERS)


def written(view: HostView, path: str, text: str) -> Iterator[Written]:
    for one, role in judged_in(view, text):
        version = _VERSION.search(one.comments)
        name, release = "/".join(one.titles), version[1] if version else ""
        kargs = split(one.cmdline, path)
        entry = Entry(name, one.titles[-1], one.kernel, release, one.initrds, kargs, role)
        yield Written(entry if one.protocol else None, one.start, one.end)


def judged(view: HostView) -> Iterator[tuple[Section, Role]]:
    """Every entry as it is written, and what it is for."""
    for path in files(view):
        yield from judged_in(view, text_or_empty(view, path))


def judged_in(view: HostView, text: str) -> Iterator[tuple[Section, Role]]:
    machine_id, root = entry_options.machine_id(view), roles.root_of(view)
    for one in sections(text):
        of = _MACHINE.findall(one.comments)[-1:]
        another = bool(of and machine_id) and of != [machine_id]
        if one.titles == (TRIAL,):
            role = Role.TRIAL
        elif "Snapshots" in one.titles[:-1]:
            role = Role.SNAPSHOT  # the tree of limine-snapper-sync
        elif another or one.protocol not in ("linux", *_IMAGES) or not one.cmdline:
            role = Role.FOREIGN
        else:
            role = roles.told((*one.titles, *one.initrds), split(one.cmdline), root)
        yield one, role


def sections(text: str) -> Iterator[Section]:
    """The entries in order, directories too."""
    titles: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    options: _Options = {}
    end, begun = -1, 0
    for line_of_file, line in zip([*text.split("\n"), ""], [*_expanded(text), "/"], strict=True):
        start, end = end + 1, end + 1 + len(line_of_file)
        if line.startswith("/"):
            comments = (*above, " ".join(said for said, *_ in options.get("comment", ())))
            if titles:
                yield _section(titles, options, " ".join(comments), begun, min(start, len(text)))
            name = line.lstrip("/")
            depth = len(line) - len(name)
            # one that is deeper than what is above it has no place in the menu
            placed = depth <= len(titles) + 1
            titles = (*titles[: depth - 1], name.removeprefix("+").strip()) if placed else ()
            above = comments[: depth - 1]
            options, begun = {}, start
        else:
            name, colon, value = line.partition(":")
            if colon and not line.startswith("#"):
                options.setdefault(name.lower(), []).append((value.strip(), start, end))


def _section(titles: tuple[str, ...], options: _Options, comments: str, at: int, until: int) -> Section:
    (protocol, *_), (kernel, *_), (cmdline, start, end) = (
        next((options[name][0] for name in names if name in options), ("", -1, -1))
        for names in (("protocol",), _KERNEL, _CMDLINE)
    )
    initrds = tuple(_file_of(path) for path, *_ in options.get("module_path", ()))
    names = protocol.lower(), _file_of(kernel), initrds
    return Section(titles, *names, cmdline, comments, start, end, at, until)


def _file_of(path: str) -> str:
    return "/" + _VOLUME.sub("", path).partition("#")[0].lstrip("/")


def _expanded(text: str) -> list[str]:
    lines = [line.strip() for line in text.split("\n")]
    macros = {found[1]: found[2] for line in lines if (found := _MACRO.match(line))}
    return ["" if _MACRO.match(line) else _USE.sub(lambda m: macros.get(m[1], ""), line) for line in lines]
