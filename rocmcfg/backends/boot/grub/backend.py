"""GRUB as Debian and Ubuntu set it up: /etc/default/grub, drop-ins in grub.d, update-grub."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends import templates
from rocmcfg.backends.boot.contract import Files, Observed
from rocmcfg.backends.boot.grub import reader
from rocmcfg.backends.boot.grub.reader import DROP_IN
from rocmcfg.backends.boot.grub_files import defaults
from rocmcfg.backends.boot.grub_files.environment_block import GRUB
from rocmcfg.backends.boot.grub_files.mkconfig import reads_drop_ins
from rocmcfg.backends.boot.grub_files.trial import SCRIPT, GrubTrial, script
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
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


class _Grub(defaults.DefaultsChain):
    OWNED: tuple[str, ...] = (DROP_IN,)
    TITLE = "GRUB (Debian, Ubuntu)"
    MANUAL = f"append to {defaults.DEFAULT} in {defaults.PATH}: {{kargs}}\nthen: sudo update-grub"
    LOSER = "a drop-in"
    CURE = f"rename it so that it sorts before {_NAME}"
    TRIAL = _Trial(reader)

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        tool = next(filter(view.exists, reader.PROGRAMS), "")
        found = (tool, defaults.PATH, reader.menu(view))
        sources = all(map(view.exists, found)) and reads_drop_ins(view) is not False
        return (*found, *told) if tool and sources and reader.has_entries(view) else ()

    def detect(self, view: HostView) -> Detection | None:
        found = super().detect(view)
        return found._replace(title="GRUB (SteamOS)") if found and reader.on_steamos(view) else found

    def layout(self, view: HostView) -> tuple[str, tuple[str, ...]]:
        return reader.menu(view), (reader.TOOL,)

    def sourced(self, view: HostView, kargs: Sequence[str] | None = None) -> defaults.Parts:
        """/etc/default/grub and grub.d/*.cfg (a Debian patch); GRUB fills the drop-in of a trial."""
        own = text_or_empty(view, DROP_IN) if kargs is None else _line(" ".join(kargs))
        others = sorted({*drop_ins(view, (_FOLDER,), ".cfg")} - {DROP_IN, reader.TRIAL_DROP_IN})
        texts = [(path, text_or_empty(view, path)) for path in (defaults.PATH, *others)]
        first = sum(path < DROP_IN for path in others) + 1
        return defaults.Parts(texts[:first], (DROP_IN, own), texts[first:])

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        return {DROP_IN: templates.own_file(settings, _line(karg_line(settings)), _REMARK)}


def _line(kargs: str) -> str:
    return f'{defaults.DEFAULT}="${defaults.DEFAULT} {kargs}"'


BACKEND = _Grub(reader)
