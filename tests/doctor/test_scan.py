"""The scan gives the same answers with grep, without it, and as Python's `re` alone would, on any bytes."""

from __future__ import annotations

import io
import itertools
import re
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmcfg.advice.doctor.reading import probes, scan, segments
from rocmcfg.advice.doctor.reading.hits import message
from rocmcfg.advice.doctor.reading.probes import Probe, bounded, probe, required
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.host.files import start_grep
from rocmcfg.knowledge import catalogue, faults
from rocmcfg.knowledge.diagnosis import log_knowledge

Answer = list[tuple[str, list[tuple[str, int]], list[tuple[str, int, int, int]], list[str]]]


def every_probe() -> list[Probe]:
    return probes.of_all(log_knowledge(), catalogue.known_issues(), faults.faults().values())


@pytest.fixture(autouse=True, scope="module")
def of_any_size() -> Iterator[None]:
    """A log of a few lines is worth a grep here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_SMALL", 0)
        yield


PROBES = every_probe()
SAMPLES = sorted(
    {sample for issue in catalogue.known_issues() for s in issue.signatures for sample in s.samples}
    | {"Linux version 6.8.0-90-generic (x)", "Command line: a=b quiet", "gfx_v11_0 gfx1100", "*ERROR* amdgpu"}
)
LINES = [*SAMPLES, *(line.text for fault in faults.faults().values() for line in fault.lines)]


def answer(scanner: Scanner) -> Answer:
    return [
        (
            hits.probe.pattern,
            [scanner.place(p) for p in hits.positions],
            [(g.text, g.count, g.first, g.last) for g in hits.groups],
            hits.lines,
        )
        for hits in scanner.hits
    ]


def scanned(log: bytes, wanted: list[Probe], *, use_grep: bool, **limits: Any) -> Scanner:
    scanner = Scanner(wanted, use_grep=use_grep, **limits)
    scanner.read("a.log", io.BytesIO(log))
    return scanner


def by_re_alone(log: bytes, wanted: list[Probe]) -> list[list[int]]:
    """The numbers of the matching lines, found in the plainest way."""
    text = log.removesuffix(b"\n").split(b"\n") if log else []
    return [
        [
            number
            for number, line in enumerate(text, 1)
            if re.search(p.pattern.encode(), line.removesuffix(b"\r"))
            and all(any(text in line for text in texts) for texts in p.others)
        ]
        for p in wanted
    ]


# Lines that hold a sample, a damaged sample, or anything at all.
_line = st.one_of(
    st.sampled_from(SAMPLES).map(str.encode),
    st.builds(
        lambda sample, at, junk: sample[:at] + junk + sample[at:],
        st.sampled_from(SAMPLES).map(str.encode),
        st.integers(0, 60),
        st.sampled_from([b"\0", b"\xff", b"\r", b" ", b"\xc3\xa9", b"a"]),
    ),
    st.binary(max_size=60).map(lambda text: text.replace(b"\n", b"")),
)
_log = st.builds(
    lambda parts, end, last: end.join(parts) + last,
    st.lists(_line, max_size=30),
    st.sampled_from([b"\n", b"\r\n", b"\n\n"]),
    st.sampled_from([b"", b"\n"]),
)


@settings(max_examples=60)
@given(log=_log)
def test_grep_python_and_re_alone_agree(log: bytes) -> None:
    fast, slow = scanned(log, PROBES, use_grep=True), scanned(log, PROBES, use_grep=False)
    assert answer(fast) == answer(slow)
    found = [[scan_line for _, scan_line in places] for _, places, _, _ in answer(slow)]
    assert found == by_re_alone(log, PROBES)


def test_every_sample_is_found_at_its_line() -> None:
    log = b"".join(b"nothing\n[   12.345678] " + sample.encode() + b"\n" for sample in SAMPLES)
    fast, slow = scanned(log, PROBES, use_grep=True), scanned(log, PROBES, use_grep=False)
    assert answer(fast) == answer(slow)
    lines = {line for _, places, _, _ in answer(fast) for _, line in places}
    assert lines == {2 * number for number in range(1, len(SAMPLES) + 1)}


@pytest.mark.slow
def test_every_match_holds_a_literal_that_is_worth_looking_for() -> None:
    """The prefilter goes by them, so that a wrong one would lose lines."""
    for wanted in PROBES:
        assert min(map(len, wanted.literals)) >= 3, wanted.pattern
    for sample, wanted in itertools.product(SAMPLES, PROBES):
        if re.search(wanted.pattern, sample):
            assert any(text in sample.encode() for text in wanted.literals), (wanted.pattern, sample)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("abc[0-9]+defgh", {b"defgh"}),
        ("(one|three) tail", {b"one tail", b"three tail"}),
        ("(alpha|gamma)[xy]", {b"alphax", b"alphay", b"gammax", b"gammay"}),
        ("(alpha|gamma)[v-z]", {b"alpha", b"gamma"}),
        ("x(optional)?y", {b"x"}),
        ("(twice){2,}", {b"twice"}),
        ("[a-z]+", {b""}),
        ("(word|[0-9]+)", {b""}),
    ],
)
def test_literals_are_read_off_a_pattern(pattern: str, wanted: set[bytes]) -> None:
    assert set(required(pattern)[0]) == wanted


@pytest.mark.parametrize(
    "line",
    [
        b"Cijk_x_UserArgs_DTVA1_" * 185,
        b"Cijk_x_UserArgs_DTVA1_" * 184 + b"ISA1209",
        b"GPU 100% idl" * 340,
        b"amdgpu " * 550 + b"flip_done",
        b"TensileLibrary: a for GPU arch " * 130,
        b"Memory access fault by GPU node-1" * 124,
    ],
)
def test_no_line_keeps_a_pattern_busy(line: bytes) -> None:
    """Several gaps in one pattern cost Python minutes on such a line; this takes some milliseconds."""
    began = time.process_time()
    for wanted in PROBES:
        wanted.match(line[: segments.LONGEST])
    assert time.process_time() - began < 2


def test_a_pattern_with_several_gaps_is_bounded_and_others_stay() -> None:
    assert bounded(r"a\w+b.*c[^ ]*d\.*") == r"a\w{1,256}b.{0,256}c[^ ]{0,256}d\.*"
    for pattern in (r"a.*b", r"x[0-9]+y[0-9]+z", r"(a|b)+c*", r"[]x]+"):
        assert bounded(pattern) == pattern


def test_lines_with_one_outline_are_answered_as_each_of_them_alone() -> None:
    """What is remembered for a line may not be told of another one that differs in its digits."""
    wanted = [probe("signature", p) for p in ("code=[0-9]+ x", "code=77 ", "0x0*[1-9] y", "[a-f0-9]+ z end")]
    lines = ["code=12 x", "code=77 x", "at 0x00 y", "at 0x01 y", "at 1x01 y", "ab12 z end", "ab99 z end"]
    samples = [*lines, *SAMPLES, *(re.sub("[0-9]", "7", sample) for sample in SAMPLES)]
    scanner = scanned("\n".join(samples * 2).encode(), [*PROBES, *wanted], use_grep=False)
    for hits in scanner.hits:
        alone = [n for n, line in enumerate(samples * 2, 1) if hits.probe.match(line.encode())]
        assert [scanner.place(at)[1] for at in hits.positions] == alone[: len(hits.positions)]
        assert hits.full or len(alone) == len(hits.positions), hits.probe.pattern


_numbers = st.sampled_from(
    [b"0x7f3a", b"0x10", b"9f86d081884c", b"c0ffee12", b"31", b"gfx90a", b"\0x1", b"1x2"]
)
_storm = st.lists(
    st.tuples(
        st.sampled_from([line.encode() for line in LINES]), _numbers, st.integers(0, 80), st.booleans()
    ),
    min_size=1,
    max_size=80,
)


def _in_storm(line: bytes, number: bytes, at: int, varied: bool) -> bytes:
    """The line with a number put into it, or with other digits."""
    if varied:
        return re.sub(rb"[0-9]", lambda match: b"%d" % ((match[0][0] + at) % 10), line)
    return line[:at] + number + line[at:]


@settings(max_examples=60, deadline=None)
@given(parts=_storm, memory=st.sampled_from([0, 3000, 8 << 20]))
def test_what_is_remembered_of_lines_is_true_of_each(
    parts: list[tuple[bytes, bytes, int, bool]], memory: int
) -> None:
    """Every line alone, matched in the plainest way, is what the scan finds with any memory."""
    lines = [_in_storm(*part) for part in parts] * 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_REMEMBERED", memory)
        scanner = scanned(b"\n".join(lines), PROBES, use_grep=False)
    for hits, numbers in zip(scanner.hits, by_re_alone(b"\n".join(lines), PROBES), strict=True):
        positions = [scanner.place(at)[1] for at in hits.positions]
        assert positions == (numbers[: len(positions)] if hits.full else numbers), hits.probe.pattern
        if hits.probe.role != "fact":
            assert sum(group.count for group in hits.groups) == len(positions)
            assert all(message(lines[group.first - 1]) == group.text for group in hits.groups)


@pytest.mark.slow
def test_lines_without_an_end_of_new_ones_take_a_bounded_memory() -> None:
    """Each line is new to the scan, and matches."""
    letters = [bytes((97 + n // 676 % 26, 97 + n // 26 % 26, 97 + n % 26)) for n in range(8000)]
    lines = [line.encode() + b" by " + word * 40 for word, line in zip(letters, LINES * 20, strict=False)]
    scanner = Scanner(PROBES, use_grep=False)
    scanner.read("a.log", io.BytesIO(b"\n".join(lines[:500])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_REMEMBERED", 1 << 20)
        patch.setattr(scan, "_WORDED", 1 << 20)
        tracemalloc.start()
        scanner.read("b.log", io.BytesIO(b"\n".join(lines)))
        memory, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert sum(len(hits.positions) for hits in scanner.hits) > len(lines)
    assert memory < 8 << 20


def test_a_host_name_is_looked_for_in_the_beginning_of_each_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_BEGINNING", 3)
    line = b"2026-11-21T12:00:00+01:00 %s kernel: Linux version 6.12.1 (x)"
    log = b"\n".join([line % b"one", b"other", line % b"two", line % b"three", line % b"four"] * 3)
    for use_grep in (True, False):
        scanner = Scanner(PROBES, use_grep=use_grep)
        for name in ("a.log", "b.log"):
            scanner.read(name, io.BytesIO(log))
        names = [hits for hits in scanner.hits if hits.probe.every_line and hits.positions]
        assert [[scanner.place(at) for at in hits.positions] for hits in names] == [
            [("a.log", 1), ("a.log", 3), ("b.log", 1), ("b.log", 3)]
        ]
        kernels = next(hits for hits in scanner.hits if hits.probe.pattern.startswith("Linux version"))
        assert len(kernels.positions) == 24


# -- storms -----------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments, batches and budgets so small that a short log crosses all of them."""
    monkeypatch.setattr(segments, "FIRST_SIZE", 4096)
    monkeypatch.setattr(segments, "SIZE", 8192)
    monkeypatch.setattr(scan, "_BATCH_FIRST", 7)
    monkeypatch.setattr(scan, "_BATCH", 7)


