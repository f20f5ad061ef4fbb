"""Command `lint`: find mistakes in files that set parameters or variables, and in texts about them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

import rocmcfg
from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.machines import targets
from rocmcfg.cli.printer import Misuse, Printer, counted
from rocmcfg.cli.terminal import wrap
from rocmcfg.host.files import is_piped_in
from rocmcfg.model.diagnostic import ExitCode, Severity, cut
from rocmcfg.model.unified_diff import quoted

if TYPE_CHECKING:
    from rocmcfg.advice.lint.check import Verdict
    from rocmcfg.advice.lint.remark import Finding
    from rocmcfg.workflow.linting import Linted, Purpose

_LABEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_UNKNOWN = {
    "--gfx": "No GPU is known here; --gfx GFX checks the settings for one.",
    "--kernel": "No kernel is known here; --kernel V checks the settings for one.",
    "--rocm": "The ROCm release in use is unknown here; --rocm V says which it is.",
}
_FINE = 8  # settings without a fault that are listed
_SHORT = 60  # characters of a setting that are shown


def lint(
    printer: Printer,
    *,
    files: tuple[str, ...] = opt.argument(
        "[FILE]…",
        "GRUB and modprobe.d files, scripts, Dockerfiles, documents; - reads standard input, "
        "and so does a pipe. Without FILE: this host's own files.",
        "file",
        "texts",
        required=False,
    ),
    fix: bool = opt.switch("--fix", help="Show the proposals as a diff; nothing is written."),
    sarif: bool = opt.switch("--sarif", help="Print the findings as SARIF 2.1.0, for code scanning."),
    gfx: tuple[str, ...] = opt.GFX,
    kernel: tuple[str, ...] = opt.KERNELS,
    rocm: str = opt.ROCM,
    root: str = opt.ROOT,
) -> None:
    """Check settings in any file, and propose fixes.

    Finds settings that are unknown, misspelt, inverted, deprecated or without effect.

    A line that contains "rocmcfg: ignore" is skipped.
    """
    from rocmcfg.workflow import linting

    if sarif and (fix or printer.json):
        raise Misuse("excludes --fix and --json: it is a document of its own", "--sarif")
    files = files or (("-",) if is_piped_in() else ())
    gpus, release = targets(gfx), opt.release(rocm)
    host = hosts.open_host(printer, root)
    linted = linting.lint(host, files, gfx=gpus, kernels=kernel, rocm=release, fix=fix)
    printer.document(linted.diagnostics, linted)
    named = [*(("--gfx", value) for value in gfx), *(("--kernel", value) for value in kernel)]
    named += [("--rocm", rocm)] if rocm else []
    judged_for = "".join(f" {option} {shlex.quote(value)}" for option, value in named)
    if sarif:
        _print_sarif(printer, linted)
    else:
        _show(printer, linted, files, fix, judged_for)
    printer.problems(linted.diagnostics)
    if linted.outcome:
        raise SystemExit(int(ExitCode.ERROR))
    if any(value.remark.severity is not Severity.INFO for value in linted.findings):
        raise SystemExit(int(ExitCode.DIFFERENCES))


def _print_sarif(printer: Printer, linted: Linted) -> None:
    from rocmcfg.advice.lint.sarif import sarif

    text = sarif(
        linted.findings,
        linted.diagnostics,
        folder=os.getcwd(),
        version=rocmcfg.__version__,
        address=f"{rocmcfg.__url__}/blob/main/docs/reference/diagnostics.md#rc71-lint-findings-one-class-each",
    )
    printer.result(text)


def _show(printer: Printer, linted: Linted, files: tuple[str, ...], fix: bool, judged_for: str) -> None:
    for same in _grouped(linted.findings) if not fix or printer.verbose else ():
        _finding(printer, same)
    if fix:
        _verdicts(printer, linted)
        for proposed in linted.proposals:
            printer.diff(proposed.diff)
            printer.line()
        if linted.command:
            printer.line("With rocmcfg, which can roll it back:")
            printer.to_copy(" ", f"{linted.command}{printer.root_option}")
        if linted.files and not linted.proposals:
            printer.line("Nothing to propose.")
    counts = {severity: sum(f.remark.severity is severity for f in linted.findings) for severity in Severity}
    totals = ", ".join(counted(count, _LABEL[severity]) for severity, count in counts.items() if count)
    where = f"in {counted(linted.files, 'file')}; {counted(linted.read, 'setting')} checked"
    if linted.files:
        printer.paragraph(
            f"{totals or 'Nothing found'} {where}{f' for {linted.gpus}' if linted.gpus else ''}."
        )
    _show_unknown(printer, linted)
    if not fix:
        _show_fine(printer, linted)
    if linted.proposals:
        printer.line("Nothing was written: the diff is a proposal for the owner of the file.")
        only = linted.proposals[0].file
        if files and not linted.proposals[1:] and linted.proposals[0].plain:
            sudo = "" if os.access(only, os.W_OK) else "sudo "
            name = shlex.quote(f"./{only}" if only.startswith("-") else only)
            command = f"rocmcfg lint --fix{judged_for} {name}{printer.root_option} | {sudo}patch {name}"
            printer.to_copy("To apply the diff:", command)
        for command in linted.activation:
            printer.to_copy(
                "Then, to update the boot menu:", f"{'' if os.geteuid() == 0 else 'sudo '}{command}"
            )
    elif not fix and any(f.spelt.text is not None for f in linted.findings):
        printer.paragraph("Next: add --fix to see a diff, and what to do with each setting.")


def _show_unknown(printer: Printer, linted: Linted) -> None:
    """Say once what is unknown of the machine and would matter for the settings, and which option says it."""
    by_rocm = any(purpose.rocm for purpose in linted.purposes or ())
    for option in linted.unknown if linted.read else ():
        if option != "--rocm" or by_rocm:
            printer.paragraph(_UNKNOWN[option])


def _show_fine(printer: Printer, linted: Linted) -> None:
    """List the settings without a fault: which known issue each one works around here, and its cost."""
    fine = [text for text in linted.fine if len(text) <= _SHORT and "\n" not in text]
    cures = [purpose for purpose in linted.purposes or () if purpose.setting in fine]
    rows = [(purpose.setting, _purpose(purpose)) for purpose in cures]
    printer.section("Known cures", rows)
    if rows:
        printer.line()
    rest = [text for text in fine if text not in dict(rows)]
    more = [f"and {len(rest) - _FINE} more"] if len(rest) > _FINE else []
    pronoun = "them" if rest[1:] else "it"
    needed = f"but no known issue here needs {pronoun} either"
    if linted.purposes is None:
        needed = f"which does not mean that you need {pronoun}"
    if rest:
        listed = ", ".join([*rest[:_FINE], *more])
        effect = "What each does" if rest[1:] else "What it does"
        printer.paragraph(f"Nothing wrong with {listed}, {needed}. {effect}: rocmcfg explain NAME")


def _purpose(purpose: Purpose) -> str:
    if purpose.profile:
        return f"set by profile {purpose.profile} ({purpose.confidence})"
    if_rocm = f", if ROCm is {purpose.rocm}" if purpose.rocm else ""
    costs = f"; costs: {purpose.cost}" if purpose.cost else ""
    return f"for {purpose.issue} (cause {purpose.confidence}){if_rocm}{costs}"


def _verdicts(printer: Printer, linted: Linted) -> None:
    """Print a row for each setting of each file, and one row for all settings without a remark."""
    for file in dict.fromkeys(verdict.file for verdict in linted.verdicts):
        rows: dict[tuple[str, str], None] = {}
        fine: dict[str, None] = {}
        for verdict in (verdict for verdict in linted.verdicts if verdict.file == file):
            cured = _cured(linted, verdict)
            if verdict.severity is None and verdict.fate.value == "keep" and not cured:
                fine[cut(_line(verdict.text))] = None
                continue
            by_hand = " (by hand)" if verdict.by_hand else ""
            instead = f" → {_line(verdict.replacement)}" if verdict.replacement else by_hand
            parts = filter(None, (verdict.summary.removeprefix(f"{verdict.text} "), cured))
            reasons = ("; the new one " if verdict.setting else "; ").join(parts) or "because of the others"
            rows[f"{verdict.fate.value:<10}  {cut(_line(verdict.text))}{instead}", reasons] = None
        printer.heading(quoted(file))
        printer.pairs([*rows])
        if fine:
            pronoun = "them" if len(fine) > 1 else "it"
            none = f" (no known issue here needs {pronoun})" if linted.purposes is not None else ""
            printer.pairs([("keep      ", f"{', '.join(fine)}{none}")])
    changed = {verdict.setting for verdict in linted.verdicts}
    also = (verdict.also for verdict in linted.purposes or () if verdict.setting in changed)
    for reasons in dict.fromkeys(filter(None, also)):
        printer.paragraph(f"Also: {reasons}")
    printer.line()


def _cured(linted: Linted, verdict: Verdict) -> str:
    """Return which known issues a setting cures, or the setting that replaces it."""
    of = [each for each in linted.purposes or () if each.setting == (verdict.setting or verdict.text)]
    if not of:
        none = verdict.setting and linted.purposes is not None
        return "cures no known issue here" if none else ""
    if of[0].profile:
        return f"is set by profile {of[0].profile} ({of[0].confidence})"
    more = f" and {len(of) - 1} more" if of[1:] else ""
    if_rocm = f", if ROCm is {of[0].rocm}" if of[0].rocm else ""
    return f"cures {of[0].issue} (cause {of[0].confidence}){more}{if_rocm}"


def _grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group equal findings on equal tokens in one file; they are shown once, with every place."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        remark = finding.remark
        groups.setdefault((finding.file, finding.text, remark.id, remark.summary, remark.why), []).append(
            finding
        )
    return list(groups.values())


def _line(text: str) -> str:
    """Return a text on one line; a name and its value may be on two."""
    return " ".join(map(str.strip, text.split("\n")))


def _finding(printer: Printer, same: list[Finding]) -> None:
    first, remark, proposed = same[0], same[0].remark, same[0].spelt.text
    if printer.quiet and remark.severity is Severity.INFO:
        return
    label = printer.paint(_LABEL[remark.severity], remark.severity.value)
    lines = [f"{quoted(first.file)}:{first.line}:{first.column}: {label}: {remark.kind.replace('_', ' ')}"]
    lines.append(f"    {printer.paint(cut(_line(first.text), _SHORT), 'bold')}")
    lines += wrap(f"{remark.summary}.", "  ", "  ")
    if remark.why:
        lines += wrap(remark.why, "  ", "  ")
    if proposed is not None:
        lines.append(f"  → {_line(proposed)}" if proposed else "  → remove it")
    if len(same) > 1:
        places = [f"{f.line}:{f.column}" for f in same[1:]]
        lines += wrap(f"also at {', '.join(places)}", "  ", "  ")
    if remark.source:
        sources = remark.source if printer.verbose else remark.source.partition(", ")[0]
        lines += wrap(f"source: {sources}", "  ", "  ")
    printer.result("\n".join(lines) + "\n\n")
