"""What is left of a trial whose journal is lost. Without a record it is found, and taken away, by the paths
and the arguments that belong to trials alone."""

from __future__ import annotations

from rocmcfg.backends.boot import registry
from rocmcfg.backends.boot.contract import BootTrial
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.planning.owned import OwnedFile, changes_to
from rocmcfg.trial import record


def plan_without(view: HostView, *, force: bool) -> Plan:
    """A plan that only takes away what trials leave on a host. Raises where somebody else's work is in the
    place of our files, unless `force` takes it away as well."""
    place = next((name for name, loader in registry.trials().items() if _there(view, loader)), "")
    loader = registry.trial(place)
    files = loader.FILES if loader is not None else ()
    owned = [OwnedFile(path, None, "what is left of a trial") for path in files]
    changes, wrong = changes_to(view, owned, None)
    if wrong and not force:
        raise RocmcfgError(*wrong)
    if wrong:
        changes = [
            FileChange(one.path, state, None, one.reason)
            for one in owned
            if not view.is_symlink(one.path) and (state := view.state(one.path)) is not None
        ]
    steps = registry.backend(place).activations(view, "the files it reads are gone") if changes else ()
    return Plan((), tuple(changes), steps, (), (), (), None, False, place)


def left(view: HostView) -> bool:
    """Whether anything of a trial is on this host: a record, files, or arguments for the next boot."""
    return view.exists(record.PATH) or any(_there(view, loader) for loader in registry.trials().values())


def _there(view: HostView, loader: BootTrial) -> bool:
    try:
        armed = bool(loader.held(view))
    except Unreadable:
        armed = False
    return armed or any(view.exists(path) or view.is_symlink(path) for path in loader.FILES)
