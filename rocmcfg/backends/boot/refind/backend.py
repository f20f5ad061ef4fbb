"""rEFInd: the rows of refind_linux.conf, and a word about stanzas of refind.conf."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import efi
from rocmcfg.backends.boot.chain import MenuChain
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.refind import reader
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import Karg
from rocmcfg.model.regex import regex

_PATH = "\\refind_".encode("utf-16-le")
# an entry by hand: its title, and what stands between its braces (refind/config.c, AddStanzaEntries)
_STANZA = regex(r'^[ \t]*menuentry[ \t]+"?([^"{\n]+?)"?[ \t]*\{([^}]*)\}', re.MULTILINE)
_LINUX = regex(r"^[ \t]*loader[ \t]+\S*(?:vmlinuz|bzimage|/linux|\\linux)", re.MULTILINE | re.IGNORECASE)
_DISABLED = regex(r"^[ \t]*disabled\b", re.MULTILINE)


class _Refind(MenuChain):
    TITLE = "rEFInd"
    EDIT_KEY = "F2 twice"
    NO_TRIAL = "it has no entry that it boots once by itself"
    LOADER = "refind"
    MANUAL = "append inside the quotes of each line of {path}: {kargs}"
    NO_ENTRY = (
        "write the first row anew with the root= of this system (sudo mkrlconf --force); one that was made "
        "on an installation medium has the arguments of that"
    )

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
        for path in reader.files(view):
            for number in reader.unread(text_or_empty(view, path)):
                yield error(
                    "RC3128",
                    "this line is no row: rEFInd takes a title and the arguments, each in double quotes",
                    location=f"{path}:{number}",
                    hint='write it as "title" "arguments", or put a # before it',
                )

    def unmanaged(self, view: HostView) -> Iterator[Diagnostic]:
        """Stanzas that start a Linux kernel."""
        texts = [text_or_empty(view, path) for path in reader.programs(view) if path.endswith(".conf")]
        titles = [
            title
            for text in texts
            for title, body in _STANZA.findall(re.sub(r"(?m)^[ \t]*#.*$", "", text))
            if _LINUX.search(body) and not _DISABLED.search(body.partition("submenuentry")[0])
        ]
        if titles:
            yield warning(
                "RC3127",
                f"{len(titles)} stanzas of refind.conf do not get the arguments: {', '.join(titles[:3])}",
                hint="add them to their line `options` by hand if you boot them",
            )


BACKEND = _Refind(reader)
