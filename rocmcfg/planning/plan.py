"""Makes the plan: what leads from the configured state to the desired one. Pure over a read-only view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from rocmcfg.backends import edits, environment_targets, initramfs, modprobe
from rocmcfg.backends.boot import menu as menus
from rocmcfg.backends.boot import registry
from rocmcfg.backends.environment import Assignment
from rocmcfg.host.view import HostView
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, has_errors, warning
from rocmcfg.model.facts import NO_LOADER, Detection, Facts
from rocmcfg.model.kargs import Karg, adds_up, contains, join, last
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.plan import Activation, CommandLine, FileChange, Plan, RowOutcome, SettingRow, ToolChange
from rocmcfg.model.profile import Profile
from rocmcfg.model.spelling import same
from rocmcfg.model.state import ActivationState, Channel, DesiredSetting, Kind, Request, Skipped, unique_kargs
from rocmcfg.planning.owned import changes_to, owned_files, replaces
from rocmcfg.planning.refusals import (
    foreign_trouble,
    host_problems,
    image_problems,
    newer_kernel,
    refused,
)
from rocmcfg.planning.resolve import Resolution, resolve
from rocmcfg.records.receipt import Receipt
from rocmcfg.state import reboot
from rocmcfg.state.values import Configured, read_configured


class Known(NamedTuple):
    """What a plan is made from, besides the request: `receipt` is what is applied."""

    facts: Facts
    catalogue: Catalogue
    receipt: Receipt | None


def make_plan(view: HostView, profiles: Sequence[Profile], request: Request, known: Known) -> Plan:
    """The plan, with every diagnostic. One that holds errors must not be carried out."""
    observed = read_configured(view, known.facts)
    resolution = resolve(profiles, request, known.facts, known.catalogue, observed.effective)
    names = tuple(profile.name for profile in profiles)
    by_hand = [s for s in resolution.desired if s.channel is Channel.CMDLINE]
    had = known.receipt.settings if known.receipt is not None else ()
    ours = any(s.channel is Channel.CMDLINE for s in had)  # only its own loader can take them back
    if known.facts.boot.left_to_user and not ours and 0 < len(by_hand) < len(resolution.desired):
        resolution = _without(resolution, by_hand, known.facts.boot.loader)
    else:
        by_hand = []
    made = _plan(view, names, resolution, observed, known, request)._replace(by_hand=tuple(by_hand))
    another = newer_kernel(known.facts) if made.reboot_required and not made.empty else ()
    return made._replace(diagnostics=(*made.diagnostics, *another))


def _without(
    resolution: Resolution, by_hand: Sequence[DesiredSetting], loader: Detection | None
) -> Resolution:
    """What can be done where rocmcfg does not configure the boot loader: all but the kernel's arguments."""
    kargs = tuple(Karg(s.karg) for s in unique_kargs(by_hand))
    why = f"rocmcfg cannot configure {loader.title} yet" if loader else NO_LOADER
    yours = warning(
        "RC3030",
        f"{why}; the kernel's arguments are yours to add: {join(kargs)}",
        detail=registry.manual_lines(loader, kargs) if loader else "",
        hint="put them on the kernel's line in the loader's configuration and reboot; "
        "`rocmcfg verify --profile NAME` then checks them. The rest is done here",
    )
    return resolution._replace(
        desired=tuple(s for s in resolution.desired if s not in by_hand),
        skipped=(
            *resolution.skipped,
            *(Skipped(s.id, "yours to add, see RC3030", s.profile) for s in by_hand),
        ),
        diagnostics=(*resolution.diagnostics, yours),
    )


def plan_of_approved(
    view: HostView,
    names: tuple[str, ...],
    settings: Sequence[DesiredSetting],
    known: Known,
    request: Request,
) -> Plan:
    """A plan for settings that are on record, to the letter. What nobody is asked about must be planned by
    this alone: a profile may say something else by now, and whoever can write one has approved nothing."""
    problems = tuple(refused(settings, known.facts, known.catalogue))
    observed = read_configured(view, known.facts)
    return _plan(view, names, Resolution(tuple(settings), (), problems), observed, known, request)


