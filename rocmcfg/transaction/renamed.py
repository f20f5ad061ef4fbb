"""Entries that name another system since an apply: machine-id or root file system changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.host.view import Host, HostView
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import entry_options, loader_entries, marked_arguments
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.kargs import contains
from rocmcfg.records import journal, steps


def take_back(host: Host, transaction: steps.Journal) -> None:
    """Take our part out of each entry that the apply gave it first and that names another system by now: the
    record says that the part is ours. Raises Unwritable and BadJournal."""
    noted = transaction.before_apply.files if transaction.before_apply is not None else {}
    for path, entry in loader_entries.files(host, entry_options.machine_id(host)) if noted else ():
        real = host.real_path(path)
        saved, state = noted.get(real), host.state(real)
        if entry.role is not Role.FOREIGN or saved is None or state is None:
            continue
        before = journal.restore(host, transaction.id, saved)
        if marked_arguments.own(before.content) is None and marked_arguments.own(state.content) is not None:
            content = loader_entries.with_arguments(state.content, None)
            host.write(real, state._replace(content=content), keep_mtime=False)


def left_to_others(view: HostView, loader: str) -> Iterator[Diagnostic]:
    """Warn of each entry that names another system and holds our marks. The name of this host, or of
    its root file system, may have changed since the apply."""
    reader = registry.reader(loader) if registry.writes_entries(loader) else None
    for entry in reader.read(view).entries if reader is not None else ():
        if entry.role is Role.FOREIGN and contains(entry.kargs, marked_arguments.BEGIN):
            yield warning(
                "RC4015",
                f"“{entry.title}” names another system, and keeps arguments that a rocmcfg gave it",
                location=next(karg.source for karg in entry.kargs),
                detail="its machine-id or root= is not the one of this host",
                hint=f"if it is this system, take out what stands from {marked_arguments.BEGIN} to "
                f"{marked_arguments.END}",
            )
