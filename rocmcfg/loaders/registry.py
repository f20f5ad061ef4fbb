"""Finds the boot loader that a host uses, by evidence, and the backend that configures it.

A loader is a folder beside this file, which has the loader's name with `_` for `-`; see `shared.contract`.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, cast

from rocmcfg.host.view import HostView
from rocmcfg.loaders.shared import marked_arguments
from rocmcfg.model.kargs import Karg

if TYPE_CHECKING:
    from rocmcfg.loaders.shared.chain import Chain, EntryChain
    from rocmcfg.loaders.shared.contract import BootReader, BootTrial, Keeper
    from rocmcfg.loaders.shared.kept_arguments import KeptChain
    from rocmcfg.loaders.shared.menu import Entry, Menu
    from rocmcfg.model.facts import BootChain, Detection


def names() -> tuple[str, ...]:
    """Return the names of all loaders, by their folders. One without a module is left of a loader that is
    gone."""
    here = os.path.dirname(__file__)
    folders = (name for name in sorted(os.listdir(here)) if os.path.isfile(f"{here}/{name}/__init__.py"))
    return tuple(name.replace("_", "-") for name in folders if name != _SHARED)


_SHARED = "shared"
NAMES = names()


def backend(name: str) -> Chain:
    """The backend of a supported loader. KeyError for any other name: ask `Detection.supported` first."""
    if name not in NAMES:
        raise KeyError(name)
    module = importlib.import_module(f"rocmcfg.loaders.{name.replace('-', '_')}")
    return cast("Chain", module.BACKEND)


def backends() -> tuple[Chain, ...]:
    return tuple(backend(name) for name in NAMES)


def possible(view: HostView) -> list[Chain]:
    """Those of which nothing says at once that they are not on this host."""
    return [chain for chain in backends() if not chain.PROGRAM or view.exists(chain.PROGRAM)]


def writes_entries(name: str) -> bool:
    """Whether we write the entries of this loader ourselves."""
    from rocmcfg.loaders.shared.chain import EntryChain

    return name in NAMES and isinstance(backend(name), EntryChain)


def keeps_arguments(name: str) -> bool:
    """Whether a program keeps the arguments of this loader."""
    from rocmcfg.loaders.shared.kept_arguments import KeptChain

    return name in NAMES and isinstance(backend(name), KeptChain)


def reader(name: str) -> BootReader | None:
    """What reads a supported loader's menu; None for any other name."""
    return backend(name) if name in NAMES else None


def entries(view: HostView, name: str) -> tuple[Entry, ...]:
    """What this loader will boot, as far as it can be read; nothing for one that is not supported."""
    return backend(name).read(view).entries if name in NAMES else ()


def entries_here(view: HostView) -> tuple[Entry, ...]:
    """The same of every loader whose menu this host has, whichever of them boots."""
    here = (chain for chain in possible(view) if chain.here(view))
    return tuple(entry for chain in here for entry in chain.read(view).entries)


def paths(name: str) -> tuple[str, ...]:
    """The files that hold something of ours for this loader, as a whole or in part; none for another name."""
    return tuple(backend(name).OWNED) if name in NAMES else ()


def inputs(name: str) -> set[str]:
    """The files of ours from which this loader's menu is generated: `paths`, and those of a trial."""
    found = trial(name)
    return {*paths(name), *(found.FILES if found is not None else ())}


def trial(name: str) -> BootTrial | None:
    """How a loader boots something once; None for one that cannot, or of which we do not know how."""
    return backend(name).TRIAL if name in NAMES else None


def no_trial(name: str) -> str:
    """Why `trial` has none, in words."""
    from rocmcfg.loaders.shared.chain import Chain

    return backend(name).NO_TRIAL if name in NAMES else Chain.NO_TRIAL


def trials() -> dict[str, BootTrial]:
    return {one.NAME: one.TRIAL for one in backends() if one.TRIAL is not None}


def copies() -> set[str]:
    """The entries that trials are: programs write them anew as all others."""
    return {path for one in trials().values() if not one.ACTIVATED for path in one.FILES}


def keeper(tool: str) -> Keeper | None:
    """What a program keeps for the host; None for one that keeps nothing of ours."""
    return next((one for one in keepers() if tool == one.TOOL), None)


def keepers() -> tuple[Keeper, ...]:
    once = dict.fromkeys(keeper for loader in trials().values() for keeper in loader.KEEPERS)
    return (*once, *argument_keepers())


def argument_keeper(name: str) -> KeptChain:
    """The backend of a loader of which a program keeps the arguments."""
    return cast("KeptChain", backend(name))


def argument_keepers() -> tuple[KeptChain, ...]:
    return tuple(map(argument_keeper, filter(keeps_arguments, NAMES)))


def writer(name: str) -> EntryChain:
    """The backend of a loader whose entries we write ourselves."""
    return cast("EntryChain", backend(name))


