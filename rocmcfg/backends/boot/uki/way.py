"""Which way the arguments go on this host: by addons, or into the images; and what an addon of ours says."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot.menu import Role
from rocmcfg.backends.boot.recognised import variable_text
from rocmcfg.backends.boot.uki import addon, reader
from rocmcfg.backends.boot.uki.reader import Uki
from rocmcfg.host.view import HostView


def normal(view: HostView) -> tuple[Uki, ...]:
    return tuple(uki for uki in reader.images(view) if uki.role is Role.NORMAL)


def takes_no_addon(view: HostView, images: Sequence[Uki]) -> str:
    """Why addons would do nothing on this host, or cannot be made; empty where they can."""
    for uki in images:
        if uki.stub < reader.READS_ADDONS:
            begins = f"with systemd-stub {uki.stub}" if uki.stub else "with no stub of systemd"
            return f"{uki.path} begins {begins}, and addons are read by systemd-stub {reader.READS_ADDONS} on"
    if loader := other_loader(view):
        return (
            f"{loader} starts the images, and only systemd-boot is known to tell a stub where its image lies"
        )
    stubs = {addon.stub_path(uki.image.machine) for uki in images if uki.image}
    missing = next((path for path in sorted(stubs) if not view.exists(path)), "")
    return f"{missing} is missing, of which addons are made" if missing else ""


def other_loader(view: HostView) -> str:
    """One that starts images of its own accord: whether their stub learns where they lie is not known."""
    told = variable_text(view, "LoaderInfo")
    return "" if told.lower().startswith("systemd-boot") else told


def says(view: HostView, uki: Uki, line: str, enforced: bool) -> bool:
    found = reader.read_addon(view, uki.own_addon)
    return found is not None and found.texts.get(".cmdline") == line and (found.signed or not enforced)
