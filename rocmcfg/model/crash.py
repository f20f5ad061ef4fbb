"""The record of a crash of a GPU: what was saved when the kernel reported it, and what doctor says of it."""

from __future__ import annotations

from typing import Literal

from rocmcfg.model.shape import NamedTuple

# Why a save was started: the kernel has a dump of the device, or the driver says that the device was wedged.
Event = Literal["dump", "wedged"]
# The dump is complete; only its beginning was saved; it was left with the kernel, for lack of room; the
# kernel no longer had it; the event came without one.
DumpState = Literal["whole", "cut", "dropped", "gone", "none"]


class Dump(NamedTuple):
    """What became of the dump. `size` are its bytes that were read, `stored` those on the disk, where it is
    packed. `problem` says why it is not whole."""

    state: DumpState
    size: int = 0
    stored: int = 0
    problem: str = ""


class Client(NamedTuple):
    """A process that had memory of a GPU. `name` is the kernel's name of the process, which the process may
    choose. `device` is the address of the GPU, or the number that KFD gives it; `memory` maps a kind of
    memory to bytes."""

    pid: int
    name: str
    device: str
    memory: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.memory.values())


class CrashSetting(NamedTuple):
    """A parameter of the driver that was set, or that differed from its default. `source` is where it was
    set."""

    name: str
    value: str
    default: str
    source: str


class Verdict(NamedTuple):
    """What doctor said of the log: a known issue, or a fault class that no issue explains; an empty `id` if
    the log shows neither. `collect` are the keys of what a report of it needs."""

    id: str = ""
    title: str = ""
    tracker: str = ""
    collect: tuple[str, ...] = ()


class Crash(NamedTuple):
    """The record of a crash. `device` is the kernel's name of the dump or of the card, `address` that of the
    GPU. `recovery` are the methods that the driver asks for; empty if it did not say. `files` maps the files
    that were saved beside the record to their sizes. `problems` say what could not be saved."""

    id: str
    time: str
    boot: str
    event: Event
    device: str
    address: str
    kernel: str
    recovery: tuple[str, ...]
    dump: Dump
    processes: tuple[Client, ...]
    firmware: dict[str, str]
    settings: tuple[CrashSetting, ...]
    verdict: Verdict
    files: dict[str, int]
    problems: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(self.files.values())


class Unsaved(NamedTuple):
    """The crashes that could not be saved: their number, and when and why the last one was not."""

    number: int = 0
    time: str = ""
    reason: str = ""
