"""Command `doctor`: show which known issues a log points to, how likely each is, what cures it, and what is
wrong with the host."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.doctor_facts import show_first, show_pairs, show_way
from rocmcfg.cli.doctor_faults import KERNELS_LOG, show_faults, show_nothing, show_unexplained, shown_line
from rocmcfg.cli.machines import named_machine
from rocmcfg.cli.printer import Printer
from rocmcfg.host.files import is_piped_in
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.judging.match import Match
    from rocmcfg.advice.doctor.judging.workarounds import Cure
    from rocmcfg.model.issue import KnownIssue
    from rocmcfg.workflow.diagnosing import Candidate, Diagnosis


_CANDIDATE = 0.35  # a match with a lower score is shown only with -v
_TELLS_KERNELS = "debug-gemm"  # with this profile HIP names each kernel before it runs


def doctor(
    printer: Printer,
    *,
    more: tuple[str, ...] = opt.MORE_LOGS,
    log: tuple[str, ...] = opt.LOG,
    machine: opt.Machine = opt.Machine(),
    detailed_exitcode: bool = opt.switch("--detailed-exitcode", help="Exit with 3 if a fault is found."),
    name_host: bool = opt.NAME_HOST,
    root: str = opt.ROOT,
) -> None:
    """Find known issues in logs, and their cure.

    Reads the logs of this boot and the previous one, or the logs that are named or
    piped in, which may come from another machine.
    """
    from rocmcfg.workflow import diagnosing

    options = named_machine(*machine)
    host = hosts.open_host(printer, root)
    hosts.name_host(printer, host, name_host)
    environment = {} if host.offline else dict(os.environ)
    logs = [*log, *more] or (["-"] if is_piped_in() else [])
    diagnosis = diagnosing.diagnose(host, logs, options, environment, printer.progress)
    printer.document(diagnosis.diagnostics, diagnosis)
    show_first(printer, diagnosis)
    if not any(candidate.match.told for candidate in diagnosis.candidates):
        show_pairs(printer, diagnosis)
    _show(printer, diagnosis)
    if not logs:
        show_way(printer, diagnosis)
    if len(diagnosis.logs) < len(logs):
        raise SystemExit(int(ExitCode.ERROR))
    if detailed_exitcode and diagnosis.shows_fault:
        raise SystemExit(int(ExitCode.DIFFERENCES))


def _show(printer: Printer, diagnosis: Diagnosis) -> None:
    named = [candidate for candidate in diagnosis.candidates if candidate.match.told]
    rest = [candidate for candidate in diagnosis.candidates if not candidate.match.told]
    near = [candidate for candidate in rest if printer.verbose or _is_candidate(candidate.match)]
    read = ", ".join(f"{log.name} ({log.size:,} bytes)" for log in diagnosis.logs if log.size)
    if not named and not near and not diagnosis.faults:
        show_nothing(printer, diagnosis, read)
        return
    if printer.verbose:
        printer.pairs([("read", read), ("machine", _machine(diagnosis))], indent="")
    elif diagnosis.where.host is None and diagnosis.machine.gfx_source == "the log":
        printer.paragraph(f"From another machine: {_machine(diagnosis)}. The commands are for that machine.")
    gpu_unknown = not diagnosis.machine.gfx and not diagnosis.machine.possible_gfx
    if named:
        _show_named(printer, diagnosis, named)
    else:
        show_faults(printer, diagnosis, gpu_unknown=gpu_unknown)
    if near:
        printer.heading("Less likely" if named else "Known issues that come closest; none is certain enough")
    for candidate in near:
        printer.paragraph(f"  {_doubted(candidate.match, printer.verbose)}")
    _tell_apart(printer, () if named else [candidate.match.issue for candidate in near])
    if named:
        show_unexplained(printer, diagnosis, gpu_unknown=gpu_unknown)
    if not printer.verbose:
        ids = [candidate.match.issue.id for candidate in named]
        ids += [seen.match.fault.id for seen in diagnosis.faults]
        ids += [candidate.match.issue.id for candidate in near]
        printer.paragraph(f"Details: -v, or rocmcfg explain {ids[0]}")
    if gpu_unknown:
        printer.line()
        _ask_for_the_gpu(printer, diagnosis)
    if named:
        show_pairs(printer, diagnosis)
    if diagnosis.diagnostics:
        printer.line()
    printer.problems(diagnosis.diagnostics)


def _show_named(printer: Printer, diagnosis: Diagnosis, named: Sequence[Candidate]) -> None:
    """Show the issues that the log shows: the first with its cure, and the others by their titles."""
    for candidate in named if printer.verbose else named[:1]:
        _answer(printer, candidate)
        _show_evidence(printer, diagnosis, candidate)
    for candidate in () if printer.verbose else named[1:]:
        issue, command = candidate.match.issue, candidate.cure.command.split()
        too = command and {*command} <= {*named[0].cure.command.split()}
        covered = "; the permanent fix covers it too" if too else ""
        printer.paragraph(f"Also {_sure(candidate.match).lower()}: {issue.title} ({issue.id}){covered}")


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
        printer.to_copy("The complete kernel log of that boot shows it too:", KERNELS_LOG)


def _doubted(match: Match, scored: bool) -> str:
    """Return a line for a match, with what speaks against it, or else with what is unknown."""
    doubts = [r.text for met in (False, None) for r in match.reasons if r.met is met]
    score = f" ({match.score:.2f})" if scored else ""
    return f"{match.issue.id}{score}, {match.issue.title}" + (f": {doubts[0]}" if doubts else "")


def _sure(match: Match) -> str:
    return "Very likely" if match.score >= 0.8 else "Likely" if match.score >= 0.65 else "Possible"


def _answer(printer: Printer, finding: Candidate) -> None:
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


def _tell_fix(printer: Printer, finding: Candidate) -> None:
    match, cure = finding.match, finding.cure
    if match.issue.has_release:
        printer.paragraph(f"Cure: an update. Fixed in: {match.issue.fixed_in}")
    lasting = "Until then:" if match.issue.has_release else "Permanent fix:"
    if finding.alike:
        too = " and ".join(issue.id for issue in finding.alike)
        printer.paragraph(f"This line has another known cause: {too}.")
        _tell_apart(printer, (match.issue, *finding.alike))
    for lost in cure.overridden:
        name = str(lost.setting).partition("=")[0].removeprefix("env.")
        sets = f"sets {name} to {lost.value}" if lost.value else f"sets {name} to nothing"
        if lost.applied:
            printer.paragraph(
                f"Fix: delete the line at {lost.place}, which {sets} and overrides what is applied"
            )
        else:
            printer.paragraph(
                f"First: delete the line at {lost.place}, which {sets} and would override the fix"
            )
    if cure.once:
        printer.to_copy("Try now, no root:", f"{cure.once} -- PROGRAM")
        printer.paragraph("  `try` instead of `run` shows whether these settings cure the fault here.")
    if cure.command:
        printer.to_copy(f"{lasting:17}" if cure.once else lasting, cure.command)
    # with --set the command only adds the cure to what is applied already
    if cure.profile and cure.command.startswith("sudo") and " --set " not in cure.command:
        printer.paragraph("  It also sets what else this GPU needs; it shows all changes and asks first.")
    for name in cure.unset:
        printer.paragraph(f"Fix: unset {name}")
    if without := _without_setting(match, cure):
        printer.line(without)
    whole = printer.verbose or not cure.command
    for step in cure.steps if whole else cure.steps[:1]:  # the first step may have to go with the command
        printer.paragraph(f"  - {step}" if whole else f"Also: {step}")


def _without_setting(match: Match, cure: Cure) -> str:
    """Return the line for an issue that no setting cures, or none that is left to try."""
    if cure.profile and not match.issue.workaround.settings:  # the steps tell the value that it needs
        return "What helps:"
    if not match.issue.workaround.settings and not cure.unset:
        return f"No parameter cures this{'; what helps:' if cure.steps else '.'}"
    if match.in_force and not (cure.settings or cure.unset or cure.steps or match.applied):
        return "No other cure is known."
    return ""


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


def _show_evidence(printer: Printer, diagnosis: Diagnosis, finding: Candidate) -> None:
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
    rows += [("log", shown_line(line, diagnosis, whole=True)) for line in finding.evidence]
    rows += [("kernel", f"{name}: {text}") for kernel in finding.kernel_names for name, text in kernel.parts]
    rows += [("note", note) for note in issue.notes]
    rows += [("source", url) for url in issue.evidence]
    printer.facts(rows)
