"""rEFInd, with the refind_linux.conf that lies beside the kernels.

Each normal row gets the arguments inside its quotes. rEFInd reads the file for every kernel that it finds in
the folder, so that kernels to come have them too. Rows with minimal options stay as they are, and so do those
of an installation medium. Stanzas that somebody wrote into refind.conf are reported: they have arguments of
their own. There is no trial boot: rEFInd has nothing that it boots once by itself.

Known from rEFInd's source (0.14.2: ReadLinuxOptionsFile, ReadTokenLine, mkrlconf) and from recorded hosts.
Rows were read alike by us and by its ReadTokenLine, on 469 made by chance; nothing was booted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import efi, loader_entries, roles
from rocmcfg.backends.boot.chain import MenuChain
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.entry_options import Written
from rocmcfg.backends.boot.menu import Entry
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex

_NAMES = ("refind_linux.conf", "refind-linux.conf")  # the first of them in a folder counts
_PROGRAM = regex(r"refind_(?:x64|aa64|ia32)\.efi|refind\.conf")
_QUOTED = r'"((?:[^"\r\n]|"")*)"'
_ROW = regex(rf"^[ \t]*(?:{_QUOTED}|([^\s\"#=,]+))[ \t=,]+{_QUOTED}[ \t]*(?:#.*)?$")
_NO_ROW = regex(r"^[ \t]*(?:#.*)?$")
_PATH = "\\refind_".encode("utf-16-le")
# an entry by hand: its title, and what stands between its braces (refind/config.c, AddStanzaEntries)
_STANZA = regex(r'^[ \t]*menuentry[ \t]+"?([^"{\n]+?)"?[ \t]*\{([^}]*)\}', re.MULTILINE)
_LINUX = regex(r"^[ \t]*loader[ \t]+\S*(?:vmlinuz|bzimage|/linux|\\linux)", re.MULTILINE | re.IGNORECASE)
_DISABLED = regex(r"^[ \t]*disabled\b", re.MULTILINE)


class _Refind(MenuChain):
    """Rows of a title and its arguments. In them blanks, `=` and `,` separate, `#` outside of quotes ends a
    line, `""` inside of them is one quote (refind/config.c, ReadTokenLine)."""

    NAME = "refind"
    FILE = _NAMES[0]
    FILES = _NAMES
    TITLE = "rEFInd"
    EDIT_KEY = "F2 twice"
    NO_TRIAL = "it has no entry that it boots once by itself"
    LOADER = "refind"
    MANUAL = "append inside the quotes of each line of {path}: {kargs}"
    NO_ENTRY = (
        "write the first row anew with the root= of this system (sudo mkrlconf --force); one that was made "
        "on an installation medium has the arguments of that"
    )

    def here(self, view: HostView) -> tuple[str, ...]:
        found = self.files(view)
        return (*found, *_programs(view)) if found else ()

    def files(self, view: HostView) -> tuple[str, ...]:
        """Each beside the kernels that it is for."""
        named = ([f"{folder}/{name}" for name in _NAMES] for folder in loader_entries.efi_folders(view))
        return loader_entries.once(view, (next(filter(view.exists, paths), "") for paths in named))

    def written(self, view: HostView, path: str, text: str) -> Iterator[Written]:
        root, at = roles.root_of(view), 0
        for line in text.split("\n"):
            found = _ROW.match(line.rstrip("\r"))
            if found:
                title = (found[1] or found[2] or "").replace('""', '"')
                kargs = split(found[3].replace('""', '"'), path)
                entry = Entry(title, title, "", "", (), kargs, roles.told((title,), kargs, root))
                yield Written(entry, at + found.start(3), at + found.end(3), '"')
            at += len(line) + 1

    def told(self, view: HostView) -> tuple[str, ...]:
        """rEFInd does not say that it ran, but the firmware which program it started. A loader that it passed
        on to says so itself, or leaves BOOT_IMAGE on the kernel's line, as GRUB does."""
        if efi.handed_over(view, "LoaderInfo", "") or "BOOT_IMAGE=" in text_or_empty(view, "/proc/cmdline"):
            return ()
        current = efi.value(view, "BootCurrent", efi.GLOBAL)[:2]
        name = f"Boot{int.from_bytes(current, 'little'):04X}"
        started = len(current) == 2 and _PATH in efi.value(view, name, efi.GLOBAL).lower()
        return (f"the firmware started it: {name}",) if started else ()

    def to_come(self, view: HostView) -> list[tuple[Karg, ...]]:
        """They have the rows of those that are there."""
        return []

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        for path in self.files(view):
            for number in unread(text_or_empty(view, path)):
                said = "this line is no row: rEFInd takes a title and the arguments, each in double quotes"
                hint = 'write it as "title" "arguments", or put a # before it'
                yield error("RC3128", said, location=f"{path}:{number}", hint=hint)

    def unmanaged(self, view: HostView) -> Iterator[Diagnostic]:
        texts = [text_or_empty(view, path) for path in _programs(view) if path.endswith(".conf")]
        titles = [
            title
            for text in texts
            for title, body in _STANZA.findall(re.sub(r"(?m)^[ \t]*#.*$", "", text))
            if _LINUX.search(body) and not _DISABLED.search(body.partition("submenuentry")[0])
        ]
        if titles:
            said = f"{len(titles)} stanzas of refind.conf do not get the arguments: {', '.join(titles[:3])}"
            yield warning("RC3127", said, hint="add them to their line `options` by hand if you boot them")


def _programs(view: HostView) -> tuple[str, ...]:
    """rEFInd itself and its configuration, where their partition can be looked into."""
    folders = loader_entries.efi_folders(view)
    names = ((folder, name) for folder in folders for name in view.names(folder))
    found = (f"{folder}/{name}" for folder, name in names if _PROGRAM.fullmatch(name.lower()))
    return loader_entries.once(view, found)


def unread(text: str) -> Iterator[int]:
    """The lines, counted from 1, that are no row of two quoted texts."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not _ROW.match(line.rstrip("\r")) and not _NO_ROW.match(line.rstrip("\r")):
            yield number


BACKEND = _Refind()
