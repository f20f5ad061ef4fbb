"""The black box: turn it on and off, list and show the crashes that were saved, report one, forget them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping

from rocmcfg.facts import crash_events
from rocmcfg.host.files import new_callers_folder, write_new_file
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.knowledge import faults as fault_table
from rocmcfg.model.crash import Crash, DumpState, Unsaved
from rocmcfg.model.diagnostic import Diagnostic, fail, warning
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.records import crashes as store

RULE, UNIT = "70-rocmcfg-crash.rules", "rocmcfg-crash@.service"
# Where udev and systemd look for files that a package or the user installed (udev(7), systemd.unit(5)).
_PREFIXES = ("/etc", "/usr/local/lib", "/usr/lib", "/lib")
_PLACES = {RULE: "udev/rules.d", UNIT: "systemd/system"}
STATES: dict[DumpState, str] = {
    "whole": "whole",
    "cut": "only its beginning",
    "dropped": "not saved",
    "gone": "gone",
    "none": "none",
}
# What a report asks for (knowledge/data/faults/collect.toml), and the file of a crash that is it.
_FILES = {"kernel-log": store.LOG, "gpu-dump": store.DUMP, "firmware-versions": store.FIRMWARE}
_TRACKER = "reset"  # the layer whose tracker takes a crash that doctor cannot name
_AGAIN = ("udevadm", "trigger", "--action=add", "--subsystem-match=devcoredump")
_MOST_LINES = 20_000  # of the log, in a report
_PIECE = 1 << 20


class Switched(NamedTuple):
    """The black box after `crashes on` or `crashes off`. `saved` is the number of crashes in the store,
    `waiting` that of dumps that the kernel has now, which are being saved."""

    on: bool
    changed: bool
    saved: int
    waiting: int = 0


@published("on", "crashes", "unsaved", "size")
class Crashes(NamedTuple):
    """The crashes that were saved, newest first. `on`: the black box is on. `unsaved` says how many could not
    be saved. `size` are the bytes of all files."""

    on: bool
    crashes: tuple[Crash, ...]
    unsaved: Unsaved
    problems: tuple[Diagnostic, ...] = ()

    @property
    def size(self) -> int:
        return sum(crash.size for crash in self.crashes)


class Wanted(NamedTuple):
    """Something that the tracker asks for. `file` is the file of the record that has it, and empty if none
    has; `command` is what prints or saves it then."""

    what: str
    file: str
    command: str


class CrashReport(NamedTuple):
    """The report of a crash in Markdown, for the `tracker` of the fault's owner. `wanted` is what the tracker
    asks for, `written` are the files that were written."""

    id: str
    report: str
    tracker: str
    wanted: tuple[Wanted, ...]
    written: tuple[str, ...]


class Forgotten(NamedTuple):
    """The ids of the crashes that were removed."""

    removed: tuple[str, ...]


def turn_on(host: Host) -> tuple[Switched, tuple[Diagnostic, ...]]:
    """Turn the black box on, and let udev send the events of dumps that the kernel still has again. Return
    what keeps the box from working on this kernel. Raises RocmcfgError where udev or systemd would not start
    it, or Unwritable."""
    _require_installed(host)
    was_on = store.is_on(host)
    store.turn_on(host)
    waiting = [] if host.offline else [name for name in host.names(crash_events.DUMPS) if "devcd" in name]
    if waiting:
        host.execute(_AGAIN, timeout=30, progress=lambda: None)
    return Switched(True, not was_on, len(store.ids(host)), len(waiting)), tuple(_against(host))


def turn_off(host: Host) -> Switched:
    """Turn the black box off. What was saved stays. Raises Unwritable."""
    was_on = store.is_on(host)
    if was_on:
        store.turn_off(host)
    return Switched(False, was_on, len(store.ids(host)))


def _require_installed(host: Host) -> None:
    if not host.offline and not host.is_dir("/run/systemd/system"):  # sd_booted(3)
        summary = "nothing would start the black box: systemd does not run this system"
        raise fail(
            "RC4408", summary, hint="turn it on where systemd runs, such as the host of this container"
        )
    missing = [name for name, place in _PLACES.items() if not _is_installed(host, f"{place}/{name}")]
    if not missing:
        return
    sources = [f"{sys.prefix}/lib/{_PLACES[name]}/{name}" for name in missing]
    commands = [
        f"sudo cp {shlex.quote(source)} /etc/{_PLACES[name]}/"
        for source, name in zip(sources, missing, strict=True)
        if os.path.exists(source)
    ]
    hint = "install a package of rocmcfg, which has them"
    if len(commands) == len(missing):
        hint = f"run: {' && '.join([*commands, 'sudo systemctl daemon-reload'])}"
    raise fail(
        "RC4405",
        f"nothing would start the black box: {' and '.join(missing)} not installed",
        detail="a virtual environment installs them where neither udev nor systemd finds them",
        hint=hint,
    )


def _is_installed(view: HostView, name: str) -> bool:
    return any(view.exists(f"{prefix}/{name}") for prefix in _PREFIXES)


def _against(host: Host) -> Iterator[Diagnostic]:
    """Yield what keeps the kernel from making dumps."""
    if host.offline:
        return
    if not host.is_dir(crash_events.DUMPS):
        summary = "this kernel makes no device dumps (CONFIG_DEV_COREDUMP)"
        hint = "boot a kernel that has it; without it, rocmcfg saves only the reports of wedged devices"
        yield warning("RC4406", summary, location=crash_events.DUMPS, hint=hint)
    elif text_or_empty(host, crash_events.DISABLED).strip() == "1":
        summary = "device dumps are disabled until the next boot"
        hint = "find what writes 1 into this file, then reboot: nothing else enables the dumps again"
        yield warning("RC4407", summary, location=crash_events.DISABLED, hint=hint)


def crashes(view: HostView) -> Crashes:
    """Return the crashes that were saved. Raises Untrusted or Unreadable."""
    loaded, problems = store.load_all(view)
    return Crashes(store.is_on(view), loaded, store.unsaved(view), problems)


def crash(view: HostView, id: str) -> Crash:
    """Return a crash by its id or the beginning of it; the newest one without an id. Raises RocmcfgError."""
    return store.load(view, _id_of(view, id))


def _id_of(view: HostView, beginning: str) -> str:
    every = store.ids(view)
    if not every:
        raise fail("RC4404", "no crash was saved", hint="`sudo rocmcfg crashes on` turns the black box on")
    if beginning in every:
        return beginning
    matching = [id for id in every if id.startswith(beginning)] if beginning else [every[-1]]
    if len(matching) != 1:
        which = "no crash has" if not matching else f"{len(matching)} crashes have"
        raise fail("RC4404", f"{which} the id {beginning!r}", hint="see `rocmcfg crashes list`")
    return matching[0]


def report(view: HostView, id: str, into: str, *, with_dump: bool) -> CrashReport:
    """Return the report of a crash. With `into`, also write it and the log, redacted, into that new folder,
    and `with_dump` the dump as it is, which holds memory of programs. Raises RocmcfgError."""
    from rocmcfg.advice.report.markdown import markdown
    from rocmcfg.advice.report.redact import redactor_of

    record = crash(view, id)
    redact = redactor_of(view, {})
    log = "\n".join(_text(view, record, store.LOG).splitlines()[-_MOST_LINES:]) + "\n"
    redact.learn(log)
    wanted = tuple(_wanted(record))
    content = {"crash": record, "states": STATES, "wanted": wanted}
    made = f"{markdown(content, redact, 'crash')}{_text(view, record, store.REPORT)}"
    written: tuple[str, ...] = ()
    if into:
        texts = {
            store.REPORT: made,
            store.LOG: redact(log) if record.files.get(store.LOG) else "",
            store.FIRMWARE: redact(_text(view, record, store.FIRMWARE)),
        }
        written = _write(view, record, into, {name: text for name, text in texts.items() if text}, with_dump)
    tracker = record.verdict.tracker or fault_table.layers()[_TRACKER].tracker
    return CrashReport(record.id, made, tracker, wanted, written)


def _write(
    view: HostView, record: Crash, into: str, texts: Mapping[str, str], with_dump: bool
) -> tuple[str, ...]:
    """Write the texts, and `with_dump` the dump, into a new folder. Return the paths. Raises Unwritable."""
    names = []
    with new_callers_folder(into) as folder:
        for name, text in texts.items():
            write_new_file(name, text.encode("utf-8", "replace"), folder)
            names.append(name)
        if with_dump and (stream := view.stream(store.path_of(record.id, store.DUMP))) is not None:
            with stream:
                write_new_file(store.DUMP, iter(lambda: stream.read(_PIECE), b""), folder)
            names.append(store.DUMP)
    return tuple(f"{into}/{name}" for name in names)


def _text(view: HostView, record: Crash, name: str) -> str:
    return text_or_empty(view, store.path_of(record.id, name)) if name in record.files else ""


def _wanted(record: Crash) -> Iterator[Wanted]:
    """Yield what a report of the fault needs, and in any case what a crash has. Another rocmcfg may have
    saved the crash, with needs that this one does not know."""
    every = fault_table.collectibles()
    for key in dict.fromkeys((*_FILES, *record.verdict.collect)):
        if key not in every:
            continue
        file = _FILES.get(key, "")
        needed = every[key]
        file = file if record.files.get(file) else ""
        if file or key in record.verdict.collect:
            yield Wanted(needed.what, file, needed.command)


def forget(host: Host, ids: tuple[str, ...], *, every: bool) -> Forgotten:
    """Remove crashes, or every one and the count of those that could not be saved. Raises RocmcfgError."""
    with store.writing(host):
        chosen = store.ids(host) if every else tuple(dict.fromkeys(_id_of(host, id) for id in ids))
        for id in chosen:
            store.forget(host, id)
        if every:
            store.forget_unsaved(host)
    return Forgotten(chosen)
