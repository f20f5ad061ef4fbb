"""kernelstub: Pop!_OS on machines with EFI, where systemd-boot shows the entries that kernelstub writes.

kernelstub keeps the kernel options in its own configuration, and `kernelstub -a` adds rocmcfg's options to
it. kernelstub then writes the entries of the newest kernel and of the previous one. The requested arguments
are also in /etc/rocmcfg/kernel-arguments; an option that was set before rocmcfg stays the user's. kernelstub
exits with status 0 even if it could not do its work, so rocmcfg reads the configuration and the entries
afterwards.

An undo runs `kernelstub -d`, which removes only rocmcfg's options and forgets the order of all options.
rocmcfg refuses to begin if the order matters (two values of one argument), if entries have options that are
not in kernelstub's configuration (it would drop them), or if kernelstub writes no entries.

Source: kernelstub 3.1.4 (3fb4e06, 2025-11). Tested with a stand-in, not on a real host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from rocmcfg.host.foreign import json_value, parsing
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders.shared import entry_options, kept_arguments, loader_entries, specials
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.loaders.shared.entry_options import asked
from rocmcfg.loaders.shared.kept_arguments import KeptChain
from rocmcfg.loaders.shared.menu import Entry, Menu, Role, not_asked_for
from rocmcfg.loaders.shared.one_shot import SecondEntry
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import Karg

CONFIGURATION = "/etc/kernelstub/configuration"
_OWN = ("root", "ro", "initrd")  # kernelstub puts these before the options


class _Kernelstub(KeptChain):
    """Runs kernelstub. Its `-a` appends missing options, its `-d` turns the rest into a set
    (kernelstub/application.py, `main`)."""

    NAME = "kernelstub"
    PROGRAM = "/usr/bin/kernelstub"
    DECISIVE = True
    MOUNT_POINTS = loader_entries.PARTITIONS
    TITLE = "kernelstub (Pop!_OS)"
    GENERATORS = (NAME,)
    SPECIAL = (*specials.ENTRY, *specials.KERNEL)
    TRIAL = SecondEntry()
    MANUAL = 'sudo kernelstub -a "{kargs}"      (never -o: it replaces everything)'
    TOOL = NAME
    BLOCK = CONFIGURATION
    KEEPS = "the kernel options of every entry that it writes"
    SHOWS: tuple[str, ...] = ("cat", CONFIGURATION)

    def here(self, view: HostView) -> tuple[str, ...]:
        evidence = (CONFIGURATION, self.PROGRAM)
        return (*evidence, *loader_entries.folders(view)) if all(map(view.exists, evidence)) else ()

    def read(self, view: HostView) -> Menu:
        menu = entry_options.menu_with(view, map(_of, loader_entries.read(view)))
        return menu._replace(tool=self.TOOL, dropped_by=CONFIGURATION)

    def lines(self, view: HostView, observed: Observed) -> Iterator[Sequence[Karg]]:
        yield from super().lines(view, observed)
        with suppress(Unreadable):  # `preflight` says so
            yield [Karg(option, CONFIGURATION) for option in user(view)["kernel_options"]]

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        try:
            configuration = user(view)
        except Unreadable as problem:
            yield from problem.diagnostics
            return
        options, ours = configuration["kernel_options"], {karg.text for karg in observed.ours}
        kept = [Karg(option) for option in options]
        yield from not_asked_for(observed.menu, kept, _OWN, self.TOOL, CONFIGURATION)
        yield from _order_lost([*(option for option in options if option not in ours), *kargs])
        if configuration.get("live_mode") or not configuration.get("setup_loader"):
            why = "this is a live system" if configuration.get("live_mode") else "setup_loader is not set"
            summary = f"kernelstub writes no boot entries on this host: {why}"
            hint = "add the arguments to the boot loader that this host uses"
            yield error("RC3152", summary, location=CONFIGURATION, hint=hint)

    def unable(self, view: HostView) -> Iterator[Diagnostic]:
        """Yield why the program cannot make a change now. An undo checks this too, and leaves options that
        are not ours alone. Raises Unreadable."""
        ours = asked(view).split()
        return _order_lost([option for option in user(view)["kernel_options"] if option not in ours])

    def held(self, view: HostView, ours: str = "") -> str | None:
        """Return our arguments that are in its configuration or on an entry, since kernelstub writes the
        entries first. Raises Unreadable."""
        on_entries = (karg.text for entry in self.readable_menu(view).normal for karg in entry.kargs)
        there = {*user(view)["kernel_options"], *on_entries}
        return kept_arguments.text([word for word in kept_arguments.words(ours) if word in there])

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        kept, had = kept_arguments.words(wanted), kept_arguments.words(held)
        add = [word for word in kept if word not in had]
        gone = [word for word in had if word not in kept]
        return (self.TOOL, *(("-a", " ".join(add)) if add else ()), *(("-d", " ".join(gone)) if gone else ()))

    def writes_at(self, view: HostView) -> tuple[str, ...]:
        return (CONFIGURATION, *loader_entries.folders(view))

    def damaged(self, view: HostView) -> bool:
        """Return whether the configuration cannot be read: kernelstub empties the file before it writes."""
        try:
            user(view)
        except Unreadable:
            return True
        return False


def user(view: HostView) -> dict[str, Any]:
    """Return the settings of the configuration for this host (kernelstub/config.py). Raises Unreadable."""
    text = view.text(CONFIGURATION)
    with parsing(CONFIGURATION, "it is not in kernelstub's format"):
        document: dict[str, dict[str, Any]] = json_value(text or "")
        options = document["user"]["kernel_options"]
        if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
            raise Unreadable(CONFIGURATION, "its kernel_options are not a list of words")
        return document["user"]


def _of(entry: Entry) -> Entry:
    """Return an entry with its role: kernelstub writes NAME-current and NAME-oldkern, and leaves others alone
    (kernelstub/installer.py)."""
    other = Role.RECOVERY if entry.id.startswith("Recovery-") else Role.FOREIGN
    return entry if entry.id.endswith(("-current", "-oldkern")) else entry._replace(role=other)


def _order_lost(options: Sequence[str]) -> Iterator[Diagnostic]:
    keys = Counter(Karg(option).key for option in dict.fromkeys(options) if option)
    twice = [option for option in dict.fromkeys(options) if keys[Karg(option).key] > 1]
    if twice:
        yield error(
            "RC3151",
            f"the order of {', '.join(twice)} matters, and `kernelstub -d`, which an undo runs, does not "
            "keep it",
            location=CONFIGURATION,
            hint="remove one of them: sudo kernelstub -d OPTION, then check the order of the others",
        )


BACKEND = _Kernelstub()
