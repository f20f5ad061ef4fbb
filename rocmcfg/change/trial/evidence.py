"""Collect what is known about a trial boot that was not confirmed: systemd's journal of that boot; else what
the kernel wrote to pstore when it died; else the reason why nothing is known. The trial's marker on the
command line, which the kernel logs, identifies its boot. This module only reads, limits its work and time,
and never stops the caller, because the boot after the trial waits for it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from rocmcfg.advice.doctor.reading.hits import message
from rocmcfg.host.foreign import json_value
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.regex import regex
from rocmcfg.model.trial import MARKER, Trial
from rocmcfg.records.receipt import boot_id
from rocmcfg.records.steps import Evidence

_PATIENCE = 60.0  # seconds for all boots; one program gets half of it
_BOOTS = 20  # boots that are examined
_HEAD = 600  # first lines of the kernel log, which contain its command line
_TAIL, _KERNEL_TAIL = 300, 2000  # last entries of a boot, and of its kernel log
_LINES, _LAST = 12, 3  # lines that are kept: informative ones, or else the very last
_LONGEST = 1 << 16  # bytes of a line
_DUMPS = 200  # files of pstore
_PSTORE = ("/sys/fs/pstore", "/var/lib/systemd/pstore")  # systemd-pstore.service(8) moves them
# Message ids of sd-messages.h: the journal starts and stops; logind shuts down; a unit was started.
_JOURNAL_START, _JOURNAL_STOP = "f77379a8490b408bbe5f6940505a777b", "d93fb3c9c24d451a97cea615ce59c00b"
_SHUTDOWN, _UNIT_STARTED = "98268866d1d54a499c4e98921d93bc40", "39f53479d3a045ac8e11786248231fbf"
_LAST_UNITS = {"shutdown.target", "umount.target", "final.target"}  # reached by every kind of shutdown
_ERROR = 3  # LOG_ERR of syslog(3); smaller is worse
_PANIC = regex(r"Kernel panic - not syncing.*")


def evidence(view: HostView, trial: Trial) -> Evidence:
    """Return what is known about a trial boot. Never raise because of anything that a host may contain."""
    seen: Evidence | None = None
    try:
        boot, why = _find(view, trial)
        if boot:
            orderly, seen = _end(view, boot)
            if orderly:
                return seen
    except RocmcfgError as problem:
        why = f"its journal cannot be read: {problem.diagnostics[0].summary}"
    dump = _dump(view, trial.time)
    if dump is not None and seen is not None:
        return dump._replace(boot_id=seen.boot_id, text=f"{seen.text}; {dump.text}")
    if dump is not None:
        return dump._replace(text=f"{dump.text}; it does not say in which boot since the apply")
    return seen or Evidence(
        "none", "", f"nothing is known about its boot: {why}, and pstore holds no dump", ()
    )


def _journalctl(*arguments: str) -> tuple[str, ...]:
    return ("timeout", f"{_PATIENCE / 2:.0f}", "journalctl", "--no-pager", "--quiet", *arguments)


def _find(view: HostView, trial: Trial) -> tuple[str, str]:
    """Return the id of the trial boot and an empty text, or an empty id and the reason why it is unknown."""
    if not view.runs_tools:
        return "", "its journal was not read because no program of that host can be run"
    ids = _boots(view)
    if ids is None:
        return "", "its journal cannot be read"
    others = {id.replace("-", "") for id in (trial.boot_id, boot_id(view))}
    deadline = time.monotonic() + _PATIENCE
    for id in [id for id in ids if id not in others][:_BOOTS]:
        if _carries(view, id, trial.token):
            return id, ""
        if time.monotonic() > deadline:
            return "", "its journal is too large to search within a minute"
    if not view.is_dir("/var/log/journal"):
        return "", "this host does not keep its journal across boots (there is no /var/log/journal)"
    return "", "it never began, or ended before its journal reached the disk"


def _boots(view: HostView) -> list[str] | None:
    """Return the ids of the boots in the journal, newest first; None where it cannot be read."""
    listed = view.query(_journalctl("--list-boots"))
    if listed is None or not listed.ok:
        return None
    return re.findall(r"^[ \t]*-?[0-9]+[ \t]+([0-9a-f]{32})\b", listed.stdout, re.M)[::-1]


def boots_between(view: HostView, boot: str) -> int:
    """Return the number of boots in the journal between one and the present one; 0 where it does not tell."""
    ids = (view.runs_tools and _boots(view)) or []
    first, last = (id.replace("-", "") for id in (boot, boot_id(view)))
    if first not in ids or last not in ids:
        return 0
    return max(0, ids.index(first) - ids.index(last) - 1)


def was_shut_down(view: HostView, boot: str) -> bool:
    """Return whether the journal says that a boot was shut down properly."""
    fields = "--output-fields=MESSAGE_ID,UNIT"
    boot = boot.replace("-", "")
    return _was_shut_down([*_records(view, f"_BOOT_ID={boot}", "-r", "-n", str(_TAIL), fields)])


def panicked(view: HostView, since: str) -> bool:
    """Return whether the kernel left a dump of a panic since then."""
    dump = _dump(view, since)
    return dump is not None and _PANIC.search(dump.text) is not None


def _carries(view: HostView, id: str, token: str) -> bool:
    stream = view.stream_query(_journalctl(f"_BOOT_ID={id}", "_TRANSPORT=kernel", "-o", "cat"))
    if stream is None or not token:
        return False
    marker = re.compile(rb"(?:^|[\s\"])%s(?![^\s\"])" % re.escape(f"{MARKER}={token}").encode())
    with stream:
        return any(marker.search(stream.readline(_LONGEST)) for _ in range(_HEAD))


def _end(view: HostView, boot: str) -> tuple[bool, Evidence]:
    """Return whether the boot was shut down properly, and what its journal says about its end."""
    fields = "--output-fields=MESSAGE_ID,UNIT"
    last = list(_records(view, f"_BOOT_ID={boot}", "-r", "-n", str(_TAIL), fields))
    kernel = ("_TRANSPORT=kernel", "-r", "-n", str(_KERNEL_TAIL), "--output-fields=MESSAGE,PRIORITY")
    messages = [_entry(record) for record in _records(view, f"_BOOT_ID={boot}", *kernel)][::-1]
    orderly = _was_shut_down(last)
    how = "was shut down properly; the trial had not been confirmed"
    if not orderly:
        how = "ended abruptly: its journal contains no shutdown, as after a hang, a panic or a power cut"
    # measured by the clock that starts with the kernel and does not jump
    ended = re.fullmatch(r"[0-9]{1,17}", str(last[0].get("__MONOTONIC_TIMESTAMP") if last else ""))
    lasted = str(timedelta(seconds=int(ended[0]) // 1_000_000)) if ended else "an unknown time"
    text = f"its boot lasted {lasted} and {how}"
    return orderly, Evidence("journal", boot, text, _telling(messages))


def _was_shut_down(newest_first: Sequence[dict[str, object]]) -> bool:
    """Return whether the boot was shut down. The journal of the initramfs stops too, but then the journal of
    the system starts after it."""
    for record in newest_first:
        id = record.get("MESSAGE_ID")
        if id in (_JOURNAL_STOP, _SHUTDOWN) or (id == _UNIT_STARTED and record.get("UNIT") in _LAST_UNITS):
            return True
        if id == _JOURNAL_START:
            return False
    return False


def _records(view: HostView, *arguments: str) -> Iterator[dict[str, object]]:
    done = view.query(_journalctl("-o", "json", *arguments))
    for line in done.stdout.splitlines() if done is not None else ():
        try:
            record = json_value(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def _entry(record: dict[str, object]) -> tuple[int, str]:
    """Return the level and text of an entry. The text is empty if it is not UTF-8."""
    content, level = record.get("MESSAGE"), str(record.get("PRIORITY"))
    text = message(content.encode()) if isinstance(content, str) else ""
    return int(level) if level in set("01234567") else 7, text


def _telling(messages: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return the informative lines. `messages` are pairs of level and text, oldest first."""
    chosen = [text for level, text in messages if text and level <= _ERROR]
    return tuple(chosen[-_LINES:] or [text for _, text in messages if text][-_LAST:])


