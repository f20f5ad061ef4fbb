"""A trial and its ends, as commands ask for them; the rules are in `rocmcfg.trial`."""

from __future__ import annotations

from collections.abc import Callable

from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import warning
from rocmcfg.model.trial import Stage
from rocmcfg.records import journal, receipt
from rocmcfg.state import reboot
from rocmcfg.transaction import transaction
from rocmcfg.trial import confirming, leftovers, record
from rocmcfg.trial.purposes import Sweep
from rocmcfg.trial.verify import verify_trial
from rocmcfg.workflow.applying import Applied, apply
from rocmcfg.workflow.planning import Approved, Planned
from rocmcfg.workflow.undoing import Progress, Undone, UndoPlan, rollback


def confirm(
    host: Host, ask: Callable[[Planned], bool], progress: Progress, *, asks: bool = True
) -> Applied | None:
    """Apply for good what this boot tries; None where the user said no. Raises where there is no trial, where
    this boot is not its own, or where the kernel does not show what was to be tried."""
    found = confirming.the_trial(host)
    confirming.require_whole(host, found)
    journal.require_finished(host)
    confirming.require_in_effect(verify_trial(host, found, Stage.RUNNING, receipt.load(host)))

    def as_tried(planned: Planned) -> bool:
        confirming.require_stays(planned.plan)
        return ask(planned)

    approved = Approved(found.profiles, found.approved)
    return apply(host, found.request, as_tried, progress, asks=asks, approved=approved, confirms=found)


def reject(
    host: Host, ask: Callable[[UndoPlan], bool], progress: Progress, *, force: bool = False
) -> Undone | None:
    """Forget the trial, whatever its stage: nothing of it is left but its journal. No journals in the answer
    where there is none; None where the user said no. `force` drops edits of its files."""
    if record.newest(host) is not None:  # the journal knows it, also where its record is damaged or gone
        return rollback(host, to=None, force=force, confirm=ask, progress=progress)
    if not leftovers.left(host):
        return Undone((), (), (), reboot.due_now(host))
    with host.lock():
        journal.require_finished(host)
        made = leftovers.plan_without(host, force=force)
        if not ask(UndoPlan((), made.changes, made.activations, False)):
            return None
        return sweep(host, progress, force=force)


def sweep(host: Host, progress: Progress, *, force: bool) -> Undone:
    """Take away what is left of a trial whose journal is lost. The caller holds the lock. It is a transaction
    of its own, all or nothing, and never rolled back."""
    made = leftovers.plan_without(host, force=force)
    done = transaction.execute(host, Sweep(made), progress)
    remark = warning(
        "RC4334",
        "what was left of a trial is taken away; its own journal is lost",
        location=record.PATH,
        hint="`rocmcfg status` says what this host has",
    )
    return Undone((done.transaction,), made.changes, done.activations, reboot.due_now(host), (remark,))
