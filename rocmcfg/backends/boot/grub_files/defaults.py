"""What the shell files with GRUB's defaults come to, and what would become of our arguments there.

util/grub.d/10_linux.in (GRUB 2.06 to 2.14) puts GRUB_CMDLINE_LINUX and then GRUB_CMDLINE_LINUX_DEFAULT on the
line of every entry but the recovery ones, which get the former alone: what is appended to the latter wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.mkconfig import parse_entries, sections
from rocmcfg.backends.boot.grub_files.shell_assignments import Environment, arguments
from rocmcfg.backends.boot.menu import Menu, Role, behind_separator, no_entry, size, too_long
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.kargs import Karg, contains, tokens

PATH = "/etc/default/grub"
DEFAULT = "GRUB_CMDLINE_LINUX_DEFAULT"
_VARIABLES = ("GRUB_CMDLINE_LINUX", DEFAULT)
_BY_HAND = ("40_custom", "41_custom", "20_linux_xen")


Sourced = tuple[str, str]  # the path of a file, and what the shell sources of it
Texts = Sequence[Sourced]


def observed(menu: Menu, without: Texts, own: Sourced, is_later: Callable[[str], bool]) -> Observed:
    """Of the sourced files without our lines, and of ours. `is_later`: is a `file:line` read after these?"""
    alone, ours = _evaluate(without), arguments(DEFAULT, *own) or ()
    always, default = (_kargs(alone, name) for name in _VARIABLES)
    if always is None or default is None:
        seen = menu.normal[0].kargs if menu.normal else ()
        left = tuple(k for k in seen if k.text != TRIAL_TOKEN and not contains(ours, k.text))
        at = alone.opaque or next((alone.unknown[v] for v in _VARIABLES if v in alone.unknown), "")
        return Observed(menu, left, ours, (), unknown_at=at)
    # only what is added to the same variable after us stands behind us
    later = tuple(k for k in default if is_later(k.source))
    return Observed(menu, (*always, *default), ours, later)


def dropped_by(sources: Texts, ours: int, kargs: Sequence[str]) -> str:
    """Where, after `sources[ours]`, our arguments are lost again; empty where only a shell can tell, too."""
    environment = _evaluate(sources[: ours + 1])
    judged: object = environment
    for path, text in sources[ours + 1 :]:
        environment.read(path, text)
        value = environment.values.get(DEFAULT)
        if value is judged:
            continue  # most files set something else
        judged = value
        found = _kargs(environment, DEFAULT)
        if found is None:
            return ""
        if not all(contains(found, text) for text in kargs):
            return path
    return ""


def _evaluate(sources: Texts) -> Environment:
    environment = Environment()
    for path, text in sources:
        environment.read(path, text)
    return environment


def _kargs(environment: Environment, name: str) -> tuple[Karg, ...] | None:
    text = environment.text(name)
    if text is None:
        return None
    origin = [segment.source for segment in environment.values.get(name, ()) for _ in segment.text]
    return tuple(Karg(token, origin[at]) for token, at in tokens(text))


def before_writing(
    observed: Observed, kargs: Sequence[str], carrier: str, lost_at: str, loser: str, cure: str
) -> Iterable[Diagnostic]:
    """`carrier` is the file of ours, `lost_at` where its arguments are dropped again, by `loser`."""
    if not observed.menu.unreadable and not observed.menu.normal:
        yield no_entry(observed.menu)
    length = longest_line(observed.menu, kargs) - size(k.text for k in observed.ours)
    yield from too_long(length, PATH, "shorten GRUB_CMDLINE_LINUX in the file named above")
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
            f"{loser} that is read after rocmcfg's sets GRUB_CMDLINE_LINUX_DEFAULT anew",
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


def not_from_defaults(view: HostView, menu: str) -> Iterable[Diagnostic]:
    """Entries that are not built from GRUB_CMDLINE_LINUX: they boot without our arguments."""
    titles = [
        entry.title
        for section, body in sections(text_or_empty(view, menu))
        if section.endswith(_BY_HAND)
        for entry in parse_entries(body, menu, "10_linux")
        if entry.role is Role.NORMAL
    ]
    if titles:
        yield warning(
            "RC3107",
            f"{len(titles)} boot entries, written by hand, lack the arguments: {', '.join(titles[:3])}",
            location=menu,
            hint="add the arguments there by hand if you boot them",
        )


def longest_line(menu: Menu, added: Sequence[str]) -> int:
    """Bytes of the longest command line that a kernel would get with these arguments added."""
    # GRUB itself puts BOOT_IMAGE=PATH before the arguments (grub-core/loader/i386/linux.c).
    lines = (len(f"BOOT_IMAGE={entry.path}") + size(k.text for k in entry.kargs) for entry in menu.normal)
    return max(lines, default=0) + size(added)
