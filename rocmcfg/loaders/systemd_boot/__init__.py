"""systemd-boot whose entries are files (Type #1), written by kernel-install or by hand.

rocmcfg adds the arguments to the options of each normal entry, and to /etc/kernel/cmdline if it exists:
kernel-install makes the entries of kernels installed later from that file.

The copy for a trial, _-rocmcfg-trial.conf, sorts after all other entries, so that no pattern of `default` in
loader.conf matches it first; bootctl confirms this before the next boot is chosen. There is no trial if
another system is the default, if the next boot has already been chosen, or if the loader does not report that
it can boot something once.

Source: systemd 252 to 262 (src/boot/boot.c). rocmcfg's reader lists entries as the real bootctl does. The
virtual machines of the tests have systemd 257 and 262, entries of kernel-install with and without
/etc/kernel/cmdline, and a trial that panics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rocmcfg.host.view import HostView
from rocmcfg.loaders.shared import loader_entries, marked_arguments, specials
from rocmcfg.loaders.shared.chain import EntryChain, with_their_own
from rocmcfg.loaders.shared.contract import Owned
from rocmcfg.loaders.shared.entry_options import CARRIER, CMDLINE
from rocmcfg.loaders.shared.one_shot import SecondEntry
from rocmcfg.model.diagnostic import Diagnostic

_LOADERS = ("systemd-bootx64.efi", "systemd-bootaa64.efi", "systemd-bootia32.efi")


class _SystemdBoot(EntryChain):
    NAME = "systemd-boot"
    OWNED: ClassVar[Owned] = {CARRIER: None, CMDLINE: marked_arguments}
    TITLE = "systemd-boot"
    TRIAL = SecondEntry()
    MANUAL = "append to the options of each entry, and to /etc/kernel/cmdline where there is one: {kargs}"
    LOADER = "systemd-boot"
    SPECIAL = (*specials.ENTRY, *specials.KERNEL)

    def here(self, view: HostView) -> tuple[str, ...]:
        return loader_entries.folders(view) if _installed(view) else ()

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        loader = _installed(view)
        if not (loader or proof) or not loader_entries.any_here(view):
            return ()
        if view.exists("/usr/bin/sdboot-manage"):
            return ()  # the entries of kernels installed later come from sdboot-manage's configuration
        return (*loader_entries.folders(view), *filter(None, (loader,)), *proof)

    def unmanaged(self, view: HostView) -> Iterable[Diagnostic]:
        """Yield a warning for unified kernel images next to the entries: they hold their own arguments."""
        return with_their_own([*loader_entries.images(view)])


def _installed(view: HostView) -> str:
    """Return the path of the loader itself, where its partition can be read; else empty."""
    paths = (f"{mounted}/EFI/systemd/{name}" for mounted in loader_entries.PARTITIONS for name in _LOADERS)
    return next(filter(view.exists, paths), "")


BACKEND = _SystemdBoot()