FEW = {**probes.ENOUGH, "signature": 50, "fact": 5}


def test_a_digit_in_a_text_tells_lines_of_one_outline_apart() -> None:
    scanner = scanned(b"msg=15\nmsg=14\nmsg=15", [probe("signature", "msg=14")], use_grep=False)
    assert [scanner.place(at)[1] for at in scanner.hits[0].positions] == [2]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("share", [1, 3])
def test_the_number_that_grep_prints_is_no_part_of_a_line(share: int) -> None:
    """A line may begin as grep's lines do. Python reads on where most lines match."""
    lines = [b"%snot needle %d" % (b"" if n % 2 else b"%d:" % n, n) for n in range(3000)]
    lines = [line if n % share == 0 else b"other" for n, line in enumerate(lines)]
    wanted = [probe("signature", "^not needle")]
    limits = {"enough": {**FEW, "signature": 5000}}
    fast = scanned(b"\n".join(lines), wanted, use_grep=True, **limits)
    assert answer(fast) == answer(scanned(b"\n".join(lines), wanted, use_grep=False, **limits))
    assert len(fast.hits[0].positions) == sum(line.startswith(b"not") for line in lines)


@pytest.mark.usefixtures("small")
def test_a_storm_is_counted_to_a_limit_and_hides_nothing_behind_it() -> None:
    wanted = [probe("signature", p) for p in ("storm code=[0-9]+", "needle in it", "storm code=77 ")]
    storm = [f"[{i}.0] storm code={i} x" for i in range(2000)]
    storm[1500] += " needle in it"
    log = "\n".join(storm).encode()
    fast, slow = (
        scanned(log, wanted, use_grep=True, enough=FEW),
        scanned(log, wanted, use_grep=False, enough=FEW),
    )
    assert answer(fast) == answer(slow)
    assert [len(hits.positions) for hits in fast.hits] == [50, 1, 1]
    assert [hits.full for hits in fast.hits] == [True, False, False]
    assert fast.place(fast.hits[1].positions[0]) == ("a.log", 1501)


