"""Command `report`: print a report for an issue tracker that does not reveal whose host it is."""

from __future__ import annotations

import os

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer
from rocmcfg.model.shape import NamedTuple


class ReportDocument(NamedTuple):
    """A report in Markdown. `bundle` is the file into which it was also packed."""

    report: str
    bundle: str | None


def report(
    printer: Printer,
    *,
    more: tuple[str, ...] = opt.MORE_LOGS,
    log: tuple[str, ...] = opt.LOG,
    bundle: str = opt.text(
        "--bundle", metavar="FILE", help="Also pack the report and the logs into a new .tar.gz.", takes="file"
    ),
    root: str = opt.ROOT,
) -> None:
    """Describe this host for an issue tracker.

    Host and user names, serial numbers, addresses, ids and secrets are replaced as
    far as rocmcfg knows their forms: read the report before you post it.
    """
    from rocmcfg.workflow import reporting

    host = hosts.open_host(printer, root)
    environment = {} if host.offline else dict(os.environ)
    markdown, unread = reporting.report(host, [*log, *more], environment, bundle, printer.progress)
    printer.document(unread, ReportDocument(markdown, bundle or None))
    printer.result(markdown)
    printer.problems([d for d in unread if d.severity.value != "info"])
