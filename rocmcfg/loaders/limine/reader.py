"""Read limine.conf, the tree of entries that Limine shows.

The reader follows Limine's own (common/lib/config.c and common/menu.c of 8.2.0, CONFIG.md of 8 to 12): a line
that begins with slashes opens an entry, and the number of slashes is its depth; `name: value` is an option of
the entry above it, the case of the name does not matter, and the first option of a name counts;
`${NAME}=text` is a macro. Limine itself defines the macros ARCH (8.2.0) and FW_TYPE (CONFIG.md of later
versions).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.shared import entry_options, loader_entries, roles
from rocmcfg.loaders.shared.entry_options import Written
from rocmcfg.loaders.shared.menu import Entry, Role
from rocmcfg.loaders.shared.roles import Judged
from rocmcfg.model.kargs import split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

TRIAL = f"{loader_entries.TRIAL_ID}.conf"  # the title of a trial's entry
FILES = ("limine.conf", "limine.cfg")
FOLDERS = ("", "/limine", "/boot", "/boot/limine")
_MACHINE = regex(r"\bmachine-id=(\w+)")  # names the system for which limine-entry-tool wrote the entry
_VERSION = regex(r"\bversion: (\S+)")
_CMDLINE = ("kernel_cmdline", "cmdline")
_KERNEL = ("path", "kernel_path", "image_path")
_IMAGES = ("efi", "efi_chainload", "uefi")  # protocols that start an EFI program
_MACRO = regex(r"^\$\{([^}\n]*)\}=(.*)$")
_USE = regex(r"\$\{([^}\n]*)\}")
_BUILT_IN = {"ARCH": "x86-64", "FW_TYPE": "UEFI"}
# The first architecture with a program counts: an EFI partition may hold programs for several
_ARCHITECTURES = {
    "x86-64": ("x64.efi", "ia32.efi", "limine-bios.sys"),
    "aarch64": ("aa64.efi",),
    "riscv64": ("riscv64.efi",),
    "loongarch64": ("loongarch64.efi",),
}
_VOLUME = regex(r"^\w+\([^)]*\):")  # the part of a path that names its partition


# The options by name: each value with the place of its line in the text
_Options = dict[str, list[tuple[str, int, int]]]


class Section(NamedTuple):
    """An entry as written in the file. `titles` and `comments` are those above the entry and its own; the
    files of its kernel and initramfs come without their partition and checksum. `start` and `end` are the
    place of its command line in the text, -1 where it has none; `at` and `until` are the place of the whole
    entry."""

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
        """Return whether it starts a unified kernel image, and not another loader or a bare kernel."""
        return self.protocol in _IMAGES and "/efi/linux/" in self.kernel.lower()


def files(view: HostView) -> tuple[str, ...]:
    """Return every limine.conf: which of them Limine reads depends on the place from which it was started."""
    named = ([f"{folder}/{name}" for folder in folders(view)] for name in FILES)
    return next(filter(None, (loader_entries.once(view, paths) for paths in named)), ())


def folders(view: HostView) -> Iterator[str]:
    """Yield the folders where Limine and its configuration may lie (CONFIG.md, "Location of the config
    file")."""
    return loader_entries.efi_folders(view, FOLDERS)


def written(view: HostView, path: str, text: str) -> tuple[Written, ...]:
    return view.once(("limine", path, text), lambda: tuple(_written(view, path, text)))


def _written(view: HostView, path: str, text: str) -> Iterator[Written]:
    for section, judgement in _judged_in(view, text):
        version = _VERSION.search(section.comments)
        name, release = "/".join(section.titles), version[1] if version else ""
        kargs, (role, why, _) = split(section.cmdline, path), judgement
        entry = Entry(name, section.titles[-1], section.kernel, release, section.initrds, kargs, role, why)
        yield Written(entry if section.protocol else None, section.start, section.end)


def judged(view: HostView) -> Iterator[tuple[Section, Role]]:
    """Yield every entry as written, and its role."""
    for path in files(view):
        yield from judged_in(view, text_or_empty(view, path))


def judged_in(view: HostView, text: str) -> Iterator[tuple[Section, Role]]:
    return ((section, judgement.role) for section, judgement in _judged_in(view, text))


def _judged_in(view: HostView, text: str) -> Iterator[tuple[Section, Judged]]:
    machine_id, root = entry_options.machine_id(view), roles.root_of(view)
    every = list(sections(text, _built_in(view)))
    yield from zip(
        every, roles.settled([_judged(section, machine_id, root) for section in every]), strict=True
    )


def _judged(section: Section, machine_id: str, root: roles.Root) -> Judged:
    of = _MACHINE.findall(section.comments)[-1:]
    if section.titles == (TRIAL,):
        return Judged(Role.TRIAL)
    if "Snapshots" in section.titles[:-1]:
        return Judged(Role.SNAPSHOT, "it starts a snapshot")  # the tree of limine-snapper-sync
    if of and machine_id and of != [machine_id]:
        return Judged(Role.FOREIGN, "its machine-id is of another system")
    if section.protocol not in ("linux", *_IMAGES):
        return Judged(Role.FOREIGN, "it does not start a Linux kernel")
    if not section.cmdline:
        return Judged(Role.FOREIGN, "it has no command line")
    return roles.judged(section.titles, split(section.cmdline), root, section.kernel, section.initrds)


def sections(text: str, built_in: Mapping[str, str] = _BUILT_IN) -> Iterator[Section]:
    """Yield the entries in order, directories too. `built_in` are the macros that Limine itself defines."""
    titles: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    options: _Options = {}
    end, begun = -1, 0
    for line_of_file, line in zip([*text.split("\n"), ""], [*_expanded(text, built_in), "/"], strict=True):
        start, end = end + 1, end + 1 + len(line_of_file)
        if line.startswith("/"):
            comments = (*above, " ".join(comment for comment, *_ in options.get("comment", ())))
            if titles:
                yield _section(titles, options, " ".join(comments), begun, min(start, len(text)))
            name = line.lstrip("/")
            depth = len(line) - len(name)
            # an entry more than one level deeper than the one above it has no place in the menu
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


def _built_in(view: HostView) -> dict[str, str]:
    """Return Limine's own macros: ARCH, the architecture at the end of its program's name, and FW_TYPE. A
    program for IA-32 sets ARCH from the processor, and every processor used with such a GPU supports
    x86-64."""
    names = [name.lower() for folder in folders(view) for name in view.names(folder)]
    built = (arch for arch, ending in _ARCHITECTURES.items() if any(name.endswith(ending) for name in names))
    bios = view.exists("/sys/firmware") and not view.exists("/sys/firmware/efi")
    return {"ARCH": next(built, _BUILT_IN["ARCH"]), "FW_TYPE": "BIOS" if bios else _BUILT_IN["FW_TYPE"]}


def _expanded(text: str, built_in: Mapping[str, str]) -> list[str]:
    """Return the lines with their macros replaced. Limine removes every carriage return, and blanks around a
    line."""
    lines = [line.replace("\r", "").strip(" \t") for line in text.split("\n")]
    macros = dict(built_in) | {match[1]: match[2] for line in lines if (match := _MACRO.match(line))}
    return ["" if _MACRO.match(line) else _USE.sub(lambda m: macros.get(m[1], ""), line) for line in lines]
