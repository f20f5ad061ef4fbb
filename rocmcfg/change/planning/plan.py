"""Make the plan: the changes that lead from the configured state to the desired one. Pure over a read-only
view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from operator import eq

from rocmcfg import initramfs
from rocmcfg.change.planning.foreign import foreign_trouble
from rocmcfg.change.planning.owned import changes_to, owned_files, replaces
from rocmcfg.change.planning.refusals import (
    host_problems,
    image_problems,
    newer_kernel,
    no_way_back,
    refused,
    swallowed,
)
from rocmcfg.change.planning.resolve import Resolution, resolve
from rocmcfg.files import environment_targets, kernel_hook, modprobe
from rocmcfg.files.environment import Assignment
from rocmcfg.host.view import HostView
from rocmcfg.loaders import detection, registry
from rocmcfg.loaders.shared import menu as menus
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.loaders.shared.menu import Entry
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Channel, DesiredSetting, Kind, Skipped, unique_kargs
from rocmcfg.model.diagnostic import Diagnostic, has_errors, warning
from rocmcfg.model.facts import NO_LOADER, Detection, Facts
from rocmcfg.model.kargs import Karg, adds_up, contains, join, last
from rocmcfg.model.plan import Activation, CommandLine, Plan, RowOutcome, SettingRow, ToolChange
from rocmcfg.model.profile import Profile
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import same
from rocmcfg.records.receipt import Receipt
from rocmcfg.state import edits, reboot
from rocmcfg.state.values import Configured, Effective, read_configured


class Known(NamedTuple):
    """The inputs of a plan, besides the request. `receipt` says what is applied."""

    facts: Facts
    catalogue: Catalogue
    receipt: Receipt | None


def make_plan(view: HostView, profiles: Sequence[Profile], request: Request, basis: Known) -> Plan:
    """Return the plan with every diagnostic. A plan that holds errors must not be carried out."""
    observed = read_configured(view, basis.facts)
    resolution = resolve(profiles, request, basis.facts, basis.catalogue, observed.effective)
    names = tuple(profile.name for profile in profiles)
    by_hand = [s for s in resolution.desired if s.channel is Channel.CMDLINE]
    had = basis.receipt.settings if basis.receipt is not None else ()
    ours = any(s.channel is Channel.CMDLINE for s in had)  # only the loader that has them can remove them
    if basis.facts.boot.left_to_user and not ours and 0 < len(by_hand) < len(resolution.desired):
        resolution = _without(resolution, by_hand, basis.facts.boot.loader)
    else:
        by_hand = []
    made = _plan(view, names, resolution, observed, basis, request)._replace(by_hand=tuple(by_hand))
    another = newer_kernel(basis.facts) if made.reboot_required and not made.empty else ()
    return made._replace(diagnostics=(*made.diagnostics, *another))


def _without(
    resolution: Resolution, by_hand: Sequence[DesiredSetting], loader: Detection | None
) -> Resolution:
    """Return what can be done if rocmcfg does not configure the boot loader: everything except the kernel
    arguments."""
    kargs = tuple(Karg(s.karg) for s in unique_kargs(by_hand))
    why = f"the boot loader of this host is {loader.title}, {loader.refusal}" if loader else NO_LOADER
    yours = warning(
        "RC3030",
        f"{why}; add these kernel arguments yourself: {join(kargs)}",
        detail=detection.manual_lines(loader, kargs) if loader else "",
        hint="put them on the kernel line in the configuration of the boot loader and reboot; `rocmcfg "
        "verify --profile NAME` then checks them. rocmcfg does the rest",
    )
    left = (Skipped(s.id, "add it yourself, see RC3030", s.profile) for s in by_hand)
    return resolution._replace(
        desired=tuple(s for s in resolution.desired if s not in by_hand),
        skipped=(*resolution.skipped, *left),
        diagnostics=(*resolution.diagnostics, yours),
    )


def plan_of_approved(
    view: HostView, names: tuple[str, ...], settings: Sequence[DesiredSetting], basis: Known, request: Request
) -> Plan:
    """Return a plan for exactly the settings on record. If nobody can be asked, only these settings may be
    planned: a profile may have changed since, and whoever can write to one has not approved anything."""
    problems = tuple(refused(settings, basis.facts, basis.catalogue))
    observed = read_configured(view, basis.facts)
    return _plan(view, names, Resolution(tuple(settings), (), problems), observed, basis, request)


def _plan(
    view: HostView,
    names: tuple[str, ...],
    resolution: Resolution,
    observed: Configured,
    basis: Known,
    request: Request,
) -> Plan:
    facts, catalogue, receipt = basis
    env_targets, boot = request.env_target, observed.boot
    desired = tuple(_adopt(setting._replace(adopted_from=""), observed) for setting in resolution.desired)
    on_line = [s for s in desired if s.channel is Channel.CMDLINE and not s.adopted_from]
    kargs = [s.karg for s in unique_kargs(on_line)]
    problems = list(resolution.diagnostics)
    entries = boot.menu.entries if boot is not None else ()
    problems += host_problems(view, facts, desired, catalogue, entries, request)
    problems += foreign_trouble(observed, facts, catalogue)
    problems += swallowed(view, facts, desired, boot)

    loader = facts.boot.loader.name if facts.boot.loader else ""
    trial = registry.trial(loader)
    may_try = False
    if boot is not None and kargs:
        backend = registry.backend(loader)
        problems += backend.refused(view, boot, kargs)
        problems += backend.preflight(view, boot, kargs)
        problems += backend.unmanaged(view)
        problems += backend.remarks(view, boot.menu)
        if trial is not None and view.runs_tools:
            may_try = not has_errors(trial.problems(view, boot, kargs))
    variables = [setting for setting in desired if setting.kind is Kind.ENV]
    problems += environment_targets.problems(view, env_targets, variables)
    problems += environment_targets.untold_later(view, env_targets, variables)
    changes, wrong = changes_to(view, owned_files(view, loader, desired, on_line, env_targets), receipt)
    changed = {change.path for change in changes}
    later = environment_targets.later_assignments(view, env_targets)
    rebuilt, unproven = images(view, entries, changed, basis)
    problems += [*wrong, *unproven]
    problems += kernel_hook.problems(view, (change.path for change in changes if change.after is not None))
    tools: tuple[ToolChange, ...] = ()
    keeper = registry.argument_keeper(loader)
    if boot is not None and keeper is not None:
        tools = keeper.changes(view, boot, kargs)
    return Plan(
        profiles=names,
        changes=tuple(changes),
        activations=(
            *rebuilt,
            *(_menu(view, loader, desired, kargs, boot, changed) if boot is not None else ()),
            *environment_targets.activations(view, changed, "it reads variables that this plan changes"),
        ),
        rows=tuple(_row(setting, observed, later) for setting in desired),
        skipped=resolution.skipped,
        diagnostics=tuple(dict.fromkeys(problems)),
        command_line=command_line(boot, kargs) if boot is not None else None,
        reboot_required=reboot.due(view, desired, receipt, replaced=replaces(changes)),
        boot_backend=loader,
        tools=tools,
        may_try=may_try,
    )


def _adopt(setting: DesiredSetting, observed: Configured) -> DesiredSetting:
    """Return the setting as an argument of the user's if the user's own command line already has it with this
    value: it is then not written a second time, and is looked for as the user wrote it."""
    if setting.channel is not Channel.CMDLINE or (setting.text is None and setting.parameter):
        return setting
    if setting.parameter:
        own = last(observed.kargs, setting.parameter)
        karg = own if own is not None and same(own.value, setting.text) else None
    else:
        karg = next((k for k in observed.kargs if contains([k], setting.karg)), None)
        winner = last(observed.kargs, setting.name)
        if karg is not None and winner is not karg and not adds_up(setting.name):
            karg = None
    return setting if karg is None else setting._replace(adopted_from=karg.source, text=karg.value)


def images(
    view: HostView, entries: Sequence[Entry], changed: Set[str], basis: Known
) -> tuple[list[Activation], list[Diagnostic]]:
    """Return the steps that rebuild the initramfs, and a problem for each image that would be wrong
    afterwards or that could not be checked. The copy of modprobe.d in an image matters only if the image also
    contains the driver."""
    generator = initramfs.backend(basis.facts.boot.initramfs)
    left = basis.receipt.activations if basis.receipt else {}
    if modprobe.PATH not in changed and (
        generator is None or left.get(generator.TOOL) is not ActivationState.LEFT_TO_USER
    ):
        return [], []
    if generator is None:
        reason = (
            "this host has none: amdgpu is loaded from the root file system and reads /etc/modprobe.d there"
        )
        return [Activation("initramfs", (("initramfs",),), reason, state=ActivationState.SKIPPED)], []
    present = generator.images(view, entries)
    carrying = [image.path for image in present if image.carries]
    state = ActivationState.PLANNED
    if carrying:
        reason = f"{', '.join(carrying)} contains amdgpu, which reads the copy of modprobe.d in the image"
    elif any(image.carries is None for image in present):
        reason = "it could not be determined whether an image contains amdgpu, so all are rebuilt"
    else:
        reason = "no image contains amdgpu: it is loaded later and reads /etc/modprobe.d itself"
        state = ActivationState.SKIPPED
    due = [step._replace(state=state) for step in generator.activations(view, reason, entries)]
    looked_at = present if view.runs_tools and modprobe.PATH in changed else ()
    problems = list(image_problems(view, generator, looked_at))
    if carrying and view.runs_tools and state is ActivationState.PLANNED:
        problems += no_way_back(view, [image.path for image in present])
    return due, problems


def _menu(
    view: HostView,
    loader: str,
    desired: Sequence[DesiredSetting],
    kargs: Sequence[str],
    boot: Observed,
    changed: Set[str],
) -> Iterable[Activation]:
    """Yield the steps that regenerate the boot menu, if its sources change or if it does not hold what they
    say. Of the user's own sources, only the requested settings count."""
    source = boot.menu.carrier if edits.editor_of(boot.menu.carrier) is not None else "the drop-in"
    if changed & registry.inputs(loader):
        reason = f"the boot menu is generated from {source}"
        if registry.entry_writer(loader) is not None:
            reason = (
                f"rocmcfg writes the arguments in {boot.menu.carrier} into the normal entries "
                f"({len(boot.menu.normal)} now)"
            )
    else:
        gone = [k.text for k in boot.ours if k.text not in kargs and not contains(boot.foreign, k.text)]
        expected = [(source, kargs, gone)] if boot.ours else []
        expected += [(s.adopted_from, [s.karg], []) for s in desired if s.adopted_from]
        lacking = [origin for origin, *texts in expected if any(menus.check(boot.menu, *texts))]
        if boot.menu.unreadable or not lacking:
            return
        reason = f"the boot menu does not match {lacking[0]}"
    backend = registry.backend(loader)
    changes = backend.entry_changes(view, kargs)
    for step in backend.activations(view, reason):
        yield step._replace(changes=changes) if step.own else step


