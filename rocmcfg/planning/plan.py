"""Makes the plan: what leads from the configured state to the desired one. Pure over a read-only view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends import initramfs, modprobe
from rocmcfg.backends.boot import registry
from rocmcfg.backends.boot.contract import Observed as ObservedBoot
from rocmcfg.backends.environment import later_assignments
from rocmcfg.backends.initramfs import Generator, Image
from rocmcfg.host.view import HostView
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, adds_up, contains, last
from rocmcfg.model.plan import Activation, CommandLine, FileChange, Plan, RowOutcome, SettingRow
from rocmcfg.model.profile import Profile
from rocmcfg.model.request import Request
from rocmcfg.model.state import ActivationState, Channel, DesiredSetting, Kind, unique_kargs
from rocmcfg.model.value import same
from rocmcfg.planning.owned import changes_to, owned_files, replaces
from rocmcfg.planning.refusals import foreign_trouble, host_problems, newer_kernel, unreadable_image
from rocmcfg.planning.resolve import Resolution, refused, resolve
from rocmcfg.records.receipt import Receipt
from rocmcfg.state import reboot
from rocmcfg.state.configured import Observed, observe


def make_plan(
    view: HostView,
    profiles: Sequence[Profile],
    request: Request,
    facts: Facts,
    catalogue: Catalogue,
    receipt: Receipt | None,
) -> Plan:
    """The plan, with every diagnostic. One that holds errors must not be carried out."""
    observed = observe(view, facts)
    resolution = resolve(profiles, request, facts, catalogue, observed.effective)
    names = tuple(profile.name for profile in profiles)
    made = _plan(view, names, resolution, observed, facts, catalogue, receipt)
    another = newer_kernel(facts) if made.reboot_required and not made.empty else ()
    return made._replace(diagnostics=(*made.diagnostics, *another))


def plan_of_approved(
    view: HostView,
    names: tuple[str, ...],
    settings: Sequence[DesiredSetting],
    facts: Facts,
    catalogue: Catalogue,
    receipt: Receipt | None,
) -> Plan:
    """The same for settings that are on record, to the letter. What nobody is asked about is planned by this
    alone: a profile may say something else by now, and whoever can write it has approved nothing."""
    return _plan(
        view,
        names,
        Resolution(tuple(settings), (), tuple(refused(settings, facts, catalogue))),
        observe(view, facts),
        facts,
        catalogue,
        receipt,
    )


def _plan(
    view: HostView,
    names: tuple[str, ...],
    resolution: Resolution,
    observed: Observed,
    facts: Facts,
    catalogue: Catalogue,
    receipt: Receipt | None,
) -> Plan:
    desired = tuple(_adopt(setting._replace(adopted_from=""), observed) for setting in resolution.desired)
    problems = list(resolution.diagnostics)
    problems += host_problems(view, facts, desired, catalogue)
    problems += foreign_trouble(observed, facts, catalogue)

    on_line = [s for s in desired if s.channel is Channel.CMDLINE and not s.adopted_from]
    loader = facts.boot.loader.name if facts.boot.loader else ""
    if observed.boot is not None and on_line:
        backend = registry.backend(loader)
        problems += backend.preflight(view, observed.boot, [s.karg for s in unique_kargs(on_line)])
        problems += backend.unmanaged(view)
    owned = owned_files(view, loader, desired, on_line)
    changes, wrong = changes_to(view, owned, receipt)
    problems += wrong
    activations, unproven = _activations(view, facts, on_line, observed, changes, receipt)
    problems += unproven
    return Plan(
        profiles=names,
        changes=tuple(changes),
        activations=tuple(activations),
        rows=tuple(_row(setting, observed, view) for setting in desired),
        skipped=resolution.skipped,
        diagnostics=tuple(dict.fromkeys(problems)),
        command_line=_command_line(observed, on_line),
        reboot_required=reboot.due(view, desired, receipt, replaced=replaces(changes)),
        boot_backend=loader,
    )


def _adopt(setting: DesiredSetting, observed: Observed) -> DesiredSetting:
    """An argument that the user's own command line already has with this value is not written twice."""
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
    return setting._replace(adopted_from=found.source) if found is not None else setting


