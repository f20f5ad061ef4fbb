"""`rocmcfg history`: every transaction, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer

if TYPE_CHECKING:
    from rocmcfg.workflow.trying import Told

_OUTCOMES = {
    "armed": "trial: waits for the next boot",
    "running": "trial: is this boot",
    "over": "trial: over",
    "confirmed": "tried, confirmed",
    "not_confirmed": "tried, not confirmed",
    "not_tried": "trial, never begun",
    "rejected": "trial, rejected",
}


def history(
    root: opt.Root = "/",
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """List the transactions: who, when, what, and whether each was taken back."""
    with opt.session("history", json, quiet, verbose, debug) as printer:
        import os

        from rocmcfg.model.diagnostic import fail
        from rocmcfg.records.steps import FileChanged
        from rocmcfg.workflow import trying, undoing

        host = opt.open_host(root)
        if not host.offline and os.geteuid() != 0:
            raise fail("RC3025", "the journals are readable by root only", hint="sudo rocmcfg history")
        journals = undoing.read_journals(host)
        rows: list[dict[str, Any]] = [
            {
                "transaction": j.id,
                "time": j.header.time,
                "user": j.header.user,
                "profiles": list(j.header.profiles),
                "settings": list(j.header.settings),
                "files": list(dict.fromkeys(step.path for step in j.of(FileChanged))),
                "state": j.state.value,
                "trial": _trial(trying.told(host, j, journals)),
            }
            for j in journals
        ]
        printer.document((), transactions=rows)
        if not rows:
            printer.line("No transaction yet.")
            return
        cells = [
            (
                str(r["transaction"]),
                r["time"].replace("T", " ")[:16],
                r["user"],
                ",".join(r["profiles"]) or "-",
                _state(r),
            )
            for r in rows
        ]
        printer.table(("N", "TIME (UTC)", "BY", "PROFILES", "STATE"), cells)
        if verbose:
            for row in rows:
                printer.heading(f"Transaction {row['transaction']}")
                printer.wrapped(", ".join(row["settings"]) or "no settings")
                _tell(printer, row["trial"])
                for path in row["files"]:
                    printer.line(f"  {path}")


def _trial(told: Told | None) -> dict[str, Any] | None:
    if told is None:
        return None
    from rocmcfg.records.shapes import plain

    evidence = dict(sorted(plain(told.evidence).items())) if told.evidence else None
    return {"outcome": told.outcome.value, "evidence": evidence, "withheld": list(told.withheld)}


def _state(row: dict[str, Any]) -> str:
    if row["trial"] is None or row["state"] == "unfinished":
        return str(row["state"]).replace("_", " ")
    outcome = row["trial"]["outcome"]
    back = outcome == "confirmed" and row["state"] == "rolled_back"
    return _OUTCOMES[outcome] + (", rolled back" if back else "")


def _tell(printer: Printer, trial: dict[str, Any] | None) -> None:
    if trial is None:
        return
    for reason in trial["withheld"]:
        printer.wrapped(f"did not confirm itself: {reason}")
    if trial["evidence"]:
        printer.wrapped(trial["evidence"]["text"])
        for line in trial["evidence"]["lines"]:
            printer.line(f"    {line}")
