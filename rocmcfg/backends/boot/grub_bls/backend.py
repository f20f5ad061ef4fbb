"""GRUB with entries as files: their options, and the two places that make later ones (`entry_options`).

grubby is not used: it writes the rescue entry as well, and its exit status says little. grub2-mkconfig makes
the options of all entries of both variables in /etc/default/grub, so that our part, marks and all, is there.
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

    def assigned(self, view: HostView) -> tuple[str, str]:
        """None where entries say $kernelopts (EL 8): grub2-mkconfig would give it to the rescue entry too."""
        names = {karg.text.strip("${}") for one in loader_entries.read(view) for karg in one.kargs}
        return ("", "") if "kernelopts" in names else self.ASSIGNED

    def variable(self, view: HostView) -> str:
        return TRIAL_TOKEN if reader.has_hook(view) else ""


BACKEND = _GrubBls(reader)
