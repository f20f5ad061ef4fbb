"""A packed log gives all that comes before a damage, as zcat and its kin do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmcfg.advice.doctor.reading.logs import unpacked
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.host import files

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
def test_a_wrong_byte_costs_little_before_it(pack: Callable[[bytes], bytes]) -> None:
    packed = bytearray(pack(LOG))
    packed[-6] ^= 0xFF  # the checksum at the end: every byte of the log is there
    found, problem = read(bytes(packed))
    assert problem is not None
    assert len(LOG) - len(found) <= 4096
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
    assert "truncated" in log.problem


ZEROS = 8 << 20
# One member, and many that lie in the same few packed bytes.
BOMBS = {
    "gz": lambda: gzip.compress(bytes(8 * ZEROS)),
    "xz": lambda: lzma.compress(bytes(8 * ZEROS), preset=1),  # a greater one has a window of 8 MiB
    "bz2": lambda: bz2.compress(bytes(ZEROS)) * 8,
    "members of gz": lambda: gzip.compress(bytes(ZEROS // 8)) * 64,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_unpacks_to_very_much_takes_no_more_memory_than_is_asked_for(bomb: str) -> None:
    packed = BOMBS[bomb]()
    stream, size = unpacked(io.BytesIO(packed), "a.log"), 0
    tracemalloc.start()
    try:
        while block := stream.read(1 << 20):
            assert len(block) <= 1 << 20
            size += len(block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 8 * ZEROS
    assert peak < 8 << 20


def test_what_was_made_to_be_endless_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = bz2.compress(bytes(ZEROS))
    assert read(packed)[1] is None
    monkeypatch.setattr(files, "READ_ANYWAY", ZEROS // 2)
    found, problem = read(packed)
    assert ZEROS // 2 <= len(found) < ZEROS * 3 // 4
    assert "it unpacks to more than" in str(problem)
    assert read(gzip.compress(bytes(ZEROS)))[1] is None  # gzip cannot pack so much into so little


def test_a_packed_log_cannot_ask_for_gigabytes_to_be_unpacked() -> None:
    usual = lzma.compress(LOG, preset=9)
    assert read(usual) == (LOG, None)
    header = bytearray(usual)
    header[header.index(b"\x21\x01") + 2] = 40  # 4 GiB (xz-file-format, 5.3.1)
    checked = bytes(header[12:20])
    header[20:24] = zlib.crc32(checked).to_bytes(4, "little")
    found, problem = read(bytes(header))
    assert (found, type(problem)) == (b"", lzma.LZMAError)
    assert "emory" in str(problem)