@pytest.mark.usefixtures("small")
def test_a_storm_of_long_lines_ends_by_its_bytes() -> None:
    wanted = [probe("signature", p) for p in ("Cijk_[A-Za-z0-9_]*_ISA1201", "needle in it")]
    storm = [f"ShaderName : Cijk_{'SIA3_LPA4_' * 90}{i:x}_ISA1201" for i in range(300)]
    storm[250] += " needle in it"
    log = "\n".join(storm).encode()
    fast, slow = (
        scanned(log, wanted, use_grep=True, enough=FEW, enough_bytes=20_000),
        scanned(log, wanted, use_grep=False, enough=FEW, enough_bytes=20_000),
    )
    assert answer(fast) == answer(slow)
    assert [len(hits.positions) for hits in fast.hits] == [22, 1]
    assert fast.hits[0].full


@pytest.mark.usefixtures("small")
def test_line_numbers_hold_over_segments_batches_and_overlong_lines() -> None:
    wanted = [probe("signature", "mark [0-9]+")]
    text: list[bytes] = []
    for number in range(1, 400):
        long = b"y" * 20_000 if number % 97 == 0 else b""
        text.append(long + b"mark %d" % number if number % 3 == 0 else long + b"other")
    log = b"\n".join(text) + b"\n"
    fast, slow = (
        scanned(log, wanted, use_grep=True, enough=FEW),
        scanned(log, wanted, use_grep=False, enough=FEW),
    )
    assert answer(fast) == answer(slow)
    numbers = [fast.place(p)[1] for p in fast.hits[0].positions]
    assert numbers == [n for n in range(1, 400) if n % 3 == 0][:50]


