"""Read logs from their sources: named files and pipes, this host's journal or ring buffer, files of another
root.

A compressed log is recognised by its first bytes, not by its name. A damaged log is read up to a few KiB
before the damage; Python's own readers would drop a whole block. Like `zcat`, this module ignores data after
the compressed part that is not compressed."""

from __future__ import annotations

import functools
import importlib
import io
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, cast

from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.facts import sosreport
from rocmcfg.host import files
from rocmcfg.host.kernel_log import KernelLines
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, warning
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_CHUNK = 4 << 10  # bytes that are read and unpacked at once, and so the most that is lost before a damage
_XZ_MEMORY = 128 << 20  # bytes; `xz -9` takes 65 MiB to unpack, and a header may ask for 4 GiB
# The first bytes of a packed file, the module that unpacks it, and its decompressor.
_PACKED: tuple[tuple[bytes, str, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", "zlib", lambda zlib: zlib.decompressobj(31)),
    (b"\xfd7zXZ\0", "lzma", lambda lzma: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)),
    (b"BZh", "bz2", lambda bz2: bz2.BZ2Decompressor()),
)
# The first bytes of a file that is not a text, its format, and the command that prints its text.
_NO_TEXT = (
    (b"\x1f\x8b", "packed with gzip", "zcat"),
    (b"\xfd7zXZ\0", "packed with xz", "xz -dc"),
    (b"BZh", "packed with bzip2", "bzip2 -dc"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "zstd -dc"),
    (b"\x04\x22\x4d\x18", "packed with lz4", "lz4 -dc"),
    (b"PK\3\4", "a zip", "unzip -p"),
    (b"\xff\xfe", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    # HEADER_SIGNATURE in journal-def.h of systemd
    (b"LPKSHHRH", "a journal", "journalctl -k --file"),
)
_START = 512  # bytes that show the format of a file
_JOURNAL = ("journalctl", "--no-pager", "--quiet", "--no-hostname", "-k", "-o", "short-iso")
# The kernel's log in files: rsyslog's and syslog-ng's names on Debian, Fedora, openSUSE and Arch.
_FILES = regex(r"^(kern\.log|dmesg|messages|syslog|kernel\.log)(?:[.-][0-9]{1,8})?(?:\.(?:gz|xz|bz2))?$")
# At least three words, and not a path: a copied line.
_LINE = regex(r"(?![/.~])(?!.*\.\w{1,4}$)\s*\S+\s+\S+\s+\S")
_KERNEL_FIRST = ("kern.log", "kernel.log", "messages", "syslog")


class Source(NamedTuple):
    """A log that can be opened. `open` returns None if there is no such log, and may raise Unreadable."""

    name: str
    open: Callable[[], BinaryIO | None]


def named(path: str) -> Source:
    """Return the source for a file that the user names; `-` is standard input. Words that name no file are a
    line of a log."""
    if is_line(path):
        return in_memory("the line", os.fsencode(path))
    name = "standard input" if path == "-" else path
    return Source(name, lambda: unpacked(files.open_callers_log(path), path))


def in_memory(name: str, text: bytes) -> Source:
    return Source(name, lambda: io.BytesIO(text))


def is_line(text: str) -> bool:
    return bool(_LINE.match(text)) and not os.path.lexists(text)


def of_host(view: HostView, *, this_boot: bool = False) -> list[list[Source]]:
    """Return the ways to read the kernel logs of this host, the best first; one that gives anything is
    enough. The logs of a way are in the order of time. `this_boot`: only logs of the current boot, so no
    files."""
    before = _program(view, "the journal of the previous boot", (*_JOURNAL, "-b", "-1"))
    journal = _program(view, "the journal of this boot", (*_JOURNAL, "-b", "0"))
    ring_buffer = _program(view, "dmesg", ("dmesg",))
    if this_boot:
        return [[journal], [ring_buffer]]
    files = _files(view)
    if saved := sosreport.logs(view):
        files = [_file(view, path) for path in saved]
    ways = [[before, journal], [ring_buffer]] if view.runs_tools else []
    return [*ways, files] if files else ways


def _program(view: HostView, name: str, argv: tuple[str, ...]) -> Source:
    return Source(name, lambda: view.stream_query(argv))


def _files(view: HostView) -> list[Source]:
    """Return the log files, rotated ones first. If the kernel has a file of its own, mixed files are left
    out."""
    names = [name for name in view.names("/var/log") if _FILES.match(name)]
    main = next((stem for stem in _KERNEL_FIRST if stem in names), "")
    chosen = [name for name in names if name.split(".")[0] == "dmesg" or (main and name.startswith(main))]
    return [_file(view, f"/var/log/{name}") for name in sorted(chosen or names, key=_age, reverse=True)]


def _age(name: str) -> tuple[int, int]:
    """Return a sort key for the age of a file: logrotate's numbers increase with age, its dates decrease."""
    match = re.search(r"[.-]([0-9]{1,8})(?:\.|$)", name)
    if match is None:
        return 0, 0
    number = int(match[1])
    return (1, number) if number < 10_000 else (1, 99_999_999 - number)


def _file(view: HostView, path: str) -> Source:
    return Source(path, lambda: unpacked(stream, path) if (stream := view.stream(path)) else None)


def unpacked(stream: BinaryIO, name: str) -> BinaryIO:
    """Return the stream, unpacked if it is compressed. Raises Unreadable, with the command that prints the
    text, for a stream that is not a text."""
    buffered = io.BufferedReader(stream, 1 << 17)  # type: ignore[type-var]
    try:
        start = buffered.peek(_START)[:_START]
    except OSError as problem:
        raise Unreadable(name, problem) from problem
    opened: Any = buffered
    for magic, module, new in _PACKED:
        if start.startswith(magic):
            opened = _Unpacked(buffered, magic, functools.partial(new, importlib.import_module(module)))
            start = opened.peek(_START)[:_START]
            break
    what, command = text_of(start, name)
    if command and opened is buffered:
        hint = f"pipe its text in: `{command} | rocmcfg doctor -`; other commands that read logs accept - too"
        raise Unreadable(name, f"it is {what}", hint)
    if not _may_be_text(start):
        raise Unreadable(name, "it is not a text; unpack it, or run: sudo journalctl -k -b > kernel.log")
    return cast(BinaryIO, opened)


def text_of(start: bytes, name: str) -> tuple[str, str]:
    """Return the format of a file that begins with these bytes, and the command that prints its text; empty
    if the format is unknown."""
    file = shlex.quote(name) if os.path.exists(name) else "FILE"  # standard input has no name
    formats = (row for row in _NO_TEXT if start.startswith(row[0]))
    return next(((what, f"{command} {file}") for _, what, command in formats), ("not a text", ""))


def _may_be_text(start: bytes) -> bool:
    """Return whether a log may begin with these bytes, which then have few control characters. Zeros are
    allowed: a crash leaves them in a log, and archives pad with them. So are backspaces, from progress
    displays."""
    content = start.replace(b"\0", b"")
    return 50 * sum(c < 32 and c not in b"\b\t\n\f\r\x1b" for c in content) <= len(content)


class _Unpacked(io.RawIOBase):
    """An unpacked stream. `new` makes a decompressor of zlib, bz2 or lzma; a member begins with `magic`.
    Reading raises the decompressor's error, or EOFError for a truncated stream, after all data before it was
    returned."""

    def __init__(self, packed: BinaryIO, magic: bytes, new: Callable[[], Any]) -> None:
        self._packed = packed
        self._pieces = _pieces(packed, magic, new)
        self._ready = bytearray()
        self._problem: Exception | None = None

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        """Return at least `size` bytes, while there are any. `readline` searches them for the end of a
        line."""
        try:
            while size < 0 or len(self._ready) < size:
                self._ready += next(self._pieces)
        except StopIteration:
            pass
        except Exception as problem:  # from the decompressor or the file
            self._problem = problem
        return bytes(self._ready)

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes. Never holds more than `size` bytes and one piece."""
        given = self.peek(size)
        given = given if size < 0 else given[:size]
        if not given and self._problem is not None:
            raise self._problem
        del self._ready[: len(given)]
        return given

    def close(self) -> None:
        self._packed.close()
        super().close()


def _pieces(packed: BinaryIO, magic: bytes, new: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the content of a file's members, one after the other."""
    waiting = packed.read(_CHUNK)  # packed bytes that are not unpacked yet
    taken, given = len(waiting), 0
    while waiting.startswith(magic):
        decompressor = new()
        while not decompressor.eof:
            # bz2 and lzma keep bytes that they were not allowed to unpack; zlib returns them
            if not waiting and getattr(decompressor, "needs_input", True):
                waiting = packed.read(_CHUNK)
                taken += len(waiting)
                if not waiting:
                    raise EOFError("it is truncated")
            piece = decompressor.decompress(waiting, _CHUNK)
            given += len(piece)
            yield piece
            waiting = getattr(decompressor, "unconsumed_tail", b"")
            if given > max(files.READ_ANYWAY, files.MOST_PACKED * taken):
                raise OSError(
                    f"it unpacks to more than {files.MOST_PACKED} times its size, which no log does"
                )
        waiting = decompressor.unused_data.lstrip(b"\0")  # tapes pad with them
        while len(waiting) < len(magic) and (more := packed.read(_CHUNK)):
            taken += len(more)
            waiting = (waiting + more).lstrip(b"\0")


def read_named(scanner: Scanner, paths: Sequence[str], progress: Callable[[str], None]) -> list[Diagnostic]:
    """Read the named logs. A log that cannot be read does not keep the others from being read; raises
    RocmcfgError only if nothing could be read at all."""
    problems: list[Diagnostic] = []
    for path in paths:
        try:
            source = named(path)
            problems += _read(scanner, source, progress)
            if not scanner.logs[-1].size and not scanner.logs[-1].problem:
                diagnosis = warning(
                    "RC8007", f"{source.name} is empty", hint="specify a log with lines in it"
                )
                problems.append(diagnosis)
        except Unreadable as problem:
            problems += problem.diagnostics
    if not scanner.logs:
        raise RocmcfgError(*problems)
    return problems


def read_host(
    scanner: Scanner, view: HostView, progress: Callable[[str], None], *, this_boot: bool = False
) -> list[Diagnostic]:
    """Read this host's logs from the journal, else the ring buffer, else files: the first way that gives
    anything."""
    problems: list[Diagnostic] = []
    for way in of_host(view, this_boot=this_boot):
        for source in way:
            try:
                problems += _read(scanner, source, progress)
            except Unreadable as problem:
                problems += [warning("RC8002", d.summary, hint=d.hint) for d in problem.diagnostics]
        if any(log.size for log in scanner.logs):
            return problems
    return [*problems, _nothing_readable(view)]


def read_window(scanner: Scanner, window: KernelLines) -> list[Diagnostic]:
    """Read the lines that the kernel logged during some time."""
    return _read(scanner, in_memory(window.source, window.text), lambda _: None)


def _nothing_readable(view: HostView) -> Diagnostic:
    summary = "no kernel log of this host could be read"
    if view.offline:
        if view.is_dir("/var/log/journal"):
            command = f"journalctl -k -D {view.root.rstrip('/')}/var/log/journal | rocmcfg doctor --log -"
            return warning("RC8001", summary, hint=f"its journal is binary: {command} --root {view.root}")
        return warning("RC8001", summary, hint=f"specify a log: rocmcfg doctor --log FILE --root {view.root}")
    detail = "`journalctl -k` and `dmesg` print nothing; on many hosts only root may read them"
    hint = "specify a log: rocmcfg doctor --log FILE; or, if you are not root: sudo rocmcfg doctor"
    return warning("RC8001", summary, detail=detail, hint=hint)


def _read(scanner: Scanner, source: Source, progress: Callable[[str], None]) -> list[Diagnostic]:
    stream = source.open()
    if stream is None:
        return []

    began = time.monotonic()

    def tell(size: int) -> None:
        rate = (size >> 20) / (time.monotonic() - began)
        progress(f"reading: {size >> 20} MiB, {rate:.0f} MiB/s: {source.name}")

    with stream:
        log = scanner.read(source.name, stream, tell)
    if not log.problem:
        return []
    summary = f"{source.name} was not read to its end: {log.problem}"
    hint = "copy or unpack the file again; the result comes from the part that was read"
    return [warning("RC8006", summary, detail=f"{log.size} bytes of it were read", hint=hint)]
