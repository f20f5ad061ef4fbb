"""Entries that name another system since an apply: machine-id or root file system changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.host.view import Host, HostView, Unwritable
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import marked_arguments
from rocmcfg.loaders.shared.chain import EntryChain
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.kargs import contains
from rocmcfg.records import journal, steps


def take_back(host: Host, transaction: steps.Journal) -> None:
    """Take our part out of each entry that names another system by now, where the record says that the part
    is ours: the file held none of any rocmcfg before the apply. Raises Unwritable and BadJournal."""
    noted = transaction.before_apply.files if transaction.before_apply is not None else {}
    loader = transaction.header.expect.backend
    chain = registry.entry_writer(loader)
    if not noted or chain is None:
        return
    for path, rewritten in chain.taken_from_others(host):
        real = host.real_path(path)
        saved, state = noted.get(real), host.state(real)
        if saved is None or state is None or marked_arguments.own(state.content) is None:
            continue
        if marked_arguments.own(journal.restore(host, transaction.id, saved).content) is not None:
            continue
        content = rewritten(state.content)
        if content != state.content and _may_change(chain, host, path):
            host.write(real, state._replace(content=content), keep_mtime=False)


def _may_change(chain: EntryChain, host: Host, path: str) -> bool:
    try:
        chain.require_change(host, path)
    except Unwritable:  # it would not boot once changed
        return False
    return True


def left_to_others(view: HostView, loader: str) -> Iterator[Diagnostic]:
    """Warn of each entry that names another system and holds our marks. The name of this host, or of
    its root file system, may have changed since the apply."""
    chain = registry.entry_writer(loader)
    for entry in chain.menu(view).entries if chain is not None else ():
        if entry.role is Role.FOREIGN and contains(entry.kargs, marked_arguments.BEGIN):
            yield warning(
                "RC4015",
                f"“{entry.title}” names another system, and keeps arguments that a rocmcfg gave it",
                location=next(karg.source for karg in entry.kargs),
                detail="its machine-id or root= is not the one of this host",
                hint=f"if it is this system, take out what stands from {marked_arguments.BEGIN} to "
                f"{marked_arguments.END}",
            )