@settings(max_examples=100)
@given(
    log=st.lists(st.binary(max_size=40), max_size=20).map(b"".join),
    size=st.integers(1, 64),
    longest=st.integers(2, 16),
)
def test_blocks_lose_nothing_and_know_their_cuts(log: bytes, size: int, longest: int) -> None:
    whole = b""
    for block in segments.blocks(io.BytesIO(log), size, longest):
        pieces = block.data.split(b"\n")
        assert pieces.pop() == b""
        assert all(len(piece) <= longest for piece in pieces)
        for number, piece in enumerate(pieces):
            whole += piece + (b"" if number in block.cuts else b"\n")
    assert whole.removesuffix(b"\n") == log.removesuffix(b"\n")


class _Damaged(io.BytesIO):
    """Gives what it has, and then fails as a decompressor does."""

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        if not content:
            raise EOFError("cut")
        return content


def test_what_came_before_a_damage_counts_also_without_a_line_feed() -> None:
    found: list[bytes] = []
    with pytest.raises(EOFError):
        found.extend(block.data for block in segments.blocks(_Damaged(b"one\ntwo"), 4))
    assert found == [b"one\n", b"two\n"]


class _Endless(io.RawIOBase):
    """100 MB without a line feed, made as they are read."""

    def __init__(self) -> None:
        self.left = 100 << 20

    def read(self, size: int = -1) -> bytes:
        size = min(size, self.left)
        self.left -= size
        return b"z" * size


