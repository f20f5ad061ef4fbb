"""`rocmcfg history`: every transaction, newest first."""

from __future__ import annotations

import typer

from rocmcfg.cli import options as opt

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("history")
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
        from rocmcfg.workflow import undoing

        host = opt.open_host(root)
        if not host.offline and os.geteuid() != 0:
            raise fail("RC3025", "the journals are readable by root only", hint="sudo rocmcfg history")
        journals = undoing.read_journals(host)
        rows = [
            {
                "transaction": j.id,
                "time": j.header["time"],
                "user": j.header["user"],
                "profiles": j.header["profiles"],
                "settings": j.header["settings"],
                "files": list(dict.fromkeys(step["path"] for step in j.of("file"))),
                "state": j.state,
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
                r["state"].replace("_", " "),
            )
            for r in rows
        ]
        printer.table(("N", "TIME (UTC)", "BY", "PROFILES", "STATE"), cells)
        if verbose:
            for row in rows:
                printer.heading(f"Transaction {row['transaction']}")
                printer.wrapped(", ".join(row["settings"]) or "no settings")
                for path in row["files"]:
                    printer.line(f"  {path}")
