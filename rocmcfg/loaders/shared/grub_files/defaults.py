"""Evaluate the shell files with GRUB's defaults, and find out whether our arguments would have effect there.

util/grub.d/10_linux.in (GRUB 2.06 to 2.14) puts GRUB_CMDLINE_LINUX and then GRUB_CMDLINE_LINUX_DEFAULT on the
line of every entry; recovery entries get only the former. Arguments appended to the latter win.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence

from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.loaders.shared import specials
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.loaders.shared.grub_files import TRIAL_TOKEN, owners_words, script
from rocmcfg.loaders.shared.grub_files.mkconfig import Refused, cut_off, parse_entries, sections
from rocmcfg.loaders.shared.menu import Menu, Role, behind_separator, no_entry, size, too_long
from rocmcfg.loaders.shared.shell_assignments import Environment, arguments
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.edit import Moved
from rocmcfg.model.kargs import Karg, contains
from rocmcfg.model.plan import Activation
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

PATH = "/etc/default/grub"
DEFAULT = "GRUB_CMDLINE_LINUX_DEFAULT"
_VARIABLES = ("GRUB_CMDLINE_LINUX", DEFAULT)
_SNAPSHOTS = "/etc/grub.d/41_snapshots-btrfs"  # of grub-btrfs (4.12, line 200)
_LAST_RESORT = regex(r"fallback|\b0-rescue\b", re.IGNORECASE)
_BY_HAND = ("40_custom", "41_custom", "20_linux_xen")

Sourced = tuple[str, str]  # the path of a file, and the part of its text that the shell sources


class Parts(NamedTuple):
    """The sourced texts: foreign ones before ours, ours, and foreign ones after ours."""

    before: Sequence[Sourced]
    own: Sourced
    after: Sequence[Sourced]


class DefaultsChain(Chain):
    """GRUB with a menu that a program generates from these files. `LOSER` names the thing that may drop our
    arguments, `CURE` is the remedy."""

    LOADER = "grub"
    SPECIAL = (*specials.GRUB, *specials.KERNEL, *specials.SHELL)  # a shell reads what 10_linux copies
    LOSER: str
    CURE: str
    SOURCES: tuple[str, ...] = (PATH,)

    @abstractmethod
    def layout(self, view: HostView) -> tuple[str, tuple[str, ...]]:
        """Return the path of the menu, and the command that generates it."""

    @abstractmethod
    def sourced(self, view: HostView, kargs: Sequence[str] | None = None) -> Parts:
        """Return the sourced texts with our present part, without a trial's variable; or with `kargs` in our
        part."""

    def observe(self, view: HostView) -> Observed:
        menu, parts = self.menu(view), self.sourced(view)
        environment, ours = _evaluate(parts.before), arguments(DEFAULT, *parts.own) or ()
        first = {segment.source for segment in environment.values.get(DEFAULT, ())}
        for source in parts.after:
            environment.read(*source)
        always, default = (_kargs(environment, name) for name in _VARIABLES)
        if always is None or default is None:
            seen = menu.normal[0].kargs if menu.normal else ()
            left = tuple(k for k in seen if k.text != TRIAL_TOKEN and not contains(ours, k.text))
            unknown = environment.unknown
            at = environment.opaque or next((unknown[v] for v in _VARIABLES if v in unknown), "")
            return Observed(menu, left, ours, (), unknown_at=at)
        # only arguments added to the same variable after ours come after ours
        later = tuple(k for k in default if k.source not in first)
        return Observed(menu, (*always, *default), ours, later)

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        """Return the run of the program that generates the menu. If it fails on a full /boot, MENU.new is the
        file that fills it."""
        menu, argv = self.layout(view)
        folder, new = menu.rpartition("/")[0], f"{menu}.new"
        return (Activation(argv[0], (argv,), reason, (menu,), scratch=(new,), writes_at=(folder,)),)

    def cut_off(self, view: HostView) -> str:
        menu, _ = self.layout(view)
        return cut_off(text_or_empty(view, menu))

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        parts = self.sourced(view, kargs)
        if not observed.menu.unreadable and not observed.menu.normal:
            yield no_entry(observed.menu)
        length = longest_line(observed.menu, kargs) - size(k.text for k in observed.ours)
        yield from too_long(length, PATH, "shorten GRUB_CMDLINE_LINUX in the file named above")
        broken = [*_not_copied(_evaluate((*parts.before, *parts.after)))]
        yield from broken
        if not broken and (lost_at := _dropped_by(parts, kargs)):
            summary = f"{self.LOSER} that is read after rocmcfg's overwrites GRUB_CMDLINE_LINUX_DEFAULT"
            yield error("RC3105", summary, location=lost_at, hint=f"{self.CURE}, or make it append")
        yield from behind_separator(observed.foreign, kargs)
        yield from script.expanded_at_boot(observed.foreign)
        if observed.unknown_at:
            summary = "the GRUB defaults hold shell code, so the present arguments are read from the menu"
            yield info("RC3106", summary, location=observed.unknown_at)

    def immovable(self, view: HostView, path: str, line: int, karg: Karg) -> str:
        try:
            content = view.read(path) or b""
        except Unreadable as problem:
            return problem.reason
        return owners_words.problem(content, line, karg.text)

    def moved_out(self, content: bytes, line: int, words: Collection[str]) -> tuple[bytes, Moved]:
        return owners_words.without(content, line, words)

    def remarks(self, view: HostView, menu: Menu) -> Iterable[Diagnostic]:
        """Yield a warning for entries of last resort to which GRUB's scripts give the same arguments as to
        all others: the fallback entries of Arch's 10_linux, and Fedora's 0-rescue where entries are not
        files."""
        named = (
            entry.title for entry in menu.normal if _LAST_RESORT.search(" ".join((entry.title, entry.path)))
        )
        spare = [*named, *(["the snapshots of grub-btrfs"] if view.exists(_SNAPSHOTS) else [])]
        if spare:
            summary = f"entries of last resort get the arguments too: {', '.join(spare[:3])}"
            detail = "GRUB's scripts generate them from the same variable as the everyday entries"
            hint = f"if one of these does not boot either: press {self.EDIT_KEY} and remove the arguments"
            yield warning("RC3183", summary, detail=detail, location=menu.path, hint=hint)
        elif menu.normal and not any(entry.role is Role.RECOVERY for entry in menu.entries):
            summary = "the boot menu has no recovery entry: every entry of this system gets the arguments"
            detail = "this is the case with GRUB_DISABLE_RECOVERY=true, for example"
            yield info("RC3184", summary, detail=detail, location=menu.path)

    def unmanaged(self, view: HostView) -> Iterable[Diagnostic]:
        menu, _ = self.layout(view)
        try:
            titles = [
                entry.title
                for section, body in sections(text_or_empty(view, menu))
                if section.endswith(_BY_HAND)
                for entry in parse_entries(body, menu, "10_linux")
                if entry.role is Role.NORMAL
            ]
        except Refused:  # the error of the menu says so
            return
        if titles:
            summary = f"{len(titles)} boot entries written by hand do not get the arguments: " + ", ".join(
                titles[:3]
            )
            hint = "if you boot these entries, add the arguments there by hand"
            yield warning("RC3107", summary, location=menu, hint=hint)


def _not_copied(environment: Environment) -> Iterable[Diagnostic]:
    """Yield an error for each value that the menu would not pass to the kernel completely, including ours
    after it. Where GRUB could not read the menu, the check of grub-mkconfig fails (grub-script-check)."""
    for name in _VARIABLES:
        command = script.command(environment.text(name) or "")
        if command.problem:
            yield script.not_copied(name, command, _origin(environment, name)[command.at])


def _dropped_by(parts: Parts, kargs: Sequence[str]) -> str:
    """Return the file after ours that drops our arguments; empty where there is none, or where only a shell
    can tell. An argument that GRUB does not pass on is ignored, since no later file is the cause."""
    environment = _evaluate([*parts.before, parts.own])
    arrived = _kargs(environment, DEFAULT)
    kargs = [text for text in kargs if arrived is None or contains(arrived, text)]
    for path, text in parts.after:
        environment.read(path, text)
        kargs_left = _kargs(environment, DEFAULT)
        if kargs_left is None:
            return ""
        if not all(contains(kargs_left, text) for text in kargs):
            return path
    return ""


def _evaluate(sources: Iterable[Sourced]) -> Environment:
    environment = Environment()
    for path, text in sources:
        environment.read(path, text)
    return environment


def _kargs(environment: Environment, name: str) -> tuple[Karg, ...] | None:
    text = environment.text(name)
    if text is None:
        return None
    return script.traced(text, _origin(environment, name))


def _origin(environment: Environment, name: str) -> list[str]:
    """Return, for each character of a value, the line that set it."""
    return [segment.source for segment in environment.values.get(name, ()) for _ in segment.text]


def longest_line(menu: Menu, added: Sequence[str]) -> int:
    """Return the length, in bytes, of the longest command line with these arguments added."""
    # GRUB itself puts BOOT_IMAGE=PATH before the arguments (grub-core/loader/i386/linux.c).
    lines = (len(f"BOOT_IMAGE={entry.path}") + size(k.text for k in entry.kargs) for entry in menu.normal)
    return max(lines, default=0) + size(added)