def _plan(
    view: HostView,
    names: tuple[str, ...],
    resolution: Resolution,
    observed: Configured,
    known: Known,
    request: Request,
) -> Plan:
    facts, catalogue, receipt = known
    env_targets = request.env_target
    desired = tuple(_adopt(setting._replace(adopted_from=""), observed) for setting in resolution.desired)
    problems = list(resolution.diagnostics)
    entries = observed.boot.menu.entries if observed.boot is not None else ()
    problems += host_problems(view, facts, desired, catalogue, entries, request)
    problems += foreign_trouble(observed, facts, catalogue)

    on_line = [s for s in desired if _is_on_line(s)]
    loader = facts.boot.loader.name if facts.boot.loader else ""
    if observed.boot is not None and on_line:
        backend = registry.backend(loader)
        problems += backend.preflight(view, observed.boot, [s.karg for s in unique_kargs(on_line)])
        problems += backend.unmanaged(view)
    variables = [s for s in desired if s.kind is Kind.ENV]
    problems += environment_targets.problems(view, env_targets, variables)
    changes, wrong = changes_to(view, owned_files(view, loader, desired, on_line, env_targets), receipt)
    changed = {change.path for change in changes}
    later = environment_targets.later_assignments(view, env_targets)
    images, unproven = _images(view, observed, changed, known)
    problems += [*wrong, *unproven]
    return Plan(
        profiles=names,
        changes=tuple(changes),
        activations=(
            *images,
            *_menu(view, loader, desired, observed, changed),
            *environment_targets.activations(view, changed, "it reads variables that are changed here"),
        ),
        rows=tuple(_row(setting, observed, later) for setting in desired),
        skipped=resolution.skipped,
        diagnostics=tuple(dict.fromkeys(problems)),
        command_line=_command_line(observed, on_line),
        reboot_required=reboot.due(view, desired, receipt, replaced=replaces(changes)),
        boot_backend=loader,
        tools=_kept(view, loader, on_line, observed),
        may_try=view.runs_tools and _may_try(view, loader, on_line, observed),
    )


def _kept(
    view: HostView, loader: str, on_line: Sequence[DesiredSetting], observed: Configured
) -> tuple[ToolChange, ...]:
    """What the program that keeps this loader's arguments has to hold."""
    if observed.boot is None or loader not in registry.KEEPERS:
        return ()
    wanted = [s.karg for s in unique_kargs(on_line)]
    return registry.argument_keeper(loader).changes(view, observed.boot, wanted)


def _adopt(setting: DesiredSetting, observed: Configured) -> DesiredSetting:
    """An argument that the user's own command line already has with this value is not written twice, and is
    looked for as the user wrote it."""
    if setting.channel is not Channel.CMDLINE or (setting.text is None and setting.parameter):
        return setting
    if setting.parameter:
        own = last(observed.kargs, setting.parameter)
        found = own if own is not None and same(own.value, setting.text) else None
    else:
        found = next((k for k in observed.kargs if contains([k], setting.karg)), None)
        winner = last(observed.kargs, setting.name)
        if found is not None and winner is not found and not adds_up(setting.name):
            found = None
    if found is None:
        return setting
    return setting._replace(adopted_from=found.source, text=found.value)


def _images(
    view: HostView, observed: Configured, changed: Set[str], known: Known
) -> tuple[list[Activation], list[Diagnostic]]:
    """What builds the initramfs anew: only where an image carries the driver, its copy of modprobe.d acts.
    And which images would not come right, or could not be proven to."""
    detected = known.facts.boot.initramfs
    generator = initramfs.backend(detected)
    left = known.receipt.activations if known.receipt else {}
    entries = observed.boot.menu.entries if observed.boot is not None else ()
    if modprobe.PATH not in changed and (
        generator is None or left.get(generator.TOOL) is not ActivationState.LEFT_TO_USER
    ):
        return [], []
    if generator is None:
        reason = "this host has none: amdgpu is loaded from the system, and reads /etc/modprobe.d there"
        return [Activation("initramfs", (("initramfs",),), reason, state=ActivationState.SKIPPED)], []
    images = generator.images(view, entries)
    carrying = [image.path for image in images if image.carries]
    state = ActivationState.PLANNED
    if carrying:
        reason = f"{', '.join(carrying)} carries amdgpu, and reads its own copy of modprobe.d"
    elif any(image.carries is None for image in images):
        reason = "whether an image carries amdgpu could not be seen, so all are rebuilt"
    else:
        reason = "no image carries amdgpu: it is loaded later and reads /etc/modprobe.d itself"
        state = ActivationState.SKIPPED
    due = [step._replace(state=state) for step in generator.activations(view, reason, entries)]
    looked_at = images if view.runs_tools and modprobe.PATH in changed else ()
    return due, list(image_problems(view, generator, looked_at))


