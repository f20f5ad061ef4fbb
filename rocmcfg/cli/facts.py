"""Command `facts`: print what other hosts can be compared with, and save it as the golden host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer, counted
from rocmcfg.host.files import replace_callers_file
from rocmcfg.knowledge.host_facts import fact_groups, fact_rows
from rocmcfg.model.host_facts import counted_values

if TYPE_CHECKING:
    from rocmcfg.model.host_facts import ComparedFacts, HostFacts


def facts(
    printer: Printer,
    *,
    save: str = opt.text(
        "--save",
        metavar="FILE",
        help="Write the JSON document to FILE, for `verify --against`.",
        takes="file",
    ),
    name_host: bool = opt.NAME_HOST,
    root: str = opt.ROOT,
) -> None:
    """Show the facts by which hosts are compared.

    GPUs, kernel, firmware, packages, parameters, and the state at run time that
    AMD's Instinct guides ask for. Run it as root to see all of them.
    """
    from rocmcfg.workflow import golden

    host = hosts.open_host(printer, root)
    hosts.name_host(printer, host, name_host, is_saved=bool(save))
    described, diagnostics = golden.facts(host)
    if save:
        replace_callers_file(save, printer.as_json(diagnostics, described))
    printer.document(diagnostics, described)
    _show(printer, described)
    printer.problems(diagnostics)
    if save:
        printer.line()
        untold = len({each.fact for each in described.cannot_be_told})
        rest = f"; {untold} unknown" if untold else ""
        printer.line(f"Saved to {save}: {counted(described.compared.total, 'fact')}{rest}.")


def _show(printer: Printer, described: HostFacts) -> None:
    compared = described.compared
    reasons = {each.fact: each.reason for each in described.cannot_be_told}
    rows = []
    for row in fact_rows():
        values = [compared.values[row.id]] if row.id in compared.values else [*_of_gpus(compared, row.id)]
        if values or row.id in reasons:
            rows.append((row.name, counted_values(values) if values else f"unknown: {reasons[row.id]}"))
    printer.pairs(rows, indent="")
    for group in fact_groups().values():
        named = compared.group(group.id)
        if named and printer.verbose:
            printer.section(f"{group.name.capitalize()}s", [*named.items()])
        elif named:
            printer.pairs([(f"{group.name.capitalize()}s", f"{len(named)} (-v shows them)")], indent="")


def _of_gpus(compared: ComparedFacts, id: str) -> Iterator[str]:
    """Yield the values of the GPUs; for facts of one kind, all of those of each GPU together."""
    for gpu in compared.gpus:
        if id in gpu.values:
            yield gpu.values[id]
        elif kinds := [name for name in gpu.values if name.startswith(f"{id}.")]:
            yield ", ".join(f"{name.partition('.')[2]} {gpu.values[name]}" for name in kinds)
