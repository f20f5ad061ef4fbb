"""Command `issues`: list known issues, or print the fault table for a monitor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocmcfg.advice.doctor.exports import EXPORTS
from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.machines import targets
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from rocmcfg.model.issue import KnownIssue

STATES = {
    "open": "Open",
    "pending": "Worked around after the next boot",
    "worked_around": "Worked around",
    "reported": "Only reported",
    "possible": "Possible",
}
_MEANINGS = {
    "open": ": nothing here works around them",
    "reported": ": users say so, nothing proves the cause",
}


class ExportDocument(NamedTuple):
    """The fault table as a text in the format of a monitor."""

    format: str
    text: str


def issues(
    printer: Printer,
    *,
    words: tuple[str, ...] = opt.argument("[WORD]…", "Same as --search.", "free", "texts", required=False),
    search: tuple[str, ...] = opt.texts(
        "--search",
        metavar="WORD",
        help="List the issues of any host that mention this word. May be repeated.",
        takes="free",
    ),
    gfx: tuple[str, ...] = opt.GFX,
    rocm: str = opt.ROCM,
    every: bool = opt.switch("--all", help="List the issues of every GPU."),
    export: str = opt.text(
        "--export", help="Print the fault table for a monitor instead.", choices=tuple(EXPORTS)
    ),
    root: str = opt.ROOT,
) -> None:
    """List the known issues of this host.

    Or list those of another GPU, or those that mention some words: a symptom, a
    message, a setting.
    """
    if export:
        _export(printer, export, others=bool(words or search or gfx or rocm or every))
        return
    from rocmcfg.cli.plan_view import host_rows
    from rocmcfg.workflow import diagnosing

    search_words = (*words, *search)
    version, gpus = opt.release(rocm), targets(gfx)
    host = hosts.open_host(printer, root)
    listed = diagnosing.known_issues(host, search_words, gpus, every=every, rocm=version)
    printer.document((), listed)
    of_host = not (search_words or gfx or every)
    rows = host_rows(listed.facts) if of_host else []
    printer.pairs([row for row in rows if row[0] in ("GPU", "Kernel", "ROCm")], indent="")
    of_any = [here for here in listed.issues if gfx and not here.issue.gfx]
    for state, title in STATES.items():
        here = [each.issue for each in listed.issues if each.state == state and each not in of_any]
        meaning = _MEANINGS.get(state, "") if of_host or state == "reported" else ""
        heading = title if of_host or state != "open" else "Confirmed"
        printer.section(f"{heading}{meaning}", [_listed(issue) for issue in here])
    printer.section("Of any GPU", [_listed(each.issue) for each in of_any])
    printer.line()
    if any(here.state == "possible" for here in listed.issues):
        printer.paragraph("Possible: depends on the ROCm release, which is unknown here; --rocm V decides.")
    if not listed.issues:
        mentioned = f" mentions {' and '.join(map(repr, search_words))}" if search_words else " matches"
        printer.line(f"No known issue{' affects this host' if of_host else mentioned}.")
    if of_host:
        printer.to_copy("Next:", f"rocmcfg doctor{printer.root_option}")
    if listed.issues:
        printer.to_copy("Details:", "rocmcfg explain ID")


def _export(printer: Printer, format: str, *, others: bool) -> None:
    from rocmcfg.knowledge import faults

    if others:
        raise Misuse(
            "excludes words, --search, --gfx, --rocm and --all: the table is of every host", "--export"
        )
    text = EXPORTS[format](faults.faults().values(), faults.layers())
    printer.command = "issues --export"
    printer.document((), ExportDocument(format, text))
    printer.result(text)


def _listed(issue: KnownIssue) -> tuple[str, str]:
    return issue.id, f"{issue.title} [{_cured(issue)}]"


def _cured(issue: KnownIssue) -> str:
    cure = issue.workaround
    if cure.settings:
        return ", ".join(map(str, cure.settings))
    return f"unset {', '.join(cure.unset)}" if cure.unset else "steps" if cure.steps else "no cure known"
