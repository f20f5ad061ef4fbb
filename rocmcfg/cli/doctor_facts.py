"""Show what the facts of a machine say before its logs do: the part of `doctor` that needs no log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocmcfg.cli.printer import Printer, counted

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.apu_memory import ApuMemory
    from rocmcfg.workflow.diagnosing import Diagnosis

_PAIRS = 2  # faults by facts that are shown without -v
_GIB = 1 << 30


def show_first(printer: Printer, diagnosis: Diagnosis) -> None:
    """Show what comes before the answer of the logs: whose logs they are, harmful arguments, the layer that
    keeps a program from the GPU, and the memory of an APU."""
    _show_doubts(printer, diagnosis)
    for each in diagnosis.harmful:
        printer.heading(f"First: {each.summary}")
        printer.paragraph(each.why)
        printer.paragraph(f"Next: {each.cure} (set in {each.place})")
    _show_answer(printer, diagnosis)
    if diagnosis.memory is not None:
        _show_memory(printer, diagnosis.memory)


def show_way(printer: Printer, diagnosis: Diagnosis) -> None:
    """Show which layers between the PCI bus and a program were looked at."""
    if diagnosis.access is None:
        return
    rows = []
    for status in ("passed", "failed", "unknown", "not checked"):
        layers = diagnosis.access.with_status(status)
        rows += [(status, ", ".join(layer.name for layer in layers))] if layers else []
    printer.gap()
    printer.line("What a program needs to reach the GPU:")
    printer.pairs(rows)
    if printer.verbose:
        printer.pairs([(layer.name, layer.detail) for layer in diagnosis.access.layers if layer.detail])


def _show_doubts(printer: Printer, diagnosis: Diagnosis) -> None:
    where = diagnosis.where
    if where.doubts and where.gfx_source == "this host":
        gfx = ", ".join(where.gfx)
        printer.paragraph(
            f"The log may be from another machine: {' and '.join(where.doubts)}. rocmcfg judges it for the "
            f"GPU of this host, {gfx}; --gfx names another."
        )


def _show_answer(printer: Printer, diagnosis: Diagnosis) -> None:
    """Show the layer that fails by facts of this host. What a log alone shows is told by its fault class, and
    a harmful argument by itself."""
    answer = diagnosis.access.answer if diagnosis.access is not None else None
    if answer is None or answer.source != "the host":
        return
    if any(each.argument in answer.detail for each in diagnosis.harmful):
        return
    cause = answer.cause
    printer.heading(f"On this host: {cause.title}")
    printer.paragraph(f"{cause.meaning} ({answer.detail})" if answer.detail else cause.meaning)
    printer.to_copy("Next:", cause.command)
    printer.paragraph(f"Cure: {cause.cure}")


def _show_memory(printer: Printer, memory: ApuMemory) -> None:
    gpu = ", ".join(memory.gfx) or "the GPU"
    printer.heading(f"The memory is full, and {gpu} is an APU: it maps the host's memory, up to a limit")
    of = f" of {memory.memory / _GIB:.1f} GiB" if memory.memory else ""
    if memory.limit is not None:
        printer.paragraph(f"The limit now is {memory.limit / _GIB:.1f} GiB{of} ({memory.source}).")
    else:
        printer.paragraph("The limit is not known here; by default it is half of the memory.")
    if not memory.command:
        printer.paragraph("A higher limit makes no sense: use a smaller model, batch or context.")
        return
    printer.to_copy("To raise it:", memory.command)
    if memory.raised_to is None:
        printer.paragraph("  GIB: about three quarters of the memory; PAGES: GiB times 262144.")
    printer.paragraph("Costs: programs cannot use the memory that the GPU holds; the system needs the rest.")


def show_pairs(printer: Printer, diagnosis: Diagnosis) -> None:
    """Show the faults by facts: without -v the first whose cause is confirmed, and the number of the rest."""
    pairs = diagnosis.bad_pairs
    confirmed = [pair for pair in pairs if pair.issue.confidence == "confirmed"]
    shown = pairs if printer.verbose else confirmed[:_PAIRS]
    if shown:
        printer.heading("Known faults of this GPU, kernel and ROCm")
    for pair in shown:
        printer.paragraph(f"{pair.issue.title} ({pair.issue.id}): {' and '.join(pair.lacking)}.")
        if pair.issue.fixed_in:
            printer.paragraph(f"  Fixed in: {pair.issue.fixed_in}")
        printer.to_copy("  Until then:", f"rocmcfg explain {pair.issue.id}")
    if rest := len(pairs) - len(shown):
        others = counted(rest, "other reported fault" if shown else "reported fault")
        printer.paragraph(f"This GPU, kernel and ROCm have {others}: -v")
