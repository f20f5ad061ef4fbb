"""Arguments that a program of the host keeps, among those of others: what the backends of rpm-ostree, bootc
and kernelstub share.

What is asked for is in a file of ours, so that it can be told from what others asked the same program for: it
keeps arguments as a set, and marks between them would be torn from what they mark. An argument that was there
before us is adopted, is not in that file, and is never taken away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rocmcfg.backends.boot.chain import Chain
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.entry_options import CARRIER, asked, propose_carrier
from rocmcfg.backends.boot.menu import behind_separator, size, too_long
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import split

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import ArgumentKeeper
    from rocmcfg.backends.boot.menu import Menu
    from rocmcfg.model.plan import Activation, ToolChange
    from rocmcfg.model.state import DesiredSetting


class KeptChain(Chain):
    """A `contract.ArgumentKeeper`. `SHOWS` is the command that shows what the program keeps."""

    TOOL: str
    KEEPS: str
    SHOWS: tuple[str, ...]
    BLOCK = ""
    UNCHANGED: tuple[int, ...] = ()
    AMONG_OTHERS = True

    def observe(self, view: HostView) -> Observed:
        return _observed(view, self.reader.read(view))

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        del view
        return propose_carrier(settings)

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        del view, reason
        return ()

    def damaged(self, view: HostView) -> bool:
        del view
        return False

    def deployment(self, view: HostView) -> str:
        del view
        return ""


def _observed(view: HostView, menu: Menu) -> Observed:
    """By the first normal entry: the program gives all of them the same."""
    line = menu.normal[0].kargs if menu.normal else ()
    ours = split(asked(view), CARRIER)
    at = {karg.text: place for place, karg in enumerate(line) if karg.text in {own.text for own in ours}}
    foreign = [(place, karg) for place, karg in enumerate(line) if at.get(karg.text) != place]
    first = {line[place].key: place for place in at.values()}
    later = tuple(karg for place, karg in foreign if place > first.get(karg.key, len(line)))
    kargs = tuple(karg for _, karg in foreign)
    return Observed(menu, kargs, ours, later, (*(k for k in kargs if k not in later), *ours, *later))


def text(kargs: Sequence[str]) -> str | None:
    """A set of arguments, to be compared; None for none."""
    return " ".join(sorted(set(kargs))) or None


def held_by(menu: Menu, ours: str) -> str | None:
    """Those of ours that the first normal entry has. Raises Unreadable."""
    if menu.unreadable:
        raise Unreadable(menu.path, menu.unreadable)
    on_line = {karg.text for entry in menu.normal[:1] for karg in entry.kargs}
    return text([karg.text for karg in split(ours) if karg.text in on_line])


def words(kept: str | None) -> list[str]:
    return [karg.text for karg in split(kept or "")]


def changes(
    view: HostView, keeper: ArgumentKeeper, observed: Observed, kargs: Sequence[str]
) -> tuple[ToolChange, ...]:
    """What leads from what the program holds of ours to these arguments; nothing where it holds them. Raises
    Unreadable where that cannot be told."""
    from rocmcfg.model.plan import ToolChange

    known = " ".join([*(karg.text for karg in observed.ours), *kargs])
    if not known:
        return ()
    now, wanted = keeper.held(view, known), text(kargs)
    if now == wanted:
        return ()
    reason = f"it keeps {keeper.KEEPS}"
    return (
        ToolChange(
            keeper.TOOL, keeper.keep(wanted, now), wanted, now or "", wanted or "", reason, ours=known
        ),
    )


def preflight(observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
    foreign = [karg.text for karg in observed.foreign]
    yield from too_long(size([*foreign, *kargs]), CARRIER, "shorten what others ask for")
    yield from behind_separator(observed.foreign, kargs)
    for karg in observed.foreign:
        if karg.text in kargs:  # not adopted, since another value stands behind it
            yield error(
                "RC3142",
                f"{karg.text} is on the kernel command line already, and another value behind it wins",
                location=karg.source,
                hint="take both out there, then run the command again",
            )
