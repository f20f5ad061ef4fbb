"""GRUB as GRUB itself, Arch, Gentoo and openSUSE set it up: one file with the defaults, no drop-ins.

Two lines at the end of /etc/default/grub add the arguments to GRUB_CMDLINE_LINUX_DEFAULT, and grub-mkconfig
(grub2-mkconfig) generates the menu from it. Some entries of last resort get the arguments like all other
entries, and the plan says so: the fallback entries of Arch's 10_linux, the rescue entry of Fedora with
GRUB_ENABLE_BLSCFG=false, the snapshots of grub-btrfs (its 41_snapshots-btrfs). With
GRUB_DISABLE_RECOVERY=true there is no recovery entry.

The second environment block that openSUSE's GRUB and GRUB 2.14 have on Btrfs accepts only next_entry from
grub-editenv, so there is no trial on Btrfs either.

Sources: GRUB 2.06 to 2.14 (util/grub-mkconfig.in, util/grub.d, util/grub-editenv.c). Tests compare the menus
with those of Debian's grub-mkconfig without its patch for drop-ins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.shared import appended_assignment
from rocmcfg.loaders.shared.contract import Files, Observed, Owned
from rocmcfg.loaders.shared.grub_files import TRIAL_TOKEN, defaults, mkconfig
from rocmcfg.loaders.shared.grub_files.defaults import PATH as DEFAULTS
from rocmcfg.loaders.shared.grub_files.trial import GrubTrial, script
from rocmcfg.loaders.shared.menu import Menu
from rocmcfg.model.desired import DesiredSetting, karg_line
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection


class _Trial(GrubTrial):
    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        applied = appended_assignment.own(text_or_empty(view, DEFAULTS).encode())
        lines = appended_assignment.with_variable(applied, defaults.DEFAULT, TRIAL_TOKEN)
        return {DEFAULTS: (lines, 0o644), **script()}


class _GrubMkconfig(defaults.DefaultsChain):
    """Appends one assignment, as TuneD does (profiles/functions). Sourcing a file of our own instead would
    hide our arguments from programs that read /etc/default/grub as text, and would end grub-mkconfig (`set
    -e`) if that file were missing."""

    NAME = "grub-mkconfig"
    OWNED: ClassVar[Owned] = {DEFAULTS: appended_assignment}
    PACKAGE = "grub"
    TITLE = "GRUB without drop-ins (Arch, Gentoo, openSUSE)"
    GENERATORS = ("grub-mkconfig", "grub2-mkconfig")
    MANUAL = ""  # names the menu and the program of this host
    LOSER = "a line"
    CURE = "move it above the lines of rocmcfg"
    TRIAL = _Trial()

    def here(self, view: HostView) -> tuple[str, ...]:
        menu, _ = _layout(view)
        return (menu,) if view.exists(menu) and not mkconfig.reads_entries(view, menu) else ()

    def read(self, view: HostView) -> Menu:
        return mkconfig.read_menu(view, *_layout(view), DEFAULTS, f"a line of {DEFAULTS}")

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        menu, tool = _layout(view)
        program = mkconfig.program(view, tool)
        if not program or not view.exists(menu):
            return ()
        into_the_menu = mkconfig.without_entries(view) and not mkconfig.reads_entries(view, menu)
        if any(map(view.exists, mkconfig.GRUBBY)) and not into_the_menu:
            return ()  # grubby keeps the arguments in entries of their own
        if mkconfig.reads_drop_ins(view, tool) is not False and view.exists("/usr/sbin/update-grub"):
            return ()  # Debian's
        return (*filter(view.exists, (menu, program, DEFAULTS)), *proof)

    def detect(self, view: HostView) -> Detection | None:
        detection, (menu, tool) = super().detect(view), _layout(view)
        unclear = _unclear(view, menu, tool)
        lacks = DEFAULTS if not unclear and not view.exists(DEFAULTS) else ""
        manual = f"append to {defaults.DEFAULT} in {DEFAULTS}: {{kargs}}\nthen: sudo {tool} -o {menu}"
        supported = not unclear and not lacks
        return detection and detection._replace(
            supported=supported, lacks=lacks, manual=manual, unclear=unclear
        )

    def layout(self, view: HostView) -> tuple[str, tuple[str, ...]]:
        menu, tool = _layout(view)
        return menu, (tool, "-o", menu)

    def sourced(self, view: HostView, kargs: Sequence[str] | None = None) -> defaults.Parts:
        text = appended_assignment.without_variable(text_or_empty(view, DEFAULTS))
        if kargs is not None:
            text = appended_assignment.with_arguments(text, defaults.DEFAULT, kargs)
        before, own, after = appended_assignment.around(text)
        rest = [(DEFAULTS, appended_assignment.blanked(after))] if own else []
        return defaults.Parts([(DEFAULTS, before)], (DEFAULTS, own), rest)

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        kargs = karg_line(settings)
        return {DEFAULTS: appended_assignment.lines(defaults.DEFAULT, kargs) if kargs else None}

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        ((_, before),) = self.sourced(view, kargs).before
        yield from appended_assignment.continued(before, DEFAULTS)


def _unclear(view: HostView, menu: str, tool: str) -> str:
    """Return why the effect of our part cannot be predicted; empty where it can."""
    if mkconfig.reads_entries(view, menu):
        return f"{menu} reads its entries from files"
    drop_ins = mkconfig.reads_drop_ins(view, tool)
    if drop_ins is None:
        return (
            f"no line of {mkconfig.program(view, tool)} sources {DEFAULTS}, as far as rocmcfg understands it"
        )
    return f"{mkconfig.program(view, tool)} reads drop-ins, and there is no update-grub" if drop_ins else ""


def _layout(view: HostView) -> tuple[str, str]:
    """Return the menu, and the program that generates it. openSUSE and Fedora name the files of GRUB 2
    `grub2`, to tell them from those of GRUB 0.97."""
    name = "grub2" if view.exists("/boot/grub2/grub.cfg") else "grub"
    return f"/boot/{name}/grub.cfg", f"{name}-mkconfig"


BACKEND = _GrubMkconfig()