def _menu(
    view: HostView, loader: str, desired: Sequence[DesiredSetting], observed: Configured, changed: Set[str]
) -> Sequence[Activation]:
    """What generates the boot menu anew: where its sources change, or it does not hold what they say, those
    of the user as far as they are asked for."""
    boot = observed.boot
    if boot is None:
        return ()
    backend = registry.backend(loader)
    wanted = [s.karg for s in unique_kargs(s for s in desired if _is_on_line(s))]
    source = boot.menu.carrier if boot.menu.carrier in edits.EDITORS else "the drop-in"
    if changed & registry.inputs(loader):
        said = f"the boot menu is generated from {source}"
        if loader in registry.WRITERS:
            said = f"the normal entries, {len(boot.menu.normal)} now, follow {boot.menu.carrier}"
        return _with_changes(backend.activations(view, said), backend.entry_changes(view, wanted))
    gone = [k.text for k in boot.ours if k.text not in wanted and not contains(observed.kargs, k.text)]
    asked = [(source, wanted, gone)] if boot.ours else []
    asked += [(s.adopted_from, [s.karg], []) for s in desired if s.adopted_from]
    for said_in, there, not_there in asked if not boot.menu.unreadable else ():
        if any(menus.check(boot.menu, there, not_there)):
            due = backend.activations(view, f"the boot menu does not hold what {said_in} says")
            return _with_changes(due, backend.entry_changes(view, wanted))
    return ()


def _is_on_line(setting: DesiredSetting) -> bool:
    """Whether we have to put it on the command line."""
    return setting.channel is Channel.CMDLINE and not setting.adopted_from


def _with_changes(due: Sequence[Activation], changes: tuple[FileChange, ...]) -> Sequence[Activation]:
    return [step._replace(changes=changes) if step.own else step for step in due]


def _may_try(view: HostView, loader: str, on_line: Sequence[DesiredSetting], observed: Configured) -> bool:
    trial = registry.trial(loader)
    if trial is None or observed.boot is None or not on_line:
        return False
    wanted = [s.karg for s in unique_kargs(on_line)]
    return not has_errors(trial.problems(view, observed.boot, wanted))


def _command_line(observed: Configured, on_line: Sequence[DesiredSetting]) -> CommandLine | None:
    if observed.boot is None:
        return None
    later = [karg.text for karg in observed.boot.later]
    first = [karg.text for karg in observed.kargs if karg not in observed.boot.later]
    before = (*first, *(karg.text for karg in observed.boot.ours), *later)
    return CommandLine(before, (*first, *(s.karg for s in unique_kargs(on_line)), *later))


def _row(setting: DesiredSetting, observed: Configured, variables: Mapping[str, Assignment]) -> SettingRow:
    """What the host has without us, and whether somebody else still wins after us: of `variables`, those that
    are read after ours."""
    if setting.kind is Kind.ENV:
        later = variables.get(setting.name)
        if later and later.value != setting.text:
            return SettingRow(setting, later.value, later.source, RowOutcome.OVERRIDDEN)
        return SettingRow(setting, None, "", RowOutcome.APPLIED)
    if setting.adopted_from:
        return SettingRow(setting, setting.text, setting.adopted_from, RowOutcome.ADOPTED)
    if setting.parameter:
        current = observed.effective(setting.parameter)
        winner = _later_writer(setting, observed)
        if winner is not None and not same(winner.value, setting.text):
            return SettingRow(setting, winner.value, winner.source, RowOutcome.OVERRIDDEN)
        return SettingRow(setting, current.value, current.source, RowOutcome.APPLIED)
    own = last(observed.kargs, setting.name)
    later_karg = last(observed.boot.later, setting.name) if observed.boot else None
    if later_karg is not None and later_karg.value != setting.text and not adds_up(setting.name):
        return SettingRow(setting, later_karg.value, later_karg.source, RowOutcome.OVERRIDDEN)
    return SettingRow(setting, own.value if own else None, own.source if own else "", RowOutcome.APPLIED)


def _later_writer(setting: DesiredSetting, observed: Configured) -> Karg | None:
    """The last foreign writer that comes after the place where we write."""
    if setting.channel is Channel.CMDLINE:
        return last(observed.boot.later, setting.parameter) if observed.boot else None
    on_line = last(observed.kargs, setting.parameter)
    if on_line is not None:
        return on_line
    name = modprobe.PATH.rpartition("/")[2]
    later = [o for o in observed.options if o.source.rpartition("/")[2].rpartition(":")[0] > name]
    return last(later, setting.parameter)


def stale(before: Plan, now: Plan) -> Iterable[str]:
    """The paths and tools in which two plans for one request differ: the host changed in between."""
    old = {c.path: c for c in before.changes}
    new = {c.path: c for c in now.changes}
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            yield path
    old_steps, new_steps = (
        [*(a.commands for a in one.due), *(t.argv for t in one.tools)] for one in (before, now)
    )
    if old_steps != new_steps:
        yield "activations"
