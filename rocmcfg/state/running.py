"""The running state: what the kernel of this boot got and holds now."""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.kargs import Karg, canonical, last, split
from rocmcfg.model.trial import MARKER


class Now(NamedTuple):
    """`present` is False where the kernel has no such parameter or argument; `readable` without the right
    to read it. `value` is as the kernel prints it."""

    value: str | None
    present: bool
    readable: bool = True


class Running:
    """Reads /proc and /sys of the host. `known` is False for a root without them (an offline disk)."""

    def __init__(self, view: HostView) -> None:
        self._view = view
        try:
            text = view.text("/proc/cmdline")
        except Unreadable:
            text = None
        self.known = text is not None
        self.kargs: tuple[Karg, ...] = split(text or "", "/proc/cmdline")

    def loaded(self, module: str) -> bool:
        return self._view.is_dir(f"/sys/module/{canonical(module)}")

    def parameter(self, id: str) -> Now:
        module, _, name = id.partition(".")
        path = f"/sys/module/{canonical(module)}/parameters/{canonical(name)}"
        try:
            text = self._view.text(path)
        except Unreadable:
            return Now(None, True, readable=False)
        return Now(None, False) if text is None else Now(text.rstrip("\n"), True)

    def karg(self, name: str) -> Now:
        found = last(self.kargs, name)
        return Now(None, False) if found is None else Now(found.value, True)


def trial_token(view: HostView) -> str | None:
    """Which trial this boot is, as its command line says; None for a boot that is none."""
    return Running(view).karg(MARKER).value
