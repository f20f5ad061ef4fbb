"""Give arguments to a program of the host that keeps them among foreign ones (rpm-ostree, bootc, kernelstub).

A file of ours lists which of them are ours: the program keeps a set, in which marks would lose their place.
An argument that was set before rocmcfg is adopted, is not in that file, and is never removed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from rocmcfg.host.foreign import json_value
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders.shared import specials
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.loaders.shared.contract import Keeper, Observed
from rocmcfg.loaders.shared.entry_options import CARRIER, asked, propose
from rocmcfg.loaders.shared.menu import Menu, behind_separator, size, too_long
from rocmcfg.loaders.shared.ostree import deployments
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import split
from rocmcfg.model.plan import ToolChange


class KeptChain(Chain, Keeper):
    """The base of loaders whose program gets the arguments by one command, as the last step of all."""

    AMONG_OTHERS = True

    @abstractmethod
    def unable(self, view: HostView) -> Iterable[Diagnostic]:
        """Yield why the program cannot make a change now, before anything is begun."""

    def deployment(self, view: HostView) -> str:
        """Return the system on this host to which the program gives the arguments; empty where there is only
        one."""
        return ""

    def readable_menu(self, view: HostView) -> Menu:
        """Return the menu. Raises Unreadable where it cannot be read."""
        menu = self.menu(view)
        if menu.unreadable:
            raise Unreadable(menu.path, menu.unreadable)
        return menu

    def held(self, view: HostView, ours: str = "") -> str | None:
        on_line = {karg.text for entry in self.readable_menu(view).normal[:1] for karg in entry.kargs}
        return text([word for word in words(ours) if word in on_line])

    def observe(self, view: HostView) -> Observed:
        """Return the configured line from the first normal entry: the program gives all entries the same
        line."""
        menu, ours = self.menu(view), split(asked(view), CARRIER)
        line = menu.normal[0].kargs if menu.normal else ()
        at = {karg.text: place for place, karg in enumerate(line) if karg.text in {own.text for own in ours}}
        foreign = [(place, karg) for place, karg in enumerate(line) if at.get(karg.text) != place]
        first = {line[place].key: place for place in at.values()}
        later = tuple(karg for place, karg in foreign if place > first.get(karg.key, len(line)))
        return Observed(menu, tuple(karg for _, karg in foreign), ours, later)

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        return {CARRIER: propose(settings)[CARRIER]}

    def changes(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> tuple[ToolChange, ...]:
        """Return the change that makes the program hold these arguments, if one is needed. Raises
        Unreadable."""
        ours = " ".join([*(karg.text for karg in observed.ours), *kargs])
        now, wanted = self.held(view, ours) if ours else None, text(kargs)
        if now == wanted:
            return ()
        argv, reason = self.keep(wanted, now), f"it keeps {self.KEEPS}"
        return (ToolChange(self.TOOL, argv, wanted, now or "", wanted or "", reason, ours=ours),)

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        length = size([*(karg.text for karg in observed.foreign), *kargs])
        yield from too_long(length, CARRIER, "remove arguments that other programs set")
        yield from behind_separator(observed.foreign, kargs)
        # an argument that is already there is adopted, unless another value follows it
        for karg in filter(lambda karg: karg.text in kargs, observed.foreign):
            summary = f"{karg.text} is already on the kernel command line, and another value after it wins"
            hint = "remove both there, then run the command again"
            yield error("RC3142", summary, location=karg.source, hint=hint)


class DeploymentChain(KeptChain):
    SPECIAL = (*specials.GRUB, *specials.KERNEL)  # ostree does not say which loader reads its entries
    NO_TRIAL = "ostree writes its entries; the running deployment stays in the menu as the way back"

    def here(self, view: HostView) -> tuple[str, ...]:
        evidence = (deployments.BOOTED, self.PROGRAM)
        return evidence if all(map(view.exists, evidence)) else ()

    def read(self, view: HostView) -> Menu:
        return deployments.menu(view, self.NAME)

    def deployment(self, view: HostView) -> str:
        """Return the deployment that boots next; empty where it is not known."""
        return next((entry.id for entry in self.menu(view).normal), "")

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        if path := deployments.transient_etc(view):
            summary = "/etc is transient on this host: files written there are lost at the next boot"
            hint = "make the settings part of the image: rocmcfg render --format bootc"
            yield error("RC3143", summary, location=path, hint=hint)
        yield from self.unable(view)


def status(view: HostView, argv: Sequence[str]) -> tuple[dict[str, Any] | None, str]:
    """Return the JSON document that a program prints, and its message. The document is None where the program
    prints none."""
    answer = view.query(argv)
    if answer is None:
        return None, "no program of this host can be run"
    try:
        document = json_value(answer.stdout) if answer.ok else None
    except ValueError:
        document = None
    return document if isinstance(document, dict) else None, "\n".join(answer.words)


def text(kargs: Sequence[str]) -> str | None:
    """Return a set of arguments as one comparable text; None for an empty set."""
    return " ".join(sorted(set(kargs))) or None


def words(kept: str | None) -> list[str]:
    return [karg.text for karg in split(kept or "")]
