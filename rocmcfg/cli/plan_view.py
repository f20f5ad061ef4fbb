"""Print a plan as text, for `plan`, `apply` and `profile show`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from rocmcfg.cli.printer import Printer, counted
from rocmcfg.judging.conditions import UNTOLD
from rocmcfg.loaders import registry
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.desired import DesiredSetting, Kind, Skipped
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import ROCM_NAMED, Facts
from rocmcfg.model.plan import (
    Activation,
    ChangeKind,
    CommandLine,
    FileChange,
    RowOutcome,
    SettingRow,
    ToolChange,
)
from rocmcfg.model.profile import Profile
from rocmcfg.model.request import command_line
from rocmcfg.model.trial import TrialPlan
from rocmcfg.workflow.planning import Planned

_CHANNELS = {"cmdline": "kernel command line", "modprobe": "modprobe.d", "environment": "environment"}
_KINDS = {"cmdline": "kernel argument", "modprobe": "module option", "environment": "variable"}
_MARKS = {ChangeKind.CREATE: "+", ChangeKind.MODIFY: "~", ChangeKind.REMOVE: "-"}
_UNSURE = "RC2012"  # its text is shown with the setting
_NAMED = 3  # settings that the question names
_FILES = 12  # rows; a host may have 200 entries
_COMMANDS = 60  # columns; several commands that need more are listed below, one on each line
_STATES = {
    ActivationState.PLANNED: "to run",
    ActivationState.DONE: "done",
    ActivationState.LEFT_TO_USER: "left to you, unless you add --chroot",
    ActivationState.SKIPPED: "not needed",
}


def host_rows(facts: Facts, *, asks_rocm: bool = False) -> list[tuple[str, str]]:
    """Return the rows that describe a host: a name and a text each. `asks_rocm`: the command has --rocm, for
    a host that does not say which ROCm is in use."""
    others = [k.release for k in facts.kernels if k.release != facts.running]
    running = facts.running or ("none running" if facts.offline else "unknown: /proc cannot be read")
    kernels = running + (f"; also installed: {', '.join(others)}" if others else "")
    kinds = Counter(f"{g.gfx or 'unknown'} {g.name}" for g in facts.gpus)
    gpus = ", ".join(f"{many} × {kind}" if many > 1 else kind for kind, many in kinds.items())
    loader = facts.boot.loader.title if facts.boot.loader else facts.boot.refusal
    generators = ", ".join(d.title for d in facts.boot.initramfs) or "no initramfs generator"
    signed = "; Secure Boot is on" if facts.boot.secure_boot == "on" else ""
    brought = ((t.text, f" (brings ROCm {t.rocm_text})" if t.rocm else "") for t in facts.pytorch)
    torches = ", ".join(dict.fromkeys(map("".join, brought)))
    rocm = facts.rocm_text or "none found system-wide"
    if facts.rocm_source == ROCM_NAMED:
        rocm += f" ({ROCM_NAMED})"
    elif asks_rocm and not facts.knows_rocm:
        rocm = f"unknown: {rocm}; {ROCM_NAMED} V says which one is in use"
    return [
        ("System", facts.os.name),
        ("Kernel", kernels),
        ("ROCm", rocm),
        *([("PyTorch", torches)] if torches else []),
        ("GPU", gpus or "no AMD GPU found"),
        ("Boot", f"{loader}; {generators}{signed}"),
    ]


def question(planned: Planned, *, tries: bool) -> str:
    """Return the question whether to apply a plan. It names settings, which may have left the screen."""
    names = [setting.spelled for setting in planned.plan.settings]
    named = ", ".join(names[:_NAMED]) or "this"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Try {named}{more} at the next boot?" if tries else f"Apply {named}{more}?"


def show(printer: Printer, planned: Planned, *, diff: bool = False, brief: bool = False) -> None:
    """Print the whole plan, with its files as diffs for `diff` or -v, and at the end a summary and how to
    roll it back. With `brief`, for a user who has agreed already, print only the settings and the summary."""
    made = planned.plan
    if not brief:
        printer.pairs(host_rows(planned.facts, asks_rocm=True), indent="")
    if planned.removed:
        printer.heading(f"Removed ({len(planned.removed)}): applied now, but not in this plan")
        printer.wrapped(", ".join(planned.removed))
    if planned.keeping:
        pronoun = "them" if planned.removed[1:] else "it"
        printer.line(f"  To keep {pronoun} as well:")
        added = "".join(f" --add {shlex.quote(text)}" for text in planned.adding)
        printer.line(f"    sudo {command_line(planned.keeping)}{added}{printer.root_option}")
    if made.rows:
        printer.heading(
            "Settings" if brief or printer.verbose else "Settings (-v shows reasons, sources, notes)"
        )
    for row in made.rows:
        show_setting(printer, row, brief=brief, why=printer.verbose)
    if not brief:
        _show_what_it_takes(printer, planned, diff)
    printer.line()
    if made.empty:
        printer.line("In sync: nothing to change.")
    else:
        ends = "; the next boot is the trial" if planned.trial else ""
        due = [*made.due, *(tool.step for tool in made.tools if not tool.arms)]
        amount = summary(made.changes, due, made.reboot_required and not ends, ends)
        printer.paragraph(f"{_kinds(made.settings)}: {amount}" if made.rows else amount)
        _show_ways_back(printer, planned, brief)
    # at the end, where a user who is asked to agree sees them
    remarks(printer, [remark for remark in made.diagnostics if remark.id != _UNSURE])


def _show_what_it_takes(printer: Printer, planned: Planned, diff: bool) -> None:
    made = planned.plan
    if made.skipped:
        printer.heading("Left out")
    show_left_out(printer, made.skipped)
    if planned.trial:
        _show_trial(printer, planned.trial)
    else:
        show_command_line(printer, made.command_line)
    show_changes(printer, made.changes, made.due, diff)
    show_activations(printer, made.activations, made.tools)
    if printer.verbose:
        show_notes(printer, planned.profiles)


def show_command_line(printer: Printer, line: CommandLine | None) -> None:
    """Print the kernel command line with marks at what changes in it, if anything does."""
    if line is not None and line.before != line.after:
        printer.heading("Kernel command line (what the boot loader adds to every normal entry)")
        marked = [word if mark == " " else f"[{mark}{word}{mark}]" for mark, word in line.marked]
        printer.wrapped(" ".join(marked))


def show_notes(printer: Printer, profiles: Sequence[Profile]) -> None:
    for note in dict.fromkeys(note for profile in profiles for note in profile.notes):
        printer.line()
        printer.wrapped(f"Note: {note}", indent="")


def show_left_out(printer: Printer, skipped: Sequence[Skipped]) -> None:
    """Print the settings that are left out, grouped by their reason."""
    for reason in dict.fromkeys(setting.reason for setting in skipped):
        printer.wrapped(", ".join(setting.setting for setting in skipped if setting.reason == reason))
        printer.wrapped(reason, indent="      ")


def _kinds(settings: Sequence[DesiredSetting]) -> str:
    kinds = Counter(_KINDS[setting.channel.value] for setting in settings)
    counts = ", ".join(counted(many, kind) for kind, many in kinds.items())
    return f"{counted(len(settings), 'setting')} ({counts})" if len(kinds) > 1 else counts


def _show_ways_back(printer: Printer, planned: Planned, brief: bool) -> None:
    if planned.trial:
        return
    made, again = planned.plan, f"sudo {command_line(planned.request)}{printer.root_option}"
    added = [word for mark, word in made.command_line.marked if mark == "+"] if made.command_line else []
    if not brief:  # apply prints this line itself at its end
        printer.to_copy("Undo:", printer.for_host("sudo rocmcfg rollback"))
    if added and made.may_try and not brief:
        printer.to_copy("Try it for one boot first:", f"{again} --trial")
    key = registry.backend(made.boot_backend).EDIT_KEY if added else ""
    if key:
        printer.paragraph(
            f"If the screen stays black: in the boot menu press {key}, delete {' '.join(added)}, "
            "and boot that entry."
        )
    elif made.reboot_required and made.rows:
        printer.paragraph("If the screen stays black: see the chapter of that name in `man rocmcfg`.")


def show_setting(printer: Printer, row: SettingRow, *, brief: bool = False, why: bool = True) -> None:
    """Print a setting with its cost and its confidence, which a user has to know before agreeing. `why`: also
    print why it applies here; this is always printed if it is unknown whether it is needed. `brief`: print
    only its name and value."""
    setting = row.setting
    value = "" if setting.text is None else f" = {setting.text}"
    if setting.kind is Kind.FEATURE:
        value = f": {setting.parameter} = {setting.text}"
    outcome = f" [{row.outcome.value}]" if row.outcome is not RowOutcome.APPLIED else ""
    where = f"→ {_CHANNELS[setting.channel.value]}{outcome}"
    printer.paragraph(f"  {setting.id}{value}  {where}")
    details = []
    if row.outcome is RowOutcome.OVERRIDDEN:
        details.append(f"overridden: {row.source} sets {row.current}, which takes precedence")
    elif row.outcome is RowOutcome.ADOPTED:
        details.append(f"already there: {row.source} has it, so it is not written twice")
    elif row.current is not None:
        details.append(f"instead of {row.current} ({row.source})")
    if not brief:
        details += _reasons(setting, why=why, origin=printer.verbose)
    for text in filter(None, details):
        printer.wrapped(text, indent="      ")
    for link in setting.evidence if printer.verbose else ():
        printer.line(f"      {link}")


def _reasons(setting: DesiredSetting, *, why: bool, origin: bool) -> list[str]:
    decided = setting.decision if why and setting.decision != "always" else ""
    if setting.decision.startswith(UNTOLD):
        decided = f"{setting.decision}; --without {setting.id} drops it"
    confidence = f"helps: {setting.confidence}" if setting.confidence else ""
    if setting.confidence == "asked for":
        confidence = (
            f"helps: many ask for it, but nothing shows that it helps; --without {setting.id} drops it"
        )
    sure = "; ".join(filter(None, (confidence, f"from {setting.location}" if origin else "")))
    return [setting.because, decided, f"cost: {setting.cost}" if setting.cost else "", sure]


def show_changes(
    printer: Printer, files: Sequence[FileChange], due: Sequence[Activation], diff: bool
) -> None:
    """Print the changes of files, including those that rocmcfg's own steps make in other programs' files."""
    changes = [*files, *(change for step in due for change in step.changes)]
    if not diff and not printer.verbose:
        rows = [(f"{_MARKS[file.kind]} {file.path}", "") for file in changes]
        if len(rows) > _FILES:
            rows[_FILES:] = [(f"and {len(rows) - _FILES} more", "")]
        printer.section("Files (--diff shows the changes)", rows)
        return
    if changes:
        printer.heading("Files")
    for number, file in enumerate(changes):
        if number:
            printer.line()
        printer.wrapped(file.reason, indent="# ")
        printer.diff(file.diff)


def show_activations(
    printer: Printer, activations: Sequence[Activation], tools: Sequence[ToolChange] = ()
) -> None:
    long = {a.tool for a in activations if a.lines[1:] and len("; ".join(a.lines)) > _COMMANDS}
    steps = []
    for step in activations:
        ours = printer.runs_tools or step.state is not ActivationState.PLANNED or not step.lines
        state = _STATES[step.state if ours else ActivationState.LEFT_TO_USER]
        commands = "; ".join(step.lines) or "rocmcfg: boot entries"
        name = step.tool if step.tool in long else commands
        steps.append((name, f"{state}: {step.reason}"))
    steps += [
        (f"{' '.join(t.argv[:-1])} …", f"last: {t.reason}")
        if t.arms
        else (shlex.join(t.argv), f"after the files: {t.reason}")
        for t in tools
    ]
    printer.section("Programs", list(dict.fromkeys(steps)))
    for line in (line for step in activations if step.tool in long for line in step.lines):
        printer.line(f"    {line}")


def _show_trial(printer: Printer, made: TrialPlan) -> None:
    from datetime import timedelta

    printer.heading("For one boot, after the arguments that stay")
    printer.wrapped(" ".join(made.arguments))
    unless = "you confirm the trial"
    if after := made.terms.confirm_after:
        unless = f"the trial confirms itself, {timedelta(seconds=after)} after it starts, if all is well"
    printer.wrapped(
        "panic=… reboots after a kernel panic, rocmcfg.trial=… marks the boot. The boot after that uses the "
        f"old configuration again, unless {unless}."
    )


def summary(
    changes: Sequence[FileChange], due: Sequence[Activation], reboot_required: bool, ends: str = ""
) -> str:
    run = [step for step in due if step.commands or not step.own]
    changes = [*changes, *(change for step in due for change in step.changes)]
    entries = ", the boot entries" if any(step.own and not step.changes for step in due) else ""
    reboot = "; a reboot puts it into effect" if reboot_required else ""
    programs = f", {counted(len(run), 'program')} to run" if run else ""
    if run and not changes and not entries:  # an earlier apply or undo has written its files
        return f"{' and '.join(step.tool for step in run)} still to be run{reboot}{ends}."
    return f"{counted(len(changes), 'file')} to change{entries}{programs}{reboot}{ends}."


def remarks(printer: Printer, diagnostics: Sequence[Diagnostic]) -> None:
    """Print warnings, and also remarks that say what to do, or all remarks with -v."""
    printer.problems([d for d in diagnostics if d.severity.value != "info" or d.hint or printer.verbose])
