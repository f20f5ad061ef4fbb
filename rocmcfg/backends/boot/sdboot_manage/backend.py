"""systemd-boot with sdboot-manage, which writes the options of an entry from what it finds out about the root
file system and LINUX_OPTIONS of the file that it sources (CachyOS/systemd-boot-manager bb4e4d3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.backends.boot import appended_assignment
from rocmcfg.backends.boot.chain import EntryChain
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.entry_options import CARRIER
from rocmcfg.backends.boot.grub_files.shell_assignments import arguments
from rocmcfg.backends.boot.one_shot import SecondEntry
from rocmcfg.backends.boot.sdboot_manage import reader
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import Karg

_CONFIG, _OPTIONS = reader.CONFIG, "LINUX_OPTIONS"
# what the program itself puts on the line, from what it finds mounted
_FOUND_OUT = ("root", "zfs", "rw", "rootflags", "cryptdevice", "rd.luks.name", "rd.luks.options", "resume")


class _SdbootManage(EntryChain):
    OWNED: tuple[str, ...] = (CARRIER, _CONFIG)
    TITLE = "systemd-boot with sdboot-manage"
    TRIAL = SecondEntry()
    MANUAL = f'append to {_OPTIONS} in {_CONFIG}: "{{kargs}}"\nthen: sudo sdboot-manage gen'
    LOADER = "systemd-boot"
    ASSIGNED = (_CONFIG, _OPTIONS)

    def to_come(self, view: HostView) -> Iterable[Sequence[Karg]]:
        normal = reader.read(view).normal[:1]
        found_out = [k for entry in normal for k in entry.kargs if k.name in _FOUND_OUT]
        asked = arguments(_OPTIONS, _CONFIG, appended_assignment.blanked(text_or_empty(view, _CONFIG)))
        return [] if asked is None else [(*found_out, *asked)]

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        if not view.exists(_CONFIG):
            yield error(
                "RC3131",
                f"there is no {_CONFIG}, and a later kernel would lose the arguments",
                location=_CONFIG,
                hint=f"reinstall the package of sdboot-manage, or make an empty one: touch {_CONFIG}",
            )


BACKEND = _SdbootManage(reader)
