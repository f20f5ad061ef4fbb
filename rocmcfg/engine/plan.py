"""Makes the plan: what leads from the configured state to the desired one. Pure over a read-only view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rocmcfg.backends import boot as boot_backends
from rocmcfg.backends import kernel_hook, modprobe
from rocmcfg.backends.boot import grub
from rocmcfg.backends.environment import files as environment
from rocmcfg.backends.environment.observe import later_assignments
from rocmcfg.backends.initramfs import initramfs_tools
from rocmcfg.engine import receipt as receipts
from rocmcfg.engine.effective import Effective, effective
from rocmcfg.engine.receipt import Receipt
from rocmcfg.engine.resolve import Request, resolve
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, error, has_errors, info, warning
from rocmcfg.model.facts import Detection, Driver, Facts
from rocmcfg.model.kargs import Karg, contains, join, last, split
from rocmcfg.model.plan import Activation, ActivationState, CommandLine, FileChange, Plan, SettingRow
from rocmcfg.model.profile import Channel, Kind, Profile
from rocmcfg.model.state import DesiredSetting
from rocmcfg.model.value import same

_MARK = b"rocmcfg"  # in the first lines of every file that we write


@dataclass(frozen=True, slots=True)
class Observed:
    """What the host's files say without us: the configured state."""

    grub: grub.Observed | None
    options: tuple[modprobe.Option, ...]
    builtin: bool

    @property
    def kargs(self) -> tuple[Karg, ...]:
        return self.grub.foreign if self.grub else ()

    def effective(self, parameter: str) -> Effective:
        return effective(parameter, self.options, self.kargs, builtin=self.builtin)


@dataclass(frozen=True, slots=True)
class _Owned:
    """A file that is ours alone, and what it shall hold; None: it shall not be there."""

    path: str
    content: bytes | None
    reason: str
    mode: int = 0o644


