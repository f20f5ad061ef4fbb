"""Programs that keep something of ours for the host, where no file of ours could say it."""

from __future__ import annotations

from typing import Protocol

from rocmcfg.host.view import HostView


class Keeper(Protocol):
    """`TOOL` is the program, `BLOCK` the file in which it keeps things: saved before every change, put back
    where it was left damaged. `KEEPS` says in words what is kept there, `SHOWS` is the command that shows it.
    """

    TOOL: str
    BLOCK: str
    KEEPS: str
    SHOWS: tuple[str, ...]

    def held(self, view: HostView) -> str | None:
        """What it holds of ours; None: nothing. Empty: what it held was used up. Raises Unreadable."""
        ...

    def keep(self, wanted: str | None) -> tuple[str, ...]:
        """The command after which it holds this, and nothing else of ours."""
        ...

    def damaged(self, view: HostView) -> bool:
        """Whether nobody could read its block any more. Raises Unreadable."""
        ...
