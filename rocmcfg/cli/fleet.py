"""Command `fleet`: show many hosts at once, from the JSON documents that were collected from them."""

from __future__ import annotations

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.host.files import open_for_result, write_result
from rocmcfg.workflow import fleet as workflow


def fleet(
    printer: Printer,
    *,
    paths: tuple[str, ...] = opt.argument(
        "FILE|DIR|-…", "JSON documents, or a folder with them; - is the standard input.", "file", "texts"
    ),
    html: str = opt.text("--html", metavar="FILE", help="Also write one HTML page to FILE.", takes="file"),
    since: str = opt.text(
        "--since", metavar="DIR", help="Compare with older documents in DIR.", takes="directory"
    ),
    kernel: str = opt.text(
        "--kernel", metavar="V", help="Judge workarounds by this kernel as the next one.", takes="kernel"
    ),
) -> None:
    """Show many hosts, from their JSON documents.

    The documents are those of verify, status and doctor.
    """
    if not paths:
        raise Misuse("name files or a folder with JSON documents, or - for the standard input")
    stream = open_for_result(html) if html else None
    shown = workflow.fleet(hosts.open_host(printer, "/"), paths, since, kernel)
    if stream is not None:
        write_result(html, stream, workflow.page(shown))
    printer.document((), shown)
    printer.line(f"{shown.total} hosts")