def _activations(
    view: HostView,
    facts: Facts,
    on_line: Sequence[DesiredSetting],
    observed: Observed,
    changes: Sequence[FileChange],
    receipt: Receipt | None,
) -> tuple[list[Activation], list[Diagnostic]]:
    """Derived from what changes, or from a generated result that does not hold what our files say; and what
    could not be proven afterwards."""
    changed = {change.path for change in changes}
    found: list[Activation] = []
    problems: list[Diagnostic] = []
    generator = initramfs.backend(facts.boot.initramfs)
    if modprobe.PATH in changed or (generator is not None and _left(receipt, generator.TOOL)):
        entries = observed.boot.menu.entries if observed.boot is not None else ()
        images = generator.images(view, "amdgpu", entries) if generator is not None else ()
        found += _rebuild(view, generator, images)
        if view.runs_tools:
            problems = [unreadable_image(image.path) for image in images if image.carries is None]
    if observed.boot is not None and facts.boot.loader is not None:
        backend = registry.backend(facts.boot.loader.name)
        wanted = [s.karg for s in unique_kargs(on_line)]
        gone = [
            k.text
            for k in observed.boot.ours
            if k.text not in wanted and not contains(observed.kargs, k.text)
        ]
        if changed & registry.inputs(backend.NAME):
            found += backend.activations(view, f"the boot menu is generated from {_carrier(observed.boot)}")
        elif observed.boot.ours and not observed.boot.menu.unreadable and backend.check(view, wanted, gone):
            found += backend.activations(
                view, f"the boot menu does not hold what {_carrier(observed.boot)} says"
            )
    return found, problems


def _carrier(boot: ObservedBoot) -> str:
    """What holds our arguments."""
    edited = registry.editor(boot.menu.carrier) is not None
    return boot.menu.carrier if edited else "the drop-in"


def _left(receipt: Receipt | None, tool: str) -> bool:
    return receipt is not None and receipt.activations.get(tool) is ActivationState.LEFT_TO_USER


def _rebuild(view: HostView, generator: Generator | None, images: Sequence[Image]) -> list[Activation]:
    """The initramfs is rebuilt only where an image carries the driver: only there its copy acts."""
    state = ActivationState.PLANNED
    if generator is None:
        reason, skipped = "this host has no generator for one", ActivationState.SKIPPED
        return [Activation("initramfs", ("initramfs",), reason, state=skipped)]
    if any(image.carries for image in images):
        carrying = ", ".join(image.path for image in images if image.carries)
        reason = f"{carrying} carries amdgpu, and reads its own copy of modprobe.d"
    elif any(image.carries is None for image in images):
        reason = "whether an image carries amdgpu could not be seen, so all are rebuilt"
    else:
        reason = "no image carries amdgpu: it is loaded later and reads /etc/modprobe.d itself"
        state = ActivationState.SKIPPED
    return [step._replace(state=state) for step in generator.activations(view, reason)]


def _command_line(observed: Observed, on_line: Sequence[DesiredSetting]) -> CommandLine | None:
    if observed.boot is None:
        return None
    later = [karg.text for karg in observed.boot.later]
    first = [karg.text for karg in observed.kargs if karg not in observed.boot.later]
    before = [karg.text for karg in observed.boot.future or ()]
    if observed.boot.future is None:
        before = [*first, *(karg.text for karg in observed.boot.ours), *later]
    return CommandLine(tuple(before), (*first, *(s.karg for s in unique_kargs(on_line)), *later))


def _row(setting: DesiredSetting, observed: Observed, view: HostView) -> SettingRow:
    """What the host has without us, and whether somebody else still wins after us."""
    if setting.kind is Kind.ENV:
        later = later_assignments(view).get(setting.name)
        if later and later[0] != setting.text:
            return SettingRow(setting, later[0], later[1], RowOutcome.OVERRIDDEN)
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


def _later_writer(setting: DesiredSetting, observed: Observed) -> Karg | None:
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
    if [a.argv for a in before.due] != [a.argv for a in now.due]:
        yield "activations"
