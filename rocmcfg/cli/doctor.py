"""`rocmcfg doctor`: what a log shows, how sure that is, what cures it, and what is wrong with the host.
`rocmcfg report`: a block for an issue tracker, without what tells whose host it is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer, wrap

if TYPE_CHECKING:
    from rocmcfg.doctor.judging.origin import Options
    from rocmcfg.doctor.judging.ranking import Match
    from rocmcfg.doctor.log_lines import LogLines
    from rocmcfg.workflow.diagnosing import Diagnosis, Found


_CANDIDATE = 0.35  # below it, a match is shown with -v only
_LINES, _UNKNOWN = 6, 12  # lines of evidence, and of unknown errors, that are shown without -v
_LONG, _WORD = 240, 68  # characters of such a line, and of a word in it


class ReportDocument(NamedTuple):
    """`report` is the Markdown, `bundle` the file that was packed besides."""

    report: str
    bundle: str | None


def doctor(
    printer: Printer,
    more: tuple[str, ...] = opt.MORE_LOGS,
    log: tuple[str, ...] = opt.texts(
        "--log", metavar="FILE", help="A log, packed or not; - is piped in. May be repeated.", takes="file"
    ),
    gfx: tuple[str, ...] = opt.texts(
        "--gfx", metavar="G", help="The GPU that it happened on: gfx1100.", takes="gfx"
    ),
    kernel: str = opt.text("--kernel", metavar="V", help="The kernel that it happened on.", takes="kernel"),
    rocm: str = opt.text("--rocm", metavar="V", help="The ROCm release there.", takes="free"),
    root: str = opt.ROOT,
) -> None:
    """Find known issues in the kernel's log, and what is wrong with this host.

    Reads the log of this boot and the one before, or the logs that are named or
    piped in, which may be another machine's.
    """
    from rocmcfg.host.files import is_piped_in
    from rocmcfg.workflow import diagnosing

    options = named_machine(gfx, kernel, rocm)
    host = hosts.open_host(printer, root)
    environment = {} if host.offline else dict(os.environ)
    logs = [*log, *more] or (["-"] if is_piped_in() else [])
    found = diagnosing.diagnose(host, logs, options, environment, printer.progress)
    printer.document(found.diagnostics, found)
    _show(printer, found)


def named_machine(gfx: Sequence[str], kernel: str, rocm: str) -> Options:
    """Raises Misuse for what is no GPU target or no version, with what to write."""
    from rocmcfg.doctor.judging.origin import Options
    from rocmcfg.model.version import parse_kernel, parse_version

    for name in gfx:
        if not re.fullmatch(r"gfx[0-9]{1,2}[0-9a-f]{2}", name):
            example = "write one such as gfx1100, as `rocminfo` and `rocmcfg status` do"
            raise Misuse(f"{name!r} is no GPU target; {example}", "--gfx")
    if kernel and parse_kernel(kernel) is None:
        raise Misuse(f"{kernel!r} is no kernel version; write 6.8, or what `uname -r` prints", "--kernel")
    version = parse_version(rocm) if rocm else None
    if rocm and version is None:
        raise Misuse(f"{rocm!r} is no ROCm version; write 7.1 or 7.1.1", "--rocm")
    return Options(tuple(gfx), kernel, version)


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


def _show(printer: Printer, found: Diagnosis) -> None:
    told = [one for one in found.found if one.match.told]
    rest = [one for one in found.found if not one.match.told]
    candidates = [one for one in rest if printer.verbose or _is_candidate(one.match)]
    read = ", ".join(f"{log.name} ({_size(log.size)})" for log in found.logs if log.size)
    if not told and not candidates and not found.unknown:
        if read:
            printer.wrapped(f"No known issue, and no error of the driver: {read}.", indent="")
        printer.problems(found.diagnostics)
        return
    printer.pairs([("read", read), ("machine", _machine(found))], indent="")
    for number, one in enumerate(told):
        _show_match(printer, found, one, whole=number == 0 or printer.verbose)
    if candidates:
        printer.heading("Less likely" if told else "Nothing is certain enough to name; these come nearest")
        for one in candidates:
            # what speaks against it, else what cannot be told
            doubts = [r.text for met in (False, None) for r in one.match.reasons if r.met is met]
            why = f": {doubts[0]}" if doubts else ""
            printer.wrapped(f"{one.match.issue.id} ({one.match.score:.2f}), {one.match.issue.title}{why}")
    _show_unknown(printer, found, bool(told))
    if found.diagnostics:
        printer.line()
    printer.problems(found.diagnostics)


def _is_candidate(match: Match) -> bool:
    return match.score >= _CANDIDATE and all(
        r.met is not False for r in match.reasons if r.what != "in_force"
    )


def _machine(found: Diagnosis) -> str:
    where = found.machine
    parts = [f"{', '.join(where.gfx)} ({where.gfx_source})"] if where.gfx else []
    if not parts and where.possible_gfx:
        parts.append(f"a GPU of the generation of {where.possible_gfx[0]} (the log)")
    parts += [f"kernel {where.kernel} ({where.kernel_source})"] if where.kernel else []
    parts += [f"ROCm {where.rocm} ({where.rocm_source})"] if where.rocm else []
    return ", ".join(parts) or "nothing is known of it: --gfx, --kernel and --rocm make the answer better"


def _show_match(printer: Printer, found: Diagnosis, one: Found, *, whole: bool) -> None:
    match, issue = one.match, one.match.issue
    printer.line()
    for line in wrap(issue.title):
        printer.line(printer.paint(line, "bold"))
    sure = "very likely" if match.score >= 0.8 else "likely" if match.score >= 0.65 else "possible"
    confidence = "reported, not confirmed" if issue.confidence == "reported" else issue.confidence
    printer.line(f"  {issue.id}: {sure} ({match.score:.2f}); the issue is {confidence}")
    if whole:
        printer.wrapped(issue.summary)
    rows = [("why", r.text) for r in match.reasons if r.what != "in_force"] + _cure(one)
    rows += [("costs", issue.cost)] if issue.cost and (match.remaining or issue.workaround.steps) else []
    rows += [("no help", text) for text in issue.does_not_help] if whole else []
    rows += [("fixed", issue.fixed_in)] if issue.fixed_in else []
    shown = one.evidence if printer.verbose else one.evidence[: _LINES if whole else 2]
    rows += [("log", _line(line, found, printer.verbose)) for line in shown]
    if len(one.evidence) > len(shown):
        rows.append(("log", f"and {len(one.evidence) - len(shown)} more kinds of lines: -v"))
    for kernel in one.kernel_names if whole else ():
        parts = kernel.parts if printer.verbose else kernel.brief
        rows += [("kernel", f"{name}: {text}") for name, text in parts]
    rows += [("note", note) for note in issue.notes] if printer.verbose else []
    rows += [("source", url) for url in issue.evidence] if printer.verbose else []
    last = ""
    for name, text in rows:  # each name once; in columns that are the same for every issue
        printer.pairs([(("" if name == last else name).ljust(7), text)])
        last = name


def _cure(one: Found) -> list[tuple[str, str]]:
    from rocmcfg.model.state import Kind

    match, cure = one.match, one.cure
    rows = [
        ("tried", f"{setting} was in force ({place}) and did not help") for setting, place in match.in_force
    ]
    rows += [("done", f"{setting}: {said}") for setting, said in match.applied]
    if any("in force now" in said for _, said in match.applied):
        rows.append(("then", "if it fails again: rocmcfg doctor, which reads the log of this boot"))
    rows += [("cure", str(setting)) for setting in cure.settings]
    rows += [("cure", f"take away {name}") for name in cure.unset]
    if cure.command:
        rows.append(("apply", cure.command))
    if cure.settings and all(setting.kind is Kind.ENV for setting in cure.settings):
        options = " ".join(f"--set {setting}" for setting in cure.settings)
        rows.append(("or", f"without root, for one program: rocmcfg run {options} -- PROGRAM"))
    rows += [("do" if rows else "cure", step) for step in cure.steps]
    if not match.issue.workaround.settings and not cure.unset:
        rows.insert(0, ("cure", "no parameter cures this" + (", but this helps:" if cure.steps else "")))
    elif match.in_force and not cure.settings and not match.applied and not cure.steps:
        rows.append(("cure", "no other is known"))
    return rows


def _show_unknown(printer: Printer, found: Diagnosis, told: bool) -> None:
    if not found.unknown:
        return
    printer.heading("Also in the log, explained by no known issue" if told else "Unknown to me")
    shown = found.unknown if printer.verbose else found.unknown[:_UNKNOWN]
    for line in shown:
        printer.wrapped(_line(line, found, printer.verbose))
    if len(found.unknown) > len(shown):
        printer.line(f"  and {len(found.unknown) - len(shown)} more kinds of lines: -v")
    if not told:
        printer.line()
        printer.line("To report it, collect:")
        for what in found.collect:
            printer.pairs([("-", what)])


def _line(line: LogLines, found: Diagnosis, whole: bool) -> str:
    times = f"{line.count}{' or more' if line.more else ''} × " if line.count > 1 else ""
    lines = f"{line.line}" if line.count == 1 else f"{line.line}-{line.last_line}"
    where = f"line {lines}" if sum(log.size > 0 for log in found.logs) == 1 else f"{line.log}:{lines}"
    text = line.text if whole else " ".join(_cut(word, _WORD) for word in _cut(line.text, _LONG).split())
    return f"{times}{text} ({where})"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _size(size: int) -> str:
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >> shift:
            return f"{size / (1 << shift):.1f} {unit}"
    return f"{size} bytes"