def observe(view: HostView, facts: Facts) -> Observed:
    loader = facts.boot.loader
    seen = grub.observe(view) if loader and loader.name == grub.NAME else None
    builtin = bool(facts.driven) and all(k.driver is Driver.BUILTIN for k in facts.driven)
    return Observed(seen, modprobe.read_options(view, include_ours=False), builtin)


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
    desired = tuple(_adopt(setting, observed) for setting in resolution.desired)
    problems = list(resolution.diagnostics)
    problems += _host_problems(view, facts, desired)
    problems += _foreign_trouble(observed, facts)

    on_line = [s for s in desired if s.channel is Channel.CMDLINE and not s.adopted_from]
    if observed.grub is not None:
        kargs = [s.karg for s in grub.merged(on_line)]
        problems += grub.preflight(view, observed.grub, kargs) if on_line else []
        problems += grub.foreign_entries(view) if on_line else []
    owned = _owned_files(view, desired, on_line)
    changes, wrong = _changes(view, owned, receipt)
    problems += wrong
    activations = _activations(view, facts, on_line, observed, changes, receipt)
    return Plan(
        profiles=tuple(profile.name for profile in profiles),
        changes=tuple(changes),
        activations=tuple(activations),
        rows=tuple(_row(setting, observed, view) for setting in desired),
        skipped=resolution.skipped,
        diagnostics=tuple(dict.fromkeys(problems)),
        command_line=_command_line(observed, on_line),
        reboot_required=_reboot_required(view, desired, changes),
        boot_backend=facts.boot.loader.name if facts.boot.loader else "",
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
        if found is not None and winner is not found and not _repeats(setting.name):
            found = None
    return replace(setting, adopted_from=found.source) if found is not None else setting


def _repeats(name: str) -> bool:
    """Arguments such as console= and pci= add up; every one of them counts."""
    return name in ("console", "pci", "earlycon", "modprobe.blacklist")


def _host_problems(view: HostView, facts: Facts, desired: Sequence[DesiredSetting]) -> Iterable[Diagnostic]:
    if facts.container:
        yield error(
            "RC3010",
            "this is a container: the kernel belongs to the machine outside",
            location=facts.container,
            hint="run rocmcfg on the host; for the variables alone use `rocmcfg env` or `rocmcfg run`",
        )
        return
    if any(s.parameter for s in desired) and facts.kernels and not facts.driven:
        yield error(
            "RC3011",
            "no installed kernel has an amdgpu driver",
            detail="kernels: " + ", ".join(kernel.release for kernel in facts.kernels),
            hint="install the kernel's module package (Ubuntu: linux-modules-extra-…) or AMD's driver first",
        )
    if any(s.parameter for s in desired) and not facts.kernels:
        yield warning(
            "RC3012",
            "no installed kernel was found, so no value could be checked against one",
            location="/lib/modules",
        )
    if facts.kernels and any(not kernel.parameters for kernel in facts.driven):
        yield info(
            "RC3013",
            "the catalogue stands in for modinfo, which could not be asked about "
            + ", ".join(kernel.release for kernel in facts.driven if not kernel.parameters),
        )
    if any(s.channel is Channel.CMDLINE for s in desired):
        yield from _loader_problems(facts, [s for s in desired if s.channel is Channel.CMDLINE])
    if any(s.channel is Channel.MODPROBE for s in desired):
        yield from _generator_problems(view, facts, [s for s in desired if s.channel is Channel.MODPROBE])


def _loader_problems(facts: Facts, settings: Sequence[DesiredSetting]) -> Iterable[Diagnostic]:
    kargs = split(join(Karg(s.karg) for s in settings))
    loader = facts.boot.loader
    if loader is None:
        seen = "\n".join(f"{c.name}: {', '.join(c.evidence)}" for c in facts.boot.candidates)
        several = len(facts.boot.candidates) > 1
        yield error(
            "RC3014",
            facts.boot.refusal,
            detail=seen or f"add these arguments to your boot loader by hand: {join(kargs)}",
            hint="say which one boots: --boot-backend " + " or ".join(c.name for c in facts.boot.candidates)
            if several
            else "or keep to modprobe.d where it serves: --via modprobe",
        )
    elif not loader.supported:
        yield _by_hand("RC3015", loader, boot_backends.manual_lines(loader, kargs), "the boot loader")


def _generator_problems(
    view: HostView, facts: Facts, settings: Sequence[DesiredSetting]
) -> Iterable[Diagnostic]:
    lines = "\n".join(
        f"  options {s.module} {s.parameter.partition('.')[2]}={s.text}" for s in grub.merged(settings)
    )
    unsupported = [d for d in facts.boot.initramfs if not d.supported]
    if unsupported:
        manual = f"write to /etc/modprobe.d/:\n{lines}\nthen: {unsupported[0].manual}"
        yield _by_hand("RC3016", unsupported[0], manual, "the initramfs generator")
    images = [name for name in view.names("/boot") if name.startswith(("initrd", "initramfs"))]
    if images and not facts.boot.initramfs:
        yield error(
            "RC3018",
            "there are initramfs images, and no generator that we know",
            location=f"/boot/{images[0]}",
            detail=f"the copy of modprobe.d in them would not be renewed; by hand:\n{lines}",
            hint="keep to the kernel command line: --via cmdline",
        )


def _by_hand(id: str, found: Detection, manual: str, what: str) -> Diagnostic:
    return error(
        id,
        f"{what} of this host is {found.title}, which rocmcfg cannot configure yet",
        detail=f"seen: {', '.join(found.evidence)}\nby hand: {manual}",
        hint="add the lines by hand as shown; `rocmcfg verify --profile NAME` then checks them",
    )


def _foreign_trouble(observed: Observed, facts: Facts) -> Iterable[Diagnostic]:
    """Values of others that would stop the driver: one bad value fails the load even if ours comes later."""
    from rocmcfg.model.value import IllegalValue, ParamType, parse

    for kernel in facts.driven:
        types = kernel.parameters.get("amdgpu", {})
        writers = [o.karg for o in observed.options if o.module == "amdgpu"]
        writers += [
            Karg(k.text.partition(".")[2], k.source) for k in observed.kargs if k.key.startswith("amdgpu.")
        ]
        for karg in writers:
            try:
                if karg.key in types:
                    parse(ParamType(types[karg.key]), karg.value)
            except IllegalValue as problem:
                yield error(
                    "RC3017",
                    f"{karg.text} stops amdgpu from loading on kernel {kernel.release}: {problem}",
                    location=karg.source,
                    hint="mend or remove it there: a right value later does not help",
                )
            except ValueError:
                continue  # a type that only this driver knows


def _owned_files(
    view: HostView, desired: Sequence[DesiredSetting], on_line: Sequence[DesiredSetting]
) -> list[_Owned]:
    options = [s for s in desired if s.channel is Channel.MODPROBE]
    variables = [s for s in desired if s.kind is Kind.ENV]
    driver = [s for s in desired if s.parameter]
    hook = kernel_hook.choose(view) if driver else None
    owned = [
        _Owned(grub.DROP_IN, grub.propose(on_line), "kernel command line: " + _ids(on_line)),
        _Owned(modprobe.PATH, modprobe.propose(options), "module options: " + _ids(options)),
    ]
    owned += [
        _Owned(file.path, environment.propose(file, variables), f"variables for {file.readers}")
        for file in environment.FILES
    ]
    owned += [
        _Owned(
            path,
            kernel_hook.propose(hook) if hook and hook.path == path else None,
            "checks the applied values against each kernel that is installed later",
            kernel_hook.MODE,
        )
        for path in kernel_hook.PATHS
    ]
    return owned


def _ids(settings: Sequence[DesiredSetting]) -> str:
    return ", ".join(dict.fromkeys(s.id for s in settings)) or "nothing any more"


def owned_paths() -> tuple[str, ...]:
    """Every path that we may write on a host, apart from our own state."""
    return (grub.DROP_IN, modprobe.PATH, *(f.path for f in environment.FILES), *kernel_hook.PATHS)


def _changes(
    view: HostView, owned: Sequence[_Owned], receipt: Receipt | None
) -> tuple[list[FileChange], list[Diagnostic]]:
    changes: list[FileChange] = []
    problems: list[Diagnostic] = []
    known = receipt.files if receipt else {}
    for file in owned:
        try:
            before = None if view.is_symlink(file.path) else view.state(file.path)
        except Unreadable as problem:
            problems.extend(problem.diagnostics)
            continue
        if view.is_symlink(file.path):
            problems.append(
                error(
                    "RC4001",
                    f"{file.path} is a symbolic link, and rocmcfg writes no file through one",
                    location=file.path,
                    hint="remove the link, then run the command again",
                )
            )
            continue
        if before is not None:
            foreign = _not_ours(file, before.content, known.get(file.path))
            if foreign is not None:
                problems.append(foreign)
                continue
        current = before.content if before else None
        if current != file.content or (
            before is not None and file.content is not None and before.mode != file.mode
        ):
            changes.append(FileChange(file.path, before, file.content, file.reason, file.mode))
    return changes, problems


def _not_ours(file: _Owned, content: bytes, recorded: str | None) -> Diagnostic | None:
    """Whether somebody else's work would be lost by writing over a file at our path."""
    if recorded:
        if recorded == receipts.digest(content) or content == file.content:
            return None
        return error(
            "RC4002",
            f"{file.path} was edited since rocmcfg wrote it",
            location=file.path,
            hint="move your lines to a file of your own and delete this one, then run the command again; "
            "or drop the edit with `rocmcfg rollback --force`",
        )
    if content == file.content or _MARK in content[:400]:
        return None
    return error(
        "RC4003",
        f"{file.path} exists and rocmcfg did not write it",
        location=file.path,
        hint="rename it, then run the command again",
    )


def _activations(
    view: HostView,
    facts: Facts,
    on_line: Sequence[DesiredSetting],
    observed: Observed,
    changes: Sequence[FileChange],
    receipt: Receipt | None,
) -> list[Activation]:
    """Derived from what changes, or from a generated result that does not hold what our files say."""
    changed = {change.path for change in changes}
    found: list[Activation] = []
    if modprobe.PATH in changed or _left(receipt, "update-initramfs"):
        found.append(_rebuild(view, facts))
    if observed.grub is not None:
        wanted = [s.karg for s in grub.merged(on_line)]
        gone = [
            k.text
            for k in observed.grub.ours
            if k.text not in wanted and not contains(observed.kargs, k.text)
        ]
        if grub.DROP_IN in changed:
            found.append(grub.activation("the boot menu is generated from the drop-in"))
        elif observed.grub.ours and not observed.grub.unreadable and grub.check(view, wanted, gone):
            found.append(grub.activation("the boot menu does not hold what the drop-in says"))
    return found


def _left(receipt: Receipt | None, tool: str) -> bool:
    return receipt is not None and receipt.activations.get(tool) is ActivationState.LEFT_TO_USER


def _rebuild(view: HostView, facts: Facts) -> Activation:
    """The initramfs is rebuilt only where an image carries the driver: only there its copy acts."""
    due = initramfs_tools.activation("an image carries amdgpu, and reads its own copy of modprobe.d")
    supported = any(d.name == initramfs_tools.NAME for d in facts.boot.initramfs)
    if not supported:
        return replace(due, state=ActivationState.SKIPPED, reason="this host has no initramfs generator")
    images = initramfs_tools.images(view, "amdgpu")
    if any(image.carries for image in images):
        carrying = ", ".join(image.path for image in images if image.carries)
        return replace(due, reason=f"{carrying} carries amdgpu, and reads its own copy of modprobe.d")
    if any(image.carries is None for image in images):
        return replace(due, reason="whether an image carries amdgpu could not be seen, so all are rebuilt")
    reason = "no image carries amdgpu: it is loaded later and reads /etc/modprobe.d itself"
    return replace(due, state=ActivationState.SKIPPED, reason=reason)


def _command_line(observed: Observed, on_line: Sequence[DesiredSetting]) -> CommandLine | None:
    if observed.grub is None:
        return None
    foreign = tuple(k.text for k in observed.kargs)
    before = foreign + tuple(k.text for k in observed.grub.ours)
    return CommandLine(before, foreign + tuple(s.karg for s in grub.merged(on_line)))


def _row(setting: DesiredSetting, observed: Observed, view: HostView) -> SettingRow:
    """What the host has without us, and whether somebody else still wins after us."""
    if setting.kind is Kind.ENV:
        later = later_assignments(view).get(setting.name)
        if later and later[0] != setting.text:
            return SettingRow(setting, later[0], later[1], "overridden")
        return SettingRow(setting, None, "", "applied")
    if setting.adopted_from:
        return SettingRow(setting, setting.text, setting.adopted_from, "adopted")
    if setting.parameter:
        current = observed.effective(setting.parameter)
        winner = _later_writer(setting, observed)
        if winner is not None and not same(winner.value, setting.text):
            return SettingRow(setting, winner.value, winner.source, "overridden")
        return SettingRow(setting, current.value, current.source, "applied")
    own = last(observed.kargs, setting.name)
    later_karg = last(observed.grub.later, setting.name) if observed.grub else None
    if later_karg is not None and later_karg.value != setting.text:
        return SettingRow(setting, later_karg.value, later_karg.source, "overridden")
    return SettingRow(setting, own.value if own else None, own.source if own else "", "applied")


def _later_writer(setting: DesiredSetting, observed: Observed) -> Karg | None:
    """The last foreign writer that comes after the place where we write."""
    if setting.channel is Channel.CMDLINE:
        return last(observed.grub.later, setting.parameter) if observed.grub else None
    on_line = last(observed.kargs, setting.parameter)
    if on_line is not None:
        return on_line
    name = modprobe.PATH.rpartition("/")[2]
    module, _, parameter = setting.parameter.partition(".")
    later = [
        o.karg
        for o in observed.options
        if o.module == module
        and o.karg.key == parameter
        and o.source.rpartition("/")[2].rpartition(":")[0] > name
    ]
    return later[-1] if later else None


def _reboot_required(
    view: HostView, desired: Sequence[DesiredSetting], changes: Sequence[FileChange]
) -> bool:
    """Whether what the files will say differs from what runs. Variables never need a reboot."""
    kernel_files = {grub.DROP_IN, modprobe.PATH}
    if any(c.path in kernel_files and c.before is not None for c in changes):
        return True  # what an earlier apply set may be running now
    from rocmcfg.engine.running import Running

    running = Running(view)
    for setting in desired:
        if setting.kind is Kind.ENV:
            continue
        now = running.parameter(setting.parameter) if setting.parameter else running.karg(setting.name)
        if not now.readable or not same(now.value, setting.text):
            return True
    return False


def stale(before: Plan, now: Plan) -> Iterable[str]:
    """The paths and tools in which two plans for one request differ: the host changed in between."""
    old = {c.path: c for c in before.changes}
    new = {c.path: c for c in now.changes}
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            yield path
    if [a.argv for a in before.due] != [a.argv for a in now.due]:
        yield "activations"


def blocked(plan: Plan) -> bool:
    return has_errors(plan.diagnostics)