def command_line(boot: Observed, kargs: Sequence[str]) -> CommandLine:
    """Return the configured command line, and that line with these arguments as rocmcfg's."""
    later = [karg.text for karg in boot.later]
    first = [karg.text for karg in boot.foreign if karg not in boot.later]
    return CommandLine((*first, *(karg.text for karg in boot.ours), *later), (*first, *kargs, *later))


def _row(setting: DesiredSetting, observed: Configured, variables: Mapping[str, Assignment]) -> SettingRow:
    """Return what the host would have without rocmcfg, and whether another value still wins after rocmcfg's.
    `variables` are those that are read after rocmcfg's."""
    if setting.adopted_from:
        return SettingRow(setting, setting.text, setting.adopted_from, RowOutcome.ADOPTED)
    later = variables.get(setting.name) if setting.kind is Kind.ENV else _later_writer(setting, observed)
    if setting.kind is Kind.ENV and later is not None and later.value is None:  # a diagnostic reports it
        later = None
    equal = same if setting.parameter else eq
    if later is not None and not equal(later.value, setting.text):
        return SettingRow(setting, later.value, later.source, RowOutcome.OVERRIDDEN)
    own: Karg | Effective | None = None
    if setting.parameter:
        own = observed.effective(setting.parameter)
    elif setting.kind is not Kind.ENV:
        own = last(observed.kargs, setting.name)
    return SettingRow(setting, own.value if own else None, own.source if own else "", RowOutcome.APPLIED)


def _later_writer(setting: DesiredSetting, observed: Configured) -> Karg | None:
    """Return the last foreign argument or option that comes after the place where rocmcfg writes."""
    if setting.channel is Channel.CMDLINE:
        later = observed.boot.later if observed.boot is not None else ()
        beats = setting.parameter or not adds_up(setting.name)
        return last(later, setting.parameter or setting.name) if beats else None
    on_line = last(observed.kargs, setting.parameter)
    if on_line is not None:
        return on_line
    name = modprobe.PATH.rpartition("/")[2]
    options = [o for o in observed.options if o.source.rpartition("/")[2].rpartition(":")[0] > name]
    return last(options, setting.parameter)


def stale(before: Plan, now: Plan) -> Iterable[str]:
    """Yield the paths and tools in which two plans for the same request differ because the host changed in
    between."""
    yield from sorted({change.path for change in {*before.changes} ^ {*now.changes}})
    old, new = ([*(a.commands for a in plan.due), *(t.argv for t in plan.tools)] for plan in (before, now))
    if old != new:
        yield "activations"
