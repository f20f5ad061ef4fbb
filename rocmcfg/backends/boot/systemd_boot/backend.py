"""systemd-boot: the options of its entries, by kernel-install or by hand (`entry_options`)."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.backends.boot import loader_entries
from rocmcfg.backends.boot.chain import EntryChain, with_their_own
from rocmcfg.backends.boot.entry_options import CARRIER, CMDLINE
from rocmcfg.backends.boot.one_shot import SecondEntry
from rocmcfg.backends.boot.systemd_boot import reader
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic


class _SystemdBoot(EntryChain):
    OWNED: tuple[str, ...] = (CARRIER, CMDLINE)
    TITLE = "systemd-boot"
    TRIAL = SecondEntry()
    MANUAL = "append to the options of each entry, and to /etc/kernel/cmdline where there is one: {kargs}"
    LOADER = "systemd-boot"

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        loader = reader.installed(view)
        if not (loader or told) or not loader_entries.any_here(view):
            return ()
        if view.exists("/usr/bin/sdboot-manage"):
            return ()  # the entries of later kernels come from its own configuration
        return (*loader_entries.folders(view), *filter(None, (loader,)), *told)

    def unmanaged(self, view: HostView) -> Iterable[Diagnostic]:
        """Unified kernel images beside the entries: they hold their own arguments."""
        return with_their_own([*loader_entries.images(view)])


BACKEND = _SystemdBoot(reader)
