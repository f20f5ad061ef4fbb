"""A plan turned into a trial of it: the same settings, for one boot, and nothing permanent. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rocmcfg.backends.boot import registry
from rocmcfg.engine import reboot, trial
from rocmcfg.engine.digest import sha256
from rocmcfg.engine.inventory import default_of
from rocmcfg.engine.observe import Observed
from rocmcfg.engine.owned import OwnedFile, changes_to
from rocmcfg.engine.receipt import Receipt, boot_id
from rocmcfg.facts.gpus import driven_gpus
from rocmcfg.facts.trial_unit import unit_ready
from rocmcfg.host.view import HostView
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import contains
from rocmcfg.model.plan import CommandLine, FileChange, Plan, SettingRow, TrialPlan
from rocmcfg.model.state import Channel, Kind, unique_kargs
from rocmcfg.model.trial import MARKER, Terms

# A kernel that panics waits for a hand, unless it is told after how many seconds it reboots: long enough to
# read the screen's last lines (Documentation/admin-guide/kernel-parameters.txt, panic=).
_PANIC = "panic=10"


def trial_plan(
    view: HostView,
    made: Plan,
    terms: Terms,
    observed: Observed,
    facts: Facts,
    catalogue: Catalogue,
    receipt: Receipt | None,
) -> Plan:
    """`made` is the plan that a confirmation would carry out. One that is empty stays as it is: what is in
    force needs no trial."""
    if made.empty:
        return made
    rows = tuple(_on_line(row) for row in made.rows if row.setting.kind is not Kind.ENV)
    kept, remarks = _taken_away(made, observed, facts, catalogue, receipt)
    ours = observed.boot.ours if observed.boot else ()
    new = [s.karg for s in unique_kargs([r.setting for r in rows if not r.setting.adopted_from])]
    wanted = [*(text for text in new if not contains(ours, text)), *kept]
    token = sha256(f"{boot_id(view)} {' '.join(wanted)}".encode())[:8]
    arguments = (*wanted, _PANIC, f"{MARKER}={token}")
    loader = registry.trial(made.boot_backend)
    problems = [*_refusals(view, made, wanted, terms, loader is None), *remarks]
    changes: list[FileChange] = []
    if loader is not None and observed.boot is not None:
        problems += loader.problems(view, observed.boot, arguments)
        owned = [
            OwnedFile(path, content, "what makes a trial of one boot", mode)
            for path, (content, mode) in loader.propose(True).items()
        ]
        changes, wrong = changes_to(view, owned, receipt)
        problems += wrong
    line = made.command_line
    return replace(
        made,
        changes=tuple(changes),
        activations=(
            registry.backend(made.boot_backend).activation(
                "the boot menu gets a place for one boot's arguments"
            ),
        )
        if loader is not None
        else (),
        rows=rows,
        diagnostics=tuple(dict.fromkeys((*made.diagnostics, *problems))),
        command_line=CommandLine(line.before, (*line.before, *arguments)) if line else None,
        reboot_required=True,
        tools=(loader.arming(arguments),) if loader is not None else (),
        trial=TrialPlan(
            arguments,
            token,
            terms,
            driven_gpus(view),
            not any(problem.id == "RC4303" for problem in problems),
        ),
    )


def _on_line(row: SettingRow) -> SettingRow:
    """The command line beats modprobe.d, and needs no initramfs."""
    return replace(row, setting=replace(row.setting, channel=Channel.CMDLINE))


def _refusals(
    view: HostView, made: Plan, wanted: Sequence[str], terms: Terms, unable: bool
) -> Iterable[Diagnostic]:
    if unable:
        yield trial.unable(made.boot_backend)
    if terms.confirm_after is not None and view.runs_tools and not unit_ready(view):
        yield error(
            "RC4328",
            "the trial would not confirm itself: rocmcfg-trial.service is not enabled on this host",
            hint="enable it: sudo systemctl enable rocmcfg-trial.service (the packages bring it); or confirm "
            "by hand, without --confirm-after",
        )
    if not wanted:
        yield error(
            "RC4311",
            "nothing of this reaches the kernel command line, so that there is nothing to try",
            hint="apply without --trial",
        )
    for row in made.rows:
        if row.outcome == "overridden" and row.setting.kind is not Kind.ENV:
            yield error(
                "RC4312",
                f"{row.setting.id}: {row.source} sets {row.current} and would win once it is confirmed",
                location=row.source.partition(":")[0],
                hint="take it out there first: a trial would show what could not be kept",
            )
    variables = [row.setting.name for row in made.rows if row.setting.kind is Kind.ENV]
    if variables:
        yield info(
            "RC4313",
            f"variables take no part in a trial: {', '.join(variables)}",
            hint="`rocmcfg confirm` writes them; `rocmcfg run` tries them in one program",
        )


def _taken_away(
    made: Plan, observed: Observed, facts: Facts, catalogue: Catalogue, receipt: Receipt | None
) -> tuple[list[str], list[Diagnostic]]:
    """What is applied now and not wanted any more stands on the line of the trial as well: a parameter gets
    the value that it would have without us, after it; of other arguments nothing can be taken away."""
    wanted = reboot.given([row.setting for row in made.rows])
    running = next((kernel for kernel in facts.driven if kernel.running), None)
    kept, remarks = [], []
    for setting in receipt.settings if receipt else ():
        gone = {name for name in reboot.given([setting]) if name not in wanted}
        if not gone:
            continue
        value = None
        if setting.parameter:
            value = observed.effective(setting.parameter).value
            value = default_of(setting.parameter, running, catalogue) if value is None else value
        if value:
            kept.append(f"{setting.parameter}={value}")
        else:
            remarks.append(
                warning(
                    "RC4314",
                    f"{setting.karg} stays in force during the trial: it is applied, and cannot be taken "
                    "off the line for one boot",
                    hint="`rocmcfg confirm` takes it away",
                )
            )
    return list(dict.fromkeys(kept)), remarks
