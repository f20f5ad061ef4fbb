"""Read variables of the firmware in the kernel's form: four bytes of attributes, then the value.

They are part of the UEFI specification ("Globally Defined Variables") or of systemd's Boot Loader Interface.
"""

from __future__ import annotations

from rocmcfg.host.view import HostView, Unreadable

LOADER, GLOBAL = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "8be4df61-93ca-11d2-aa0d-00e098032b8c"
ON, OFF, SETUP = "on", "off", "off, in setup mode"  # in setup mode no keys are enrolled


def path(name: str, of: str = LOADER) -> str:
    return f"/sys/firmware/efi/efivars/{name}-{of}"


def value(view: HostView, name: str, of: str = LOADER) -> bytes:
    """Return the content of a variable; empty where there is none, or it cannot be read."""
    try:
        return (view.read(path(name, of)) or b"")[4:]
    except Unreadable:
        return b""


def text(view: HostView, name: str) -> str:
    return value(view, name).decode("utf-16-le", "replace").rstrip("\0")


def handed_over(view: HostView, variable: str, loader: str) -> tuple[str, ...]:
    """Return the firmware's evidence that this loader booted the host; empty where there is none."""
    loader_info = text(view, variable)
    return (
        (f"{loader_info} started this system",)
        if loader_info.lower().startswith(loader) and loader_info
        else ()
    )


def secure_boot(view: HostView) -> str:
    """Return ON, OFF or SETUP; empty where it is not known: without UEFI, or below the root of another
    machine."""
    enforced = value(view, "SecureBoot", GLOBAL)[:1]
    set_up = any(value(view, "SetupMode", GLOBAL)[:1])
    return "" if not enforced else ON if any(enforced) else SETUP if set_up else OFF


def starts_only_signed(view: HostView) -> bool:
    """Return whether Secure Boot is on, by the same test as systemd-stub: SecureBoot alone (systemd 257,
    src/boot/secure-boot.c)."""
    return secure_boot(view) == ON
