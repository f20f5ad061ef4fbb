"""Show the fault classes of a log, and what to look at next where a log shows none: a part of `doctor`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocmcfg.cli.printer import Printer, counted
from rocmcfg.judging.fault_words import blamed, outlook
from rocmcfg.model.diagnostic import cut

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.log_lines import LogLines
    from rocmcfg.workflow.diagnosing import Diagnosis, FaultSeen

KERNELS_LOG = "sudo journalctl -k -b > kernel.log"
_LINES, _FAULTS = 3, 4  # lines of a fault, and further faults, that are shown without -v
_QUERY = 80  # characters of a line that a search for it has
_TELLS_CALLS = "debug-faults"  # with this profile HIP names each call that fails
_LONG, _WORD = 240, 68  # characters shown of a log line, and of a word in it


def show_unexplained(printer: Printer, diagnosis: Diagnosis, *, gpu_unknown: bool) -> None:
    """Show the fault classes of the lines that no named issue explains: their number and the first line, or
    all of them with --verbose."""
    faults = diagnosis.unexplained
    if printer.verbose:
        show_faults(printer, diagnosis, gpu_unknown=gpu_unknown)
    elif faults:
        fault, line = faults[0].match.fault, shown_line(faults[0].evidence[0], diagnosis, whole=False)
        more = f", and {counted(len(faults) - 1, 'other fault')}" if faults[1:] else ""
        printer.paragraph(f"Not explained by that: {line}: {fault.id}, {fault.title}{more}")


def show_faults(printer: Printer, diagnosis: Diagnosis, *, gpu_unknown: bool) -> None:
    """Show the fault classes of the lines that no named issue explains: the first as an answer, and the
    others by their titles. Nothing is reported while the GPU is unknown."""
    faults = diagnosis.unexplained
    shown = faults if printer.verbose else faults[:1]
    for seen in shown:
        _answer_fault(printer, diagnosis, seen)
    rest = faults[len(shown) :]
    for seen in rest[:_FAULTS]:
        printer.paragraph(f"Also: {_titled(seen, diagnosis)}")
    if rest[_FAULTS:]:
        printer.line(f"Also {counted(len(rest) - _FAULTS, 'other fault')}: -v")
    if faults and diagnosis.collect and not gpu_unknown:
        printer.line()
        printer.line(f"To report it at {_tracker(faults[0])}, collect:")
        for what in diagnosis.collect:
            printer.pairs([("-", printer.for_host(what) if "rocmcfg " in what else what)])


def show_nothing(printer: Printer, diagnosis: Diagnosis, read: str) -> None:
    """Say what was searched for without a result, show the lines that look like a failure, and say what to
    look at next."""
    if read:
        printer.gap()
        printer.wrapped(f"No known issue and no fault class matches a line in {read}.", indent="")
        _show_kind(printer, diagnosis)
    printer.problems(diagnosis.diagnostics)


def _show_kind(printer: Printer, diagnosis: Diagnosis) -> None:
    troubles = diagnosis.troubles
    if troubles:
        printer.heading("Lines that look like a failure, but that rocmcfg does not know")
        for line in troubles[:_LINES]:
            printer.wrapped(shown_line(line, diagnosis, printer.verbose))
        if troubles[_LINES:]:
            printer.line(f"  and {counted(len(troubles) - _LINES, 'other line')}")
        printer.to_copy("To search for reports of the first:", _search(troubles[0].text))
    if not diagnosis.kinds:
        printer.paragraph("rocmcfg does not recognise the kind of this log.")
        printer.to_copy("To get the kernel's log:", KERNELS_LOG)
        return
    kind = diagnosis.kinds[0]
    printer.paragraph(f"It is {kind.title}. {kind.next}")
    if troubles and kind.of_program:
        printer.to_copy("To find the call that fails:", f"rocmcfg run -p {_TELLS_CALLS} -- PROGRAM")


def _search(text: str) -> str:
    """Return the address of a search of ROCm's trackers for the longest part of a line without numbers, which
    differ from machine to machine."""
    parts = re.split(r"\S*[0-9]\S*", text)
    words = re.findall(r"[A-Za-z_]+", max(parts, key=len)[:_QUERY])
    return f"https://github.com/search?type=issues&q=org:ROCm+{'+'.join(words)}"


def _answer_fault(printer: Printer, diagnosis: Diagnosis, seen: FaultSeen) -> None:
    from rocmcfg.knowledge.faults import layers

    fault = seen.match.fault
    printer.heading(f"{fault.id}: {fault.title} ({layers()[fault.layer].title})")
    lines = seen.evidence if printer.verbose else seen.evidence[:_LINES]
    for line in lines:
        printer.wrapped(shown_line(line, diagnosis, printer.verbose))
        if status := _status(line.text):
            printer.wrapped(status, indent="      ")
    if seen.evidence[len(lines) :]:
        printer.line(f"  and {counted(len(seen.evidence) - len(lines), 'other message')}: -v")
    printer.paragraph(fault.meaning)
    printer.paragraph(f"Next: {fault.step}")
    printer.paragraph(f"Probably at fault: {blamed(fault)}. {outlook(fault)}")
    for id in seen.match.causes:
        printer.paragraph(f"It can be a consequence of {id}.")
    if fault.issues:
        printer.paragraph(f"Known issues with such lines: {', '.join(fault.issues)}")


def _status(text: str) -> str:
    """Return what the status of ROCr or HIP in a line means; empty where it has none with a meaning."""
    from rocmcfg.knowledge import catalogue

    words = {*re.findall(r"\w+", text)}
    for name, row in catalogue.status_codes().items():
        if "means" in row and (name in words or row.get("prints", "\n") in text):
            return f"{name}: {row['means']}"
    return ""


def _titled(seen: FaultSeen, diagnosis: Diagnosis) -> str:
    fault = seen.match.fault
    causes = f"; it can be a consequence of {' and '.join(seen.match.causes)}" if seen.match.causes else ""
    return f"{fault.id}, {fault.title} ({_place(seen.evidence[0], diagnosis)}){causes}"


def _tracker(seen: FaultSeen) -> str:
    from rocmcfg.knowledge.faults import layers

    return layers()[seen.match.fault.layer].tracker


def shown_line(line: LogLines, diagnosis: Diagnosis, whole: bool) -> str:
    times = f"{line.times}{' or more' if line.more else ''} × " if line.times > 1 else ""
    text = line.text if whole else " ".join(cut(word, _WORD) for word in cut(line.text, _LONG).split())
    return f"{times}{text} ({_place(line, diagnosis)})"


def _place(line: LogLines, diagnosis: Diagnosis) -> str:
    lines = f"{line.line}" if line.times == 1 else f"{line.line}-{line.last_line}"
    return f"line {lines}" if sum(log.size > 0 for log in diagnosis.logs) == 1 else f"{line.log}:{lines}"
