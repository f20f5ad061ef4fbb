"""Whether the firmware starts only what is signed, by two variables of the UEFI specification ("Globally
Defined Variables"): four bytes of attributes, then one of value. systemd-stub asks SecureBoot alone (systemd
257, src/boot/secure-boot.c)."""

from __future__ import annotations

from rocmcfg.host.view import HostView, Unreadable

_VARIABLE = "/sys/firmware/efi/efivars/{}-8be4df61-93ca-11d2-aa0d-00e098032b8c"
ON, OFF, SETUP = "on", "off", "off, in setup mode"  # in setup mode no keys are enrolled


def state(view: HostView) -> str:
    """One of ON, OFF and SETUP; empty where nobody says: no UEFI, or the root of another machine."""
    secure_boot = _value(view, "SecureBoot")
    if secure_boot is None:
        return ""
    return ON if secure_boot else SETUP if _value(view, "SetupMode") else OFF


def _value(view: HostView, name: str) -> int | None:
    try:
        raw = view.read(_VARIABLE.format(name))
    except Unreadable:
        return None
    return raw[4] if raw is not None and len(raw) > 4 else None
