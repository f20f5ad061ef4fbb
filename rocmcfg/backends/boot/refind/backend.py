"""rEFInd: the rows of refind_linux.conf, and a word about stanzas of refind.conf."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import entry_options
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import Role
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.backends.boot.refind import reader, rows
from rocmcfg.backends.boot.refind.rows import Row
from rocmcfg.host.view import Host, HostView, Unreadable, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER,)
_FIRMWARE = "/sys/firmware/efi/efivars/{}-8be4df61-93ca-11d2-aa0d-00e098032b8c"  # UEFI's own variables
_PATH = "\\refind_".encode("utf-16-le")
# an entry by hand: its title, and what stands between its braces (refind/config.c, AddStanzaEntries)
_STANZA = re.compile(r'^[ \t]*menuentry[ \t]+"?([^"{\n]+?)"?[ \t]*\{([^}]*)\}', re.MULTILINE)
_LINUX = re.compile(r"^[ \t]*loader[ \t]+\S*(?:vmlinuz|bzimage|/linux|\\linux)", re.MULTILINE | re.IGNORECASE)
_DISABLED = re.compile(r"^[ \t]*disabled\b", re.MULTILINE)


def detect(view: HostView) -> Detection | None:
    found = reader.files(view)
    if not found:
        return None
    started = _started(view)
    return Detection(
        NAME,
        "rEFInd",
        (*found, *reader.programs(view), *started),
        proof=bool(started),
        supported=True,
        manual=f"append inside the quotes of each line of {found[0]}: {{kargs}}",
    )


def _started(view: HostView) -> tuple[str, ...]:
    """rEFInd does not say that it ran, but the firmware which program it started. Where that passed on to
    another boot loader, this one says so itself, or leaves BOOT_IMAGE on the kernel's line, as GRUB does."""
    if handed_over(view, "LoaderInfo", "") or "BOOT_IMAGE=" in text_or_empty(view, "/proc/cmdline"):
        return ()
    try:
        current = (view.read(_FIRMWARE.format("BootCurrent")) or b"")[4:6]
        name = f"Boot{int.from_bytes(current, 'little'):04X}"
        option = view.read(_FIRMWARE.format(name)) if len(current) == 2 else None
    except Unreadable:
        return ()
    return (f"the firmware started it: {name}",) if _PATH in (option or b"").lower() else ()


def observe(view: HostView) -> Observed:
    return entry_options.observe(view, reader.read(view), [])


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    return {path: content for path, content in entry_options.propose(settings).items() if path in OWNED}


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    folders = dict.fromkeys(path.rpartition("/")[0] for path in reader.files(view))
    return (entry_options.activation(NAME, reason, [*folders]),)


def write_entries(host: Host) -> None:
    role_of = reader.judge(host)

    def normal(row: Row) -> bool | None:
        role = role_of(row)
        return None if role is Role.FOREIGN else role is Role.NORMAL

    def rewrite(content: bytes, ours: bytes | None) -> bytes:
        return rows.with_arguments(content, ours, normal)

    entry_options.rewrite_files(host, ((path, rewrite) for path in reader.files(host)))


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    hint = (
        "write the first row anew with the root= of this system (sudo mkrlconf --force); one that was made "
        "on an installation medium has the arguments of that"
    )
    problems = list(entry_options.preflight(observed, kargs, hint))
    for path in reader.files(view):
        for number in rows.unread(text_or_empty(view, path)):
            problems.append(
                error(
                    "RC3128",
                    "this line is no row: rEFInd takes a title and the arguments, each in double quotes",
                    location=f"{path}:{number}",
                    hint='write it as "title" "arguments", or put a # before it',
                )
            )
    return problems


def unmanaged(view: HostView) -> list[Diagnostic]:
    titles = [
        title
        for path in reader.programs(view)
        if path.endswith(".conf")
        for title in _stanzas(text_or_empty(view, path))
    ]
    if not titles:
        return []
    return [
        warning(
            "RC3127",
            f"{len(titles)} stanzas of refind.conf do not get the arguments: {', '.join(titles[:3])}",
            hint="add them to their line `options` by hand if you boot them",
        )
    ]


def _stanzas(text: str) -> Iterator[str]:
    """The titles of those that start a Linux kernel."""
    for title, body in _STANZA.findall(re.sub(r"(?m)^[ \t]*#.*$", "", text)):
        if _LINUX.search(body) and not _DISABLED.search(body.partition("submenuentry")[0]):
            yield title


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
