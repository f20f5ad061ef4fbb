"""GRUB with entries as files: their options, and the two places that make later ones (`entry_options`).

grubby is not used: it writes the rescue entry as well, and its exit status says little. grub2-mkconfig writes
the options of all entries anew from /etc/default/grub (Fedora's 10_linux takes both of its variables; EL from
9.3 on asks for --update-bls-cmdline), so that our part, marks and all, stands there too.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import appended_assignment, entry_options, loader_entries
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_bls import reader
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.defaults import DEFAULT
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER,)


def detect(view: HostView) -> Detection | None:
    evidence = reader.evidence(view)
    if not evidence or not loader_entries.folders(view):
        return None
    told = handed_over(view, "LoaderInfo", "grub")
    return Detection(
        NAME,
        "GRUB with BLS entries (Fedora, RHEL)",
        (*loader_entries.folders(view), *evidence, *told),
        proof=bool(told),
        supported=True,
        manual='sudo grubby --update-kernel=ALL --args="{kargs}"\n'
        f"and append the same to GRUB_CMDLINE_LINUX in {reader.DEFAULTS}, so that it lasts",
    )


def observe(view: HostView) -> Observed:
    return entry_options.observe(view, reader.read(view), entry_options.from_cmdline(view))


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    proposed = entry_options.propose(settings)
    part = proposed[entry_options.CMDLINE]
    lines = appended_assignment.lines(DEFAULT, part.decode().strip()) if part is not None else None
    return {**proposed, reader.DEFAULTS: lines}


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    return (entry_options.activation(NAME, reason, loader_entries.folders(view)),)


def write_entries(host: Host) -> None:
    """During a trial with the word in whose place GRUB puts its arguments."""
    entry_options.write(host, TRIAL_TOKEN if reader.has_hook(host) else "")


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    del view
    return list(entry_options.preflight(observed, kargs))


def unmanaged(view: HostView) -> list[Diagnostic]:
    del view
    return []


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
