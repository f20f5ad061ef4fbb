"""Move the owner's own arguments into a local profile, and apply that profile, in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocmcfg.change.planning import taking_over
from rocmcfg.change.planning.plan import Known, command_line, images
from rocmcfg.change.planning.taking_over import Occurrence, TakenOut, Values
from rocmcfg.change.trial import record as trial
from rocmcfg.files import modprobe
from rocmcfg.host.view import Host, HostView, Snapshot
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.loaders import registry
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error, fail
from rocmcfg.model.facts import Facts
from rocmcfg.model.plan import Activation, FileChange, Plan
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.state.values import read_configured
from rocmcfg.workflow.applying import apply
from rocmcfg.workflow.planning import (
    Planned,
    collect_facts,
    on_top,
    plan,
    receipt_or_none,
    require_no_errors,
)

if TYPE_CHECKING:
    from rocmcfg.change.transaction.programs import Progress


@published(
    "profile moved left",
    "planned: changes",
    "planned.plan: activations settings=rows command_line boot_backend reboot_required",
    "transaction=planned.transaction",
)
class TakenOver(NamedTuple):
    """A take-over as planned or done. `profile` is the path of the profile, `moved` are the occurrences of
    parameters that are moved into it, and `left` those that stay where they are."""

    profile: str
    moved: tuple[Occurrence, ...]
    left: tuple[Occurrence, ...]
    planned: Planned


def plan_take_over(view: HostView, name: str, request: Request) -> TakenOver:
    """Return what `take_over` would do. `request` says how the arguments take effect. Raise RocmcfgError with
    every reason against it."""
    path = profiles.local_path(name)
    if view.exists(path) or view.is_symlink(path):
        hint = "choose another name for the profile with --name"
        raise fail("RC1013", f"{path} already exists", location=path, hint=hint)
    trial.require_none(view)
    view = Snapshot(view)
    known_here = catalogue.load()
    facts = collect_facts(view, boot_backend=request.boot_backend, modules=known_here.modules())
    taken = taking_over.take_out(view, facts, known_here, receipt_or_none(view))
    if not taken.moved:
        raise _nothing_to_move(taken)
    content = taking_over.profile(taken, known_here)
    created = FileChange(path, None, content, "the profile that they move into")
    with_profile = on_top(view, request._replace(profiles=(name,)))
    files = (*taken.files, created)
    without = Snapshot(view, taking_over.instead(files))
    planned = plan(without, with_profile)
    before = _values(view, facts)
    made = planned.plan
    line = made.command_line.after if made.command_line is not None else ()
    then = Snapshot(without, taking_over.instead(made.changes))
    after = Values(line, modprobe.read_options(then), before.builtin)
    require_no_errors([*taking_over.differences(before, after, known_here)])
    made = taking_over.merged(made, files, before.line)
    steps, problems = _steps(view, facts, taken, made)
    require_no_errors(problems)
    remarks = (*problems, *taking_over.recovery_entries(taken, view, facts), *made.diagnostics)
    made = made._replace(activations=(*made.activations, *steps), diagnostics=remarks)
    return TakenOver(path, taken.moved, taken.left, planned._replace(plan=made, keeping=None))


def _nothing_to_move(taken: TakenOut) -> RocmcfgError:
    if not taken.left:
        summary = "there is nothing to take over: no file of yours sets a parameter of amdgpu"
        return fail("RC2070", summary, hint="`rocmcfg status` shows what is set on this host")
    lines = "\n".join(
        f"{occurrence.text} ({occurrence.source}): {occurrence.reason}" for occurrence in taken.left
    )
    summary = "cannot take over any setting: each one has to stay where it is"
    hint = "simplify these lines, then run the command again; or replace them with a profile of your own"
    return RocmcfgError(error("RC2073", summary, detail=lines, location=taken.left[0].source, hint=hint))


def _values(view: HostView, facts: Facts) -> Values:
    now = read_configured(view, facts)
    boot = now.boot
    line = command_line(boot, [karg.text for karg in boot.ours]).before if boot is not None else ()
    return Values(line, modprobe.read_options(view), now.builtin)


def _steps(
    view: HostView, facts: Facts, taken: TakenOut, made: Plan
) -> tuple[list[Activation], list[Diagnostic]]:
    """Return the programs that the changed files need, besides those of the plan, and the problems of what
    they generate."""
    due: list[Activation] = []
    problems: list[Diagnostic] = []
    loader = facts.boot.loader
    if loader is not None and any(not occurrence.in_modprobe for occurrence in taken.moved):
        due += registry.backend(loader.name).activations(view, "the boot menu is generated from these files")
    if any(occurrence.in_modprobe for occurrence in taken.moved):
        entries = registry.entries(view, loader.name) if loader is not None else ()
        known_here = Known(facts, catalogue.load(), receipt_or_none(view))
        steps, problems = images(view, entries, {modprobe.PATH}, known_here)
        due += steps
    planned = {step.tool for step in made.activations}
    return [step for step in due if step.tool not in planned], problems


def take_over(
    host: Host,
    name: str,
    request: Request,
    confirm: Callable[[TakenOver], bool],
    progress: Progress,
    *,
    asks: bool = True,
) -> TakenOver | None:
    """Plan, ask, and carry out the take-over as one transaction. Return None if the user declined."""
    latest: list[TakenOver] = []

    def planned_now() -> Planned:
        latest[:] = [plan_take_over(host, name, request)]
        return latest[0].planned

    applied = apply(host, request, lambda _: confirm(latest[0]), progress, asks=asks, planned_now=planned_now)
    return None if applied is None else latest[0]._replace(planned=applied)
