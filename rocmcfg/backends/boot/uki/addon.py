"""An addon: a PE file without code of its own, whose section .cmdline systemd-stub appends to the command
line of the image beside which it lies (systemd-stub(7)).

Made of the host's own stub for addons by two sections behind its own, byte for byte as `ukify build` of
systemd 262 does it (pe_add_sections, ADDON_SBAT; that of 257 writes one NUL more). Done by ourselves, since
ukify is a package of its own that needs python3-pefile, cannot be run on a root that is not booted, and would
be one more program that may fail between two images. Equal arguments and an equal stub give equal bytes.
"""

from __future__ import annotations

import io
import struct

from rocmcfg.backends.boot import pe_image
from rocmcfg.host.view import HostView, Unreadable

STUBS = "/usr/lib/systemd/boot/efi"
_NAMES = {0x8664: "x64", 0xAA64: "aa64", 0x14C: "ia32", 0x5064: "riscv64"}  # by the machine of a PE file
_SBAT = b"""sbat,1,SBAT Version,sbat,1,https://github.com/rhboot/shim/blob/main/SBAT.md
uki-addon,1,UKI Addon,addon,1,https://www.freedesktop.org/software/systemd/man/latest/systemd-stub.html
"""
_READ_ONLY_DATA = 0x40000040  # IMAGE_SCN_MEM_READ | IMAGE_SCN_CNT_INITIALIZED_DATA


def stub_path(machine: int) -> str:
    """Where systemd installs the stub for addons to images of this machine."""
    return f"{STUBS}/addon{_NAMES.get(machine, 'x64')}.efi.stub"


def made_of_stub(view: HostView, machine: int, arguments: str) -> bytes:
    """Raises Unreadable where the stub is missing or damaged."""
    path = stub_path(machine)
    stub = view.read(path)
    if stub is None:
        raise Unreadable(
            path, "it is not there", "install the package that brings it: systemd-boot-efi (Debian)"
        )
    try:
        return build(stub, arguments)
    except (ValueError, struct.error) as problem:
        raise Unreadable(path, f"it is damaged: {problem}", "install its package anew") from problem


def build(stub: bytes, arguments: str) -> bytes:
    """Raises ValueError for a stub that is damaged, signed, or has no room for two more sections."""
    if pe_image.parse(io.BytesIO(stub)).signed:
        raise ValueError("it is signed")
    head = pe_image.header(io.BytesIO(stub), len(stub))
    alignment, file_alignment = struct.unpack_from("<2I", stub, head.optional + 32)
    (headers,) = struct.unpack_from("<I", stub, head.optional + 60)
    if not alignment or not file_alignment or head.table + 40 * (head.sections + 2) > headers:
        raise ValueError("it has no room for two sections")
    made = bytearray(stub)
    made += bytes(-len(made) % file_alignment)
    virtual, address = struct.unpack_from("<2I", stub, head.table + 40 * (head.sections - 1) + 8)
    (initialised,) = struct.unpack_from("<I", stub, head.optional + 8)
    for n, (name, data) in enumerate(((b".cmdline", arguments.encode()), (b".sbat", _SBAT))):
        address = _up(address + virtual, alignment)
        virtual, raw = len(data), _up(len(data), file_alignment)
        place = head.table + 40 * (head.sections + n)
        fields = (name, virtual, address, raw, len(made), 0, 0, 0, 0, _READ_ONLY_DATA)
        struct.pack_into("<8s6I2HI", made, place, *fields)
        made += data + bytes(raw - virtual)
        initialised += virtual
    struct.pack_into("<H", made, head.start + 6, head.sections + 2)
    struct.pack_into("<I", made, head.optional + 8, initialised)
    struct.pack_into("<I", made, head.optional + 56, _up(address + virtual, alignment))
    struct.pack_into("<I", made, head.optional + 64, 0)  # the checksum, which no firmware asks of an image
    return bytes(made)


def _up(number: int, to: int) -> int:
    return -(-number // to) * to
