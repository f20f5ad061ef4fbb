"""Trials where grub-mkconfig reads drop-ins: one of ours puts the word onto the entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.contract import Files, Observed
from rocmcfg.backends.boot.grub import reader
from rocmcfg.backends.boot.grub_files.environment_block import GRUB
from rocmcfg.backends.boot.grub_files.trial import SCRIPT, GrubTrial, script
from rocmcfg.backends.templates import render
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, error


class _Trial(GrubTrial):
    FILES = (reader.TRIAL_DROP_IN, SCRIPT)
    KEEPERS = (GRUB,)

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        return {reader.TRIAL_DROP_IN: (render("boot/grub", "grub-trial.cfg.j2"), 0o644), **script()}

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        if reader.on_steamos(view):
            yield error(
                "RC4310",
                "no trial boot on SteamOS: nobody has seen what Valve's steamenv module makes of one",
                location=reader.STEAMOS,
                hint="apply without --trial; `rocmcfg rollback` takes it back",
            )
        else:
            yield from super().problems(view, observed, arguments)


TRIAL = _Trial(reader)
