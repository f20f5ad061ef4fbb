"""What a boot loader must offer so that the engine can use it without knowing its name.

A loader is a folder of `rocmcfg.loaders`, whose BACKEND is a `chain.Chain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from rocmcfg.host.view import HostView
from rocmcfg.loaders.shared.menu import Menu
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.edit import Editor
from rocmcfg.model.kargs import Karg
from rocmcfg.model.plan import FileChange, ToolChange
from rocmcfg.model.shape import NamedTuple

Files = Mapping[str, tuple[bytes, int]]  # content, and the mode of a new file, by path
# Files that hold something of ours, each with what knows our part of it; None: the whole file is ours.
Owned = Mapping[str, Editor | None]


class Observed(NamedTuple):
    """The configured command line. `foreign` is what the files without ours ask for, `ours` what we wrote
    adds, `later` the foreign arguments that stand after ours and so win. Where the files of others cannot
    be evaluated, `foreign` is read from the entries, and `unknown_at` says which line is the reason."""

    menu: Menu
    foreign: tuple[Karg, ...]
    ours: tuple[Karg, ...]
    later: tuple[Karg, ...]
    unknown_at: str = ""


class BootReader(Protocol):
    NAME: str

    def here(self, view: HostView) -> tuple[str, ...]:
        """Return what shows that this host has a menu of this loader; empty where nothing does."""

    def read(self, view: HostView) -> Menu: ...


class Keeper(Protocol):
    """A program that keeps something of ours for the host, where no file of ours could say it. `BLOCK` is the
    file in which it keeps things: saved before every change, put back where it was left damaged; empty where
    that is no file. `KEEPS` says in words what is kept there, `SHOWS` is the command that shows it.
    `UNCHANGED` are the exit statuses, besides 0, that say that nothing was to be done. `AMONG_OTHERS`: what
    it keeps are arguments, and it does not know whose each of them is. `ARMED` is the text that `BLOCK` holds
    while the next boot is a trial; empty for what keeps no trial."""

    TOOL: str
    KEEPS: str
    SHOWS: tuple[str, ...]
    BLOCK: str = ""
    UNCHANGED: tuple[int, ...] = ()
    AMONG_OTHERS: bool = False
    ARMED: str = ""

    def held(self, view: HostView, ours: str = "") -> str | None:
        """Return what the program holds of ours; None where it holds nothing, empty where that was used up.
        `ours` are the arguments that count as such `AMONG_OTHERS`. Raises Unreadable."""

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        """Return the command after which the program holds `wanted` in place of `held`, and nothing else of
        ours."""

    def damaged(self, view: HostView) -> bool:
        """Return whether nobody could read its block any more. Raises Unreadable."""
        return False

    def writes_at(self, view: HostView) -> tuple[str, ...]:
        """Return files or folders on each file system that the program writes to and does not put on the
        disk itself; its block is the first."""
        del view
        return (self.BLOCK,) if self.BLOCK else ()


class BootTrial(Protocol):
    """Arguments that the loader gives to the next boot alone. `PLACES` are the words on every normal entry in
    whose place it puts them; none where the trial is an entry of its own. `FILES` are those of ours that are
    there during a trial only, `KEEPERS` all that may hold what makes the next boot the trial. `ACTIVATED`:
    what the files say comes into the menu by the activations of the backend."""

    PLACES: tuple[str, ...]
    FILES: tuple[str, ...]
    KEEPERS: tuple[Keeper, ...]
    ACTIVATED: bool = True

    def keeper(self, view: HostView) -> Keeper:
        return self.KEEPERS[0]

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        """Return what shall be ours during a trial: the whole file, or our part of one that others own."""

    def entry_changes(self, view: HostView, proposed: Files) -> tuple[FileChange, ...]:
        """Return what the activation, if it is our own, would write into files of others."""
        return ()

    def arming(self, view: HostView, arguments: Sequence[str]) -> ToolChange:
        """Return the one step that makes the next boot the trial; what comes before it does nothing alone."""

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield why the loader cannot boot something once on this host, asked before anything is written."""

    def check(self, view: HostView, menu: Menu, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Read the generated menu, and yield an error where it does not hold the trial, or something beats
        it."""
