"""Whether a workaround was in force when a log was written: what did not help is not recommended again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.kargs import Karg, contains, join, last, read_by_kernel
from rocmcfg.model.spelling import Spelling, as_number, same
from rocmcfg.model.state import DesiredSetting, Kind
from rocmcfg.state.values import Running


@dataclass(frozen=True, slots=True)
class HostState:
    """`variables` maps a name to its value and where it is set: in files that new processes read, or in the
    environment of the caller. `applied` are the settings that rocmcfg applied last."""

    running: Running
    variables: Mapping[str, tuple[str, str]]
    applied: Sequence[DesiredSetting] = field(default=())


def in_force(
    setting: Spelling, kargs: Sequence[Karg] | None, host: HostState | None, known: Catalogue
) -> str:
    """Where a setting is in force; empty where it is not or cannot be told.

    `kargs` is the command line of the boot that wrote the log, None where it is not in it; `host` is None
    where the log is another machine's.
    """
    if setting.kind is Kind.ENV:
        found = host.variables.get(setting.name) if host else None
        return found[1] if found and found[0] == setting.value else ""
    if setting.kind is Kind.KARG:
        wanted = setting.name if setting.value is None else f"{setting.name}={setting.value}"
        seen = kargs if kargs is not None else (host.running.kargs if host else ())
        return "the kernel's command line" if contains(read_by_kernel(seen), wanted) else ""
    feature = known.features.get(setting.name) if setting.kind is Kind.FEATURE else None
    current, where = _parameter(feature.parameter if feature else setting.id, kargs, host)
    if feature is not None:
        return where if feature.is_on(as_number(current)) is setting.enabled else ""
    return where if current is not None and same(current, setting.value) else ""


def applied(setting: Spelling, host: HostState, known: Catalogue) -> str:
    """What to tell of a setting that rocmcfg applied after the log was written; empty for a setting that it
    has not applied."""
    if not any(_is(setting, one, known) for one in host.applied):
        return ""
    if in_force(setting, None, host, known):
        return "applied since, and in force now"
    return "applied, not in effect before the reboot"


def _is(setting: Spelling, one: DesiredSetting, known: Catalogue) -> bool:
    if setting.kind is not Kind.FEATURE:
        return one.id == setting.id and (
            one.text is None if setting.value is None else same(one.text or "", setting.value)
        )
    feature = known.features.get(setting.name)
    if feature is None or one.parameter != feature.parameter:
        return False
    return feature.is_on(as_number(one.text)) is setting.enabled


def _parameter(name: str, kargs: Sequence[Karg] | None, host: HostState | None) -> tuple[str | None, str]:
    """The value that a module parameter had, and who says so."""
    written = last(kargs or (), name)
    if written is not None:
        return written.value, written.source
    # where two boots had one command line, what a driver holds now stands for both
    if host is None or (kargs is not None and join(kargs) != join(host.running.kargs)):
        return None, ""
    now = host.running.parameter(name)
    return now.value, "the running driver"
