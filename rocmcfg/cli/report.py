"""`rocmcfg report`: a block for an issue tracker, without what tells whose host it is."""

from __future__ import annotations

import os
from typing import NamedTuple

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer


class ReportDocument(NamedTuple):
    """`report` is the Markdown, `bundle` the file that was packed besides."""

    report: str
    bundle: str | None


def report(
    printer: Printer,
    more: tuple[str, ...] = opt.MORE_LOGS,
    log: tuple[str, ...] = opt.texts(
        "--log", metavar="FILE", help="A log in place of this host's own. May be repeated.", takes="file"
    ),
    bundle: str = opt.text(
        "--bundle", metavar="FILE", help="Also pack it, with the logs, into a new .tar.gz.", takes="file"
    ),
    root: str = opt.ROOT,
) -> None:
    """Print what an issue tracker needs to know of this host, in Markdown.

    Host and user names, serial numbers, addresses, ids and secrets are replaced as
    far as rocmcfg knows their forms: read it before you post it.
    """
    from rocmcfg.workflow import reporting

    host = hosts.open_host(printer, root)
    environment = {} if host.offline else dict(os.environ)
    markdown, unread = reporting.report(host, [*log, *more], environment, bundle)
    printer.document(unread, ReportDocument(markdown, bundle or None))
    printer.result(markdown)
    printer.problems([d for d in unread if d.severity.value != "info"])
