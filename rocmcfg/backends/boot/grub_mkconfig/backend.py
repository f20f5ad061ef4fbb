"""GRUB without drop-ins: /etc/default/grub edited in place, then grub-mkconfig -o.

One assignment is appended that keeps what the variable holds, as TuneD does it (profiles/functions, the
bootloader plugin). A file of ours that is sourced from there would hide our arguments from every program that
reads this one as text, and would end grub-mkconfig's `set -e` shell where it is missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import appended_assignment
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_bls import reader as grub_bls
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN, defaults, mkconfig
from rocmcfg.backends.boot.grub_files.defaults import Sourced
from rocmcfg.backends.boot.grub_mkconfig import reader
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, unique_kargs

NAME = reader.NAME
OWNED: tuple[str, ...] = ()
_DEFAULTS = reader.DEFAULTS


def detect(view: HostView) -> Detection | None:
    menu, tool = reader.layout(view)
    program = mkconfig.program(view, tool)
    if not program or not view.exists(menu) or grub_bls.by_grubby(view):
        return None  # the arguments are in entries of their own
    drop_ins = mkconfig.reads_drop_ins(view, tool)
    if drop_ins is not False and view.exists("/usr/sbin/update-grub"):
        return None  # Debian's
    entries_elsewhere = any(line.split()[:1] == ["blscfg"] for line in text_or_empty(view, menu).splitlines())
    told = handed_over(view, "LoaderInfo", "grub")
    configurable = drop_ins is False and not entries_elsewhere
    evidence = tuple(path for path in (menu, program, _DEFAULTS) if view.exists(path))
    return Detection(
        NAME,
        "GRUB without drop-ins (Arch, Gentoo, openSUSE)",
        (*evidence, *told),
        proof=bool(told),
        supported=configurable and view.exists(_DEFAULTS),
        lacks=_DEFAULTS if configurable and not view.exists(_DEFAULTS) else "",
        manual=f"append to {defaults.DEFAULT} in {_DEFAULTS}: {{kargs}}\nthen: sudo {tool} -o {menu}",
    )


def observe(view: HostView) -> Observed:
    text = appended_assignment.without_variable(text_or_empty(view, _DEFAULTS))
    before, ours, _ = appended_assignment.around(text)
    last = before.count("\n") + ours.strip("\n").count("\n") + 1 if ours else 0
    return defaults.observed(
        reader.read(view),
        [Sourced(_DEFAULTS, appended_assignment.blanked(text))],
        [Sourced(_DEFAULTS, text)],
        defaults.own_kargs(ours, _DEFAULTS),
        lambda source: bool(ours) and int(source.rpartition(":")[2]) > last,
        TRIAL_TOKEN,
    )


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    return {_DEFAULTS: _lines([s.karg for s in unique_kargs(settings)])}


def _lines(kargs: Sequence[str]) -> bytes | None:
    return appended_assignment.lines(defaults.DEFAULT, " ".join(kargs)) if kargs else None


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    menu, tool = reader.layout(view)
    return (mkconfig.activation((tool, "-o", menu), menu, reason),)


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    content, _ = appended_assignment.put(text_or_empty(view, _DEFAULTS).encode(), _lines(kargs))
    parts = [Sourced(_DEFAULTS, part) for part in appended_assignment.around(content.decode())]
    lost_at = defaults.dropped_by(parts, 1, kargs)
    cure = "move it above the lines of rocmcfg"
    problems = defaults.before_writing(observed, kargs, _DEFAULTS, lost_at, "a line", cure)
    return [*problems, *appended_assignment.continued(parts[0].text, _DEFAULTS)]


def unmanaged(view: HostView) -> list[Diagnostic]:
    return defaults.not_from_defaults(view, reader.layout(view).menu)
