"""What a boot loader must offer so that the engine can use it without knowing its name.

A backend is a package of `rocmcfg.backends.boot` with two modules: `backend` fulfils `BootBackend`, `menu`
fulfils `BootMenu` and is light, because `verify` loads nothing else of it. A third, `trial`, fulfils
`BootTrial` where the loader can boot something once by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rocmcfg.host.view import HostView
from rocmcfg.model.kargs import Karg

if TYPE_CHECKING:
    from rocmcfg.model.diagnostic import Diagnostic
    from rocmcfg.model.facts import Detection
    from rocmcfg.model.plan import Activation, ToolChange
    from rocmcfg.model.state import DesiredSetting


class Entry(NamedTuple):
    """An entry of the boot menu: `kargs` as the loader passes them, without the kernel's path."""

    title: str
    kernel: str
    kargs: tuple[Karg, ...]
    recovery: bool


class Observed(NamedTuple):
    """The configured command line.

    `foreign` is what the files without ours ask for, `ours` what our own file adds, `later` the foreign
    arguments that stand after ours on the line and so win; `entries` is what the loader will really pass.
    `plain` is False where the files cannot be evaluated: then `foreign` is read from the entries instead,
    and `unknown_at` says which line is the reason. `unreadable` says why there are no entries.
    """

    foreign: tuple[Karg, ...]
    ours: tuple[Karg, ...]
    later: tuple[Karg, ...]
    entries: tuple[Entry, ...]
    plain: bool
    unknown_at: str = ""
    unreadable: str = ""

    @property
    def normal(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if not entry.recovery)


class BootMenu(Protocol):
    """The generated menu, for reading. `PATH` is the file, `CARRIER` our own file that feeds it, `TOOL` the
    program that generates it."""

    NAME: str
    PATH: str
    CARRIER: str
    TOOL: str

    def read_entries(self, view: HostView) -> tuple[tuple[Entry, ...], str]:
        """The entries, or why they cannot be read."""
        ...


class BootBackend(Protocol):
    NAME: str
    OWNED: tuple[str, ...]

    def detect(self, view: HostView) -> Detection | None: ...

    def observe(self, view: HostView) -> Observed: ...

    def propose(self, settings: Sequence[DesiredSetting]) -> Mapping[str, bytes | None]:
        """Our files by path; None for one that shall not be there. Equal settings give equal bytes."""
        ...

    def activation(self, reason: str) -> Activation: ...

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
        """What would go wrong, before anything is written."""
        ...

    def unmanaged(self, view: HostView) -> list[Diagnostic]:
        """Entries that boot without our arguments, whatever we do."""
        ...

    def check(self, view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
        """Read the menu: every normal entry has each wanted argument and no unwanted one. A menu that could
        not be looked at is a warning, one that is wrong an error: an undo goes on after the former."""
        ...


class BootTrial(Protocol):
    """Arguments for the next boot alone, which the loader itself takes back. `TOKEN` is what stands for them
    on every normal entry of the menu, `FILES` are those of ours that make it so, `BLOCK` is where the loader
    keeps them."""

    TOKEN: str
    FILES: tuple[str, ...]
    BLOCK: str

    def propose(self, wanted: bool) -> Mapping[str, tuple[bytes | None, int]]:
        """Our files by path, with content and mode; None for one that shall not be there."""
        ...

    def arming(self, arguments: Sequence[str]) -> ToolChange:
        """The one step that makes the next boot the trial; what comes before it does nothing alone."""
        ...

    def armed(self, view: HostView) -> str | None:
        """The arguments that the next boot will get: empty where the loader has taken them, None where there
        were none. Raises Unreadable."""
        ...

    def damaged(self, view: HostView) -> bool:
        """Whether the loader could not read its block any more. Raises Unreadable."""
        ...

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Why the loader cannot do it on this host, asked before anything is written."""
        ...

    def check(self, view: HostView, arguments: Sequence[str]) -> list[Diagnostic]:
        """Read the generated menu: what makes a trial of one boot is in it, and nothing beats it."""
        ...
