"""systemd-boot with sdboot-manage, as CachyOS and Manjaro set it up.

The normal entries get the arguments, and one line at the end of /etc/sdboot-manage.conf adds them to
LINUX_OPTIONS, of which `sdboot-manage autogen` makes the entries of later kernels. Those with a fallback
initramfs it makes from LINUX_FALLBACK_OPTIONS. `sdboot-manage gen` itself is not run: by default
(REMOVE_EXISTING) it removes every entry on the partition first, those of other systems and those written by
hand too; where it removes a trial's, the default entry boots.

Known from sdboot-manage and its configuration, as in CachyOS/systemd-boot-manager (bb4e4d3), and from
recorded hosts. The tool itself made entries with our line from such a file; nothing was booted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.backends.boot import appended_assignment, loader_entries, specials
from rocmcfg.backends.boot.chain import EntryChain
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.entry_options import CARRIER
from rocmcfg.backends.boot.grub_files.shell_assignments import arguments
from rocmcfg.backends.boot.one_shot import SecondEntry
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import Karg

_CONFIG, _OPTIONS = "/etc/sdboot-manage.conf", "LINUX_OPTIONS"
# what the program itself puts on the line, from what it finds mounted
_FOUND_OUT = ("root", "zfs", "rw", "rootflags", "cryptdevice", "rd.luks.name", "rd.luks.options", "resume")


class _SdbootManage(EntryChain):
    NAME = "sdboot-manage"
    OWNED: tuple[str, ...] = (CARRIER, _CONFIG)
    TITLE = "systemd-boot with sdboot-manage"
    TRIAL = SecondEntry()
    MANUAL = f'append to {_OPTIONS} in {_CONFIG}: "{{kargs}}"\nthen: sudo sdboot-manage gen'
    LOADER = "systemd-boot"
    SPECIAL = (*specials.ENTRY, *specials.KERNEL, *specials.SHELL)  # bash sources its configuration
    ASSIGNED = (_CONFIG, _OPTIONS)

    def here(self, view: HostView) -> tuple[str, ...]:
        folders = loader_entries.folders(view) if view.exists(self.program) else ()
        return (*folders, *filter(view.exists, (self.program, _CONFIG))) if folders else ()

    def to_come(self, view: HostView) -> Iterable[Sequence[Karg]]:
        normal = self.read(view).normal[:1]
        found_out = [k for entry in normal for k in entry.kargs if k.name in _FOUND_OUT]
        asked = arguments(_OPTIONS, _CONFIG, appended_assignment.blanked(text_or_empty(view, _CONFIG)))
        return [] if asked is None else [(*found_out, *asked)]

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        if not view.exists(_CONFIG):
            said = f"there is no {_CONFIG}, and a later kernel would lose the arguments"
            hint = f"reinstall the package of sdboot-manage, or make an empty one: touch {_CONFIG}"
            yield error("RC3131", said, location=_CONFIG, hint=hint)


BACKEND = _SdbootManage()