def _dump(view: HostView, since: str) -> Evidence | None:
    """Return the newest dump that was written after the trial was applied, or None if there is none. A
    panic's dump is preferred."""
    try:
        begun = datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None
    parts = sorted(_parts(view, begun * 1e9), key=lambda part: part[4])
    if not parts:
        return None
    newest = max(parts, key=lambda part: part[:2])
    ours = [text for _, _, *dump, _, text in parts if dump == [*newest[2:4]]]
    messages = [_level_and_text(line) for text in ours for line in text.splitlines()[1:]]
    panic = next((m[0] for _, text in messages if (m := _PANIC.search(text))), "")
    kind = newest[3].partition("#")[0]
    summary = f"the kernel ended with: {panic}" if panic else f"the kernel left a dump of its log ({kind})"
    return Evidence("pstore", "", summary, _telling(messages))


def _parts(view: HostView, since: float) -> Iterator[tuple[bool, int, str, str, int, str]]:
    """Yield the pieces of dumps: whether the dump is of a panic, when it was written, its folder, its crash,
    its position and its text. Each piece begins with a line such as `Panic#1 Part2`; Part1 is the end of the
    log (fs/pstore/platform.c). systemd also joins the pieces in dmesg.txt, which is ignored here."""
    paths = [path for folder in _PSTORE for path in _files(view, folder, 3)]
    for path in paths[:_DUMPS]:
        try:
            state = view.state(path) if "/dmesg-" in path else None
        except Unreadable:
            continue
        text = state.content.decode("utf-8", "replace") if state and state.mtime_ns >= since else ""
        head = re.match(r"([A-Z][A-Za-z]*#[0-9]+) Part([0-9]{1,4})\b", text)
        if state is not None and head is not None:
            folder = path.rpartition("/")[0]
            yield head[1].startswith("Panic"), state.mtime_ns, folder, head[1], -int(head[2]), text


def _files(view: HostView, folder: str, depth: int) -> Iterator[str]:
    for name in view.names(folder):
        path = f"{folder}/{name}"
        if not view.is_dir(path):
            yield path
        elif depth > 1 and not view.is_symlink(path):
            yield from _files(view, path, depth - 1)


def _level_and_text(line: str) -> tuple[int, str]:
    """Return the level and text of a line of a dump, such as `<3>[   12.345678] text`."""
    match = re.match(r"<([0-7])>", line)
    return int(match[1]) if match else 7, message(line.encode())
