"""GRUB as Debian, Ubuntu and SteamOS set it up: /etc/default/grub with a folder of drop-ins, and update-grub.

rocmcfg writes the arguments into a file of its own, /etc/default/grub.d/zz-rocmcfg.cfg, which adds them to
GRUB_CMDLINE_LINUX_DEFAULT; update-grub generates the menu from it. rocmcfg writes neither to
/etc/default/grub nor to other programs' drop-ins. Snapshot entries of grub-btrfs, if it is installed, get the
arguments like all other entries; with GRUB_DISABLE_RECOVERY=true there is no recovery entry.

SteamOS has its menu on the EFI partition, /efi/EFI/steamos/grub.cfg. An update there installs a second
system, which takes over only the listed files of /etc: /etc/atomic-update.conf.d/rocmcfg.conf lists each file
that rocmcfg wrote, and the update runs update-grub. rocmcfg never writes to Valve's
/etc/default/grub-steamos: a kept copy would hide the changes of later versions. There is no trial, because
nobody has tested how Valve's steamenv module handles one.

Sources: Debian's GRUB 2.06 to 2.14 (util/grub-mkconfig.in with Debian's patch, util/grub.d). Tests compare
the menus with those of Debian's own grub-mkconfig. For SteamOS: steamos-customizations, branch jupiter-3.8.x
of 2026-06-19 (grub/bin/update-grub, atomic-update/rauc/atomic-update-keep.conf,
misc/bin/steamos-finalize-install and steamos-chroot), and bc250-steamos, which writes such drop-ins on 3.8.
Nothing was run on SteamOS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rocmcfg.files.keep_list import FOLDER as KEPT_BY_UPDATES
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.loaders.grub import templates
from rocmcfg.loaders.shared.contract import Files, Observed, Owned
from rocmcfg.loaders.shared.grub_files import defaults
from rocmcfg.loaders.shared.grub_files.environment_block import GRUB
from rocmcfg.loaders.shared.grub_files.mkconfig import read_menu, reads_drop_ins, reads_entries
from rocmcfg.loaders.shared.grub_files.trial import SCRIPT, GrubTrial, script
from rocmcfg.loaders.shared.menu import Menu
from rocmcfg.model.desired import DesiredSetting, karg_line
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg

DROP_IN = "/etc/default/grub.d/zz-rocmcfg.cfg"
_PATH = "/boot/grub/grub.cfg"
STEAMOS = "/efi/EFI/steamos/grub.cfg"
_TOOL = "update-grub"
_PROGRAMS = ("/usr/sbin/update-grub", "/sbin/update-grub", "/usr/bin/update-grub")
# A trial adds a variable to every normal entry, which GRUB fills for one boot. The name has three z so that
# the file is read after the drop-in of applied settings in every locale, and the trial's arguments win.
TRIAL_DROP_IN = "/etc/default/grub.d/zzz-rocmcfg-trial.cfg"
_FOLDER, _, _NAME = DROP_IN.rpartition("/")


class _Trial(GrubTrial):
    FILES = (TRIAL_DROP_IN, SCRIPT)
    KEEPERS = (GRUB,)

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        return {TRIAL_DROP_IN: (templates.trial_cfg().encode(), 0o644), **script()}

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        if _on_steamos(view):
            summary = "no trial boot on SteamOS: it has not been tested with Valve's steamenv module"
            hint = "apply without --trial; `rocmcfg rollback` undoes it"
            yield error("RC4310", summary, location=STEAMOS, hint=hint)
        else:
            yield from super().problems(view, observed, arguments)


class _Grub(defaults.DefaultsChain):
    NAME = "grub"
    OWNED: ClassVar[Owned] = {DROP_IN: None}
    PACKAGE = "grub2-common"
    TITLE = "GRUB (Debian, Ubuntu)"
    GENERATORS = ("update-grub", "grub-mkconfig")  # the first executes the second
    MANUAL = f"append to {defaults.DEFAULT} in {defaults.PATH}: {{kargs}}\nthen: sudo update-grub"
    LOSER = "a drop-in"
    CURE = f"rename it so that it sorts before {_NAME}"
    TRIAL = _Trial()
    SOURCES = (defaults.PATH, f"{_FOLDER}/*.cfg")

    def immovable(self, view: HostView, path: str, line: int, karg: Karg) -> str:
        if _on_steamos(view):
            return "an update of SteamOS brings its own version of this file"
        return super().immovable(view, path, line, karg)

    def here(self, view: HostView) -> tuple[str, ...]:
        programs = tuple(filter(view.exists, _PROGRAMS))
        return programs if view.exists(_menu(view)) and programs and self.has_entries(view) else ()

    def has_entries(self, view: HostView) -> bool:
        """Return whether its entries are in the menu, not in files of their own."""
        return not reads_entries(view, _menu(view)) or bool(self.menu(view).normal)

    def read(self, view: HostView) -> Menu:
        return read_menu(view, _menu(view), _TOOL, DROP_IN, "a drop-in")

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        tool = next(filter(view.exists, _PROGRAMS), "")
        paths = (tool, defaults.PATH, _menu(view))
        sources = all(map(view.exists, paths)) and reads_drop_ins(view) is not False
        return (*paths, *proof) if tool and sources and self.has_entries(view) else ()

    def detect(self, view: HostView) -> Detection | None:
        detection = super().detect(view)
        return detection._replace(title="GRUB (SteamOS)") if detection and _on_steamos(view) else detection

    def layout(self, view: HostView) -> tuple[str, tuple[str, ...]]:
        return _menu(view), (_TOOL,)

    def sourced(self, view: HostView, kargs: Sequence[str] | None = None) -> defaults.Parts:
        """Return the parts of /etc/default/grub and grub.d/*.cfg (a Debian patch), without the drop-in of a
        trial, which GRUB fills at boot."""
        if kargs is None:
            own = text_or_empty(view, DROP_IN)
        else:
            own = templates.assignment_cfg(kargs=" ".join(kargs))
        others = sorted({*drop_ins(view, (_FOLDER,), ".cfg")} - {DROP_IN, TRIAL_DROP_IN})
        texts = [(path, text_or_empty(view, path)) for path in (defaults.PATH, *others)]
        first = sum(path < DROP_IN for path in others) + 1
        return defaults.Parts(texts[:first], (DROP_IN, own), texts[first:])

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        content = templates.drop_in_cfg(settings=settings, kargs=karg_line(settings)).encode()
        return {DROP_IN: content if settings else None}


def _on_steamos(view: HostView) -> bool:
    """Return whether this is a SteamOS whose updates keep our files, which is the case from 3.6 on."""
    return view.exists(STEAMOS) and view.is_dir(KEPT_BY_UPDATES)


def _menu(view: HostView) -> str:
    return STEAMOS if _on_steamos(view) else _PATH


BACKEND = _Grub()
