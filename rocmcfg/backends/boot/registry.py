"""Boot loaders: which one a host uses, by evidence, and who can configure it.

A backend is a module with `NAME`, `detect(view)` and, where it is supported, the functions that
`grub` has. Add one: write its file, name it in `_backends`, and drop its row from `recognised`.
"""

from __future__ import annotations

from types import ModuleType

from rocmcfg.backends.boot import recognised
from rocmcfg.host.view import HostView
from rocmcfg.model.facts import BootChain, Detection
from rocmcfg.model.kargs import Karg, join


def _backends() -> tuple[ModuleType, ...]:
    from rocmcfg.backends.boot import grub

    return (grub,)


def detect(view: HostView, initramfs: tuple[Detection, ...], forced: str = "") -> BootChain:
    """The boot chain. `forced` is the user's --boot-backend and wins over ambiguity, not over absence."""
    decisive = recognised.decisive(view)
    if decisive is not None and not forced:
        return BootChain(decisive, (decisive,), initramfs)
    candidates = tuple(
        found
        for found in (*(backend.detect(view) for backend in _backends()), *recognised.detect(view))
        if found is not None
    )
    if forced:
        chosen = [c for c in candidates if c.name == forced]
        if not chosen:
            have = ", ".join(c.name for c in candidates) or "none"
            return BootChain(
                None, candidates, initramfs, f"--boot-backend {forced}: no trace of it (found: {have})"
            )
        return BootChain(chosen[0], candidates, initramfs)
    proven = [c for c in candidates if c.proof]
    if proven:
        return BootChain(proven[0], candidates, initramfs)
    if len(candidates) == 1:
        return BootChain(candidates[0], candidates, initramfs)
    if not candidates:
        return BootChain(None, (), initramfs, "no boot loader that we know was found")
    names = " and ".join(c.name for c in candidates)
    return BootChain(
        None, candidates, initramfs, f"{names} are both here, and nothing proves which one boots"
    )


def manual_lines(detection: Detection, kargs: tuple[Karg, ...]) -> str:
    """What a user adds by hand on a host whose loader has no backend yet."""
    return detection.manual.replace("{kargs}", join(kargs) or "<the arguments>")


def backend(name: str) -> ModuleType:
    """The module of a supported loader. KeyError for any other name: ask `Detection.supported` first."""
    return {module.NAME: module for module in _backends()}[name]
