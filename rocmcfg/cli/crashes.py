"""Commands `crashes …`: the black box, which saves what the kernel forgets five minutes after a GPU
crashed."""

from __future__ import annotations

import os
import shlex

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.host.local import LocalHost
from rocmcfg.model.crash import Client, Crash
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.shape import NamedTuple
from rocmcfg.workflow import crashes as workflow

_ID = opt.argument(
    "[ID]", "The crash; the beginning of its id is enough (default: the newest).", "crash", required=False
)
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


class CrashDocument(NamedTuple):
    """A crash that was saved."""

    crash: Crash


def turn_on(printer: Printer, *, root: str = opt.ROOT) -> None:
    """Save crashes of GPUs from now on.

    When the kernel reports a crash, rocmcfg saves the dump, the kernel's log, the processes
    with GPU memory, the settings and doctor's verdict below /var/lib/rocmcfg/crashes, which
    only root can read.
    """
    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    switched, problems = workflow.turn_on(host)
    printer.document(problems, switched)
    printer.line("The black box is on." if switched.changed else "The black box was on already.")
    if switched.waiting:
        printer.line("rocmcfg is saving the crash that the kernel still has.")
    printer.problems(problems)


def turn_off(printer: Printer, *, root: str = opt.ROOT) -> None:
    """Stop saving crashes.

    Saved crashes stay until you remove them with `rocmcfg crashes forget`.
    """
    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    switched = workflow.turn_off(host)
    printer.document((), switched)
    printer.line("The black box is off." if switched.changed else "The black box was off already.")
    if switched.saved:
        kept = (
            "1 saved crash is kept." if switched.saved == 1 else f"{switched.saved} saved crashes are kept."
        )
        printer.line(kept)
        printer.to_copy("Remove:", f"sudo rocmcfg crashes forget --all{printer.root_option}")


def list_crashes(printer: Printer, *, root: str = opt.ROOT) -> None:
    """List the saved crashes."""
    host = _readable(printer, root)
    listed = workflow.crashes(host)
    printer.document(listed.problems, listed)
    printer.problems(listed.problems)
    rows = [
        (
            crash.id,
            crash.address,
            crash.verdict.id or "-",
            workflow.STATES[crash.dump.state],
            _size(crash.size),
        )
        for crash in listed.crashes
    ]
    if rows:
        printer.table(("ID", "GPU", "DOCTOR", "DUMP", "SIZE"), rows)
    else:
        printer.line("No crash was saved.")
    if listed.unsaved.number:
        unsaved = listed.unsaved
        printer.paragraph(f"Not saved: {unsaved.number}, the last one at {unsaved.time}: {unsaved.reason}.")
    if not listed.on:
        printer.line("The black box is off.")
        printer.to_copy("Turn on:", f"sudo rocmcfg crashes on{printer.root_option}")


def show(printer: Printer, *, id: str = _ID, root: str = opt.ROOT) -> None:
    """Show a saved crash."""
    host = _readable(printer, root)
    crash = workflow.crash(host, id)
    printer.document((), CrashDocument(crash))
    printer.pairs(list(_rows(crash)), indent="")
    printer.section(
        "Processes with GPU memory", [(f"{c.name} ({c.pid})", _memory(c)) for c in crash.processes]
    )
    printer.section(
        "Driver parameters",
        [
            (s.name, f"{s.value} (default {s.default or 'unknown'}) {s.source}".rstrip())
            for s in crash.settings
        ],
    )
    printer.section("Firmware", list(crash.firmware.items()) if printer.verbose else [])
    folder = f"/var/lib/rocmcfg/crashes/{crash.id}"
    printer.section(f"Files in {folder}", [(name, _size(size)) for name, size in crash.files.items()])
    printer.line()
    printer.to_copy("Report:", f"sudo rocmcfg crashes report {crash.id}{printer.root_option}")
    if "kernel.log" in crash.files:
        log = shlex.quote(f"{host.root.rstrip('/')}{folder}/kernel.log")
        printer.to_copy("Judge the log again:", f"sudo rocmcfg doctor {log}")


def report(
    printer: Printer,
    *,
    id: str = _ID,
    into: str = opt.text(
        "--into",
        metavar="DIR",
        help="Also write the report and the log into a new folder.",
        takes="directory",
    ),
    dump: bool = opt.switch("--dump", help="With --into: add the dump, which contains memory of programs."),
    root: str = opt.ROOT,
) -> None:
    """Describe a crash for an issue tracker.

    Host and user names, serial numbers, addresses, ids and secrets are replaced as
    far as rocmcfg knows their forms: read the report before you post it. The dump
    cannot be redacted; rocmcfg adds it only with --dump.
    """
    if dump and not into:
        raise Misuse("--dump requires --into DIR")
    host = _readable(printer, root)
    made = workflow.report(host, id, into, with_dump=dump)
    printer.document((), made)
    if not into:
        printer.result(made.report)
        return
    for path in made.written:
        printer.line(f"Written: {path}")
    printer.line(f"Post it at {made.tracker}")


def forget(
    printer: Printer,
    *,
    ids: tuple[str, ...] = opt.argument("[ID]…", "The crashes to remove.", "crash", "texts", required=False),
    every: bool = opt.switch("--all", help="Remove all crashes."),
    root: str = opt.ROOT,
) -> None:
    """Remove crashes that were saved."""
    if bool(ids) == every:
        raise Misuse("name crashes, or --all" if not ids else "--all excludes the names of crashes")
    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    removed = workflow.forget(host, ids, every=every)
    printer.document((), removed)
    for id in removed.removed:
        printer.line(f"Removed: {id}")
    if not removed.removed:
        printer.line("No crash was saved.")


def save(
    printer: Printer,
    *,
    event: str = opt.argument("EVENT", "The event, as udev's rule names it.", "free"),
    root: str = opt.ROOT,
) -> None:
    """Save a crash; for the unit that udev starts."""
    from rocmcfg.workflow import crash_saving

    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    crash = crash_saving.save(host, event)
    printer.line(f"Saved: {crash.id}" if crash is not None else "Nothing to save.")


def _readable(printer: Printer, root: str) -> LocalHost:
    """Return the host whose crashes the caller may read. Raises for one that only root can read."""
    host = hosts.open_host(printer, root)
    if not host.offline and os.geteuid() != 0:
        raise fail("RC4400", "only root can read the crashes", hint=f"sudo rocmcfg {printer.command}")
    return host


def _rows(crash: Crash) -> list[tuple[str, str]]:
    dump, verdict = crash.dump, crash.verdict
    state = workflow.STATES[dump.state] + (f", {_size(dump.size)}" if dump.size else "")
    rows = [
        ("Crash", crash.id),
        ("Time", crash.time.replace("T", " ").replace("Z", " UTC")),
        ("GPU", crash.address),
        ("Kernel", crash.kernel),
        ("Event", "the kernel has a dump" if crash.event == "dump" else "the device was wedged"),
        ("Recovery", ", ".join(crash.recovery)),
        ("Dump", state + (f": {dump.problem}" if dump.problem else "")),
        ("doctor", f"{verdict.id}: {verdict.title}" if verdict.id else "no known fault in the log"),
        *(("Not saved", problem) for problem in crash.problems),
    ]
    return [row for row in rows if row[1]]


def _memory(client: Client) -> str:
    kinds = ", ".join(f"{kind} {_size(size)}" for kind, size in client.memory.items())
    return f"{client.device}: {kinds}" if client.device else kinds


def _size(size: int) -> str:
    unit, name = next((unit for unit in _UNITS if size >= unit[0]), _UNITS[-1])
    return f"{size / unit:.1f} {name}"
