"""GRUB as Debian and Ubuntu set it up: /etc/default/grub, drop-ins in grub.d, update-grub."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends import templates
from rocmcfg.backends.boot.chain import Chain
from rocmcfg.backends.boot.contract import Files, Observed
from rocmcfg.backends.boot.grub import reader
from rocmcfg.backends.boot.grub.reader import DROP_IN
from rocmcfg.backends.boot.grub_files import defaults
from rocmcfg.backends.boot.grub_files.environment_block import GRUB
from rocmcfg.backends.boot.grub_files.mkconfig import activation, reads_drop_ins
from rocmcfg.backends.boot.grub_files.trial import SCRIPT, GrubTrial, script
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, karg_line

_FOLDER, _, _NAME = DROP_IN.rpartition("/")
_REMARK = "# GRUB_CMDLINE_LINUX_DEFAULT leaves the recovery entries of the boot menu as they are.\n"


class _Trial(GrubTrial):
    """A drop-in of ours puts the word onto the entries."""

    FILES = (reader.TRIAL_DROP_IN, SCRIPT)
    KEEPERS = (GRUB,)

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        return {reader.TRIAL_DROP_IN: (templates.script("boot/grub", "grub-trial.cfg.j2"), 0o644), **script()}

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


class _Grub(Chain):
    OWNED: tuple[str, ...] = (DROP_IN,)
    TITLE = "GRUB (Debian, Ubuntu)"
    MANUAL = f"append to {defaults.DEFAULT} in {defaults.PATH}: {{kargs}}\nthen: sudo update-grub"
    LOADER = "grub"
    TRIAL = _Trial(reader)

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        tool = next(filter(view.exists, reader.PROGRAMS), "")
        found = (tool, defaults.PATH, reader.menu(view))
        sources = all(map(view.exists, found)) and reads_drop_ins(view) is not False
        return (*found, *told) if tool and sources and reader.has_entries(view) else ()

    def detect(self, view: HostView) -> Detection | None:
        found = super().detect(view)
        return found._replace(title="GRUB (SteamOS)") if found and reader.on_steamos(view) else found

    def observe(self, view: HostView) -> Observed:
        own = text_or_empty(view, DROP_IN)
        return defaults.observed(
            reader.read(view),
            _sourced(view),
            (DROP_IN, own),
            lambda source: source.startswith(_FOLDER) and source > DROP_IN,
        )

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        return {DROP_IN: templates.own_file(settings, _line(karg_line(settings)), _REMARK)}

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        return (activation((reader.TOOL,), reader.menu(view), reason),)

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        sources = _sourced(view, _line(" ".join(kargs)))
        ours = [path for path, _ in sources].index(DROP_IN)
        lost_at = defaults.dropped_by(sources, ours, kargs)
        cure = f"rename it so that it sorts before {_NAME}"
        return defaults.before_writing(observed, kargs, DROP_IN, lost_at, "a drop-in", cure)

    def unmanaged(self, view: HostView) -> Iterable[Diagnostic]:
        return defaults.not_from_defaults(view, reader.menu(view))


def _line(kargs: str) -> str:
    return f'{defaults.DEFAULT}="${defaults.DEFAULT} {kargs}"'


def _sourced(view: HostView, ours: str | None = None) -> list[defaults.Sourced]:
    """What grub-mkconfig sources, in order: /etc/default/grub, then grub.d/*.cfg (a Debian patch). Our
    drop-in is left out, or holds `ours`; that of a trial is left out, since GRUB fills it."""
    others = {*drop_ins(view, (_FOLDER,), ".cfg")} - {DROP_IN, reader.TRIAL_DROP_IN}
    texts = {path: text_or_empty(view, path) for path in others}
    if ours is not None:
        texts[DROP_IN] = ours
    return [(defaults.PATH, text_or_empty(view, defaults.PATH)), *sorted(texts.items())]


BACKEND = _Grub(reader)
