"""Protocols by which the engine uses a boot loader without knowing its name.

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
# Files that hold something of ours, each with the editor for our part; None: the whole file is ours.
Owned = Mapping[str, Editor | None]


class Observed(NamedTuple):
    """The configured command line. `foreign` are the arguments of files other than ours, `ours` are those
    that rocmcfg added, `later` are the foreign arguments after ours, which therefore win. Where foreign files
    cannot be evaluated, `foreign` is read from the entries, and `unknown_at` is the line that is the
    reason."""

    menu: Menu
    foreign: tuple[Karg, ...]
    ours: tuple[Karg, ...]
    later: tuple[Karg, ...]
    unknown_at: str = ""


class BootReader(Protocol):
    NAME: str

    def here(self, view: HostView) -> tuple[str, ...]:
        """Return the evidence that this host has a menu of this loader; empty where there is none."""

    def read(self, view: HostView) -> Menu: ...


class Keeper(Protocol):
    """A program that keeps something of ours for the host, where no file of ours could hold it. `BLOCK` is
    the file in which it keeps things: it is saved before every change and restored if it was left damaged;
    empty where the program uses no file. `KEEPS` says in words what is kept there, `SHOWS` is the command
    that shows it. `UNCHANGED` are the exit statuses, besides 0, that mean that there was nothing to do.
    `AMONG_OTHERS`: the program keeps arguments, and does not know who set each of them. `ARMED` is the text
    that `BLOCK` holds while the next boot is a trial; empty where the program keeps no trial."""

    TOOL: str
    KEEPS: str
    SHOWS: tuple[str, ...]
    BLOCK: str = ""
    UNCHANGED: tuple[int, ...] = ()
    AMONG_OTHERS: bool = False
    ARMED: str = ""

    def held(self, view: HostView, ours: str = "") -> str | None:
        """Return the text of ours that the program holds; None where it holds none, empty where it was used
        up. `ours` are the arguments that count as ours `AMONG_OTHERS`. Raises Unreadable."""

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        """Return the command after which the program holds `wanted` in place of `held`, and nothing else of
        ours."""

    def damaged(self, view: HostView) -> bool:
        """Return whether its block can no longer be read. Raises Unreadable."""
        return False

    def writes_at(self, view: HostView) -> tuple[str, ...]:
        """Return files or folders, one on each file system that the program writes to without syncing it
        itself; its block is the first."""
        del view
        return (self.BLOCK,) if self.BLOCK else ()


class BootTrial(Protocol):
    """Arguments that the loader passes to the next boot only. `PLACES` are the words on every normal entry
    that it replaces by them; none where the trial is an entry of its own. `FILES` are our files that exist
    only during a trial, `KEEPERS` are all programs that may hold the text that makes the next boot the trial.
    `ACTIVATED`: the activations of the backend bring the content of the files into the menu."""

    PLACES: tuple[str, ...]
    FILES: tuple[str, ...]
    KEEPERS: tuple[Keeper, ...]
    ACTIVATED: bool = True

    def keeper(self, view: HostView) -> Keeper:
        return self.KEEPERS[0]

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        """Return the wanted content during a trial: the whole file, or our part of a foreign file."""

    def entry_changes(self, view: HostView, proposed: Files) -> tuple[FileChange, ...]:
        """Return the changes that the activation, if it is our own, would make to foreign files."""
        return ()

    def arming(self, view: HostView, arguments: Sequence[str]) -> ToolChange:
        """Return the one step that makes the next boot the trial; the steps before it have no effect
        alone."""

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield why the loader cannot boot something once on this host, before anything is written."""

    def check(self, view: HostView, menu: Menu, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Read the generated menu, and yield an error where it does not hold the trial, or where something
        overrides it."""
