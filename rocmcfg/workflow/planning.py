"""Turn facts into a plan: the part of every use case that only reads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rocmcfg.change.planning import combine
from rocmcfg.change.planning.combine import parse_set
from rocmcfg.facts.gpus import read_gpus
from rocmcfg.facts.kernels import read_kernels, running_release
from rocmcfg.facts.rocm import read_pytorch, read_rocm
from rocmcfg.facts.system import UNKNOWN, read_container, read_memory, read_os
from rocmcfg.host.view import HostView, Snapshot, Unreadable
from rocmcfg.judging.hand_overs import hand_overs_first
from rocmcfg.judging.pairs import unworkable
from rocmcfg.knowledge import catalogue
from rocmcfg.knowledge.catalogue import gpu_models
from rocmcfg.loaders import detection
from rocmcfg.model.desired import DesiredSetting, Kind
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity, has_errors
from rocmcfg.model.facts import ROCM_NAMED, Facts, Gpu
from rocmcfg.model.plan import FileChange, Plan, ToolChange
from rocmcfg.model.profile import Profile, Setting
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.spelling import as_number
from rocmcfg.model.trial import Terms, TrialPlan
from rocmcfg.model.version import parse_version
from rocmcfg.records import receipt
from rocmcfg.records.journal import require_finished
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.values import read_configured

if TYPE_CHECKING:
    from rocmcfg.change.planning.plan import Known


@published(
    "profiles=plan.profiles changes",
    "plan: activations settings=rows skipped command_line boot_backend reboot_required",
    "transaction trial removed",
)
class Planned(NamedTuple):
    """A plan with what it was made from. `transaction` is the one that carried it out; `trial` is None if the
    plan is permanent. `removed` are settings that are applied now but no longer requested."""

    plan: Plan
    request: Request
    facts: Facts
    profiles: tuple[Profile, ...]
    trial: TrialPlan | None = None
    transaction: int | None = None
    removed: tuple[str, ...] = ()
    keeping: Request | None = None  # the request that includes those too
    adding: tuple[str, ...] = ()  # those that even this request leaves out, as --add takes them

    @property
    def changes(self) -> tuple[FileChange | ToolChange, ...]:
        return (*self.plan.changes, *self.plan.tools)


def collect_facts(
    view: HostView,
    *,
    boot_backend: str = "",
    modules: Sequence[str] = (),
    environments: Sequence[str] = (),
    gpus: tuple[Gpu, ...] | None = None,
    rocm: str | None = None,
    name_system: bool = True,
) -> Facts:
    """Return all facts of the host, read once; `gpus` may have been read already. modinfo is asked about
    `modules`. `environments` are prefixes of virtual environments, whose PyTorch is preferred to the
    system's. `rocm` is the release that the user named in place of an installed one, empty for none; if it is
    None, the release that was named when the settings in force were applied. `name_system` says whether to
    find the name of the distribution, which takes a tenth of the start-up time."""
    from rocmcfg import initramfs

    release, rocm_source = read_rocm(view)
    torches = read_pytorch(view, environments)
    named = parse_version(_rocm_on_record(view) if rocm is None else rocm)
    if named is not None:
        release, rocm_source = named, ROCM_NAMED
        torches = tuple(torch if torch.own else torch._replace(rocm=None) for torch in torches)
    return Facts(
        os=read_os(view) if name_system else UNKNOWN,
        kernels=read_kernels(view, modules),
        running=running_release(view),
        gpus=read_gpus(view, gpu_models()) if gpus is None else gpus,
        rocm=release,
        rocm_source=rocm_source,
        boot=detection.detect(view, initramfs.detect(view), boot_backend),
        container=read_container(view),
        offline=view.offline,
        pytorch=torches,
        memory=read_memory(view),
    )


def _rocm_on_record(view: HostView) -> str:
    """Return the ROCm release that was named with the settings in force; empty if none was, or if that cannot
    be read."""
    with suppress(RocmcfgError):
        applied = receipt.load_quietly(view)
        return applied.request.rocm if applied else ""
    return ""


def plan(view: HostView, request: Request, terms: Terms | None = None) -> Planned:
    """Return what `apply` would do, with `terms` as a trial. Raise RocmcfgError with every reason against
    it."""
    from rocmcfg.change.planning.automatic import expand_auto
    from rocmcfg.change.planning.plan import Known, make_plan
    from rocmcfg.change.planning.resolve import modules_of
    from rocmcfg.knowledge import profiles

    view = Snapshot(view)
    gpus = read_gpus(view, catalogue.gpu_models())
    names, remarks = expand_auto(view, request, gpus)
    loaded = profiles.load(view, names)
    remarks += tuple(profiles.standing_in(view, [*names, *(p.extends for p in loaded if p.extends)]))
    typed = [s for text in request.set if isinstance(s := parse_set(text), Setting)]
    settings = [s for profile in loaded for s in profile.settings] + typed
    modules = modules_of(settings)
    facts = collect_facts(
        view, boot_backend=request.boot_backend, modules=modules, gpus=gpus, rocm=request.rocm
    )
    known_here = Known(facts, catalogue.load(), receipt_or_none(view))
    made, tried = _as_trial(view, make_plan(view, loaded, request, known_here), terms, known_here)
    remarks += _state_of_ours(view)
    if facts.gfx and (facts.rocm or facts.pytorch):
        remarks += tuple(unworkable(facts, catalogue.known_issues(), known_here.catalogue))
    if remarks:
        made = made._replace(diagnostics=hand_overs_first((*remarks, *made.diagnostics)))
    require_no_errors(made.diagnostics)
    planned = Planned(made, request, facts, loaded, tried)
    kept = {row.setting.id for row in made.rows}
    before = known_here.receipt.settings if known_here.receipt else ()
    removed = [setting for setting in before if setting.id not in kept]
    return _with_removed(view, planned, removed) if removed else planned


def _with_removed(view: HostView, planned: Planned, removed: Sequence[DesiredSetting]) -> Planned:
    """Return the plan with the settings that it removes, and the request that keeps them as well."""
    besides = on_top(view, planned.request)
    comes_back: set[str] = set()
    with suppress(RocmcfgError):  # a profile of theirs can no longer be read
        comes_back = {setting.id for setting in _wanted(view, besides, planned.facts)}
    adding = [as_added(setting) for setting in removed if setting.id not in comes_back]
    only_added = len(adding) == len(removed)
    return planned._replace(
        removed=tuple(setting.spelled for setting in removed),
        keeping=planned.request if only_added else besides,
        adding=tuple(adding),
    )


def _wanted(view: HostView, request: Request, facts: Facts) -> Sequence[DesiredSetting]:
    from rocmcfg.change.planning.automatic import expand_auto
    from rocmcfg.change.planning.resolve import resolve
    from rocmcfg.knowledge import profiles

    names, _ = expand_auto(view, request, facts.gpus)
    base = read_configured(view, facts).effective
    return resolve(profiles.load(view, names), request, facts, catalogue.load(), base).desired


def as_added(setting: DesiredSetting) -> str:
    """Return a setting as --add takes it. That of a feature has the whole mask as its text."""
    if setting.kind is not Kind.FEATURE:
        return setting.spelled
    on = catalogue.load().features[setting.name].is_on(as_number(setting.text))
    return f"{setting.id}={'true' if on else 'false'}"


def misspelt(request: Request) -> list[Diagnostic]:
    """Return what is wrong with the options of a request on any host."""
    return combine.misspelt(request, catalogue.load())


def on_top(view: HostView, request: Request) -> Request:
    """Return a request for everything that is applied and for this request besides. If both name a setting,
    this request decides."""
    applied_before = receipt_or_none(view)
    if applied_before is None:
        return request
    applied, named = applied_before.request, {text.partition("=")[0] for text in request.set}
    stays = [text for text in applied.set if text.partition("=")[0] not in named]

    def both(was: Any, now: Any) -> Any:
        return tuple(dict.fromkeys((*was, *now))) if isinstance(now, tuple) else now or was

    return Request(*map(both, applied, request))._replace(set=(*stays, *request.set))


class Approved(NamedTuple):
    """The settings that a user saw in a plan and agreed to, with the names of their profiles. `by_hand` are
    those that were left to the user."""

    profiles: tuple[str, ...]
    settings: tuple[DesiredSetting, ...]
    by_hand: tuple[DesiredSetting, ...] = ()


def plan_approved(
    view: HostView, request: Request, approved: Approved, terms: Terms | None = None
) -> Planned:
    """Return a plan for exactly these settings, with `terms` as a trial. No profile is read. Raise as `plan`
    does."""
    from rocmcfg.change.planning.plan import Known, plan_of_approved
    from rocmcfg.change.planning.resolve import modules_of

    view = Snapshot(view)
    facts = collect_facts(view, boot_backend=request.boot_backend, modules=modules_of(approved.settings))
    known_here = Known(facts, catalogue.load(), receipt_or_none(view))
    made = plan_of_approved(view, approved.profiles, approved.settings, known_here, request)
    made, tried = _as_trial(view, made, terms, known_here)
    require_no_errors(made.diagnostics)
    return Planned(made._replace(by_hand=approved.by_hand), request, facts, (), tried)


def _as_trial(
    view: HostView, made: Plan, terms: Terms | None, known_here: Known
) -> tuple[Plan, TrialPlan | None]:
    """Return a plan as the plan of a trial on these terms; unchanged without terms."""
    if terms is None:
        return made, None
    from rocmcfg.change.trial.plan import trial_plan

    return trial_plan(view, made, terms, known_here)


def _state_of_ours(view: HostView) -> tuple[Diagnostic, ...]:
    """Return what prevents an apply, or will be fixed by it. A plan is made anyway."""
    from rocmcfg.change.transaction.lost_records import record_lost
    from rocmcfg.change.trial.record import require_none

    problems: tuple[Diagnostic, ...] = ()
    try:
        require_finished(view)
        require_none(view)
        if receipt.load(view) is None:
            lost = record_lost(view)
            problems = (lost,) if lost is not None else ()
    except RocmcfgError as problem:
        problems = problem.diagnostics
    return tuple(problem_here._replace(severity=Severity.WARNING) for problem_here in problems)


def receipt_or_none(view: HostView) -> Receipt | None:
    try:
        return receipt.load_quietly(view)
    except Unreadable:
        return None


def require_no_errors(diagnostics: Sequence[Diagnostic]) -> None:
    if has_errors(diagnostics):
        raise RocmcfgError(*errors_first(diagnostics))


def errors_first(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    return sorted(diagnostics, key=lambda d: list(Severity).index(d.severity))
