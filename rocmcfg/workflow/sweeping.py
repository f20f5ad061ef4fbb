"""Takes away what is left of a trial whose journal is lost, by what is ours and not by what is on record."""

from __future__ import annotations

from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import warning
from rocmcfg.model.request import Request
from rocmcfg.planning import trial_plan
from rocmcfg.records import receipt, trial
from rocmcfg.state import reboot
from rocmcfg.transaction import transaction
from rocmcfg.workflow.undoing import Progress, Undone


def left(view: HostView) -> bool:
    """Whether anything of a trial is on this host: a record, files, or arguments for the next boot."""
    return view.exists(trial.PATH) or trial_plan.left(view)


def sweep(host: Host, progress: Progress, *, force: bool) -> Undone:
    """The caller holds the lock. It is a transaction of its own, all or nothing, and never rolled back."""
    made = trial_plan.nothing_of_trials(host, force=force)
    done = transaction.execute(host, made, Request(), progress, sweeps=True)
    known = receipt.load_quietly(host)
    due = reboot.due(host, known.settings if known else (), known, replaced=False)
    remark = warning(
        "RC4334",
        "what was left of a trial is taken away; its own journal is lost",
        location=trial.PATH,
        hint="`rocmcfg status` says what this host has",
    )
    return Undone((done.transaction,), made.changes, done.activations, due, (remark,))
