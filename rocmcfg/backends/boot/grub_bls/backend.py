"""GRUB with entries as files: their options, and the two places that make later ones (`entry_options`).

grubby is not used: it writes the rescue entry as well, and its exit status says little. So does Fedora's
grub2-mkconfig (10_linux, update_bls_cmdline; EL from 9.3 on with --update-bls-cmdline alone), and no menu is
generated for a trial: its commands stand in user.cfg, which exists for a password and is read before the
entries (01_users of Fedora and of EL 7 to 10; bootupd's static grub.cfg as well).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot import loader_entries
from rocmcfg.backends.boot.chain import EntryChain
from rocmcfg.backends.boot.contract import Files, Observed
from rocmcfg.backends.boot.entry_options import CARRIER, CMDLINE, asked
from rocmcfg.backends.boot.grub_bls import reader
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.defaults import DEFAULT
from rocmcfg.backends.boot.grub_files.trial import GrubTrial, hook
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.backends.templates import TRIAL_HEAD
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.plan import FileChange
from rocmcfg.model.regex import regex

_READS = regex(r"^[ \t]*(?:source|\.)[ \t]+\S*/user\.cfg\b.*?^[ \t]*blscfg\b", re.MULTILINE | re.DOTALL)


class _Trial(GrubTrial):
    FILES = reader.HOOKS

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        """The step of our own that writes the entries puts the word there where this file is."""
        content = (TRIAL_HEAD.encode() + hook(), 0o600)  # the mode that grub2-setpassword gives it
        return {} if _is_foreign(view) else {reader.hook_path(view): content}

    def entry_changes(self, view: HostView, proposed: Files) -> tuple[FileChange, ...]:
        changes = BACKEND.entry_changes(view, (asked(view), *self.PLACES)) if proposed else ()
        return tuple(one._replace(reason="a place for the arguments of one boot") for one in changes)

    def menu_problems(self, view: HostView, observed: Observed) -> Iterable[Diagnostic]:
        path, menu = reader.hook_path(view), reader.menu_path(view)
        try:
            foreign, text = _is_foreign(view), view.text(menu) or ""
        except Unreadable as problem:
            yield self.keeper(view).not_checked(f"{problem.path}: {problem.reason}")
            return
        if not _READS.search(text):
            yield error(
                "RC4343",
                f"no trial boot here: {menu} does not read {path} before the entries",
                location=menu,
                hint="apply without --trial, or have grub2-mkconfig make the menu, whose 01_users reads it",
            )
        if foreign:
            yield error(
                "RC4342",
                f"{path} is somebody else's, and what makes a trial of one boot would have to stand there",
                detail="grub2-setpassword keeps the password of the boot menu there",
                location=path,
                hint="apply without --trial; `rocmcfg rollback` takes it back",
            )

    def has_hook(self, view: HostView, menu: Menu) -> bool:
        return reader.has_hook(view)


def _is_foreign(view: HostView) -> bool:
    """Whether somebody else's file is in the place of ours. Raises Unreadable."""
    return view.read(reader.hook_path(view)) is not None and not reader.has_hook(view)


class _GrubBls(EntryChain):
    OWNED: tuple[str, ...] = (CARRIER, CMDLINE, reader.DEFAULTS)
    TITLE = "GRUB with BLS entries (Fedora, RHEL)"
    MANUAL = (
        'sudo grubby --update-kernel=ALL --args="{kargs}"\n'
        f"and append the same to GRUB_CMDLINE_LINUX in {reader.DEFAULTS}, so that it lasts"
    )
    LOADER = "grub"
    TRIAL = _Trial(reader)
    ASSIGNED = (reader.DEFAULTS, DEFAULT)

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        files, folders = reader.here(view), loader_entries.folders(view)
        return (*folders, *files, *told) if files and folders else ()

    def assigned(self, view: HostView) -> tuple[str, str]:
        """None where entries say $kernelopts (EL 8): grub2-mkconfig would give it to the rescue entry too."""
        names = {karg.text.strip("${}") for one in loader_entries.read(view) for karg in one.kargs}
        return ("", "") if "kernelopts" in names else self.ASSIGNED

    def variable(self, view: HostView) -> str:
        return TRIAL_TOKEN if reader.has_hook(view) else ""


BACKEND = _GrubBls(reader)
