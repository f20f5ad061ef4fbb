"""Find the backend of a boot loader by the loader's name.

A loader is a folder next to this file. The folder has the loader's name with `_` in place of `-`; see
`shared.contract`.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, cast

from rocmcfg.host.view import Host, HostView
from rocmcfg.model.edit import matches

if TYPE_CHECKING:
    from rocmcfg.loaders.shared.chain import Chain, EntryChain
    from rocmcfg.loaders.shared.contract import BootTrial, Keeper
    from rocmcfg.loaders.shared.kept_arguments import KeptChain
    from rocmcfg.loaders.shared.menu import Entry


def names() -> tuple[str, ...]:
    """Return the names of all loaders, from the names of their folders. A folder without a module is left
    over from a loader that was deleted, and is skipped."""
    here = os.path.dirname(__file__)
    folders = (name for name in sorted(os.listdir(here)) if os.path.isfile(f"{here}/{name}/__init__.py"))
    return tuple(name.replace("_", "-") for name in folders if name != _SHARED)


_SHARED = "shared"
NAMES = names()


def backend(name: str) -> Chain:
    """Return the backend of a supported loader. Raises KeyError for any other name: ask `Detection.supported`
    first."""
    if name not in NAMES:
        raise KeyError(name)
    module = importlib.import_module(f"rocmcfg.loaders.{name.replace('-', '_')}")
    return cast("Chain", module.BACKEND)


def backends() -> tuple[Chain, ...]:
    return tuple(backend(name) for name in NAMES)


def entry_writer(name: str) -> EntryChain | None:
    """Return the backend of a loader whose entries rocmcfg itself writes; None for any other name."""
    from rocmcfg.loaders.shared.chain import EntryChain

    chain = reader(name)
    return chain if isinstance(chain, EntryChain) else None


def write_entries(host: Host, name: str) -> None:
    """Write our arguments into the entries of a loader, if rocmcfg writes them itself. Raises Unwritable."""
    writer = entry_writer(name)
    if writer is not None:
        writer.write_entries(host)


def argument_keeper(name: str) -> KeptChain | None:
    """Return the backend of a loader whose arguments are kept by a program; None for any other name."""
    from rocmcfg.loaders.shared.kept_arguments import KeptChain

    chain = reader(name)
    return chain if isinstance(chain, KeptChain) else None


def argument_keepers() -> tuple[KeptChain, ...]:
    """Return the backends of all loaders whose arguments are kept by programs."""
    return tuple(filter(None, map(argument_keeper, NAMES)))


def may_be_entries(path: str) -> bool:
    """Return whether a file of this name may hold a foreign boot entry into which rocmcfg writes."""
    return any(chain.may_write(path) for chain in filter(None, map(entry_writer, NAMES)))


def reader(name: str) -> Chain | None:
    """Return the reader of a supported loader's menu; None for any other name."""
    return backend(name) if name in NAMES else None


def entries(view: HostView, name: str) -> tuple[Entry, ...]:
    """Return the readable entries that this loader will boot; none for a loader that is not supported."""
    return backend(name).menu(view).entries if name in NAMES else ()


def paths(name: str) -> tuple[str, ...]:
    """Return the files that are ours for this loader, as a whole or in part; none for any other name."""
    return tuple(backend(name).OWNED) if name in NAMES else ()


def inputs(name: str) -> set[str]:
    """Return our files from which this loader's menu is generated: `paths`, and the files of a trial."""
    boot_trial = trial(name)
    return {*paths(name), *(boot_trial.FILES if boot_trial is not None else ())}


def generators() -> frozenset[str]:
    """Return the names of the programs that write a menu or entries, of all loaders."""
    return frozenset(program for chain in backends() for program in chain.GENERATORS)


def may_be_source(path: str) -> bool:
    """Return whether arguments of the owner's can be moved out of a file of this name, with some loader."""
    return any(matches(path, pattern) for chain in backends() for pattern in chain.SOURCES)


def trial(name: str) -> BootTrial | None:
    """Return how a loader boots something once; None for a loader that cannot, or for which rocmcfg does not
    know how."""
    return backend(name).TRIAL if name in NAMES else None


def no_trial(name: str) -> str:
    """Return the reason, in words, why `trial` returns None."""
    from rocmcfg.loaders.shared.chain import Chain

    return backend(name).NO_TRIAL if name in NAMES else Chain.NO_TRIAL


def trials() -> dict[str, BootTrial]:
    return {chain.NAME: chain.TRIAL for chain in backends() if chain.TRIAL is not None}


def copies() -> set[str]:
    """Return the files of trials that are entries: programs rewrite them like all other entries."""
    return {path for boot_trial in trials().values() if not boot_trial.ACTIVATED for path in boot_trial.FILES}


def keeper(tool: str) -> Keeper | None:
    """Return the keeper whose program is `tool`; None for a program that keeps nothing of ours."""
    return next((program for program in keepers() if tool == program.TOOL), None)


def keepers() -> tuple[Keeper, ...]:
    once = dict.fromkeys(keeper for loader in trials().values() for keeper in loader.KEEPERS)
    return (*once, *argument_keepers())
