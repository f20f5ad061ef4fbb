"""Command `fleet`: show many hosts at once, from the JSON documents that were collected from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.host.files import is_piped_in, replace_callers_file
from rocmcfg.model.version import parse_kernel

if TYPE_CHECKING:
    from rocmcfg.advice.fleet.host import Fleet, Host, Share

_MOST = 20  # rows of a table without -v
_MOST_VALUES = 5  # values on one line


def fleet(
    printer: Printer,
    *,
    paths: tuple[str, ...] = opt.argument(
        "[FILE]…",
        "JSON documents of verify, status, doctor or facts, or folders with them; - reads standard input.",
        "file",
        "texts",
        required=False,
    ),
    html: str = opt.text("--html", metavar="FILE", help="Also write one HTML page to FILE.", takes="file"),
    since: str = opt.text(
        "--since",
        metavar="DIR",
        help="Show what changed since the older documents in DIR.",
        takes="directory",
    ),
    kernel: str = opt.text(
        "--kernel", metavar="V", help="Show which workarounds this kernel would end.", takes="kernel"
    ),
) -> None:
    """Show many hosts from their JSON documents.

    A document belongs to the host of its file: HOST.json, HOST.verify.json, or
    any file in the folder HOST of a named folder. A field `host` in it, which
    --name-host adds, counts more.
    """
    from rocmcfg.workflow import fleet as workflow

    if not paths and not is_piped_in():
        raise Misuse("name files or a folder with JSON documents, or pipe some in")
    if kernel and parse_kernel(kernel) is None:
        raise Misuse(f"{kernel!r} is not a kernel version; write 6.19 or 6.19.2-generic", "--kernel")
    host = hosts.open_host(printer, "/")
    with workflow.without_circles():
        shown, diagnostics = workflow.fleet(host, paths or ("-",), since, kernel)
        if html:
            replace_callers_file(html, workflow.page(shown))
        printer.document(diagnostics, shown)
        if not printer.json:
            _show(printer, shown)
            printer.problems(diagnostics)


def _show(printer: Printer, fleet: Fleet) -> None:
    most = len(fleet.hosts) if printer.verbose else _MOST
    printer.pairs([(name, text) for name, text in _overview(fleet) if text], indent="")
    faults = [(row.id, str(row.hosts), row.title) for row in (*fleet.faults, *fleet.issues)]
    _table(printer, "Faults and known issues in the logs", ("FAULT", "HOSTS", "WHAT"), faults, most)
    wrong = [(str(share.hosts), share.value) for share in fleet.wrong]
    _table(printer, "Settings not in effect", ("HOSTS", "SETTING"), wrong, most)
    odd = Counter((o.what, o.value, o.usual) for host in fleet.hosts for o in host.odd).most_common()
    rows = [(what, str(count), value, usual) for (what, value, usual), count in odd]
    _table(printer, "Odd among hosts with the same GPUs", ("WHAT", "HOSTS", "HAVE", "USUAL"), rows, most)
    workarounds = [(w.setting, str(w.hosts), str(w.ending), w.ends_with) for w in fleet.workarounds]
    heads = ("WORKAROUND", "HOSTS", "NEXT KERNEL ENDS", "ENDS WITH")
    _table(printer, "Workarounds that a release ends", heads, workarounds, most)
    if fleet.since:
        changes = Counter((c.what, c.before, c.now) for host in fleet.hosts for c in host.changes)
        rows = [(what, str(n), old or "-", now or "-") for (what, old, now), n in changes.most_common()]
        rows += [("host", "1", name, "gone") for name in fleet.vanished]
        _table(printer, f"Changed since {fleet.since}", ("WHAT", "HOSTS", "BEFORE", "NOW"), rows, most)
    worst = [share.value for share in fleet.states]
    of_interest = sorted(filter(_why, fleet.hosts), key=lambda host: worst.index(host.state))
    look_at = [(host.name, host.state.replace("_", " "), _why(host)) for host in of_interest]
    _table(printer, "Hosts to look at", ("HOST", "STATE", "WHY"), look_at, most)


def _overview(fleet: Fleet) -> Iterable[tuple[str, str]]:
    states = ", ".join(f"{share.hosts} {share.value.replace('_', ' ')}" for share in fleet.states)
    yield "Hosts", f"{fleet.total}: {states}"
    for name, shares in (
        ("GPUs", fleet.gpus),
        ("Kernels", fleet.kernels),
        ("Systems", fleet.systems),
        ("ROCm", fleet.rocm),
        ("Profiles", fleet.profiles),
    ):
        yield name, _line(shares)
    kinds = Counter(unused.kind for unused in fleet.unused).items()
    left_out = f"; not used: {', '.join(f'{count} {kind}' for kind, count in kinds)}" if kinds else ""
    yield "Documents", f"{fleet.documents}{left_out}"


def _line(shares: Sequence[Share]) -> str:
    words = [f"{share.value} ({share.hosts})" for share in shares[:_MOST_VALUES]]
    more = len(shares) - _MOST_VALUES
    return ", ".join([*words, f"{more} more"] if more > 0 else words)


def _table(
    printer: Printer, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], most: int
) -> None:
    if not rows or printer.quiet:
        return
    printer.heading(title)
    printer.table(heads, rows[:most])
    if len(rows) > most:
        printer.line(f"and {len(rows) - most} more: -v, --json and --html show all")


def _why(host: Host) -> str:
    """Return the first reasons to look at a host; empty if there is none."""
    odd = (f"{row.what} {row.value}, usual is {row.usual}" for row in host.odd)
    ending = (f"the next kernel ends {setting}" for setting in host.ending)
    reasons = [*host.problems, *host.verified.wrong, *host.faults, *host.issues, *odd, *ending]
    more = f"; {len(reasons) - 2} more" if len(reasons) > 2 else ""
    return "; ".join(reasons[:2]) + more