def test_a_line_of_100_mb_stays_small_in_memory() -> None:
    largest = max(len(block.data) for block in segments.blocks(_Endless()))  # type: ignore[arg-type]
    assert largest < 4 << 20
    scanner = Scanner(PROBES)
    read = scanner.read("a.log", _Endless())  # type: ignore[arg-type]
    assert read.problem == ""
    assert read.size > 100 << 20


# -- where grep is not what we want -----------------------------------------------------------------------


def _broken(*_: object, **__: object) -> Iterator[bytes]:
    raise OSError("no more processes")


@pytest.mark.parametrize("broken", ["no grep", "another grep", "cannot start", "dies in the middle"])
def test_without_grep_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    log = b"\n".join(sample.encode() for sample in SAMPLES * 3)
    wanted = answer(scanned(log, PROBES, use_grep=True))
    if broken == "no grep":
        monkeypatch.setattr("rocmcfg.host.runner.stream", _broken)
    elif broken == "another grep":
        monkeypatch.setattr("rocmcfg.host.runner.stream", lambda *_, **__: io.BytesIO(b"BusyBox v1.36\n"))
    elif broken == "cannot start":
        monkeypatch.setattr(scan, "start_grep", _broken)
    else:
        start = start_grep

        def dying(texts: Sequence[bytes], descriptor: int, most: int) -> BinaryIO:
            return _Dying(start(texts, descriptor, most).read())

        monkeypatch.setattr(scan, "start_grep", dying)
    scanner = scanned(log, PROBES, use_grep=True)
    assert answer(scanner) == wanted
    assert scanner._uses_grep == (broken not in ("no grep", "another grep"))


class _Dying(io.BytesIO):
    """Gives half of the lines, and then fails as the stream of a killed program does."""

    def __init__(self, content: bytes) -> None:
        whole = content.splitlines(keepends=True)
        super().__init__(b"".join(whole[: len(whole) // 2]))

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        if not content:
            raise OSError("killed")
        return content


STAMPS = {
    "none": "",
    "dmesg": "[   12.345678] ",
    "dmesg -T": "[Mon Nov  2 10:00:00 2026] ",
    "dmesg --time-format delta": "[<    0.000123>] ",
    "dmesg --show-delta": "[   12.345678 <    0.000123>] ",
    "dmesg --time-format reltime": "[Nov 2 10:00] ",
    "dmesg --time-format iso": "2026-11-02T10:00:00,345678+01:00 ",
    "dmesg --raw": "<3>[   12.345678] ",
    "journalctl": "Nov 02 10:00:00 host kernel: ",
    "journalctl -o short-precise": "Nov 02 10:00:00.345678 host kernel: ",
    "journalctl -o short-iso": "2026-11-02T10:00:00+0100 host kernel: ",
    "journalctl -o short-monotonic": "[   12.345678] host kernel: ",
    "journalctl -o short-unix": "1793613600.345678 host kernel: ",
    "syslog": "Nov  2 10:00:00 host kernel: [   12.345678] ",
    "kubectl logs --timestamps": "2026-11-02T10:00:00.345678901Z ",
}


@pytest.mark.parametrize("stamp", STAMPS.values(), ids=STAMPS)
@pytest.mark.parametrize(
    "line",
    [
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout",
        "[drm:psp_sw_init [amdgpu]] *ERROR* Failed to process memory training!",
        "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)",
        "[gfxhub0] retry page fault",
    ],
)
def test_a_message_keeps_the_function_that_the_driver_names(stamp: str, line: str) -> None:
    assert message((stamp + line).encode()) == line


def test_an_end_of_line_in_a_pattern_also_means_crlf() -> None:
    wanted = [probe("signature", "the last word$")]
    log = b"the last word\r\nthe last word\nthe last words\n"
    assert [len(hits.positions) for hits in scanned(log, wanted, use_grep=True).hits] == [2]
