"""Trials where /etc/default/grub is edited in place: the word stands last in our line there."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import appended_assignment
from rocmcfg.backends.boot.contract import Files, Observed
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN
from rocmcfg.backends.boot.grub_files.defaults import DEFAULT
from rocmcfg.backends.boot.grub_files.trial import GrubTrial, script
from rocmcfg.backends.boot.grub_mkconfig import reader
from rocmcfg.host.view import HostView, text_or_empty


class _Trial(GrubTrial):
    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        applied = appended_assignment.own(text_or_empty(view, reader.DEFAULTS).encode())
        lines = appended_assignment.with_variable(applied, DEFAULT, TRIAL_TOKEN)
        return {reader.DEFAULTS: (lines, 0o644), **script()}


TRIAL = _Trial(reader)
