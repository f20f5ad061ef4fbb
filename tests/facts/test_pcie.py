"""How a GPU is connected: the way to it, its IOMMU group, and access control on the bridges above it."""

from __future__ import annotations

import struct

import pytest

from rocmcfg.facts.pcie import control_of


def config(size: int, *capabilities: tuple[int, int, int, int]) -> bytes:
    """A configuration space with extended capabilities: place, id, next place, control word."""
    space = bytearray(size)
    for at, id, following, control in capabilities:
        struct.pack_into("<I", space, at, id | 1 << 16 | following << 20)
        struct.pack_into("<H", space, at + 6, control)
    return bytes(space)


@pytest.mark.parametrize(
    ("space", "control"),
    [
        (b"", 0),
        (config(256), 0),
        (config(4096), 0),
        (config(4096, (0x100, 0x0D, 0, 0x1D)), 0x1D),
        (config(4096, (0x100, 0x01, 0x2A0, 0xFFFF), (0x2A0, 0x0D, 0, 0x04)), 0x04),
        (config(4096, (0x100, 0x01, 0x100, 0xFFFF)), 0),  # the chain leads back
        (config(4096, (0x100, 0x01, 0x200, 0), (0x200, 0x02, 0x100, 0)), 0),
        (config(4096, (0x100, 0x01, 0xFFC, 0)), 0),  # it leads to the end
        (config(0x108, (0x100, 0x0D, 0, 0x05)), 0x05),
        (config(0x110, (0x100, 0x01, 0x400, 0x05)), 0),  # it leads out of what could be read
        (b"\xff" * 4096, 0),  # a device that is gone
    ],
)
def test_the_control_word_is_found_in_the_chain_of_capabilities(space: bytes, control: int) -> None:
    assert control_of(space) == control
