"""The way back: rollback, recover, and the journals behind them."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rocmcfg.engine import journal, receipt
from rocmcfg.engine.journal import require_finished
from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, error
from rocmcfg.model.plan import Activation

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Undone:
    transactions: tuple[int, ...]
    activations: tuple[Activation, ...]
    reboot_required: bool


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
            _require_no_trace(host, committed)
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
        _require_sight(host)
        id = journal.open_transaction(host)
        if id is None:
            return Undone((), (), False)
        recovery.wait_for_survivors(host, progress)
        found = recovery.read_existing(host, id)
        activations = recovery.undo(host, found, progress, after_failure=True, force=force)
        host.log(f"transaction {id} was interrupted and is undone, by {host.user()}")
    return Undone((id,), activations, False)


def _require_sight(host: Host) -> None:
    """A directory that cannot be listed looks empty, and "nothing to undo" would be a lie."""
    if not journal.ids(host) and host.is_dir(journal.TRANSACTIONS):
        reason = host.writable_problem(journal.TRANSACTIONS)
        if reason:
            raise Unreadable(journal.TRANSACTIONS, PermissionError(errno.EACCES, reason))


def read_journals(host: Host) -> list[journal.Journal]:
    """All transactions that changed anything, newest first. Raises Unreadable for want of rights."""
    _require_sight(host)
    found = (journal.read(host, id) for id in reversed(journal.ids(host)))
    return [j for j in found if j is not None]


def _was_booted(view: HostView, one: journal.Journal) -> bool:
    """Whether the running kernel may have what is undone: not where this is still the boot of the apply."""
    if one.header.get("boot_id") and one.header["boot_id"] == receipt.boot_id(view):
        return False
    from rocmcfg.engine.owned import kernel_paths

    return any(step["path"] in kernel_paths() for step in one.of("file"))


def _require_no_trace(view: HostView, committed: Sequence[journal.Journal]) -> None:
    """Our files without a record of them: somebody removed the state directory, and nothing can be undone."""
    from rocmcfg.engine.owned import owned_paths

    left = [path for path in owned_paths() if view.exists(path)]
    if left and not committed:
        raise RocmcfgError(
            error(
                "RC4026",
                "files of rocmcfg are here, and no record of what was before them",
                detail="\n".join(left),
                location=journal.STATE_DIR,
                hint="delete them by hand, then run update-grub, and update-initramfs -u -k all if one "
                "of them is in modprobe.d",
            )
        )
