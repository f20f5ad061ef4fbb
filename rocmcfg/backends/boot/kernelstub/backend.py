"""`kernelstub -a` and `-d` (3.1.4, 3fb4e06: kernelstub/application.py, `main`), never `-o`, which replaces
all. `-a` appends what is not there; `-d` makes a set of the rest, so that the order is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import kept_arguments
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.entry_options import asked
from rocmcfg.backends.boot.kept_arguments import KeptChain
from rocmcfg.backends.boot.kernelstub import reader
from rocmcfg.backends.boot.menu import not_asked_for
from rocmcfg.backends.boot.one_shot import SecondEntry
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import Karg

_OWN = ("root", "ro", "initrd")  # what it puts before the options


class _Kernelstub(KeptChain):
    TITLE = "kernelstub (Pop!_OS)"
    TRIAL = SecondEntry()
    MANUAL = 'sudo kernelstub -a "{kargs}"      (never -o: it replaces everything)'
    TOOL = reader.NAME
    BLOCK = reader.CONFIGURATION
    KEEPS = "the kernel options of every entry that it writes"
    SHOWS: tuple[str, ...] = ("cat", reader.CONFIGURATION)

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        try:
            known = reader.user(view)
        except Unreadable as problem:
            yield from problem.diagnostics
            return
        options, ours = known["kernel_options"], {karg.text for karg in observed.ours}
        told = [Karg(one) for one in options]
        yield from not_asked_for(observed.menu, told, _OWN, self.TOOL, reader.CONFIGURATION)
        yield from _order_lost([*(one for one in options if one not in ours), *kargs])
        if known.get("live_mode") or not known.get("setup_loader"):
            why = "this is a live system" if known.get("live_mode") else "setup_loader is not set"
            yield error(
                "RC3152",
                f"kernelstub writes no boot entries on this host: {why}",
                location=reader.CONFIGURATION,
                hint="add the arguments to the boot loader that is used here",
            )

    def unable(self, view: HostView) -> Iterator[Diagnostic]:
        """Asked before an undo, too, which leaves the options of others alone."""
        ours = asked(view).split()
        return _order_lost([one for one in reader.user(view)["kernel_options"] if one not in ours])

    def held(self, view: HostView, ours: str = "") -> str | None:
        """In its configuration, or in an entry: it writes these first."""
        on_entries = (karg.text for entry in self.menu(view).normal for karg in entry.kargs)
        there = {*reader.user(view)["kernel_options"], *on_entries}
        return kept_arguments.text([word for word in kept_arguments.words(ours) if word in there])

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        kept, had = kept_arguments.words(wanted), kept_arguments.words(held)
        add = [word for word in kept if word not in had]
        gone = [word for word in had if word not in kept]
        return (self.TOOL, *(("-a", " ".join(add)) if add else ()), *(("-d", " ".join(gone)) if gone else ()))

    def damaged(self, view: HostView) -> bool:
        """It empties the file before it writes."""
        try:
            reader.user(view)
        except Unreadable:
            return True
        return False


def _order_lost(options: Sequence[str]) -> Iterator[Diagnostic]:
    keys = Counter(Karg(one).key for one in dict.fromkeys(options) if one)
    twice = [one for one in dict.fromkeys(options) if keys[Karg(one).key] > 1]
    if twice:
        yield error(
            "RC3151",
            f"the order of {', '.join(twice)} matters, and `kernelstub -d`, which an undo takes, forgets it",
            location=reader.CONFIGURATION,
            hint="leave one of them away: sudo kernelstub -d OPTION, and look at the order of the others",
        )


BACKEND = _Kernelstub(reader)
