"""Finds the boot loader that a host uses, by evidence, and the backend that configures it.

To add one: write its package (see `contract`), name it in `NAMES`, drop its row from `recognised`. A
package has the loader's name, with `_` for `-`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from rocmcfg.host.view import HostView
from rocmcfg.model.kargs import Karg, join

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import BootBackend, BootReader, BootTrial, Editor, EntryWriter, Keeper
    from rocmcfg.backends.boot.menu import Entry
    from rocmcfg.model.facts import BootChain, Detection

NAMES = (
    "grub",
    "grub-mkconfig",
    "limine",
    "uki",
    "systemd-boot",
    "sdboot-manage",
    "grub-bls",
    "refind",
)
_TRIALS = ("grub",)  # those of them that can boot something once
# those whose entries we write ourselves
WRITERS = ("limine", "uki", "systemd-boot", "sdboot-manage", "grub-bls", "refind")


def backend(name: str) -> BootBackend:
    """The backend of a supported loader. KeyError for any other name: ask `Detection.supported` first."""
    return cast("BootBackend", _module(name, "backend"))


def backends() -> tuple[BootBackend, ...]:
    return tuple(backend(name) for name in NAMES)


def reader(name: str) -> BootReader | None:
    """What reads a supported loader's menu; None for any other name."""
    return _reader(name) if name in NAMES else None


def _reader(name: str) -> BootReader:
    return cast("BootReader", _module(name, "reader"))


def entries(view: HostView, name: str) -> tuple[Entry, ...]:
    """What this loader will boot, as far as it can be read; nothing for one that is not supported."""
    return _reader(name).read(view).entries if name in NAMES else ()


def editor(path: str) -> Editor | None:
    """Who knows our part of a file that somebody else owns; None for a path that is ours as a whole."""
    return next((one.EDITED[path] for one in map(_reader, NAMES) if path in one.EDITED), None)


def paths(name: str) -> tuple[str, ...]:
    """The files that hold something of ours for this loader, as a whole or in part; none for another name."""
    return (*backend(name).OWNED, *_reader(name).EDITED) if name in NAMES else ()


def inputs(name: str) -> set[str]:
    """The files of ours from which this loader's menu is generated: `paths`, and those of a trial."""
    found = trial(name)
    return {*paths(name), *(found.FILES if found is not None else ())}


def own_part(path: str, content: bytes | None) -> bytes | None:
    """What of a file's content is ours: all of it, but for a file that others own. None: nothing."""
    known = editor(path)
    return known.own(content) if known is not None and content is not None else content


def trial(name: str) -> BootTrial | None:
    """How a loader boots something once; None for one that cannot, or of which we do not know how."""
    return cast("BootTrial", _module(name, "trial")) if name in _TRIALS else None


def trials() -> dict[str, BootTrial]:
    """By the name of the loader."""
    return {name: found for name in _TRIALS if (found := trial(name)) is not None}


def keeper(tool: str) -> Keeper | None:
    """What a program keeps for the host; None for one that keeps nothing of ours."""
    return next((one for one in keepers() if tool == one.TOOL), None)


def keepers() -> tuple[Keeper, ...]:
    return tuple(trials().values())


def writer(name: str) -> EntryWriter:
    """What writes the entries of this loader's menu itself."""
    return cast("EntryWriter", _module(name, "backend"))


def reader_on(view: HostView) -> BootReader | None:
    """The reader of the menu that this host has; None where it has none that we know."""
    return next((one for one in map(_reader, NAMES) if one.here(view)), None)


def _module(name: str, part: str) -> object:
    if name not in NAMES:
        raise KeyError(name)
    return importlib.import_module(f"rocmcfg.backends.boot.{name.replace('-', '_')}.{part}")


def detect(view: HostView, initramfs: tuple[Detection, ...], forced: str = "") -> BootChain:
    """The boot chain. `forced` is the user's --boot-backend and wins over ambiguity, not over absence."""
    from rocmcfg.backends.boot import recognised
    from rocmcfg.model.facts import BootChain

    decisive = recognised.decisive(view)
    if decisive is not None and not forced:
        return BootChain(decisive, (decisive,), initramfs)
    found = (one.detect(view) for one in backends())
    candidates = tuple(one for one in found if one is not None)
    chosen = [one for one in candidates if (one.name == forced if forced else one.proof)]
    if not chosen and not forced and len(candidates) == 1:
        chosen = [*candidates]
    if chosen:
        return BootChain(chosen[0], candidates, initramfs)
    names = [one.name for one in candidates]
    if forced:
        refusal = f"--boot-backend {forced}: no trace of it (found: {', '.join(names) or 'none'})"
    elif names:
        refusal = f"{' and '.join(names)} are both here, and nothing proves which one boots"
    else:
        refusal = "no boot loader that we know was found"
    return BootChain(None, candidates, initramfs, refusal)


def manual_lines(detection: Detection, kargs: tuple[Karg, ...]) -> str:
    """What a user adds by hand on a host whose loader has no backend yet."""
    return detection.manual.replace("{kargs}", join(kargs) or "<the arguments>")
