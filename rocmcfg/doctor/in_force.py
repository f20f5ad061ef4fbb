"""Whether a workaround was in force when a log was written: what did not help is not recommended again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.kargs import Karg, contains, last, read_by_kernel
from rocmcfg.model.state import DesiredSetting
from rocmcfg.model.value import as_number, same
from rocmcfg.state.running import Running


@dataclass(frozen=True, slots=True)
class HostState:
    """`variables` maps a name to its value and where it is set: in files that new processes read, or in the
    environment of the caller. `applied` are the settings that rocmcfg applied last."""

    running: Running
    variables: Mapping[str, tuple[str, str]]
    applied: Sequence[DesiredSetting] = field(default=())


def in_force(setting: str, kargs: Sequence[Karg] | None, host: HostState | None, known: Catalogue) -> str:
    """Where a setting, in the spelling of --set, is in force; empty where it is not or cannot be told.

    `kargs` is the command line of the boot that wrote the log, None where it is not in it; `host` is None
    where the log is another machine's.
    """
    key, equals, value = setting.partition("=")
    scope, _, name = key.partition(".")
    if scope == "env":
        found = host.variables.get(name) if host else None
        return found[1] if found and found[0] == value else ""
    if scope == "karg":
        wanted = f"{name}={value}" if equals else name
        seen = kargs if kargs is not None else (host.running.kargs if host else ())
        return "the kernel's command line" if contains(read_by_kernel(seen), wanted) else ""
    if scope == "feature":
        return _feature(name, value == "true", kargs, host, known)
    current, where = _parameter(key, kargs, host)
    return where if current is not None and same(current, value) else ""


def applied(setting: str, host: HostState, known: Catalogue) -> str:
    """What is to be said of a setting that rocmcfg has applied already, and that was not in force for the
    log; empty where it has not."""
    if not any(_is(setting, one, known) for one in host.applied):
        return ""
    if in_force(setting, None, host, known):
        return "applied since, and in force now"
    return "applied, not in effect before the reboot"


def _is(setting: str, one: DesiredSetting, known: Catalogue) -> bool:
    key, equals, value = setting.partition("=")
    scope, _, name = key.partition(".")
    if scope != "feature":
        return one.id == key and (same(one.text or "", value) if equals else one.text is None)
    feature = known.features.get(name)
    mask = as_number(one.text)
    if feature is None or mask is None or one.parameter != feature.parameter:
        return False
    return (bool(mask & feature.bit) == feature.set_means_on) == (value == "true")


def _parameter(name: str, kargs: Sequence[Karg] | None, host: HostState | None) -> tuple[str | None, str]:
    """The value that a module parameter had, and who says so."""
    written = last(kargs or (), name)
    if written is not None:
        return written.value, written.source
    if host is None or (kargs is not None and not _same(kargs, host.running.kargs)):
        return None, ""
    now = host.running.parameter(name)
    return now.value, "the running driver"


def _same(kargs: Sequence[Karg], others: Sequence[Karg]) -> bool:
    """Whether two boots had one command line: then what a driver holds now stands for both."""
    return [karg.text for karg in kargs] == [karg.text for karg in others]


def _feature(
    name: str, wanted: bool, kargs: Sequence[Karg] | None, host: HostState | None, known: Catalogue
) -> str:
    feature = known.features.get(name)
    if feature is None:
        return ""
    current, where = _parameter(feature.parameter, kargs, host)
    mask = as_number(current)
    if mask is None:
        return ""
    return where if (bool(mask & feature.bit) == feature.set_means_on) == wanted else ""
