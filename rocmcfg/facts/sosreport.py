"""Read what `sos report` saved of a host, where its extracted tree is the root: the output of programs, in
place of the parts of /proc and /sys that it does not copy.

Source: sos, sos/report/plugins (kernel.py, pci.py, logs.py). The file of a program's output has the name of
its command line, whose options differ between releases.
"""

from __future__ import annotations

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_COMMANDS = "/sos_commands"
_DEVICE = regex(
    r"^((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) [^\n]*\[(03|12)[0-9a-f]{2}\]: [^\n]*"
    r"\[1002:([0-9a-f]{4})\]"
)
_DRIVER = regex(r"Kernel driver in use: ([\w-]{1,64})")


class SavedDevice(NamedTuple):
    """A display controller or accelerator of AMD in the output of lspci, and its driver, if it has one."""

    address: str
    pci_id: str
    driver: str


def release(view: HostView) -> str:
    """Return the release of the kernel that ran, from the output of uname; empty where there is none."""
    words = text_or_empty(view, f"{_COMMANDS}/kernel/uname_-a").split()
    return words[2] if len(words) > 2 and words[0] == "Linux" else ""


def has_dkms_driver(view: HostView, release: str) -> bool:
    """Return whether DKMS had installed amdgpu for a kernel."""
    lines = text_or_empty(view, f"{_COMMANDS}/kernel/dkms_status").splitlines()
    return any(
        line.startswith("amdgpu/") and f"{release}," in line and ": installed" in line for line in lines
    )


def devices(view: HostView) -> tuple[SavedDevice, ...]:
    """Return AMD's display controllers and accelerators, from the first output of lspci with their ids."""
    for name in view.names(f"{_COMMANDS}/pci"):
        text = text_or_empty(view, f"{_COMMANDS}/pci/{name}") if name.startswith("lspci") else ""
        saved = tuple(filter(None, map(_device, text.split("\n\n"))))
        if saved:
            return saved
    return ()


def _device(paragraph: str) -> SavedDevice | None:
    match = _DEVICE.match(paragraph.lstrip("\n"))
    if match is None:
        return None
    driver = _DRIVER.search(paragraph)
    address = match[1] if match[1].count(":") == 2 else f"0000:{match[1]}"
    return SavedDevice(address, match[3], driver[1] if driver else "")


def logs(view: HostView) -> tuple[str, ...]:
    """Return the files with the journals of boots, the older first; else that with the kernel's log."""
    journals = [n for n in view.names(f"{_COMMANDS}/logs") if n.startswith("journalctl") and "--boot" in n]
    if journals:
        return tuple(f"{_COMMANDS}/logs/{name}" for name in sorted(journals, key=_age))
    dmesg = [name for name in view.names(f"{_COMMANDS}/kernel") if name.startswith("dmesg")]
    return tuple(f"{_COMMANDS}/kernel/{name}" for name in dmesg[:1])


def _age(name: str) -> tuple[bool, str]:
    return not name.endswith("_-1"), name
