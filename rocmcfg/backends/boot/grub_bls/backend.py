"""GRUB with entries as files: their options, and the two places that make later ones (`entry_options`).

grubby is not used: it writes the rescue entry as well, and its exit status says little. grub2-mkconfig writes
the options of all entries anew from /etc/default/grub (Fedora's 10_linux takes both of its variables; EL from
9.3 on asks for --update-bls-cmdline), so that our part, marks and all, stands there too.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import appended_assignment, entry_options, loader_entries, marked_arguments
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_bls import reader
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.defaults import DEFAULT, Sourced, dropped_by
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.host.view import Host, HostView, text_or_empty
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
    proposed = entry_options.propose(settings)
    return {**proposed, reader.DEFAULTS: _lines(view, proposed[entry_options.CMDLINE])}


def _lines(view: HostView, part: bytes | None) -> bytes | None:
    """None where entries say $kernelopts (EL 8): grub2-mkconfig would put what the defaults say into that
    variable, for the rescue entry too."""
    if part is None or reader.has_kernelopts(view):
        return None
    return appended_assignment.lines(DEFAULT, part.decode().strip())


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    return (entry_options.activation(NAME, reason, loader_entries.folders(view)),)


def write_entries(host: Host) -> None:
    """During a trial with the word in whose place GRUB puts its arguments."""
    entry_options.write(host, TRIAL_TOKEN if reader.has_hook(host) else "")


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    problems = list(entry_options.preflight(observed, kargs))
    lines = _lines(view, marked_arguments.part(" ".join(kargs)))
    if lines is not None:
        content, _ = appended_assignment.put(text_or_empty(view, reader.DEFAULTS).encode(), lines)
        parts = [Sourced(reader.DEFAULTS, part) for part in appended_assignment.around(content.decode())]
        problems += appended_assignment.continued(parts[0].text, reader.DEFAULTS)
        if dropped_by(parts, 1, kargs):
            problems.append(entry_options.set_anew(DEFAULT, reader.DEFAULTS))
    return problems


def unmanaged(view: HostView) -> list[Diagnostic]:
    del view
    return []


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
