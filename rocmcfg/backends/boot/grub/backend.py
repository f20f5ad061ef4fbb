"""GRUB as Debian and Ubuntu set it up: /etc/default/grub, drop-ins in grub.d, update-grub.

The drop-in appends to GRUB_CMDLINE_LINUX_DEFAULT, which 10_linux puts last on the line of every entry but
the recovery ones (Debian's grub 2.06 and 2.12, util/grub.d/10_linux.in), so that our arguments win over
earlier ones and recovery stays clean.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot.contract import Observed, Proposal
from rocmcfg.backends.boot.grub import reader
from rocmcfg.backends.boot.grub_files import defaults, problems
from rocmcfg.backends.boot.grub_files.defaults import Sourced, text_of
from rocmcfg.backends.boot.grub_files.mkconfig import reads_drop_ins
from rocmcfg.backends.boot.recognised import loader_info
from rocmcfg.backends.boot.rules import check as check_menu
from rocmcfg.host.view import HostView
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
    if len(evidence) < 3 or reads_drop_ins(view) is False:
        return None
    told = loader_info(view)
    proof = told.lower().startswith("grub")
    shown = (*evidence, f"the firmware was handed over by {told}") if proof else evidence
    return Detection(
        NAME,
        "GRUB (Debian, Ubuntu)",
        shown,
        proof=proof,
        supported=True,
        manual=f"append to {defaults.DEFAULT} in {defaults.PATH}: {{kargs}}\nthen: sudo update-grub",
    )


def observe(view: HostView) -> Observed:
    own = text_of(view, DROP_IN)
    return defaults.observed(
        reader.read(view),
        _sourced(view),
        _sourced(view, own),
        defaults.own_kargs(own, DROP_IN),
        lambda source: source.startswith(_DROP_INS) and source > DROP_IN,
        reader.TRIAL_TOKEN,
    )


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> Proposal:
    del view
    if not settings:
        return Proposal({DROP_IN: None}, {})
    from rocmcfg.backends.templates import HEAD, reason

    kargs = " ".join(setting.karg for setting in unique_kargs(settings))
    remark = "# GRUB_CMDLINE_LINUX_DEFAULT leaves the recovery entries of the boot menu as they are.\n"
    line = f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {kargs}"\n'
    content = "".join([HEAD, remark, *map(reason, settings), line])
    return Proposal({DROP_IN: content.encode()}, {})


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    # grub-mkconfig removes the .new, writes it anew and takes it away at its end (util/grub-mkconfig.in);
    # where it failed on a full /boot, that file is what fills it
    del view
    return (
        Activation(
            reader.TOOL,
            (reader.TOOL,),
            reason,
            outputs=(reader.PATH,),
            scratch=(f"{reader.PATH}.new",),
            places=(reader.PATH.rpartition("/")[0],),
        ),
    )


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    """What would go wrong, before anything is written."""
    found = list(problems.before_writing(observed, kargs, DROP_IN))
    sources = _sourced(view, f'{defaults.DEFAULT}="${defaults.DEFAULT} {" ".join(kargs)}"')
    ours = [source.path for source in sources].index(DROP_IN)
    at = defaults.dropped_by(sources, ours, kargs)
    if at:
        mended = f"rename it so that it sorts before {DROP_IN.rpartition('/')[2]}"
        found.append(problems.set_anew("a drop-in", at, mended))
    return [*found, *problems.after_reading(observed, kargs)]


def unmanaged(view: HostView) -> list[Diagnostic]:
    """Entries that update-grub does not build from GRUB_CMDLINE_LINUX: they boot without our arguments."""
    return problems.not_from_defaults(view, reader.PATH)


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    """Read the generated menu: every non-recovery entry has each wanted argument and no unwanted one."""
    return check_menu(reader.read(view), wanted, unwanted, "a script in /etc/grub.d or a drop-in drops them")


def _sourced(view: HostView, ours: str | None = None) -> list[Sourced]:
    """What grub-mkconfig sources, in order: /etc/default/grub, then grub.d/*.cfg in glob order (a Debian
    patch). Our drop-in is left out, or holds `ours`; that of a trial is left out, since GRUB fills it."""
    names = [n for n in view.names(_DROP_INS) if n.endswith(".cfg") and not n.startswith(".")]
    paths = sorted({*(f"{_DROP_INS}/{name}" for name in names), DROP_IN} - {reader.TRIAL_DROP_IN})
    found = [Sourced(defaults.PATH, text_of(view, defaults.PATH))]
    for path in paths:
        if path != DROP_IN:
            found.append(Sourced(path, text_of(view, path)))
        elif ours is not None:
            found.append(Sourced(path, ours))
    return found
