"""The use cases, each a short function over a host that is handed in. Start reading here.

Beside the main road (plan, apply, verify, rollback, recover) lie `status`, `profiles`, `environment` and
`kernels`, each with what one more command does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocmcfg.engine import journal, receipt
from rocmcfg.engine.receipt import Receipt
from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, error, info
from rocmcfg.model.plan import Activation, ActivationState, Plan

if TYPE_CHECKING:
    from rocmcfg.engine.request import Request
    from rocmcfg.model.facts import Facts
    from rocmcfg.model.profile import Profile
    from rocmcfg.model.report import VerificationReport

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with what it was made from."""

    plan: Plan
    request: Request
    facts: Facts
    profiles: tuple[Profile, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """`transaction` is None where there was nothing to do."""

    planned: Planned
    transaction: int | None
    activations: tuple[Activation, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    transactions: tuple[int, ...]
    activations: tuple[Activation, ...]
    reboot_required: bool


def collect_facts(
    view: HostView, *, boot_backend: str = "", modules: Sequence[str] = ("amdgpu",), ask_modinfo: bool = True
) -> Facts:
    """Everything that is true of the host, read once."""
    from rocmcfg.backends import boot, initramfs
    from rocmcfg.facts.gpus import read_gpus
    from rocmcfg.facts.kernels import read_kernels, running_release
    from rocmcfg.facts.rocm import read_rocm
    from rocmcfg.facts.system import read_container, read_os
    from rocmcfg.knowledge.catalogue import gpu_models
    from rocmcfg.model.facts import Facts

    rocm, rocm_source = read_rocm(view)
    return Facts(
        os=read_os(view),
        kernels=read_kernels(view, modules if ask_modinfo else ()),
        running=running_release(view),
        gpus=read_gpus(view, gpu_models()),
        rocm=rocm,
        rocm_source=rocm_source,
        boot=boot.detect(view, initramfs.detect(view), boot_backend),
        container=read_container(view),
        offline=view.offline,
    )


def plan(view: HostView, request: Request) -> Planned:
    """What `apply` would do. Raises RocmcfgError with every reason against it."""
    from rocmcfg.engine.plan import blocked, make_plan
    from rocmcfg.engine.request import parse_set
    from rocmcfg.engine.resolve import modules_of
    from rocmcfg.knowledge import catalogue, profiles
    from rocmcfg.model.profile import Setting

    known = catalogue.load()
    names, remarks = expand_auto(view, request)
    loaded = profiles.load(view, names)
    asked = [s for text in request.set if isinstance(s := parse_set(text), Setting)]
    settings = [s for profile in loaded for s in profile.settings] + asked
    facts = collect_facts(view, boot_backend=request.boot_backend, modules=modules_of(settings))
    made = make_plan(view, loaded, request, facts, known, receipt_or_none(view))
    if remarks:
        made = replace(made, diagnostics=(*remarks, *made.diagnostics))
    if blocked(made):
        raise RocmcfgError(*errors_first(made.diagnostics))
    return Planned(made, request, facts, loaded)


def apply(
    host: Host,
    request: Request,
    confirm: Callable[[Planned], bool],
    progress: Progress,
    *,
    asks: bool = True,
) -> Applied | None:
    """Plan, ask, and carry out as one transaction. None where the user said no.

    Where `confirm` asks somebody, the plan is made again after the answer: what the user saw must still be
    what happens.
    """
    from rocmcfg.engine import transaction
    from rocmcfg.engine.plan import stale

    with host.lock():
        require_finished(host)
        planned = plan(host, request)
        if not _something_to_do(host, planned.plan):
            left = [_left_to_user(a) for a in planned.plan.due]
            return Applied(planned, None, (*left, *_skipped(planned.plan)))
        if not confirm(planned):
            return None
        now = plan(host, request) if asks else planned
        changed = list(stale(planned.plan, now.plan))
        if changed:
            raise StalePlan(changed)
        outcome = transaction.execute(host, now.plan, request, progress)
    return Applied(now, outcome.transaction, outcome.activations)


class StalePlan(RocmcfgError):
    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            *(
                error(
                    "RC4004",
                    f"{path} changed after the plan was made; nothing was changed",
                    location=path,
                    hint="run the command again and review the new plan",
                )
                for path in paths
            )
        )


def verify(view: HostView, names: Sequence[str] = (), pid: int | None = None) -> VerificationReport:
    """Compare with the receipt, or with a profile that need not have been applied by us."""
    from rocmcfg.engine.verify import verify as check
    from rocmcfg.model.report import VerificationReport

    known = receipt.load(view)
    if names:
        return _verify_profiles(view, names, known, pid)
    if known is None:
        return VerificationReport((), None, (), (_nothing_applied(),))
    return check(view, known.settings, known, known.profiles, pid)


def _verify_profiles(
    view: HostView, names: Sequence[str], known: Receipt | None, pid: int | None
) -> VerificationReport:
    from rocmcfg.engine.plan import make_plan
    from rocmcfg.engine.request import Request
    from rocmcfg.engine.verify import verify as check
    from rocmcfg.knowledge import catalogue, profiles

    wanted, _ = expand_auto(view, Request(profiles=tuple(names)))
    loaded = profiles.load(view, wanted)
    covers = known is not None and set(known.profiles) == {p.name for p in loaded}
    if known is not None and covers:
        return check(view, known.settings, known, known.profiles, pid)
    facts = collect_facts(view, ask_modinfo=False)
    made = make_plan(view, loaded, Request(any_gpu=True), facts, catalogue.load(), known)
    settings = tuple(row.setting for row in made.rows)
    report = check(view, settings, None, made.profiles, pid)
    return replace(report, diagnostics=(*errors_first(made.diagnostics), *report.diagnostics))


def rollback(
    host: Host,
    *,
    to: int | None,
    force: bool,
    confirm: Callable[[Sequence[journal.Journal]], bool],
    progress: Progress,
) -> Undone | None:
    """Undo the last transaction, or all after `to`. None where the user said no."""
    from rocmcfg.engine import recovery

    with host.lock():
        require_finished(host)
        committed = [j for j in read_journals(host) if j.state == "committed"]
        known = {j.id for j in committed} | {0}
        if to is not None and to not in known:
            raise RocmcfgError(
                error(
                    "RC4024",
                    f"there is no applied transaction {to}",
                    hint="see `rocmcfg history`; 0 is the start",
                )
            )
        chosen = committed[:1] if to is None else [j for j in committed if j.id > to]
        if not chosen:
            return Undone((), (), False)
        foreign = recovery.edited(host, chosen)
        if foreign and not force:
            raise recovery.ThirdPartyEdit(foreign, ExitCode.ERROR)
        if not confirm(chosen):
            return None
        activations: dict[str, Activation] = {}
        for one in chosen:
            for activation in recovery.undo(host, one, progress, force=force):
                activations[activation.tool] = activation
            host.log(f"transaction {one.id} rolled back by {host.user()}")
    return Undone(
        tuple(j.id for j in chosen), tuple(activations.values()), any(_was_booted(host, j) for j in chosen)
    )


def recover(host: Host, *, force: bool, progress: Progress) -> Undone:
    """Undo what a crash interrupted; nothing to do is fine."""
    from rocmcfg.engine import recovery

    with host.lock():
        id = journal.open_transaction(host)
        if id is None:
            return Undone((), (), False)
        found = recovery.read_existing(host, id)
        activations = recovery.undo(host, found, progress, after_failure=True, force=force)
        host.log(f"transaction {id} was interrupted and is undone, by {host.user()}")
    return Undone((id,), activations, False)


def read_journals(view: HostView) -> list[journal.Journal]:
    """All transactions that changed anything, newest first."""
    found = (journal.read(view, id) for id in reversed(journal.ids(view)))
    return [j for j in found if j is not None]


def require_finished(view: HostView) -> None:
    """Raises RecoveryRequired where a crash left a transaction open."""
    id = journal.open_transaction(view)
    if id is not None:
        raise journal.RecoveryRequired(id)


def expand_auto(view: HostView, request: Request) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    if "auto" not in request.profiles:
        return request.profiles, ()
    from rocmcfg.facts.gpus import read_gpus
    from rocmcfg.knowledge import profiles
    from rocmcfg.knowledge.catalogue import gpu_models

    gpus = read_gpus(view, gpu_models())
    # Module parameters hold for every GPU; an iGPU beside a graphics card is not what people compute on.
    discrete = [gpu for gpu in gpus if not gpu.integrated] or list(gpus)
    gfx = tuple(dict.fromkeys(gpu.gfx for gpu in discrete if gpu.gfx))
    chosen = profiles.for_gpus(view, gfx)
    if not chosen:
        seen = ", ".join(gfx) or "no AMD GPU"
        raise RocmcfgError(
            error(
                "RC2024",
                f"--profile auto finds no profile for this host ({seen})",
                hint="`rocmcfg profile list` shows the profiles; name one",
            )
        )
    remark = info("RC2025", f"--profile auto chose {', '.join(chosen)} for {', '.join(gfx)}")
    named = tuple(name for name in request.profiles if name != "auto")
    return (*named, *(name for name in chosen if name not in named)), (remark,)


def receipt_or_none(view: HostView) -> Receipt | None:
    try:
        return receipt.load_quietly(view)
    except Unreadable:
        return None


def _nothing_applied() -> Diagnostic:
    return info(
        "RC5002",
        "nothing is applied on this host",
        hint="`rocmcfg verify --profile NAME` checks a profile that rocmcfg did not apply",
    )


def _something_to_do(host: HostView, made: Plan) -> bool:
    return bool(made.changes) or (bool(made.due) and host.runs_tools)


def _left_to_user(activation: Activation) -> Activation:
    return replace(activation, state=ActivationState.LEFT_TO_USER)


def _skipped(made: Plan) -> tuple[Activation, ...]:
    return tuple(a for a in made.activations if a.state is ActivationState.SKIPPED)


def _was_booted(view: HostView, one: journal.Journal) -> bool:
    """Whether the running kernel may have what is undone: not where this is still the boot of the apply."""
    if one.header.get("boot_id") and one.header["boot_id"] == receipt.boot_id(view):
        return False
    from rocmcfg.backends import modprobe
    from rocmcfg.backends.boot import grub

    return any(step["path"] in (modprobe.PATH, grub.DROP_IN) for step in one.of("file"))


def errors_first(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(diagnostics, key=lambda d: order[d.severity.value])
