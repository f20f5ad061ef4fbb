"""Trials where /etc/default/grub is edited in place: the word stands last in our line there."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import appended_assignment
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.defaults import DEFAULT
from rocmcfg.backends.boot.grub_files.environment_block import GRUB, GRUB2, EnvironmentBlock
from rocmcfg.backends.boot.grub_files.trial import SCRIPT, GrubTrial, script
from rocmcfg.backends.boot.grub_mkconfig import reader
from rocmcfg.host.view import HostView, text_or_empty


class _Trial(GrubTrial):
    def block(self, view: HostView) -> EnvironmentBlock:
        return GRUB2 if reader.layout(view).tool.startswith("grub2") else GRUB

    def propose(
        self, view: HostView, observed: Observed, arguments: Sequence[str]
    ) -> dict[str, tuple[bytes, int]]:
        del observed, arguments  # GRUB has them in its block
        applied = appended_assignment.own(text_or_empty(view, reader.DEFAULTS).encode())
        lines = appended_assignment.with_variable(applied, DEFAULT, TRIAL_TOKEN)
        return {reader.DEFAULTS: (lines, 0o644), SCRIPT: (script(), 0o755)}


TRIAL = _Trial(reader)
