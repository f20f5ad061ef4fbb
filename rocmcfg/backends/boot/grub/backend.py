"""GRUB as Debian and Ubuntu set it up: /etc/default/grub, drop-ins in grub.d, update-grub.

The drop-in appends to GRUB_CMDLINE_LINUX_DEFAULT, which 10_linux puts last on the line of every entry but
the recovery ones (Debian's grub 2.06 and 2.12, util/grub.d/10_linux.in), so that our arguments win over
earlier ones and recovery stays clean.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub import reader
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN, defaults
from rocmcfg.backends.boot.grub_files.defaults import Sourced
from rocmcfg.backends.boot.grub_files.mkconfig import activation, reads_drop_ins
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, unique_kargs

NAME = reader.NAME
DROP_IN = reader.DROP_IN
OWNED: tuple[str, ...] = (DROP_IN,)
_DROP_INS = DROP_IN.rpartition("/")[0]


def detect(view: HostView) -> Detection | None:
    tool = next((path for path in reader.PROGRAMS if view.exists(path)), "")
    evidence = tuple(path for path in (tool, defaults.PATH, reader.PATH) if path and view.exists(path))
    if len(evidence) < 3 or reads_drop_ins(view) is False or not reader.has_entries(view):
        return None
    told = handed_over(view, "LoaderInfo", NAME)
    return Detection(
        NAME,
        "GRUB (Debian, Ubuntu)",
        (*evidence, *told),
        proof=bool(told),
        supported=True,
        manual=f"append to {defaults.DEFAULT} in {defaults.PATH}: {{kargs}}\nthen: sudo update-grub",
    )


def observe(view: HostView) -> Observed:
    own = text_or_empty(view, DROP_IN)
    return defaults.observed(
        reader.read(view),
        _sourced(view),
        _sourced(view, own),
        defaults.own_kargs(own, DROP_IN),
        lambda source: source.startswith(_DROP_INS) and source > DROP_IN,
        TRIAL_TOKEN,
    )


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    if not settings:
        return {DROP_IN: None}
    from rocmcfg.backends.templates import HEAD, reason

    kargs = " ".join(setting.karg for setting in unique_kargs(settings))
    remark = "# GRUB_CMDLINE_LINUX_DEFAULT leaves the recovery entries of the boot menu as they are.\n"
    line = f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {kargs}"\n'
    content = "".join([HEAD, remark, *map(reason, settings), line])
    return {DROP_IN: content.encode()}


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    del view
    return (activation((reader.TOOL,), reader.PATH, reason),)


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    sources = _sourced(view, f'{defaults.DEFAULT}="${defaults.DEFAULT} {" ".join(kargs)}"')
    ours = [source.path for source in sources].index(DROP_IN)
    lost_at = defaults.dropped_by(sources, ours, kargs)
    cure = f"rename it so that it sorts before {DROP_IN.rpartition('/')[2]}"
    return [*defaults.before_writing(observed, kargs, DROP_IN, lost_at, "a drop-in", cure)]


def unmanaged(view: HostView) -> list[Diagnostic]:
    return defaults.not_from_defaults(view, reader.PATH)


def _sourced(view: HostView, ours: str | None = None) -> list[Sourced]:
    """What grub-mkconfig sources, in order: /etc/default/grub, then grub.d/*.cfg in glob order (a Debian
    patch). Our drop-in is left out, or holds `ours`; that of a trial is left out, since GRUB fills it."""
    others = {*drop_ins(view, (_DROP_INS,), ".cfg")} - {DROP_IN, reader.TRIAL_DROP_IN}
    texts = {path: text_or_empty(view, path) for path in others}
    if ours is not None:
        texts[DROP_IN] = ours
    first = Sourced(defaults.PATH, text_or_empty(view, defaults.PATH))
    return [first, *(Sourced(path, texts[path]) for path in sorted(texts))]
