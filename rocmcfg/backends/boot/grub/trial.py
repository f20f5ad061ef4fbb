"""Trials where grub-mkconfig reads drop-ins: one of ours puts the word onto the entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.contract import Keeper, Observed
from rocmcfg.backends.boot.grub import reader
from rocmcfg.backends.boot.grub_files.environment_block import GRUB, EnvironmentBlock
from rocmcfg.backends.boot.grub_files.trial import SCRIPT, GrubTrial, script
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic

# Three z: behind the drop-in of what is applied, and in every locale, so that the trial's arguments win.
DROP_IN = reader.TRIAL_DROP_IN


class _Trial(GrubTrial):
    FILES: tuple[str, ...] = (DROP_IN, SCRIPT)
    KEEPERS: tuple[Keeper, ...] = (GRUB,)

    def block(self, view: HostView) -> EnvironmentBlock:
        del view
        return GRUB

    def propose(
        self, view: HostView, observed: Observed, arguments: Sequence[str]
    ) -> dict[str, tuple[bytes, int]]:
        from rocmcfg.backends.templates import render

        del view, observed, arguments  # GRUB has them in its block
        return {DROP_IN: (render("boot/grub", "grub-trial.cfg.j2"), 0o644), SCRIPT: (script(), 0o755)}

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        if reader.on_steamos(view):
            yield GRUB.cannot("nobody has seen what Valve's steamenv module makes of it")
            return
        yield from super().problems(view, observed, arguments)


TRIAL = _Trial(reader)
