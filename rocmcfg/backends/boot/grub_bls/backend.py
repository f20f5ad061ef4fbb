"""GRUB with entries as files: their options, and the two places that make later ones (`entry_options`).

grubby is not used: it writes the rescue entry as well, and its exit status says little. grub2-mkconfig writes
the options of all entries anew from /etc/default/grub (Fedora's 10_linux takes both of its variables; EL from
9.3 on asks for --update-bls-cmdline), so that our part, marks and all, stands there too.
"""

from __future__ import annotations

from rocmcfg.backends.boot import loader_entries
from rocmcfg.backends.boot.chain import EntryChain
from rocmcfg.backends.boot.grub_bls import reader
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.defaults import DEFAULT
from rocmcfg.host.view import HostView


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

    def variable(self, view: HostView) -> str:
        return TRIAL_TOKEN if reader.has_hook(view) else ""


BACKEND = _GrubBls(reader)
