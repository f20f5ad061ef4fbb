"""Save a crash of a GPU when the kernel reports it: the dump, the log, the processes, the settings.

Each part that fails is left out and named in the record. The dump comes before what may take long, and the
log after it: then it has the outcome of the reset.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import BinaryIO, TypeVar

from rocmcfg.facts import crash_events
from rocmcfg.facts.crash_events import CrashEvent
from rocmcfg.facts.gpu_clients import read_clients
from rocmcfg.facts.system import read_firmware
from rocmcfg.host.apart import apart
from rocmcfg.host.view import Host, HostView, Unreadable, Unwritable, text_or_empty
from rocmcfg.model.crash import Crash, CrashSetting, Dump, Verdict
from rocmcfg.model.diagnostic import RocmcfgError, fail
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records import crashes as store
from rocmcfg.records.receipt import boot_id

T = TypeVar("T")
WINDOW = 600  # seconds of the log before the event
SETTLE = 5.0  # seconds after the event until the log is read
SAME_FAULT = 60  # seconds; a dump and the event of a wedged device that are closer are of one reset
MOST_DUMP = 256 << 20  # bytes of the packed dump
MOST_LOG = 8 << 20
RESERVE = 256 << 20  # bytes of the disk that a dump leaves free
# The kernel frees the dump after 300 seconds. Reading a dump of kernels before 7.0 takes long, because the
# driver makes all of it anew for each page (amdgpu_devcoredump_read).
READING = 240.0
_READY = 30  # seconds; a newer kernel may still be making the dump, and reading it fails meanwhile
# Seconds. The kernel may wait for a GPU that hangs before it answers.
_PATIENCE = 10.0  # for processes and firmware
_JUDGING = 120.0  # for the facts of the host and the judging of the log
_PIECE = 64 << 10


class _NoRoom(Exception):
    """The dump would fill the disk."""


class _Begin(NamedTuple):
    """When a save began: the date of a clock that may be set meanwhile, as early in a boot, and the
    seconds of one that nobody sets."""

    date: float
    seconds: float


def save(host: Host, event_text: str, sleep: Callable[[float], None] = time.sleep) -> Crash | None:
    """Save a crash, and return its record; None if there is nothing to save: the black box is off, the device
    has another driver, or the crash was saved already. Raises RocmcfgError."""
    began = _Begin(time.time(), time.monotonic())
    if not store.is_on(host):
        return None
    event = crash_events.read_event(host, event_text)
    if event is None:
        raise fail(
            "RC4403", "this is not a crash event", detail=event_text, hint="let udev start this command"
        )
    if not event.is_amdgpu:
        return None
    if event.kind == "wedged":
        _settle(began, sleep)  # its dump may come later
    try:
        return _save(host, event, began, sleep)
    except RocmcfgError as problem:
        with suppress(RocmcfgError), store.writing(host):
            store.count_unsaved(host, _text(began.date), problem.diagnostics[0].summary)
        raise


def _is_saved(host: Host, event: CrashEvent, now: float) -> bool:
    """Return whether a record has the crash: that of a killed save, which is freed then, or for a wedged
    device the one with its dump, which its own event saves."""
    crashes, _ = store.load_all(host)
    boot = [crash for crash in crashes if crash.boot == boot_id(host)]
    if event.kind == "wedged":
        recent = _text(now - SAME_FAULT)
        return bool(event.data) or any(c.address == event.address and c.time >= recent for c in boot)
    saved = any(crash.device == event.name and crash.dump.state != "dropped" for crash in boot)
    if saved:
        _free(host, event)
    return saved


def _save(host: Host, event: CrashEvent, began: _Begin, sleep: Callable[[float], None]) -> Crash | None:
    """Save a crash. Several wait for each other twice: for their dumps, which the kernel frees soon, and then
    for all that takes long."""
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(began.date))
    problems: list[str] = []
    with ExitStack() as held:
        with store.writing(host):
            event = crash_events.again(host, event)
            if _is_saved(host, event, began.date):
                return None
            draft = held.enter_context(store.drafting(host, f"{moment}-{event.name}"))
            dump = _save_dump(host, draft, event, began, sleep)
            clients = _within(_PATIENCE, lambda: read_clients(host), "the processes", problems) or ()
            firmware = _firmware(host, draft, event, problems)
        with store.taking_turns(host):
            _settle(began, sleep)
            log = crash_events.kernel_log(host, began.date - WINDOW, MOST_LOG)
            if not log:
                problems.append("the kernel's log could not be read")
            draft.add(store.LOG, [log])
            settings, verdict = _judged(host, draft, problems)
        crash = Crash(
            draft.id,
            _text(began.date),
            boot_id(host),
            event.kind,
            event.name,
            event.address,
            text_or_empty(host, "/proc/sys/kernel/osrelease").strip(),
            event.recovery,
            dump,
            clients,
            firmware,
            settings,
            verdict,
            dict(draft.files),
            tuple(problems),
        )
        with store.writing(host):
            draft.finish(crash)
            if dump.state in ("whole", "cut"):
                _free(host, event)
            with suppress(Unwritable):
                store.make_room(host)
    host.log(f"saved the crash of {crash.address} as {crash.id}; rocmcfg crashes show {crash.id}")
    return crash


def _settle(began: _Begin, sleep: Callable[[float], None]) -> None:
    """Wait until what the driver does about the fault is in the log."""
    sleep(max(0.0, began.seconds + SETTLE - time.monotonic()))


def _free(host: Host, event: CrashEvent) -> None:
    """Let the kernel free the dump: until then it discards further ones of the device."""
    with suppress(Unwritable):
        host.set_attribute(event.data, b"1")


# -- the dump -------------------------------------------------------------------------------------------


class _Copy:
    """The copy of a dump while it is read."""

    def __init__(
        self, host: HostView, stream: BinaryIO, until: float, sleep: Callable[[float], None]
    ) -> None:
        self._host, self._stream, self._until, self._sleep = host, stream, until, sleep
        self.size = self.stored = 0
        self.problem = ""

    def pieces(self) -> Iterator[bytes]:
        """Yield the dump, packed; less than all of it where a bound is reached. Raises _NoRoom."""
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        checked = -(8 << 20)
        while not self.problem and (piece := self._next()):
            self.size += len(piece)
            packed = packer.compress(piece)
            self.stored += len(packed)
            if self.stored - checked >= 8 << 20:
                checked = self.stored
                if self._host.free(store.STORE) < RESERVE:
                    raise _NoRoom
            if self.stored > MOST_DUMP:
                self.problem = f"it is larger than {MOST_DUMP >> 20} MiB when packed"
            elif time.monotonic() > self._until:
                self.problem = "the kernel took too long to deliver it"
            yield packed
        yield packer.flush()

    def _next(self) -> bytes:
        for _ in range(_READY):
            try:
                return self._stream.read(_PIECE)
            except OSError as problem:
                if self.size:
                    self.problem = f"it could not be read to its end: {problem.strerror}"
                    return b""
                reason = problem.strerror or str(problem)
            self._sleep(1.0)
        self.problem = f"it cannot be read: {reason}"
        return b""


def _save_dump(
    host: Host, draft: store.Draft, event: CrashEvent, began: _Begin, sleep: Callable[[float], None]
) -> Dump:
    if event.kind == "wedged":
        return Dump("none")
    try:
        stream = host.stream(event.data) if event.data else None
    except Unreadable as problem:
        return Dump("gone", problem=problem.reason)
    if stream is None:
        return Dump("gone", problem="the kernel has freed it already")
    with stream:
        copy = _Copy(host, stream, began.seconds + READING, sleep)
        try:
            draft.add(store.DUMP, copy.pieces())
        except _NoRoom:
            kept = f"less than {RESERVE >> 20} MiB of the disk would stay free"
            return Dump("dropped", copy.size, problem=kept)
        except Unwritable as problem:
            return Dump("dropped", copy.size, problem=problem.diagnostics[0].summary)
    return Dump("cut" if copy.problem else "whole", copy.size, draft.files[store.DUMP], copy.problem)


# -- the rest -------------------------------------------------------------------------------------------


def _firmware(host: Host, draft: store.Draft, event: CrashEvent, problems: list[str]) -> dict[str, str]:
    """Return the versions of the firmware in sysfs, and save the driver's own list, which only debugfs
    has."""
    answer = _within(
        _PATIENCE,
        lambda: (read_firmware(host, event.folder), crash_events.firmware_list(host, event.address)),
        "the versions of the firmware",
        problems,
    )
    versions, text = answer or ({}, "")
    if text:
        try:
            draft.add(store.FIRMWARE, [text.encode()])
        except Unwritable as problem:
            problems.append(problem.diagnostics[0].summary)
    return versions


def _judged(host: Host, draft: store.Draft, problems: list[str]) -> tuple[tuple[CrashSetting, ...], Verdict]:
    """Write the report of the host at the time of the crash. Return the settings in force, and what doctor
    says of the log."""
    from rocmcfg.workflow.crash_judging import judged

    log, what = f"{draft.folder}/{store.LOG}", "doctor's verdict and the settings"
    try:
        # not in a thread, where no signal limits the time of the patterns that a host adds
        report, settings, verdict = apart(lambda: judged(host, log), _JUDGING)
    except TimeoutError:
        problems.append(_too_long(what, _JUDGING))
        return (), Verdict()
    except Exception as problem:  # the dump must not be lost for a defect
        problems.append(_broken(what, problem))
        return (), Verdict()
    draft.add(store.REPORT, [report.encode()])
    return settings, verdict


def _within(seconds: float, act: Callable[[], T], what: str, problems: list[str]) -> T | None:
    """Return the result of `act`; None where it fails or takes longer. A call into the kernel that
    hangs cannot be ended, so it is left behind."""
    results: list[T] = []

    def run() -> None:
        try:
            results.append(act())
        except Exception as problem:  # the dump must not be lost for a defect
            problems.append(_broken(what, problem))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        problems.append(_too_long(what, seconds))
    return results[0] if results else None


def _broken(what: str, problem: Exception) -> str:
    return f"{what} could not be read: {type(problem).__name__}: {problem}"


def _too_long(what: str, seconds: float) -> str:
    return f"{what} could not be read within {seconds:.0f} seconds"


def _text(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
