"""Turn a plan into a trial for one boot, in which nothing is permanent, and define the trial's
transaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.change.planning.owned import OwnedFile, changes_to
from rocmcfg.change.planning.plan import Known
from rocmcfg.change.transaction.transaction import Done, Purpose
from rocmcfg.change.trial import record
from rocmcfg.facts.gpus import driven_gpus
from rocmcfg.host.view import Host, HostView
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared.contract import Files
from rocmcfg.model.desired import Channel, DesiredSetting, Kind, unique_kargs
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, contains
from rocmcfg.model.plan import CommandLine, FileChange, Plan, RowOutcome
from rocmcfg.model.request import Request
from rocmcfg.model.trial import MARKER, Terms, Trial, TrialPlan
from rocmcfg.records import journal
from rocmcfg.records.receipt import Receipt, boot_id, dump
from rocmcfg.records.steps import Begin, Expectations, OneBoot
from rocmcfg.state import reboot
from rocmcfg.state.values import Configured, Running, default_of, read_configured, trial_token

# A kernel that panics waits until somebody resets the machine, unless panic= says after how many seconds it
# reboots (Documentation/admin-guide/kernel-parameters.txt). In ten seconds one can read the last lines on the
# screen.
_PANIC = "panic=10"
_UNIT, _ENABLED = "rocmcfg-trial.service", "/etc/systemd/system"
TRY_UNIT = "rocmcfg-try.service"


def trial_plan(view: HostView, made: Plan, terms: Terms, machine: Known) -> tuple[Plan, TrialPlan | None]:
    """Return the plan of a trial, and the trial. `made` is the plan that a confirmation would carry out. An
    empty plan is returned unchanged: what is in force needs no trial."""
    if made.empty:
        return made, None
    observed = read_configured(view, machine.facts)
    rows = tuple(  # the command line overrides modprobe.d, and needs no new initramfs
        row._replace(setting=row.setting._replace(channel=Channel.CMDLINE))
        for row in made.rows
        if row.setting.kind is not Kind.ENV
    )
    kept, remarks = _taken_away(made, observed, machine)
    ours = observed.boot.ours if observed.boot else ()
    new = [s.karg for s in unique_kargs([r.setting for r in rows if not r.setting.adopted_from])]
    wanted = [*(text for text in new if not contains(ours, text)), *(s.karg for s in kept)]
    token = journal.digest(f"{boot_id(view)} {' '.join(wanted)}".encode())[:8]
    own_panic = any(Karg(text).key == "panic" for text in wanted)
    arguments = (*wanted, *(() if own_panic else (_PANIC,)), f"{MARKER}={token}")
    loader = registry.trial(made.boot_backend)
    problems = [*_refusals(view, made, wanted, terms, machine.receipt), *remarks]
    changes: list[FileChange] = []
    proposed: Files = {}
    if loader is not None and observed.boot is not None:
        problems += loader.problems(view, observed.boot, arguments)
        proposed = loader.propose(view, observed.boot, arguments)
        owned = [
            OwnedFile(path, content, "makes the next boot the trial boot", mode)
            for path, (content, mode) in proposed.items()
        ]
        changes, wrong = changes_to(view, owned, machine.receipt)
        problems += wrong
    line = made.command_line
    tried = TrialPlan(arguments, token, terms, driven_gpus(view), tuple(kept), made.settings)
    why = "the boot menu gets a place for the arguments of the trial boot"
    written = loader.entry_changes(view, proposed) if loader else ()
    steps = registry.backend(made.boot_backend).activations(view, why) if loader and loader.ACTIVATED else ()
    return made._replace(
        changes=tuple(changes),
        activations=tuple(step._replace(changes=written) if step.own else step for step in steps),
        rows=rows,
        diagnostics=tuple(dict.fromkeys((*made.diagnostics, *problems))),
        command_line=CommandLine(line.before, (*line.before, *arguments)) if line else None,
        reboot_required=True,
        tools=(loader.arming(view, arguments),) if loader else (),
    ), tried


def _refusals(
    view: HostView, made: Plan, wanted: Sequence[str], terms: Terms, receipt: Receipt | None
) -> Iterable[Diagnostic]:
    if registry.trial(made.boot_backend) is None:
        summary = f"no trial boot with {made.boot_backend}: {registry.no_trial(made.boot_backend)}"
        yield error("RC4310", summary, hint="apply without --trial; you can undo it with `rocmcfg rollback`")
    if terms.confirm_after is not None and view.runs_tools and not unit_ready(view):
        yield error(
            "RC4328",
            "the trial would not confirm itself: rocmcfg-trial.service is not enabled on this host",
            hint="enable it: sudo systemctl enable rocmcfg-trial.service (the packages install "
            "it); or leave out --confirm-after and confirm the trial yourself",
        )
    if not wanted:
        summary = "this would not change the kernel command line, so there is nothing to try"
        yield error("RC4311", summary, hint="apply without --trial")
    yield from beaten(made)
    in_force = receipt.settings if receipt else ()
    untested = trial_token(view) is not None or reboot.due(view, in_force, receipt, replaced=False)
    # a try compares the boot files with those of the boots before, and answers for what it falls back to
    if Running(view).known and untested and terms.of_try is None:
        yield error(
            "RC4332",
            "the current configuration has not booted yet, so a trial would have nothing proven to fall back "
            "to",
            detail="this boot is a trial, or it does not reflect the last apply or rollback",
            hint="reboot first, check with `rocmcfg verify`, then try this",
        )
    for text in wanted:
        if Karg(text).key == "panic" and not re.fullmatch("[1-9][0-9]*", Karg(text).value or ""):
            summary = f"{text}: after a panic in the trial, the machine would not reboot by itself"
            hint = "use a number of seconds greater than 0, or apply it without --trial"
            yield error("RC4329", summary, hint=hint)
        if Karg(text).key.startswith("rocmcfg."):
            yield error("RC4330", f"{text}: rocmcfg reserves this name for itself", hint="leave it out")
    variables = [row.setting.name for row in made.rows if row.setting.kind is Kind.ENV]
    if variables:
        hint = "try them in one program with `rocmcfg run`; `rocmcfg confirm` writes them"
        yield info("RC4313", f"a trial does not include variables: {', '.join(variables)}", hint=hint)


def has_systemd(view: HostView) -> bool:
    """Return whether systemd runs this host; of an offline one this is not known."""
    return view.offline or view.is_dir("/run/systemd/system")  # sd_booted(3)


def unit_ready(view: HostView, unit: str = _UNIT) -> bool:
    """Return whether the next boot will start systemd and a unit, by default the one that lets a trial
    confirm itself."""
    if not has_systemd(view):
        return False
    # Links in /run do not count: they are for this boot only, and the trial is the next one (systemctl(1)).
    folders = (name for name in view.names(_ENABLED) if name.endswith((".wants", ".requires")))
    return any(view.exists(f"{_ENABLED}/{folder}/{unit}") for folder in folders)


def beaten(made: Plan) -> Iterable[Diagnostic]:
    """Yield an error for each setting that would lose once the trial is confirmed, even if the host has
    changed meanwhile: what is tried must be what boots then."""
    for row in made.rows:
        if row.outcome is RowOutcome.OVERRIDDEN and row.setting.kind is not Kind.ENV:
            summary = (
                f"{row.setting.id}: {row.source} sets {row.current} and would win after the trial "
                "is confirmed"
            )
            hint = "remove it there first: the trial would show settings that cannot be kept"
            yield error("RC4312", summary, location=row.source.partition(":")[0], hint=hint)


def _taken_away(
    made: Plan, observed: Configured, machine: Known
) -> tuple[list[DesiredSetting], list[Diagnostic]]:
    """Return the settings that are applied now but no longer wanted, as they go on the trial's command line,
    and remarks. A parameter gets the value that it would have without rocmcfg, after the applied one. Any
    other argument stays in force, which is remarked."""
    wanted = reboot.kernel_gets(made.settings)
    running = next((kernel for kernel in machine.facts.driven if kernel.running), None)
    kept: dict[str, DesiredSetting] = {}
    remarks = []
    for setting in machine.receipt.settings if machine.receipt else ():
        if all(name in wanted for name in reboot.kernel_gets([setting])):
            continue
        value = None
        if setting.parameter:
            value = observed.effective(setting.parameter).value
            value = default_of(setting.parameter, running, machine.catalogue) if value is None else value
        if value and not value.startswith("("):  # the kernel prints a text that is not set as (null)
            parameter = machine.catalogue.parameters.get(setting.parameter)
            kept[setting.parameter] = setting._replace(
                id=setting.parameter,
                kind=Kind.PARAMETER,
                name=setting.parameter.partition(".")[2],
                text=value,
                channel=Channel.CMDLINE,
                because="as it would be without rocmcfg",
                rewritten=parameter is not None and parameter.rewritten,
            )
        else:
            summary = (
                f"{setting.karg} stays in force during the trial: it is applied, and cannot be "
                "removed from the command line for one boot"
            )
            remarks.append(warning("RC4314", summary, hint="`rocmcfg confirm` removes it"))
    return list(kept.values()), remarks


class OfOneBoot(Purpose):
    """Apply a trial. It takes effect through its last step, the tool change; what is written before has no
    effect by itself."""

    def __init__(self, plan: Plan, request: Request, facts: Facts, tried: TrialPlan) -> None:
        super().__init__(plan, request, facts)
        self.tried = tried
        loader = registry.trial(plan.boot_backend)
        assert loader is not None, plan.boot_backend  # a plan for any other loader is refused
        self.loader = loader

    def header(self, host: Host) -> Begin:
        return super().header(host)._replace(trial=OneBoot(self.tried.token, self.tried.arguments))

    def expectations(self) -> Expectations:
        places = self.loader.PLACES
        return Expectations(self.plan.boot_backend, places, places, ())

    def proof(self, host: Host) -> list[Diagnostic]:
        menu = registry.backend(self.plan.boot_backend).menu(host)
        return [*self.loader.check(host, menu, self.tried.arguments)]

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        content = dump(
            Trial(
                done.id,
                self.plan.profiles,
                self.request,
                self.plan.boot_backend,
                done.header.boot_id,
                done.header.time,
                self.plan.settings,
                **self.tried._asdict(),
            )
        )
        return [FileChange(record.PATH, host.state(record.PATH), content, "trial")]

    def log_line(self, done: Done) -> str:
        settings = " ".join(done.header.settings)
        return f"transaction {done.id}, a trial of the next boot, by {done.header.user}: {settings}"
