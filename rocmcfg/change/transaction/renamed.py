"""Handle entries that have come to name another system since an apply: the machine-id or the root file system
changed."""

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


def clean_foreign_entries(host: Host, transaction: steps.Journal) -> None:
    """Remove rocmcfg's part from each entry that now names another system, if the record says that the part
    belongs to this rocmcfg: before the apply, the file had no part of any rocmcfg. Raise Unwritable and
    BadJournal."""
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
    except Unwritable:  # the changed entry would not boot
        return False
    return True


def left_to_others(view: HostView, loader: str) -> Iterator[Diagnostic]:
    """Yield a warning for each entry that names another system and has rocmcfg's marks. The machine-id or the
    root file system of this host may have changed since the apply."""
    chain = registry.entry_writer(loader)
    for entry in chain.menu(view).entries if chain is not None else ():
        if entry.role is Role.FOREIGN and contains(entry.kargs, marked_arguments.BEGIN):
            yield warning(
                "RC4015",
                f"“{entry.title}” belongs to another system, and keeps arguments that rocmcfg added to it",
                location=next(karg.source for karg in entry.kargs),
                detail="its machine-id or root= is not that of this host",
                hint=f"if it belongs to this system, remove the text from {marked_arguments.BEGIN} to "
                f"{marked_arguments.END}",
            )
