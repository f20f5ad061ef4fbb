"""systemd-boot: the options of its entries, by kernel-install or by hand (`entry_options`)."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import entry_options, loader_entries
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.backends.boot.systemd_boot import reader
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER,)


def detect(view: HostView) -> Detection | None:
    loader = reader.installed(view)
    told = handed_over(view, "LoaderInfo", NAME)
    folders = loader_entries.folders(view)
    if not (loader or told) or not any(True for _ in loader_entries.files(view, "")):
        return None
    if view.exists("/usr/bin/sdboot-manage"):
        return None  # the entries of later kernels come from its own configuration
    return Detection(
        NAME,
        "systemd-boot",
        (*(path for path in (*folders, loader) if path), *told),
        proof=bool(told),
        supported=True,
        manual="append to the options of each entry, and to /etc/kernel/cmdline where there is one: {kargs}",
    )


def observe(view: HostView) -> Observed:
    return entry_options.observe(view, reader.read(view), entry_options.from_cmdline(view))


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    return entry_options.propose(settings)


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    return (entry_options.activation(NAME, reason, loader_entries.folders(view)),)


def write_entries(host: Host) -> None:
    entry_options.write(host)


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    del view
    return list(entry_options.preflight(observed, kargs))


def unmanaged(view: HostView) -> list[Diagnostic]:
    """Unified kernel images beside the entries: they hold their own arguments."""
    images = [
        f"{folder}/{name}"
        for folder in (f"{mounted}/EFI/Linux" for mounted in loader_entries.PARTITIONS)
        for name in view.names(folder)
        if name.endswith(".efi")
    ]
    return entry_options.with_their_own(images)


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
