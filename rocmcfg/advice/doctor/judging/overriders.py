"""Find what wins over the settings that rocmcfg applies: files and arguments of others that are read later. A
cure that such a place overrides does not help before somebody edits that place."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import suppress

from rocmcfg.files import environment_targets
from rocmcfg.files.environment import Assignment
from rocmcfg.host.view import HostView
from rocmcfg.judging.parameters import goes_as_far
from rocmcfg.loaders import registry
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, adds_up, last
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling
from rocmcfg.records.receipt import Receipt


class Overridden(NamedTuple):
    """A setting that loses against `value` at `place`, a file and line. `applied`: rocmcfg has applied it."""

    setting: Spelling
    value: str
    place: str
    applied: bool


class Overriders:
    """The places of a host that are read after rocmcfg's, read once, on first use."""

    def __init__(self, view: HostView, facts: Facts, receipt: Receipt | None, catalogue: Catalogue) -> None:
        self._view, self._facts, self._receipt, self._catalogue = view, facts, receipt, catalogue

    @functools.cached_property
    def _variables(self) -> Mapping[str, Assignment]:
        targets = self._receipt.request.env_target if self._receipt else ()
        return environment_targets.later_assignments(self._view, targets)

    @functools.cached_property
    def _arguments(self) -> tuple[Karg, ...]:
        loader = self._facts.boot.loader
        with suppress(RocmcfgError):  # the commands that need the file report why it cannot be read
            if loader is not None and loader.supported:
                return registry.backend(loader.name).observe(self._view).later
        return ()

    def of(self, setting: Spelling) -> Overridden | None:
        """Return what overrides a setting that rocmcfg writes; None if nothing is known to do so."""
        value, place = self._later(setting)
        return Overridden(setting, value, place, self._is_applied(setting)) if place else None

    def _later(self, setting: Spelling) -> tuple[str, str]:
        if setting.kind is Kind.ENV:
            later = self._variables.get(setting.name)
            same = later is None or later.value is None or later.value == setting.value
            return ("", "") if later is None or same else (later.value or "", later.source)
        feature = self._catalogue.features.get(setting.name) if setting.kind is Kind.FEATURE else None
        id = feature.parameter if feature else setting.id
        name = setting.name if setting.kind is Kind.KARG else id
        winner = last(self._arguments, name)
        if winner is None or winner.untold or (setting.kind is Kind.KARG and adds_up(name)):
            return "", ""
        equal = (
            winner.value == setting.value
            if setting.kind is Kind.KARG
            else goes_as_far(setting, id, winner.value, self._catalogue)
        )
        return ("", "") if equal else (winner.value or "", winner.source)

    def _is_applied(self, setting: Spelling) -> bool:
        applied = self._receipt.settings if self._receipt else ()
        known = self._catalogue
        return any(goes_as_far(setting, own.parameter or own.id, own.text, known) for own in applied)
