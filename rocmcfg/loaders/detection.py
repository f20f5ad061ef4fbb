"""Find out from evidence which boot loader a host uses, and which reader reads its menu."""

from __future__ import annotations

from rocmcfg.host.view import HostView
from rocmcfg.loaders import nixos, recognised
from rocmcfg.loaders.registry import NAMES, argument_keeper, backend, backends, entry_writer
from rocmcfg.loaders.shared import efi, loader_entries, marked_arguments
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.loaders.shared.contract import BootReader
from rocmcfg.loaders.shared.menu import Entry, Menu
from rocmcfg.model.facts import NO_LOADER, BootChain, Detection
from rocmcfg.model.kargs import Karg


def possible(view: HostView) -> list[Chain]:
    """Return the loaders that may be on this host: all but those whose program is missing."""
    return [chain for chain in backends() if not chain.PROGRAM or view.exists(chain.PROGRAM)]


def detect(view: HostView, initramfs: tuple[Detection, ...], forced: str = "") -> BootChain:
    """Return the boot chain of a host. `forced` is the user's --boot-backend: it decides between several
    loaders, and cannot choose one that is not there."""

    chains = possible(view)
    declared = filter(None, (chain.detect(view) for chain in chains if chain.DECISIVE))
    decisive = next(declared, None) or recognised.decisive(view)
    seen = [decisive] if decisive is not None and not forced else (chain.detect(view) for chain in chains)
    candidates = tuple(loader for loader in seen if loader is not None)
    chosen = [
        loader
        for loader in candidates
        if loader is decisive or (loader.name == forced if forced else loader.proof)
    ]
    replaced = {name for loader in chosen if loader.supported for name in backend(loader.name).INSTEAD_OF}
    chosen = [loader for loader in chosen if loader.name not in replaced or loader.name == forced]
    another = loader_entries.passed_on(view)
    if another and not forced:  # a loader that shows only its own entries did not boot this host
        candidates = tuple(
            loader for loader in candidates if loader in chosen or not _shows_entries(loader.name)
        )
    if not chosen and not forced and len(candidates) == 1:
        chosen = [*candidates]
    names, refusal, hidden = [loader.name for loader in candidates], "", ""
    if forced and not chosen:
        refusal = (
            f"--boot-backend {forced}: no trace of that loader on this host (found: "
            f"{', '.join(names) or 'none'})"
        )
    elif names and not chosen:
        refusal = f"{' and '.join(names)} are present, and nothing proves which one boots this host"
    elif not chosen:
        loader_info = efi.text(view, "LoaderInfo")
        folders = (
            f"{partition}{below}" for partition in loader_entries.PARTITIONS for below in ("", "/loader")
        )
        hidden = next(filter(view.hidden, folders), "")
        empty = loader_entries.unmounted(view)
        refusal = NO_LOADER
        if hidden:
            refusal = f"only root may read {hidden}: run the command as root"
        elif another:
            refusal = (
                f"systemd-boot started {another}, another boot loader, which booted this host, "
                "but its menu cannot be found: is its partition mounted?"
            )
        elif loader_info:
            refusal = (
                f"{loader_info} booted this host, but its menu cannot be found: is its partition mounted?"
            )
        elif empty:
            refusal += f"; /etc/fstab lists {empty}, which is empty: is it mounted?"
    loader = chosen[0] if chosen else None
    return BootChain(loader, candidates, initramfs, refusal, efi.secure_boot(view), hidden)


def _shows_entries(name: str) -> bool:
    return name in NAMES and backend(name).LOADER == "systemd-boot"


def reader_on(view: HostView) -> BootReader | None:
    """Return the reader of this host's menu, or of the one that the firmware names where there are several.
    None where something other than the loader manages the arguments."""

    here = [chain for chain in possible(view) if chain.DECISIVE and chain.here(view)]
    replaced = {name for chain in here for name in chain.INSTEAD_OF}
    declared = next((chain for chain in here if chain.NAME not in replaced), None)
    above = recognised.decisive(view) if declared is None else None
    if above is not None and above.name == nixos.NAME:  # rocmcfg can read it, and does not change it
        return nixos
    if declared is not None or above is not None:
        return declared
    loader_info = efi.text(view, "LoaderInfo").lower()
    chains = sorted(possible(view), key=lambda chain: not loader_info.startswith(chain.NAME))
    return next((chain for chain in chains if chain.here(view)), None)


def entries_here(view: HostView) -> tuple[Entry, ...]:
    """Return the entries of every loader whose menu this host has, whichever of them boots."""
    here = (chain for chain in possible(view) if chain.here(view))
    return tuple(entry for chain in here for entry in chain.menu(view).entries)


def may_be_here(view: HostView, name: str) -> bool:
    """Return whether this loader could have generated anything from our files."""
    return name not in NAMES or not backend(name).DECISIVE or bool(backend(name).here(view))


def asked_by_others(view: HostView, name: str, menu: Menu) -> tuple[Karg, ...]:
    """Return the arguments of normal entries that rocmcfg did not write: an undo leaves them there. Empty for
    a program that keeps a set of arguments."""
    if argument_keeper(name) is not None:
        return ()
    if entry_writer(name) is None:
        return backend(name).observe(view).foreign
    return tuple(karg for entry in menu.normal for karg in marked_arguments.of_others(entry.kargs))


def manual_lines(detection: Detection, kargs: tuple[Karg, ...]) -> str:
    """Return the lines that a user adds by hand: with the arguments as part of a line, or as strings in the
    language of that file."""
    texts = [karg.text for karg in kargs] or ["<the arguments>"]
    strings = [f'"{text}"' for text in texts]
    lines = detection.manual.replace("{kargs}", " ".join(texts))
    return lines.replace("{strings}", " ".join(strings)).replace("{list}", ", ".join(strings))
