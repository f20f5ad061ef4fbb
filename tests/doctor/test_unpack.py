"""A packed log gives all that comes before a damage, as zcat and its kin do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmcfg.doctor.logs import unpacked
from rocmcfg.doctor.scan import Scanner

LOG = b"".join(b"[%5d.%06d] usb 1-%d: new device found\n" % (n, n * 7919 % 10**6, n) for n in range(6000))
PACKERS = [gzip.compress, lzma.compress, bz2.compress]
# What a decompressor may keep to itself: zlib nothing, lzma a window of our making, bzip2 a whole block.
KEPT = {gzip.compress: 300, lzma.compress: 40_000, bz2.compress: 1_000_000}
each_packer = pytest.mark.parametrize("pack", PACKERS, ids=["gz", "xz", "bz2"])


def read(packed: bytes, size: int = 1 << 20) -> tuple[bytes, Exception | None]:
    stream, found = unpacked(io.BytesIO(packed), "a.log"), b""
    try:
        while block := stream.read(size):
            found += block
    except Exception as problem:
        return found, problem
    return found, None


@each_packer
@settings(max_examples=30)
@given(
    size=st.integers(1, 1 << 20), members=st.integers(1, 3), garbage=st.sampled_from([b"", b"\0" * 9, b"x\n"])
)
def test_whole_logs_of_several_members_are_read_whole(
    pack: Callable[[bytes], bytes], size: int, members: int, garbage: bytes
) -> None:
    text = LOG[:9000]
    assert read(pack(text) * members + garbage * 4, max(size, 512)) == (text * members, None)


@each_packer
@settings(max_examples=30)
@given(share=st.floats(0.05, 0.999))
def test_a_cut_log_gives_what_comes_before_the_cut(pack: Callable[[bytes], bytes], share: float) -> None:
    packed = pack(LOG)
    found, problem = read(packed[: int(len(packed) * share)])
    assert isinstance(problem, EOFError)
    assert LOG.startswith(found)
    assert len(found) >= len(LOG) * share - KEPT[pack] - 0.25 * len(LOG)  # it packs unevenly


@pytest.mark.parametrize("pack", PACKERS[:2], ids=["gz", "xz"])
def test_a_wrong_byte_costs_nothing_before_it(pack: Callable[[bytes], bytes]) -> None:
    packed = bytearray(pack(LOG))
    packed[-6] ^= 0xFF  # the checksum at the end: every byte of the log is there
    found, problem = read(bytes(packed))
    assert problem is not None
    assert len(LOG) - len(found) <= 4096
    if pack is gzip.compress:
        assert found == LOG
    middle = len(packed) // 2
    packed[middle : middle + 8] = b"\xff" * 8
    found, problem = read(bytes(packed))
    assert problem is not None
    assert len(found) > 0.3 * len(LOG)


def test_a_cut_log_is_searched_to_its_last_line() -> None:
    """60,000 bytes, less than one block: all of it used to be thrown away."""
    packed = gzip.compress(LOG)[:30_000]
    scanner = Scanner([])
    log = scanner.read("a.log", unpacked(io.BytesIO(packed), "a.log"))
    assert log.size > 100_000
    assert "cut short" in log.problem


def test_a_packed_stream_of_nothing_but_zeros_stays_small() -> None:
    stream = unpacked(io.BytesIO(lzma.compress(b"\0" * (200 << 20))), "a.log")
    assert max(len(block) for block in iter(lambda: stream.read(1 << 20), b"")) == 1 << 20
