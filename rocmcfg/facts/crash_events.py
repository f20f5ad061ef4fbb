"""Read what the kernel says of a crash of a GPU: the dump in /sys/class/devcoredump, the card that was
wedged, the window of the kernel's log around it.

Sources: drivers/base/devcoredump.c (a dump is named devcdN, N is never used again; `failing_device` leads to
the device; the kernel frees the dump after five minutes, or when `data` is written; while a device has a
dump, further ones of it are discarded), drivers/gpu/drm/drm_drv.c (drm_dev_wedged_event, from 6.15 on:
WEDGED=none, or methods of recovery), drivers/gpu/drm/amd/amdgpu/amdgpu_dev_coredump.c (from 6.0 on).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.crash import Event
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

DUMPS = "/sys/class/devcoredump"
DISABLED = f"{DUMPS}/disabled"
_CARDS = "/sys/class/drm"
_DRIVER = "amdgpu"
_DEBUG = "/sys/kernel/debug/dri"
# NAME, then the number of the uevent, then the methods of recovery: as udev's rule names the instance of the
# unit. systemd escapes the comma between two methods.
_EVENT = regex(
    r"(devcd[0-9]{1,9}|card[0-9]{1,4})(?::[0-9]{0,20}(?::([a-z-]{1,20}(?:(?:,|\\x2c)[a-z-]{1,20}){0,8}))?)?"
)
_LOG = ("journalctl", "--no-pager", "--quiet", "--no-hostname", "-k", "-b", "0", "-o", "short-iso")
_LONGEST = 16 << 10  # bytes of a line of the log that are kept


class CrashEvent(NamedTuple):
    """An event that the kernel sent. `name` is the dump or the card. `folder` is the device's in /sys;
    `address` is its name there: for a PCI device, its address. `data` is the file with the dump, empty if
    there is none."""

    kind: Event
    name: str
    recovery: tuple[str, ...]
    folder: str
    address: str
    is_amdgpu: bool
    data: str


def read_event(view: HostView, text: str) -> CrashEvent | None:
    """Return the event that the unit was started for; None for a text that names none."""
    named = _EVENT.fullmatch(text)
    if named is None:
        return None
    name, recovery = named[1], (named[2] or "").replace("\\x2c", ",")
    of_dump = name.startswith("devcd")
    folder = f"{DUMPS}/{name}/failing_device" if of_dump else f"{_CARDS}/{name}/device"
    real = view.real_path(folder)
    data = f"{DUMPS}/{name}/data" if of_dump else f"{folder}/devcoredump/data"
    return CrashEvent(
        "dump" if of_dump else "wedged",
        name,
        tuple(filter(None, recovery.split(","))),
        folder,
        real.rpartition("/")[2] if real != folder else "",
        view.link(f"{folder}/driver").rpartition("/")[2] == _DRIVER,
        data if view.exists(data) else "",
    )


def again(view: HostView, event: CrashEvent) -> CrashEvent:
    """Return the event with what the kernel has of it now: it may have freed the dump meanwhile."""
    now = read_event(view, event.name)
    return event._replace(data=now.data if now is not None else "")


def firmware_list(view: HostView, address: str) -> str:
    """Return the driver's list of the GPU's firmware, which only root can read; empty if there is none."""
    for name in view.names(_DEBUG):
        if f"dev={address} " in text_or_empty(view, f"{_DEBUG}/{name}/name"):
            return text_or_empty(view, f"{_DEBUG}/{name}/amdgpu_firmware_info")
    return ""


def kernel_log(view: HostView, since: float, most: int) -> bytes:
    """Return the kernel's log of this boot from a time on (in seconds since 1970), from the journal, or else
    all of the ring buffer; of a longer one the last `most` bytes, in whole lines."""
    for argv in ((*_LOG, "--since", f"@{int(since)}"), ("dmesg",)):
        stream = view.stream_query(argv)
        if stream is None:
            continue
        with stream:
            lines = _last(_lines(stream), most)
        if lines:
            return lines
    return b""


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.readline(_LONGEST):
        whole = piece.endswith(b"\n")
        yield piece if whole else piece + b"\n"
        while not whole and (rest := stream.readline(_LONGEST)):
            whole = rest.endswith(b"\n")


def _last(lines: Iterator[bytes], most: int) -> bytes:
    kept: deque[bytes] = deque()
    size = 0
    for line in lines:
        kept.append(line)
        size += len(line)
        while size > most:
            size -= len(kept.popleft())
    return b"".join(kept)
