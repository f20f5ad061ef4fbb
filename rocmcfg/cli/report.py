"""`rocmcfg report`: a block for an issue tracker, without what tells whose host it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

from rocmcfg.cli import options as opt

if TYPE_CHECKING:
    import typer


class ReportDocument(NamedTuple):
    """`report` is the Markdown, `bundle` the file that was packed besides."""

    report: str
    bundle: str | None


def report(
    more: opt.MoreLogs = None,
    log: Annotated[
        list[str] | None,
        typer.Option("--log", metavar="FILE", help="A log in place of this host's own. May be repeated."),
    ] = None,
    bundle: Annotated[
        str, typer.Option("--bundle", metavar="FILE", help="Also pack it, with the logs, into a new .tar.gz.")
    ] = "",
    root: opt.Root = "/",
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Print what an issue tracker needs to know of this host, in Markdown.

    Host and user names, serial numbers, addresses, ids and secrets are replaced as
    far as rocmcfg knows their forms: read it before you post it.
    """
    with opt.session("report", json, quiet, verbose, debug) as printer:
        from rocmcfg.workflow import reporting

        host = opt.open_host(root)
        markdown, unread = reporting.report(
            host, [*(log or ()), *(more or ())], {} if host.offline else dict(os.environ), bundle
        )
        printer.document(unread, ReportDocument(markdown, bundle or None))
        printer.result(markdown)
        printer.problems([d for d in unread if d.severity.value != "info"])
