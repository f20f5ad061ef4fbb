"""One call of `rpm-ostree kargs` (rpm-ostree 2026.2, src/app/rpmostree-builtin-kargs.cxx and
src/daemon/rpmostreed-transaction-types.cxx, `kernel_arg_apply_patching`).

It changes the line of the deployment that boots next, compares whole arguments, appends first and deletes
then, and ends with 77 where nothing was to be changed. Only one transaction may run on a host.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from rocmcfg.backends.boot import entry_options, kept_arguments
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.ostree import deployments
from rocmcfg.backends.boot.rpm_ostree import reader
from rocmcfg.host.view import CommandResult, HostView
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER,)
TOOL = reader.TOOL
BLOCK = ""
KEEPS = "the kernel arguments of the deployment that boots next, and of those after it"
SHOWS: tuple[str, ...] = (TOOL, "kargs")
UNCHANGED: tuple[int, ...] = (77,)  # RPM_OSTREE_EXIT_UNCHANGED
AMONG_OTHERS = True
_SYSROOT = "/sysroot/ostree"


def detect(view: HostView) -> Detection | None:
    evidence = tuple(path for path in (deployments.BOOTED, _SYSROOT) if view.exists(path))
    if not evidence or not view.exists(reader.PROGRAM):
        return None
    return Detection(
        NAME,
        "rpm-ostree (Fedora Atomic, Bazzite, CoreOS)",
        (*evidence, reader.PROGRAM),
        proof=True,
        supported=True,
        manual="sudo rpm-ostree kargs --append-if-missing=ARGUMENT   for each of: {kargs}",
    )


def observe(view: HostView) -> Observed:
    return kept_arguments.observe(view, reader.read(view))


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    return entry_options.propose_carrier(settings)


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    del view, reason
    return ()


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    return [*kept_arguments.preflight(observed, kargs), *lost_at_boot(view), *unable(view)]


def lost_at_boot(view: HostView) -> list[Diagnostic]:
    said = deployments.transient_etc(view)
    return [
        error(
            "RC3143",
            "/etc is transient on this host: what is written there is gone at the next boot",
            location=path,
            hint="make the settings part of the image: rocmcfg render --format bootc",
        )
        for path in filter(None, (said,))
    ]


def unmanaged(view: HostView) -> list[Diagnostic]:
    del view
    return []


def unable(view: HostView) -> list[Diagnostic]:
    asked = view.query((TOOL, "status", "--json"))
    if asked is None or not asked.ok:
        return [_no_answer(asked)]
    try:
        document = json.loads(asked.stdout)
    except ValueError:
        return [_no_answer(asked)]
    transaction = document.get("transaction") if isinstance(document, dict) else None
    # its title, who asked for it, and its object path (`get_active_txn`)
    if not isinstance(transaction, list) or not transaction or not transaction[0]:
        return []
    return [
        error(
            "RC3140",
            f"rpm-ostree is at work on this host: {transaction[0]}",
            detail="one transaction at a time may run, and ours would be refused",
            hint="wait for its end (rpm-ostree status), or end it (rpm-ostree cancel), then run the command "
            "again",
        )
    ]


def _no_answer(asked: CommandResult | None) -> Diagnostic:
    said = (
        (asked.stderr or asked.stdout).strip() if asked is not None else "no program of this host can be run"
    )
    return error(
        "RC3141",
        "rpm-ostree does not answer, and nobody else can change its kernel arguments",
        detail=said or "it is not installed",
        hint="run the command on the booted host itself, with rpm-ostreed.service able to start",
    )


def held(view: HostView, ours: str = "") -> str | None:
    return kept_arguments.held_by(reader.read(view), ours)


def keep(wanted: str | None, held: str | None = None) -> tuple[str, ...]:
    kept = kept_arguments.words(wanted)
    append = [f"--append-if-missing={word}" for word in kept]
    delete = [f"--delete-if-present={word}" for word in kept_arguments.words(held) if word not in kept]
    return (TOOL, "kargs", *append, *delete, "--unchanged-exit-77")


def damaged(view: HostView) -> bool:
    del view
    return False


def deployment(view: HostView) -> str:
    return deployments.first(view)
