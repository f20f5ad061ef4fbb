"""rEFInd, with the refind_linux.conf that lies next to the kernels, or with stanzas in refind.conf.

rocmcfg adds the arguments to each normal row, inside its quotes. rEFInd reads the file for every kernel that
it finds in the folder, so kernels installed later have them too. rocmcfg does not change rows with minimal
options or rows of an installation medium. A stanza written by hand in refind.conf gets the arguments in its
`options` line; entries of its submenu that add to that line get them as well, and the plan warns about this.
rocmcfg only reports stanzas of a file that refind.conf includes, and stanzas without such a line in double
quotes. There is no trial, because rEFInd cannot boot an entry once by itself.

Sources: rEFInd's source (0.14.2: ReadLinuxOptionsFile, ReadTokenLine, mkrlconf) and recorded hosts. rocmcfg's
reader and rEFInd's ReadTokenLine agreed on 469 randomly generated rows; nothing was booted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.refind.stanzas import Stanza, includes, stanzas
from rocmcfg.loaders.shared import efi, loader_entries, roles, specials
from rocmcfg.loaders.shared.chain import MenuChain
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.loaders.shared.entry_options import Written
from rocmcfg.loaders.shared.menu import Entry, Menu, Role
from rocmcfg.loaders.shared.roles import Judged
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex

_NAMES = ("refind_linux.conf", "refind-linux.conf")  # the first of them in a folder counts
_PROGRAM = regex(r"refind_(?:x64|aa64|ia32)\.efi|refind\.conf")
_QUOTED = r'"((?:[^"\r\n]|"")*)"'
_ROW = regex(rf"^[ \t]*(?:{_QUOTED}|([^\s\"#=,]+))[ \t=,]+{_QUOTED}[ \t]*(?:#.*)?$")
_NO_ROW = regex(r"^[ \t]*(?:#.*)?$")
_PATH = "\\refind_".encode("utf-16-le")
_CONFIG = "refind.conf"

# refind/linux.c, AddKernelToSubmenu; refind/config.c, ReadTokenLine
_SPECIAL = specials.specials("rEFInd", {"%v": "the version of the kernel", "\n": "the end of the line"})


class _Refind(MenuChain):
    """Reads rows of a title and its arguments. Blanks, `=` and `,` separate words, `#` outside of quotes ends
    a line, and `""` inside of quotes is one quote (refind/config.c, ReadTokenLine)."""

    NAME = "refind"
    FILE = _NAMES[0]
    FILES = (*_NAMES, _CONFIG)
    TITLE = "rEFInd"
    EDIT_KEY = "F2 twice"
    NO_TRIAL = "it cannot boot an entry once by itself"
    LOADER = "refind"
    SPECIAL = (*_SPECIAL, *specials.KERNEL)
    MANUAL = "append inside the quotes of each line of {path}: {kargs}"
    NO_ENTRY = (
        "regenerate the first row with the root= of this system (sudo mkrlconf --force); a row that was "
        "generated on an installation medium has the arguments of that medium"
    )

    def here(self, view: HostView) -> tuple[str, ...]:
        paths = self.files(view)
        return tuple(dict.fromkeys((*paths, *_programs(view)))) if paths else ()

    def files(self, view: HostView) -> tuple[str, ...]:
        """Return the files with rows, each next to its kernels, and the files with stanzas."""
        return (*self.with_rows(view), *_configs(view))

    def with_rows(self, view: HostView) -> tuple[str, ...]:
        named = ([f"{folder}/{name}" for name in _NAMES] for folder in loader_entries.efi_folders(view))
        return loader_entries.once(view, (next(filter(view.exists, paths), "") for paths in named))

    def written(self, view: HostView, path: str, text: str) -> Iterator[Written]:
        if path.lower().endswith(f"/{_CONFIG}"):
            yield from _stanzas_written(view, path, text)
            return
        root, at = roles.root_of(view), 0
        rows: list[tuple[str, tuple[Karg, ...], int, int]] = []
        for line in text.split("\n"):
            match = _ROW.match(line.rstrip("\r"))
            if match:
                title = (match[1] or match[2] or "").replace('""', '"')
                kargs = split(match[3].replace('""', '"'), path)
                rows.append((title, kargs, at + match.start(3), at + match.end(3)))
            at += len(line) + 1
        settled = roles.settled([roles.judged((title,), kargs, root) for title, kargs, _, _ in rows])
        for (title, kargs, start, end), judgement in zip(rows, settled, strict=True):
            yield Written(
                Entry(title, title, "", "", (), kargs, judgement.role, judgement.why), start, end, '"'
            )

    def proof_of_boot(self, view: HostView) -> tuple[str, ...]:
        """Return what proves that rEFInd booted the host. rEFInd does not report that it ran, but the
        firmware reports which program it started. A loader that rEFInd started reports itself, or leaves
        BOOT_IMAGE on the kernel command line, as GRUB does."""
        if loader_entries.passed_on(view):
            return super().proof_of_boot(view)
        if efi.handed_over(view, "LoaderInfo", "") or "BOOT_IMAGE=" in text_or_empty(view, "/proc/cmdline"):
            return ()
        current = efi.value(view, "BootCurrent", efi.GLOBAL)[:2]
        name = f"Boot{int.from_bytes(current, 'little'):04X}"
        started = len(current) == 2 and _PATH in efi.value(view, name, efi.GLOBAL).lower()
        return (f"the firmware started it: {name}",) if started else ()

    def to_come(self, view: HostView) -> list[tuple[Karg, ...]]:
        """Return no lines: kernels installed later use the rows of the present ones."""
        return []

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        for path in self.with_rows(view):
            for number in unread(text_or_empty(view, path)):
                summary = (
                    "this line is not a row: rEFInd expects a title and the arguments, each in double quotes"
                )
                hint = 'write it as "title" "arguments", or put a # before it'
                yield error("RC3128", summary, location=f"{path}:{number}", hint=hint)

    def remarks(self, view: HostView, menu: Menu) -> Iterator[Diagnostic]:
        yield from super().remarks(view, menu)
        titles = {entry.title for entry in menu.normal}
        added = [
            f"{stanza.above}: {stanza.title}"
            for path in _configs(view)
            for stanza in _linux(view, path)
            if stanza.inherits and stanza.above in titles
        ]
        if added:
            summary = f"entries of submenus get the arguments too: {', '.join(added[:3])}"
            detail = "rEFInd derives them from the `options` line of their stanza"
            hint = "add an `options` line to the entry that you keep for repairs"
            yield warning("RC3185", summary, detail=detail, location=menu.path, hint=hint)

    def unmanaged(self, view: HostView) -> Iterator[Diagnostic]:
        left = [
            (stanza, path)
            for path in (*_configs(view), *_included(view))
            for stanza in _linux(view, path)
            if not stanza.inherits and (not _is_ours(stanza) or path not in _configs(view))
        ]
        if left:
            titles, (first, path) = ", ".join(stanza.title for stanza, _ in left[:3]), left[0]
            summary = f"{len(left)} stanzas of refind.conf do not get the arguments: {titles}"
            hint = 'if you boot them, add the arguments by hand: options "…" in double quotes'
            yield warning("RC3127", summary, location=f"{path}:{first.line}", hint=hint)


def _stanzas_written(view: HostView, path: str, text: str) -> Iterator[Written]:
    """Yield the stanzas with their own arguments, each with the place of the line that sets them."""
    root = roles.root_of(view)
    own = [stanza for stanza in stanzas(text) if stanza.starts_linux and not stanza.inherits]
    lines = [split(stanza.options.text if stanza.options else "", path) for stanza in own]
    judged = [
        roles.judged((stanza.title,), kargs, root, stanza.loader, (stanza.initrd,))
        if _is_ours(stanza)
        else Judged(Role.FOREIGN, "it has no `options` line with all arguments in double quotes")
        for stanza, kargs in zip(own, lines, strict=True)
    ]
    for stanza, kargs, (role, why, _) in zip(own, lines, roles.settled(judged), strict=True):
        title = f"{stanza.above}: {stanza.title}" if stanza.above else stanza.title
        entry = Entry(title, title, stanza.loader.replace("\\", "/"), "", (), kargs, role, why)
        start, end = (stanza.options.start, stanza.options.end) if stanza.options else (-1, -1)
        yield Written(entry, start, end, '"')


def _linux(view: HostView, path: str) -> list[Stanza]:
    return [stanza for stanza in stanzas(text_or_empty(view, path)) if stanza.starts_linux]


def _is_ours(stanza: Stanza) -> bool:
    """Return whether a stanza has a line into which rocmcfg can write: of unquoted words rEFInd takes only
    the first."""
    return stanza.options is not None and stanza.options.quoted


def _configs(view: HostView) -> tuple[str, ...]:
    """Return each refind.conf with a stanza that starts Linux."""
    configs = (path for path in _programs(view) if path.lower().endswith(f"/{_CONFIG}"))
    return tuple(path for path in configs if _linux(view, path))


def _included(view: HostView) -> tuple[str, ...]:
    """Return the files that every refind.conf includes, each from the folder of that refind.conf."""
    configs = [path for path in _programs(view) if path.lower().endswith(f"/{_CONFIG}")]
    named = (
        (path.rpartition("/")[0], name) for path in configs for name in includes(text_or_empty(view, path))
    )
    return tuple("/".join((folder, name.replace("\\", "/").lstrip("/"))) for folder, name in named)


def _programs(view: HostView) -> tuple[str, ...]:
    """Return rEFInd's program and configuration files, where their partition can be read."""
    folders = loader_entries.efi_folders(view)
    names = ((folder, name) for folder in folders for name in view.names(folder))
    paths = (f"{folder}/{name}" for folder, name in names if _PROGRAM.fullmatch(name.lower()))
    return loader_entries.once(view, paths)


def unread(text: str) -> Iterator[int]:
    """Yield the numbers, counted from 1, of lines that are not a row of two quoted texts."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not _ROW.match(line.rstrip("\r")) and not _NO_ROW.match(line.rstrip("\r")):
            yield number


BACKEND = _Refind()