def may_be_entries(path: str) -> bool:
    """Whether a file of this name is one of those in which we write entries of others."""
    return any(writer(name).may_write(path) for name in filter(writes_entries, NAMES))


def reader_on(view: HostView) -> BootReader | None:
    """The reader of the menu that this host has, of several that which the firmware names; None where
    something above its loader owns the arguments, too."""
    from rocmcfg.loaders import nixos, recognised
    from rocmcfg.loaders.shared import efi

    here = [chain for chain in possible(view) if chain.DECISIVE and chain.here(view)]
    replaced = {name for chain in here for name in chain.INSTEAD_OF}
    declared = next((chain for chain in here if chain.NAME not in replaced), None)
    above = recognised.decisive(view) if declared is None else None
    if above is not None and above.name == nixos.NAME:  # which we do not change, and can read
        return nixos
    if declared is not None or above is not None:
        return declared
    told = efi.text(view, "LoaderInfo").lower()
    chains = sorted(possible(view), key=lambda chain: not told.startswith(chain.NAME))
    return next((chain for chain in chains if chain.here(view)), None)


def asked_by_others(view: HostView, name: str, menu: Menu) -> tuple[Karg, ...]:
    """What entries hold that is none of ours: an undo leaves it. Nothing of a program that keeps a set."""
    if keeps_arguments(name):
        return ()
    if not writes_entries(name):
        return backend(name).observe(view).foreign
    return tuple(karg for entry in menu.normal for karg in marked_arguments.of_others(entry.kargs))


def may_be_here(view: HostView, name: str) -> bool:
    """Whether this loader could have made something of our files."""
    return name not in NAMES or not backend(name).DECISIVE or bool(backend(name).here(view))


def detect(view: HostView, initramfs: tuple[Detection, ...], forced: str = "") -> BootChain:
    """The boot chain. `forced` is the user's --boot-backend and wins over ambiguity, not over absence."""
    from rocmcfg.loaders import recognised
    from rocmcfg.loaders.shared import efi, loader_entries
    from rocmcfg.model.facts import NO_LOADER, BootChain

    chains = possible(view)
    declared = filter(None, (chain.detect(view) for chain in chains if chain.DECISIVE))
    decisive = next(declared, None) or recognised.decisive(view)
    seen = [decisive] if decisive is not None and not forced else (one.detect(view) for one in chains)
    candidates = tuple(one for one in seen if one is not None)
    chosen = [one for one in candidates if one is decisive or (one.name == forced if forced else one.proof)]
    replaced = {name for loader in chosen if loader.supported for name in backend(loader.name).INSTEAD_OF}
    chosen = [loader for loader in chosen if loader.name not in replaced or loader.name == forced]
    another = loader_entries.passed_on(view)
    if another and not forced:  # what shows its own entries alone did not boot this host
        candidates = tuple(one for one in candidates if one in chosen or not _shows_entries(one.name))
    if not chosen and not forced and len(candidates) == 1:
        chosen = [*candidates]
    names, refusal, hidden = [one.name for one in candidates], "", ""
    if forced and not chosen:
        refusal = f"--boot-backend {forced}: no trace of it (found: {', '.join(names) or 'none'})"
    elif names and not chosen:
        refusal = f"{' and '.join(names)} are both here, and nothing proves which one boots"
    elif not chosen:
        told = efi.text(view, "LoaderInfo")
        folders = (f"{one}{below}" for one in loader_entries.PARTITIONS for below in ("", "/loader"))
        hidden = next(filter(view.hidden, folders), "")
        empty = loader_entries.unmounted(view)
        refusal = NO_LOADER
        if hidden:
            refusal = f"only root may look into {hidden}: run the command as root"
        elif another:
            refusal = (
                f"systemd-boot started {another}, another boot loader, which booted this host; no menu of "
                "that can be seen: is its partition mounted?"
            )
        elif told:
            refusal = f"{told} booted this host, and no menu of it can be seen: is its partition mounted?"
        elif empty:
            refusal += f"; /etc/fstab names {empty}, which is empty: is it mounted?"
    loader = chosen[0] if chosen else None
    return BootChain(loader, candidates, initramfs, refusal, efi.secure_boot(view), hidden)


def _shows_entries(name: str) -> bool:
    return name in NAMES and backend(name).LOADER == "systemd-boot"


def manual_lines(detection: Detection, kargs: tuple[Karg, ...]) -> str:
    """What a user adds by hand: the arguments as a part of a line, or as strings of its language."""
    texts = [karg.text for karg in kargs] or ["<the arguments>"]
    strings = [f'"{text}"' for text in texts]
    said = detection.manual.replace("{kargs}", " ".join(texts))
    return said.replace("{strings}", " ".join(strings)).replace("{list}", ", ".join(strings))
