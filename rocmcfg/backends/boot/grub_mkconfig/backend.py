"""GRUB without drop-ins: /etc/default/grub edited in place, then grub-mkconfig -o.

One assignment is appended, as TuneD does it (profiles/functions). A file of ours that is sourced there would
hide our arguments from programs that read this one as text, and end grub-mkconfig (`set -e`) if missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot import appended_assignment
from rocmcfg.backends.boot.contract import Files, Observed
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN, defaults, mkconfig
from rocmcfg.backends.boot.grub_files.trial import GrubTrial, script
from rocmcfg.backends.boot.grub_mkconfig import reader
from rocmcfg.backends.boot.grub_mkconfig.reader import DEFAULTS
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.state import DesiredSetting, karg_line


class _Trial(GrubTrial):
    """The word stands last in our line."""

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        applied = appended_assignment.own(text_or_empty(view, DEFAULTS).encode())
        lines = appended_assignment.with_variable(applied, defaults.DEFAULT, TRIAL_TOKEN)
        return {DEFAULTS: (lines, 0o644), **script()}


class _GrubMkconfig(defaults.DefaultsChain):
    OWNED: tuple[str, ...] = (DEFAULTS,)
    TITLE = "GRUB without drop-ins (Arch, Gentoo, openSUSE)"
    MANUAL = ""  # names the menu and the program of this host
    LOSER = "a line"
    CURE = "move it above the lines of rocmcfg"
    TRIAL = _Trial(reader)

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        menu, tool = reader.layout(view)
        program = mkconfig.program(view, tool)
        if not program or not view.exists(menu):
            return ()
        into_the_menu = mkconfig.without_entries(view) and not mkconfig.reads_entries(view, menu)
        if any(map(view.exists, mkconfig.GRUBBY)) and not into_the_menu:
            return ()  # grubby keeps the arguments in entries of their own
        if mkconfig.reads_drop_ins(view, tool) is not False and view.exists("/usr/sbin/update-grub"):
            return ()  # Debian's
        return (*filter(view.exists, (menu, program, DEFAULTS)), *told)

    def detect(self, view: HostView) -> Detection | None:
        found, (menu, tool) = super().detect(view), reader.layout(view)
        configurable = mkconfig.reads_drop_ins(view, tool) is False and not mkconfig.reads_entries(view, menu)
        lacks = DEFAULTS if configurable and not view.exists(DEFAULTS) else ""
        manual = f"append to {defaults.DEFAULT} in {DEFAULTS}: {{kargs}}\nthen: sudo {tool} -o {menu}"
        return found and found._replace(supported=configurable and not lacks, lacks=lacks, manual=manual)

    def layout(self, view: HostView) -> tuple[str, tuple[str, ...]]:
        menu, tool = reader.layout(view)
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


BACKEND = _GrubMkconfig(reader)
