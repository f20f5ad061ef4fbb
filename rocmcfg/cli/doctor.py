"""Command `doctor`: show which known issues a log points to, how likely each is, what cures it, and what is
wrong with the host. Command `issues`: list known issues. Command `report`: print a report for an issue
tracker that does not reveal whose host it is."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer, counted
from rocmcfg.host.files import is_piped_in
from rocmcfg.model.diagnostic import ExitCode, cut
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import closest
from rocmcfg.model.version import parse_kernel

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.judging.match import Match
    from rocmcfg.advice.doctor.judging.origin import Options
    from rocmcfg.advice.doctor.log_lines import LogLines
    from rocmcfg.model.issue import KnownIssue
    from rocmcfg.workflow.diagnosing import Diagnosis, Found


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
_CANDIDATE = 0.35  # a match with a lower score is shown only with -v
_UNKNOWN = 12  # unknown messages that are shown without -v
_KERNELS_LOG = "sudo journalctl -k -b > kernel.log"
_TELLS_KERNELS = "debug-gemm"  # with this profile HIP names each kernel before it runs
_LONG, _WORD = 240, 68  # characters shown of a log line, and of a word in it


class ReportDocument(NamedTuple):
    """A report in Markdown. `bundle` is the file into which it was also packed."""

    report: str
    bundle: str | None


def doctor(
    printer: Printer,
    *,
    more: tuple[str, ...] = opt.MORE_LOGS,
    log: tuple[str, ...] = opt.LOG,
    machine: opt.Machine = opt.Machine(),
    root: str = opt.ROOT,
) -> None:
    """Find known issues in logs, and their cure.

    Reads the logs of this boot and the previous one, or the logs that are named or
    piped in, which may come from another machine.
    """
    from rocmcfg.workflow import diagnosing

    options = named_machine(*machine)
    host = hosts.open_host(printer, root)
    environment = {} if host.offline else dict(os.environ)
    logs = [*log, *more] or (["-"] if is_piped_in() else [])
    diagnosis = diagnosing.diagnose(host, logs, options, environment, printer.progress)
    printer.document(diagnosis.diagnostics, diagnosis)
    _show(printer, diagnosis)
    if len(diagnosis.logs) < len(logs):
        raise SystemExit(int(ExitCode.ERROR))


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
    root: str = opt.ROOT,
) -> None:
    """List the known issues of this host.

    Or list those of another GPU, or those that mention some words: a symptom, a
    message, a setting.
    """
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


def _listed(issue: KnownIssue) -> tuple[str, str]:
    return issue.id, f"{issue.title} [{_cured(issue)}]"


def _cured(issue: KnownIssue) -> str:
    cure = issue.workaround
    if cure.settings:
        return ", ".join(map(str, cure.settings))
    return f"unset {', '.join(cure.unset)}" if cure.unset else "steps" if cure.steps else "no cure known"


def named_machine(gfx: Sequence[str], kernel: str, rocm: str) -> Options:
    """Return the machine that the options describe. Raises Misuse, with an example, for an unknown GPU target
    and for an invalid version."""
    from rocmcfg.advice.doctor.judging.origin import Options

    if kernel and parse_kernel(kernel) is None:
        problem = f"{kernel!r} is not a kernel version; write 6.8, or the output of `uname -r`"
        raise Misuse(problem, "--kernel")
    return Options(targets(gfx), kernel, opt.release(rocm))


def targets(names: Sequence[str]) -> tuple[str, ...]:
    """Return the GPU targets for any names of GPUs. Raises Misuse for an unknown name, and for a name that
    several targets share."""
    from rocmcfg.knowledge import gpu_names
    from rocmcfg.knowledge.catalogue import gpu_models

    targets_ = {model.gfx for model in gpu_models()}
    chosen = []
    for name in names:
        matching = [name] if name in targets_ else sorted({model.gfx for model in gpu_names.gpus(name)})
        if len(matching) != 1:
            near = closest(name, sorted(targets_)) if name.startswith("gfx") else ()
            example = f"did you mean {', '.join(near)}?" if near else "write one such as gfx1100 or 9070xt"
            problem = (
                f"may be {' or '.join(matching)}" if matching else f"is not a known GPU target; {example}"
            )
            raise Misuse(f"{name!r} {problem}", "--gfx")
        chosen += matching
    return tuple(chosen)


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


def _show(printer: Printer, diagnosis: Diagnosis) -> None:
    named = [candidate for candidate in diagnosis.found if candidate.match.told]
    rest = [candidate for candidate in diagnosis.found if not candidate.match.told]
    near = [candidate for candidate in rest if printer.verbose or _is_candidate(candidate.match)]
    read = ", ".join(f"{log.name} ({log.size:,} bytes)" for log in diagnosis.logs if log.size)
    if not named and not near and not diagnosis.unknown:
        _tell_nothing(printer, diagnosis, read)
        return
    if printer.verbose:
        printer.pairs([("read", read), ("machine", _machine(diagnosis))], indent="")
    elif diagnosis.where.host is None and diagnosis.machine.gfx_source == "the log":
        printer.paragraph(f"From another machine: {_machine(diagnosis)}. The commands are for that machine.")
    no_gpu = not diagnosis.machine.gfx and not diagnosis.machine.possible_gfx
    if no_gpu and not named:
        _ask_for_the_gpu(printer, diagnosis)
    for candidate in named if printer.verbose else named[:1]:
        _answer(printer, candidate)
        _show_evidence(printer, diagnosis, candidate)
    for candidate in () if printer.verbose else named[1:]:
        issue, command = candidate.match.issue, candidate.cure.command.split()
        too = command and {*command} <= {*named[0].cure.command.split()}
        covered = "; the permanent fix covers it too" if too else ""
        printer.paragraph(f"Also {_sure(candidate.match).lower()}: {issue.title} ({issue.id}){covered}")
    if near:
        printer.heading("Less likely" if named else "No issue is certain enough; these come closest")
    for candidate in near:
        printer.paragraph(f"  {_doubted(candidate.match, printer.verbose)}")
    _tell_apart(printer, () if named else [candidate.match.issue for candidate in near])
    _show_unknown(printer, diagnosis, no_gpu=no_gpu, named=bool(named))
    if not printer.verbose:
        first = [f"rocmcfg explain {candidate.match.issue.id}" for candidate in (*named, *near)][:1]
        printer.paragraph(", or ".join(["Details: -v", *first]))
    if no_gpu and named:
        printer.line()
        _ask_for_the_gpu(printer, diagnosis)
    if diagnosis.diagnostics:
        printer.line()
    printer.problems(diagnosis.diagnostics)


def _tell_nothing(printer: Printer, diagnosis: Diagnosis, read: str) -> None:
    if read:
        printer.wrapped(f"No known issue and no driver error in {read}.", indent="")
    if read and diagnosis.shows_no_machine:
        printer.paragraph("It does not look like a kernel log: it shows no GPU and no start of a kernel.")
        printer.to_copy("To get one:", _KERNELS_LOG)
    printer.problems(diagnosis.diagnostics)


def _ask_for_the_gpu(printer: Printer, diagnosis: Diagnosis) -> None:
    printer.line("The GPU is unknown. For a better answer, name it:")
    files = [shlex.quote(log.name) for log in diagnosis.logs if os.path.exists(log.name)]
    log = " ".join(files) or ("LINE" if diagnosis.logs[0].name == "the line" else "")
    command = " ".join(filter(None, ("rocmcfg doctor", log, "--gfx GFX --kernel KERNEL --rocm ROCM")))
    printer.to_copy(" ", f"{command}{printer.root_option}")
    printer.paragraph(
        "  GFX: its name, or the gfx… that `rocminfo` prints; KERNEL: see `uname -r`; ROCM: e.g. 7.1"
    )
    if not diagnosis.where.log.kernels:
        printer.to_copy("The complete kernel log of that boot shows it too:", _KERNELS_LOG)


def _doubted(match: Match, scored: bool) -> str:
    """Return a line for a match, with what speaks against it, or else with what is unknown."""
    doubts = [r.text for met in (False, None) for r in match.reasons if r.met is met]
    score = f" ({match.score:.2f})" if scored else ""
    return f"{match.issue.id}{score}, {match.issue.title}" + (f": {doubts[0]}" if doubts else "")


def _sure(match: Match) -> str:
    return "Very likely" if match.score >= 0.8 else "Likely" if match.score >= 0.65 else "Possible"


def _answer(printer: Printer, finding: Found) -> None:
    match = finding.match
    printer.heading(f"{_sure(match)}: {match.issue.title} ({match.issue.id})")
    for setting, place in match.in_force:
        printer.paragraph(f"Tried: {setting} was in force ({place}) and did not help")
    for setting, state in match.applied:
        printer.paragraph(f"Done: {setting}: {state}")
    if any("in force now" in state for _, state in match.applied):
        printer.paragraph("Then: if it fails again, run rocmcfg doctor, which reads the log of this boot")
    _tell_fix(printer, finding)
    if match.issue.cost and (match.remaining or match.issue.workaround.steps):
        printer.paragraph(f"Costs: {match.issue.cost}")


def _tell_fix(printer: Printer, finding: Found) -> None:
    match, cure = finding.match, finding.cure
    if finding.alike:
        too = " and ".join(issue.id for issue in finding.alike)
        printer.paragraph(f"This line has another known cause: {too}.")
        _tell_apart(printer, (match.issue, *finding.alike))
    for lost in cure.overridden:
        name = str(lost.setting).partition("=")[0].removeprefix("env.")
        sets = f"sets {name} to {lost.value}" if lost.value else f"sets {name} to nothing"
        if lost.applied:
            step = f"Fix: delete the line at {lost.place}, which {sets} and overrides what is applied"
        else:
            step = f"First: delete the line at {lost.place}, which {sets} and would override the fix"
        printer.paragraph(step)
    if cure.once:
        printer.to_copy("Try now, no root:", f"{cure.once} -- PROGRAM")
    if cure.command:
        printer.to_copy("Permanent fix:   " if cure.once else "Permanent fix:", cure.command)
    # with --set the command only adds the cure to what is applied already
    if cure.profile and cure.command.startswith("sudo") and " --set " not in cure.command:
        printer.paragraph("  It also sets what else this GPU needs; it shows all changes and asks first.")
    for name in cure.unset:
        printer.paragraph(f"Fix: unset {name}")
    if not match.issue.workaround.settings and not cure.unset:
        printer.line(f"No parameter cures this{'; what helps:' if cure.steps else '.'}")
    elif match.in_force and not (cure.settings or cure.unset or cure.steps or match.applied):
        printer.line("No other cure is known.")
    whole = printer.verbose or not cure.command
    for step in cure.steps if whole else cure.steps[:1]:  # the first step may have to go with the command
        printer.paragraph(f"  - {step}" if whole else f"Also: {step}")


def _tell_apart(printer: Printer, issues: Sequence[KnownIssue]) -> None:
    """Say how to find out which issue it is by the name of the GEMM kernel that faults, if an issue knows
    it."""
    named = [i.id for i in issues if any("Cijk_" in signature.pattern for signature in i.signatures)]
    others = [i.id for i in issues if i.id not in named]
    if named:
        printer.line("To find out which it is:")
        printer.line(f"  rocmcfg run -p {_TELLS_KERNELS} -- PROGRAM 2>&1 | tee gemm.log")
        printer.to_copy(" ", f"rocmcfg doctor gemm.log{printer.root_option}")
        if others:
            printer.paragraph(f"  If that does not name {' or '.join(named)}, it is {' or '.join(others)}.")


def _is_candidate(match: Match) -> bool:
    fits = all(r.met is not False or r.what == "in_force" for r in match.reasons)
    return match.score >= _CANDIDATE and fits


def _machine(diagnosis: Diagnosis) -> str:
    where = diagnosis.machine
    parts = [f"{', '.join(where.gfx)} ({where.gfx_source})"] if where.gfx else []
    if not parts and where.possible_gfx:
        parts.append(f"a GPU of the same generation as {where.possible_gfx[0]} (the log)")
    parts += [f"kernel {where.kernel} ({where.kernel_source})"] if where.kernel else []
    parts += [f"ROCm {where.rocm} ({where.rocm_source})"] if where.rocm else []
    return ", ".join(parts) or "unknown; --gfx, --kernel and --rocm improve the answer"


def _show_evidence(printer: Printer, diagnosis: Diagnosis, finding: Found) -> None:
    match, issue = finding.match, finding.match.issue
    if not printer.verbose:
        return
    printer.wrapped(issue.summary)
    confidence = "reported, not confirmed" if issue.confidence == "reported" else issue.confidence
    rows = [("score", f"{match.score:.2f}; its cause is {confidence}")]
    rows += [("why", r.text) for r in match.reasons if r.what != "in_force"]
    rows += [("sets", str(setting)) for setting in finding.cure.settings]
    rows += [("no help", text) for text in issue.does_not_help]
    rows += [("fixed", issue.fixed_in)] if issue.fixed_in else []
    rows += [("log", _line(line, diagnosis, whole=True)) for line in finding.evidence]
    rows += [("kernel", f"{name}: {text}") for kernel in finding.kernel_names for name, text in kernel.parts]
    rows += [("note", note) for note in issue.notes]
    rows += [("source", url) for url in issue.evidence]
    printer.facts(rows)


def _show_unknown(printer: Printer, diagnosis: Diagnosis, *, no_gpu: bool, named: bool) -> None:
    if not diagnosis.unknown:
        return
    if named and not printer.verbose:
        others = len(diagnosis.unknown) - 1
        more = f", and {counted(others, 'other message')}" if others else ""
        first = _line(diagnosis.unknown[0], diagnosis, whole=False)
        printer.paragraph(f"Not explained by any known issue: {first}{more}")
        return
    from rocmcfg.knowledge import catalogue

    printer.heading(
        "Not explained while the GPU is unknown" if no_gpu else "Not explained by any known issue"
    )
    shown = diagnosis.unknown if printer.verbose else diagnosis.unknown[:_UNKNOWN]
    for line in shown:
        printer.wrapped(_line(line, diagnosis, printer.verbose))
        words = {*re.findall(r"\w+", line.text)}
        for name, row in catalogue.status_codes().items():
            if "means" in row and (name in words or row.get("prints", "\n") in line.text):
                printer.wrapped(f"{name}: {row['means']}", indent="      ")
                break
    if len(diagnosis.unknown) > len(shown):
        printer.line(f"  and {counted(len(diagnosis.unknown) - len(shown), 'other message')}: -v")
    if not (no_gpu or named):
        printer.line()
        printer.line("To report it, collect:")
        for item in diagnosis.collect:
            printer.pairs([("-", item)])


def _line(line: LogLines, diagnosis: Diagnosis, whole: bool) -> str:
    times = f"{line.times}{' or more' if line.more else ''} × " if line.times > 1 else ""
    lines = f"{line.line}" if line.times == 1 else f"{line.line}-{line.last_line}"
    where = f"line {lines}" if sum(log.size > 0 for log in diagnosis.logs) == 1 else f"{line.log}:{lines}"
    text = line.text if whole else " ".join(cut(word, _WORD) for word in cut(line.text, _LONG).split())
    return f"{times}{text} ({where})"
