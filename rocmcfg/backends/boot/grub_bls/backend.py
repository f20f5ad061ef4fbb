"""GRUB with entries as files: their options, and the two places that make later ones (`entry_options`).

grubby is not used: it writes the rescue entry as well, and its exit status says little. grub2-mkconfig writes
the options of all entries anew from /etc/default/grub (Fedora's 10_linux takes both of its variables; EL from
9.3 on asks for --update-bls-cmdline), so that our part, marks and all, stands there too.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import appended_assignment, loader_entries
from rocmcfg.backends.boot.chain import EntryChain, set_anew
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_bls import reader
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.defaults import DEFAULT, Sourced, dropped_by
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.state import DesiredSetting


class _GrubBls(EntryChain):
    TITLE = "GRUB with BLS entries (Fedora, RHEL)"
    MANUAL = (
        'sudo grubby --update-kernel=ALL --args="{kargs}"\n'
        f"and append the same to GRUB_CMDLINE_LINUX in {reader.DEFAULTS}, so that it lasts"
    )
    LOADER = "grub"
    ASSIGNED = (reader.DEFAULTS, DEFAULT)

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        files, folders = reader.evidence(view), loader_entries.folders(view)
        return (*folders, *files, *told) if files and folders else ()

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        """Where entries say $kernelopts (EL 8), grub2-mkconfig would put what the defaults say into that
        variable, for the rescue entry too."""
        proposed = super().propose(view, settings)
        return {**proposed, reader.DEFAULTS: None} if reader.has_kernelopts(view) else proposed

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
        problems = super().preflight(view, observed, kargs)
        if not reader.has_kernelopts(view):
            lines = appended_assignment.lines(DEFAULT, " ".join(kargs))
            content, _ = appended_assignment.put(text_or_empty(view, reader.DEFAULTS).encode(), lines)
            parts = [Sourced(reader.DEFAULTS, part) for part in appended_assignment.around(content.decode())]
            problems += appended_assignment.continued(parts[0].text, reader.DEFAULTS)
            if dropped_by(parts, 1, kargs):
                problems.append(set_anew(DEFAULT, reader.DEFAULTS))
        return problems

    def variable(self, view: HostView) -> str:
        return TRIAL_TOKEN if reader.has_hook(view) else ""


BACKEND = _GrubBls(reader)
