"""What GRUB makes of arguments, whoever sets it up: said before anything is written, and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_files import defaults
from rocmcfg.backends.boot.grub_files.mkconfig import parse_entries, sections
from rocmcfg.backends.boot.menu import Entry, Role, behind_separator, size, too_long
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning

_BY_HAND = ("40_custom", "41_custom", "20_linux_xen")


def before_writing(
    observed: Observed, kargs: Sequence[str], carrier: str, lost_at: str, loser: str, cure: str
) -> Iterable[Diagnostic]:
    """`carrier` is the file of ours, `lost_at` where its arguments are dropped again, if anywhere. `loser`
    says in words what drops them, and `cure` what to do about it."""
    length = longest_line(observed.menu.normal, kargs) - size(k.text for k in observed.ours)
    yield from too_long(length, defaults.PATH, "shorten GRUB_CMDLINE_LINUX in the file named above")
    for text in kargs:
        if ";" in text:  # 10_linux copies the arguments into its script without quotes
            yield error(
                "RC3108",
                f"{text}: GRUB reads a semicolon as the end of a command",
                location=carrier,
                hint="leave it away, or give it a value without one"
                if "." not in text.partition("=")[0]
                else "write module parameters to modprobe.d instead: --via modprobe",
            )
    if lost_at:
        yield error(
            "RC3105",
            f"{loser} that is read after ours sets GRUB_CMDLINE_LINUX_DEFAULT anew, without ours",
            location=lost_at,
            hint=f"{cure}, or make it append",
        )
    yield from behind_separator(observed.foreign, kargs)
    if observed.unknown_at:
        yield info(
            "RC3106",
            "the GRUB defaults hold shell code, so the present arguments are read from the menu",
            location=observed.unknown_at,
        )


def not_from_defaults(view: HostView, menu: str) -> list[Diagnostic]:
    """Entries that are not built from GRUB_CMDLINE_LINUX: they boot without our arguments."""
    titles = [
        entry.title
        for section, body in sections(text_or_empty(view, menu))
        if section.endswith(_BY_HAND)
        for entry in parse_entries(body, menu, "10_linux")
        if entry.role is Role.NORMAL
    ]
    if not titles:
        return []
    return [
        warning(
            "RC3107",
            f"{len(titles)} boot entries, written by hand, lack the arguments: {', '.join(titles[:3])}",
            location=menu,
            hint="add the arguments there by hand if you boot them",
        )
    ]


def longest_line(entries: Sequence[Entry], added: Sequence[str]) -> int:
    """Bytes of the longest command line that a kernel would get with these arguments added."""
    # GRUB itself puts BOOT_IMAGE=PATH before the arguments (grub-core/loader/i386/linux.c).
    lines = (len(f"BOOT_IMAGE={entry.path}") + size(k.text for k in entry.kargs) for entry in entries)
    return max(lines, default=0) + size(added)
